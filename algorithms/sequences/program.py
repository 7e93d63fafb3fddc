"""From segments to the tables that the kernels read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence as Sequences
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.sequences.channels import Channels, Member
from cepbench.algorithms.sequences.event_sequence import Sequence, Symbol
from cepbench.algorithms.sequences.flattening import symbols_of
from cepbench.algorithms.sequences.kernels.tables import (
    BY_START,
    BY_WINDOW,
    LEAST,
    ONE,
    QUERY,
    QUERY_LEAST,
    QUERY_REAL,
    QUERY_RING,
    REAL,
    RING,
    ROWS,
    SEGMENT,
    SLOTS,
    Program,
)
from cepbench.algorithms.sequences.segments import Cut, Use
from cepbench.events.schema import Schema
from cepbench.queries.aggregates import COUNT_ALL, Layout
from cepbench.queries.automaton import Automaton, Position
from cepbench.queries.names import Names
from cepbench.queries.tables import Columns, Predicates, build_tables

NOTHING: frozenset[int] = frozenset()
CHANNEL_BYTES = np.array([9, 8, 8])
"""A value of each family: ring values have a flag."""


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
        for member in members:  # numbered by the queries, so that whatever is cut out of them has the same numbers
            for symbols in symbols_of(member.part.automaton):
                for symbol in symbols:
                    self.symbols.setdefault(symbol, len(self.symbols))
        linked = {use for chain in parts.chains for use in chain[1:]}
        self.links = sorted(linked, key=lambda use: (use.segment, use.sequence, use.offset))
        self.linked = Counter(use.segment for use in linked)
        self.begins = {chain[0].segment for chain in parts.chains}
        carrying = frozenset(use.segment for use in linked if len(parts.segments[use.segment].uses) == 1)
        self.channels = Channels(members, sequences, parts, carrying)

    def build(self) -> Counting:
        plain = self._plain()
        table, results = self._segments(plain)
        link, sequence, channel = self._uses(plain)
        tables = build_tables(
            Automaton(tuple(_position(symbol, i) for symbol, i in self.symbols.items()), ()),
            Layout((COUNT_ALL,), (), ()), self.schema, self.columns, Names((), {}, NOTHING),
        )  # fmt: skip
        ring_column, real_column, least_column = (
            np.array([self.columns.index(column) for column in columns], np.int64) for columns in self.channels.weights
        )
        plains, clears, targets, begins = self._targets(plain, table)
        target_ptr, target = _csr([sorted(rows, reverse=True) for rows in targets], 2)
        [ring_ptr, ring], [real_ptr, real], [least_ptr, least] = map(_csr, self.channels.gathered(self.symbols))
        plain_ptr, plain_entries = _csr([sorted(rows, reverse=True) for rows in plains])
        before = self._sources(plain)
        source = np.array([before.get(entry, entry - 1) for entry in plain_entries.tolist()], np.uint64)
        clear_ptr, clear_entries = _csr(clears)
        ends = [p + len(segment) + 1 for p, segment in zip(plain, self.parts.segments, strict=True) if p >= 0]
        unit = np.zeros(max(ends, default=0))
        unit[plain[plain >= 0]] = 1
        dtype = np.uint64 if self.members[0].query.arithmetic == "modular" else np.float64
        program = Program(
            tables.binding_ptr, tables.binding, tables.local,
            ring_ptr, ring, real_ptr, real, least_ptr, least, ring_column, real_column, least_column,
            plain_ptr, plain_entries.astype(np.uint64), source, clear_ptr, clear_entries.astype(np.uint64),
            target_ptr, target[:, 0], target[:, 1], *_csr(begins), table, link, sequence, self._queries(),
            np.array([code for rows in self.channels.codes for row in rows for code in row], np.int64),
            channel, unit.astype(dtype), self._slot_bytes(table, link), np.array(self.channels.widest(), np.int64),
        )  # fmt: skip
        weights = (len(ring_column), len(real_column), len(least_column))
        return Counting(_contiguous(program), self.columns, weights, plain, results)

    def _plain(self) -> NDArray[np.int64]:
        """The entry of place 0 of each plain segment, or -1; those of later segments of a sequence come later."""
        plain = np.full(len(self.parts.segments), -1, np.int64)
        size = 0
        for ordinal in range(max(map(len, self.parts.chains), default=0) if self.span == 1 else 0):
            for use in sorted((chain[ordinal] for chain in self.parts.chains if ordinal < len(chain)), key=_by_segment):
                g = use.segment
                uses = self.parts.segments[g].uses
                counts = all(self.members[self.sequences[other.sequence].query].only_counts for other in uses)
                before = self.parts.chains[use.sequence][ordinal - 1].segment if ordinal else -1
                carried = g in self.channels.carrying and plain[before] >= 0 if ordinal else not self.linked[g]
                if counts and carried and plain[g] < 0:
                    plain[g] = size
                    size += len(self.parts.segments[g]) + 1
        return plain

    def _sources(self, plain: NDArray[np.int64]) -> dict[int, int]:
        """For entries of place 1 that carry on what came before, the last entry of that."""
        found = {}
        for chain in self.parts.chains:
            for before, use in pairwise(chain):
                if plain[use.segment] >= 0:
                    last = len(self.parts.segments[before.segment])
                    found[int(plain[use.segment]) + 1] = int(plain[before.segment]) + last
        return found

    def _segments(self, plain: NDArray[np.int64]) -> tuple[NDArray[np.int64], tuple[int, int, int]]:
        rows = []
        size = [2 * wide for wide in self.channels.widest()]  # two cells come first
        links = weight = 0
        for g, segment in enumerate(self.parts.segments):
            own, channels, first = self.linked[g], self.channels.sizes(g), g in self.begins
            length = len(segment) + self.channels.shift(g)
            kept = length if own else length - 1
            slots = ONE if not own and (self.span == 1 or length == 1) else BY_START
            if g in self.channels.carrying:
                slots = BY_WINDOW
            if plain[g] >= 0:
                channels, kept, first, slots = [0, 0, 0], 0, False, ONE
            rows.append([length, kept, slots, first, *channels, weight, *size, links, links + own])
            links += own
            weight += length * len(self.channels.codes[g])
            if first:
                size = [at + self.span * count for at, count in zip(size, channels, strict=True)]
        return np.array(rows, np.int64).reshape(len(rows), 13), (size[0], size[1], size[2])

    def _slot_bytes(self, table: NDArray[np.int64], link: NDArray[np.int64]) -> NDArray[np.int64]:
        """What a slot of each segment takes, its snapshots in all windows included."""
        size: NDArray[np.int64] = table[:, ROWS] * (table[:, [RING, REAL, LEAST]] @ CHANNEL_BYTES)
        by_start = link[table[link[:, SEGMENT], SLOTS] == BY_START]
        query = self._queries()[by_start[:, QUERY]]
        np.add.at(
            size, by_start[:, SEGMENT], self.span * (query[:, [QUERY_RING, QUERY_REAL, QUERY_LEAST]] @ CHANNEL_BYTES)
        )
        return size

    def _uses(self, plain: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Links, sequences, and their channels strung together."""
        number = {use: i for i, use in enumerate(self.links)}
        links: list[list[int]] = [[] for _ in self.links]
        sequences: list[list[int]] = []
        channels: list[int] = []
        for s, chain in enumerate(self.parts.chains):
            query = self.sequences[s].query
            for before, use in pairwise(chain):
                entry = self._entry(use.segment, plain)
                links[number[use]] = [query, use.segment, len(channels), s, number.get(before, -1), entry]
                channels += self.channels.mapped(use)
            first = chain[0]
            entry = self._entry(first.segment, plain)
            sequences.append([query, first.segment, len(channels), entry, number.get(chain[-1], -1)])
            channels += self.channels.mapped(first)
        link, sequence = np.array(links, np.int64).reshape(-1, 6), np.array(sequences, np.int64).reshape(-1, 5)
        return link, sequence, np.array(channels, np.int64)

    def _entry(self, segment: int, plain: NDArray[np.int64]) -> int:
        """The entry of the last place of a plain segment, or -1."""
        return int(plain[segment]) + len(self.parts.segments[segment]) if plain[segment] >= 0 else -1

    def _targets(
        self, plain: NDArray[np.int64], table: NDArray[np.int64]
    ) -> tuple[list[list[int]], list[list[int]], list[list[tuple[int, int]]], list[list[int]]]:
        """Per symbol: plain entries, plain entries to clear, other targets by level, and segments that it begins."""
        plains: list[list[int]] = [[] for _ in self.symbols]
        clears: list[list[int]] = [[] for _ in self.symbols]
        targets: list[list[tuple[int, int]]] = [[] for _ in self.symbols]
        begins: list[list[int]] = [[] for _ in self.symbols]
        for g, segment in enumerate(self.parts.segments):
            first = 1 if plain[g] >= 0 else 1 + self.channels.shift(g)
            for j, symbol in enumerate(segment.symbols, start=first):
                if plain[g] >= 0:
                    plains[self.symbols[symbol]].append(int(plain[g]) + j)
                else:
                    targets[self.symbols[symbol]].append((2 * j, g))
            for j, negated in enumerate(segment.negated, start=first):
                for symbol in negated:
                    if plain[g] >= 0:
                        clears[self.symbols[symbol]].append(int(plain[g]) + j)
                    else:
                        targets[self.symbols[symbol]].append((2 * j + 1, g))
            if table[g, SLOTS] != ONE:
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


def _by_segment(use: Use) -> int:
    return use.segment


def _position(symbol: Symbol, number: int) -> Position:
    return Position(symbol.type, (number,), NOTHING, NOTHING, tuple(sorted(symbol.predicates, key=str)))


def _csr(rows: Iterable[Sequences[Any]], width: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lists = [list(row) for row in rows]
    ptr = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=ptr[1:])
    items = np.array([item for row in lists for item in row], np.int64)
    return ptr, items.reshape(-1, width) if width else items


def _contiguous(program: Program) -> Program:
    """The tables in contiguous arrays that may be written, as they are after pickling: Numba compiles a kernel per kind
    of array.
    """
    local = Predicates(*(_whole(array) for array in program.local))
    others = {name: _whole(array) for name, array in program._asdict().items() if name != "local"}
    return Program(**others, local=local)


def _whole(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array)
