"""From segments to the tables that the kernels read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Sequences
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.kernels.batches import readonly
from algorithms.kernels.sequences import BY_COUNT, NOT_BOUND, SINGLE, Program
from algorithms.sequences import Sequence, Symbol, symbols_of
from algorithms.sharon.segments import Cut, Segment, Use
from events.schema import Schema
from queries.aggregates import COUNT_ALL, Channel, Column, Layout
from queries.automaton import Automaton, Position
from queries.compile import CompiledQuery, Part
from queries.names import Names
from queries.tables import Columns, Predicates, Weights, build_tables

NOTHING: frozenset[int] = frozenset()
FAMILIES = ("ring", "real", "least")


@dataclass(frozen=True, eq=False)
class Member:
    """A query that a counter counts, and the part of it whose sequences it counts."""

    query: CompiledQuery
    part: Part

    @property
    def only_counts(self) -> bool:
        """Whether COUNT(*) is all that it returns."""
        layout = self.query.layout
        return len(layout.ring) + len(layout.real) + len(layout.least) == 1


@dataclass(frozen=True)
class Bound:
    """A channel of a segment: the places that it counts (from 0), and the column of their weight, or None for 1."""

    places: frozenset[int]
    column: Column | None


@dataclass(frozen=True, eq=False)
class Counting:
    """The tables of a counter and what its state is made of.

    `columns` are the kernel columns of events, `weights` those that symbols gather, by family. `plain[g]` is the entry
    of place 0 of a plain segment, or -1. `results` is where results end in the values of each family.
    """

    program: Program
    columns: Columns
    weights: tuple[int, int, int]
    plain: NDArray[np.int64]
    results: tuple[int, int, int]


def make_counting(
    schema: Schema, members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut, span: int
) -> Counting:
    """Tables for sequences, in order of their `query`, an index into `members`; `span` windows hold one event."""
    return _Builder(schema, members, sequences, parts, span).build()


class _Builder:
    def __init__(
        self, schema: Schema, members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut, span: int
    ) -> None:
        self.schema, self.members, self.sequences, self.parts, self.span = schema, members, sequences, parts, span
        self.columns = Columns(schema)
        self.symbols: dict[Symbol, int] = {}
        self.weights: dict[str, list[Column]] = {family: [] for family in FAMILIES}
        for member in members:  # numbered by the queries, so that whatever is cut out of them has the same numbers
            for symbols in symbols_of(member.part.automaton):
                for symbol in symbols:
                    self.symbols.setdefault(symbol, len(self.symbols))
            for family in FAMILIES:
                for _, channel, _ in self._layout_channels(member, family):
                    if channel.column is not None and channel.column not in self.weights[family]:
                        self.weights[family].append(channel.column)
        self.first = [use for chain in parts.chains for use in chain[:1]]
        self.linked = {use for chain in parts.chains for use in chain[1:]}
        self.links = sorted(self.linked, key=lambda use: (use.segment, use.sequence, use.offset))
        self.channels: list[int] = []

    def build(self) -> Counting:
        segments = self.parts.segments
        bounds = [{family: self._bounds(segment, family) for family in FAMILIES} for segment in segments]
        plain = self._plain()
        codes, weight_at = self._codes(bounds)
        table, results = self._segments(bounds, plain, weight_at)
        link, sequence = self._uses(bounds, plain)
        tables = build_tables(
            Automaton(tuple(_position(symbol, i) for symbol, i in self.symbols.items()), ()),
            Layout((COUNT_ALL,), (), ()), self.schema, self.columns, Names((), {}, NOTHING),
        )  # fmt: skip
        ring_column, real_column, least_column = (
            np.array([self.columns.index(column) for column in self.weights[family]], np.int64) for family in FAMILIES
        )
        plains, clears, targets, begins = self._targets(plain, table)
        target_ptr, target = _csr([sorted(rows, reverse=True) for rows in targets], 2)
        gathers = [_csr([sorted(found) for found in self._gathered(bounds, codes, weight_at, n)]) for n in range(3)]
        plain_ptr, plain_entries = _csr([sorted(rows, reverse=True) for rows in plains])
        clear_ptr, clear_entries = _csr(clears)
        unit = np.zeros(max([0, *(p + len(s) + 1 for p, s in zip(plain, segments, strict=True) if p >= 0)]))
        unit[plain[plain >= 0]] = 1
        dtype = np.uint64 if self.members[0].query.arithmetic == "modular" else np.float64
        [ring_ptr, ring], [real_ptr, real], [least_ptr, least] = gathers
        program = Program(
            tables.binding_ptr, tables.binding, tables.local,
            ring_ptr, ring, real_ptr, real, least_ptr, least, ring_column, real_column, least_column,
            plain_ptr, plain_entries.astype(np.uint64), clear_ptr, clear_entries.astype(np.uint64),
            target_ptr, target[:, 0], target[:, 1], *_csr(begins), table, link, sequence, self._queries(),
            np.array([code for rows in codes for row in rows for code in row], np.int64),
            np.array(self.channels, np.int64), unit.astype(dtype), np.array(self._widest(bounds), np.int64),
        )  # fmt: skip
        weights = (len(ring_column), len(real_column), len(least_column))
        return Counting(_frozen(program), self.columns, weights, plain, results)

    def _layout_channels(self, member: Member, family: str) -> Iterator[tuple[int, Channel, Weights]]:
        """The channels of a query in a family but COUNT(*), numbered."""
        channels: tuple[Channel, ...] = getattr(member.query.layout, family)
        weights: Weights = getattr(member.part.tables, family)
        for c in range(1 if family == "ring" else 0, len(channels)):
            yield c, channels[c], weights

    def _bound(self, use: Use, channel: int, column: Column | None, weights: Weights) -> Bound:
        positions = self.sequences[use.sequence].positions[use.offset :]
        length = len(self.parts.segments[use.segment])
        return Bound(frozenset(i for i, p in enumerate(positions[:length]) if weights.bound[channel, p]), column)

    def _bounds(self, segment: Segment, family: str) -> list[Bound]:
        """The channels of a segment in a family: the union of what its uses need."""
        found: dict[Bound, None] = {}
        for use in segment.uses:
            member = self.members[self.sequences[use.sequence].query]
            for c, channel, weights in self._layout_channels(member, family):
                bound = self._bound(use, c, channel.column, weights)
                if bound.places:
                    found[bound] = None
        return list(found)

    def _plain(self) -> NDArray[np.int64]:
        """The entry of place 0 of each plain segment, or -1."""
        plain = np.full(len(self.parts.segments), -1, np.int64)
        size = 0
        for g, segment in enumerate(self.parts.segments):
            counts = all(self.members[self.sequences[use.sequence].query].only_counts for use in segment.uses)
            if self.span == 1 and counts and self.linked.isdisjoint(segment.uses):
                plain[g] = size
                size += len(segment) + 1
        return plain

    def _codes(self, bounds: list[dict[str, list[Bound]]]) -> tuple[list[list[list[int]]], list[int]]:
        """For each segment its channels' codes per place, and where they begin when all are strung together."""
        codes: list[list[list[int]]] = []
        at = [0]
        for segment, families in zip(self.parts.segments, bounds, strict=True):
            rows = []
            for family in FAMILIES:
                for bound in families[family]:
                    code = BY_COUNT if bound.column is None else self.weights[family].index(bound.column)
                    rows.append([code if place in bound.places else NOT_BOUND for place in range(len(segment))])
            codes.append(rows)
            at.append(at[-1] + len(rows) * len(segment))
        return codes, at

    def _gathered(
        self, bounds: list[dict[str, list[Bound]]], codes: list[list[list[int]]], at: list[int], family: int
    ) -> list[set[int]]:
        """The weights of a family that each symbol gathers."""
        found: list[set[int]] = [set() for _ in self.symbols]
        for segment, families, rows in zip(self.parts.segments, bounds, codes, strict=True):
            before = sum(len(families[name]) for name in FAMILIES[:family])
            for row in rows[before : before + len(families[FAMILIES[family]])]:
                for symbol, code in zip(segment.symbols, row, strict=True):
                    if code >= 0:
                        found[self.symbols[symbol]].add(code)
        return found

    def _widest(self, bounds: list[dict[str, list[Bound]]]) -> list[int]:
        """The most channels of a query or segment in each family."""
        queries = [[len(getattr(member.query.layout, family)) for family in FAMILIES] for member in self.members]
        segments = [[(family == "ring") + len(known[family]) for family in FAMILIES] for known in bounds]
        return [max(sizes) for sizes in zip(*queries, *segments, strict=True)]

    def _segments(
        self, bounds: list[dict[str, list[Bound]]], plain: NDArray[np.int64], weight_at: list[int]
    ) -> tuple[NDArray[np.int64], tuple[int, int, int]]:
        begins = {use.segment for use in self.first}
        rows = []
        size = [2 * wide for wide in self._widest(bounds)]  # two cells come first
        linked = Counter(use.segment for use in self.links)
        links = 0
        for g, segment in enumerate(self.parts.segments):
            own = linked[g]
            channels = [1 + len(bounds[g]["ring"]), len(bounds[g]["real"]), len(bounds[g]["least"])]
            kept = len(segment) if own else len(segment) - 1
            first = g in begins
            if plain[g] >= 0:
                channels, kept, first = [0, 0, 0], 0, False
            single = not own and (self.span == 1 or len(segment) == 1)
            rows.append([len(segment), kept, single, first, *channels, weight_at[g], *size, links, links + own])
            links += own
            if first:
                size = [at + self.span * count for at, count in zip(size, channels, strict=True)]
        return np.array(rows, np.int64).reshape(len(rows), 13), (size[0], size[1], size[2])

    def _uses(
        self, bounds: list[dict[str, list[Bound]]], plain: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        number = {use: i for i, use in enumerate(self.links)}
        links: list[list[int]] = [[] for _ in self.links]
        sequences = []
        for s, chain in enumerate(self.parts.chains):
            query = self.sequences[s].query
            for before, use in pairwise(chain):
                links[number[use]] = [query, use.segment, self._map(use, bounds), s, number.get(before, -1)]
            [first, *_] = chain
            begin = int(plain[first.segment])
            known = begin + len(self.parts.segments[first.segment]) if begin >= 0 else -1
            sequences.append([query, first.segment, self._map(first, bounds), known, number.get(chain[-1], -1)])
        return np.array(links, np.int64).reshape(len(links), 5), np.array(sequences, np.int64).reshape(
            len(sequences), 5
        )

    def _map(self, use: Use, bounds: list[dict[str, list[Bound]]]) -> int:
        """Appends the segment's channel for each channel of the query that uses it; returns where they begin."""
        at = len(self.channels)
        member = self.members[self.sequences[use.sequence].query]
        self.channels.append(0)  # COUNT(*)
        for family in FAMILIES:
            known = bounds[use.segment][family]
            for c, channel, weights in self._layout_channels(member, family):
                bound = self._bound(use, c, channel.column, weights)
                found = known.index(bound) + (family == "ring") if bound.places else -1
                self.channels.append(found)
        return at

    def _targets(
        self, plain: NDArray[np.int64], table: NDArray[np.int64]
    ) -> tuple[list[list[int]], list[list[int]], list[list[tuple[int, int]]], list[list[int]]]:
        """Per symbol: plain entries, plain entries to clear, other targets by level, and segments that it begins."""
        plains: list[list[int]] = [[] for _ in self.symbols]
        clears: list[list[int]] = [[] for _ in self.symbols]
        targets: list[list[tuple[int, int]]] = [[] for _ in self.symbols]
        begins: list[list[int]] = [[] for _ in self.symbols]
        for g, segment in enumerate(self.parts.segments):
            for j, symbol in enumerate(segment.symbols, start=1):
                if plain[g] >= 0:
                    plains[self.symbols[symbol]].append(int(plain[g]) + j)
                else:
                    targets[self.symbols[symbol]].append((2 * j, g))
            for j, negated in enumerate(segment.negated, start=1):
                for symbol in negated:
                    if plain[g] >= 0:
                        clears[self.symbols[symbol]].append(int(plain[g]) + j)
                    else:
                        targets[self.symbols[symbol]].append((2 * j + 1, g))
            if not table[g, SINGLE]:
                begins[self.symbols[segment.symbols[0]]].append(g)
        return plains, clears, targets, begins

    def _queries(self) -> NDArray[np.int64]:
        number = Counter(sequence.query for sequence in self.sequences)
        rows = []
        begin = 0
        for q, member in enumerate(self.members):
            layout = member.query.layout
            rows.append([len(layout.ring), len(layout.real), len(layout.least), begin, begin + number[q]])
            begin += number[q]
        return np.array(rows, np.int64)


def _position(symbol: Symbol, number: int) -> Position:
    return Position(symbol.type, (number,), NOTHING, NOTHING, tuple(sorted(symbol.predicates, key=str)))


def _csr(rows: Iterable[Sequences[Any]], width: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lists = [list(row) for row in rows]
    ptr = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=ptr[1:])
    items = np.array([item for row in lists for item in row], np.int64)
    return ptr, items.reshape(-1, width) if width else items


def _frozen(program: Program) -> Program:
    """The tables, read-only and contiguous: Numba compiles a kernel per kind of array."""
    local = Predicates(*(_readonly(array) for array in program.local))
    others = {name: _readonly(array) for name, array in program._asdict().items() if name != "local"}
    return Program(**others, local=local)


def _readonly(array: NDArray[Any]) -> NDArray[Any]:
    return readonly(np.ascontiguousarray(array))
