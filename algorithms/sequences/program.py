"""Compiles segments into the tables that the kernels read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from collections.abc import Sequence as Sequences
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.engine.flattening import symbols_of
from cepbench.algorithms.sequences.channels import Channels, Member, counted, empty_of, kind_of
from cepbench.algorithms.sequences.kernels.program import (
    BY_START,
    BY_WINDOW,
    SINGLE,
    Chains,
    ChannelRecord,
    LinkRecord,
    PlainRecord,
    Program,
    QueryRecord,
    SegmentRecord,
    SequenceRecord,
    TargetRecord,
    TotalRecord,
)
from cepbench.algorithms.sequences.segments import Cut, Use
from cepbench.events.schema import Schema
from cepbench.queries.columns import ColumnSet
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import Columns, bindings, csr, flag_rows

VALUE_BYTES = 9
"""Bytes of a value in `Values`: a word and its flag."""


@dataclass(frozen=True, eq=False)
class Counting:
    """The tables of a counter, and the layout of its state.

    `columns` are the kernel columns of events. `plain[g]` is the entry of place 0 of a plain segment, or -1. In the
    `Values` of a key, totals of symbols end at `totals`, and results of segments at `results`.
    """

    program: Program
    columns: ColumnSet
    plain: NDArray[np.int64]
    totals: int
    results: int


def make_counting(
    schema: Schema, members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut, span: int
) -> Counting:
    """Tables for sequences, ordered by `query`, an index into `members`; an event lies in up to `span` windows."""
    return _Builder(schema, members, sequences, parts, span).build()


class _Builder:
    def __init__(
        self, schema: Schema, members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut, span: int
    ) -> None:
        self.schema, self.members, self.sequences, self.parts, self.span = schema, members, sequences, parts, span
        self.columns = Columns(schema)
        self.symbols: dict[Symbol, int] = {}
        for member in members:  # numbered per query, so that all its segments use the same numbers
            for symbols in symbols_of(member.part.automaton):
                for symbol in symbols:
                    self.symbols.setdefault(symbol, len(self.symbols))
        self.links = links_of(members, sequences, parts)
        self.linked = Counter(use.segment for use in self.links.uses)
        self.begins = {chain[0].segment for chain in parts.chains}
        carrying = frozenset(use.segment for use in self.links.uses if len(parts.segments[use.segment].uses) == 1)
        self.channels = Channels(members, sequences, parts, carrying)

    def build(self) -> Counting:
        columns, channels = self.columns, self.channels
        plain = self._plain()
        local = flag_rows([sorted(symbol.predicates, key=str) for symbol in self.symbols], columns)
        binding_ptr, binding = bindings([symbol.type for symbol in self.symbols], self.schema)
        totals = [(kind_of(column), columns.index(column), empty_of(kind_of(column))) for column in channels.totals]
        answer, first = channels.widest, 2 * channels.widest
        end = first + len(self.symbols) * len(totals)
        segment, results = self._segments(plain, end)
        plains, clears, targets, begins = self._targets(plain, segment)
        clear_ptr, clear = csr(clears)
        unit = np.zeros(sum(len(s) + 1 for p, s in zip(plain, self.parts.segments, strict=True) if p >= 0))
        unit[plain[plain >= 0]] = 1
        program = Program(
            binding_ptr, binding, local,
            np.array(totals, records_of(TotalRecord)), *csr(channels.gathered(self.symbols)),
            *_records(plains, PlainRecord), clear_ptr, clear.astype(np.uint64), *_records(targets, TargetRecord),
            *csr(begins), self._chains(plain, segment),
            np.array([code for codes in channels.codes for place in codes for code in place], np.int64),
            unit.astype(np.uint64 if self.members[0].query.arithmetic == "modular" else np.float64),
            answer, first,
        )  # fmt: skip
        return Counting(program, columns.whole, plain, end, results)

    def _plain(self) -> NDArray[np.int64]:
        """The entry of place 0 of each plain segment, or -1; later segments of a sequence have later entries."""
        plain = np.full(len(self.parts.segments), -1, np.int64)
        size = 0
        for ordinal in range(max(map(len, self.parts.chains), default=0) if self.span == 1 else 0):
            for use in sorted((chain[ordinal] for chain in self.parts.chains if ordinal < len(chain)), key=_by_segment):
                g = use.segment
                uses = self.parts.segments[g].uses
                counts = all(self.members[self.sequences[user.sequence].query].only_counts for user in uses)
                before = self.parts.chains[use.sequence][ordinal - 1].segment if ordinal else -1
                carried = g in self.channels.carrying and plain[before] >= 0 if ordinal else not self.linked[g]
                if counts and carried and plain[g] < 0:
                    plain[g] = size
                    size += len(self.parts.segments[g]) + 1
        return plain

    def _sources(self, plain: NDArray[np.int64]) -> dict[int, int]:
        """For entries of place 1 that continue earlier counts, the last entry of these."""
        sources = {}
        for chain in self.parts.chains:
            for before, use in pairwise(chain):
                if plain[use.segment] >= 0:
                    last = len(self.parts.segments[before.segment])
                    sources[int(plain[use.segment]) + 1] = int(plain[before.segment]) + last
        return sources

    def _segments(self, plain: NDArray[np.int64], size: int) -> tuple[Records, int]:
        """The table of segments, and the end of their results, which begin at `size`."""
        rows = []
        links = code = channel = 0
        for g, segment in enumerate(self.parts.segments):
            linked, width, first = self.linked[g], len(self.channels.bounds[g]), g in self.begins
            length = len(segment) + self.channels.shift(g)
            kept = length if linked else length - 1
            slots = SINGLE if not linked and (self.span == 1 or length == 1) else BY_START
            if g in self.channels.carrying:
                slots = BY_WINDOW
            if plain[g] >= 0:
                width, kept, first, slots = 0, 0, False, SINGLE
            snapshots = self.links.uses[links : links + linked] if slots == BY_START else ()
            queries = [self.members[self.sequences[use.sequence].query] for use in snapshots]
            slot = VALUE_BYTES * (kept * width + self.span * sum(len(query.channels) for query in queries))
            rows.append((length, kept, slots, first, width, channel, code, size, links, links + linked, slot))
            links += linked
            code += sum(map(len, self.channels.codes[g]))
            channel += len(self.channels.bounds[g])
            size += self.span * width * first
        return np.array(rows, records_of(SegmentRecord)), size

    def _chains(self, plain: NDArray[np.int64], segments: Records) -> Chains:
        number = self.links.of
        links: list[tuple[int, ...]] = [()] * len(self.links.uses)
        sequences, queries = [], []
        sources: list[int] = []
        for s, chain in enumerate(self.parts.chains):
            query, first = self.sequences[s].query, chain[0]
            for before, use in pairwise(chain):
                if self.links.uses[number[use]] != use:
                    continue
                entry = self._entry(use.segment, plain)
                links[number[use]] = (query, use.segment, len(sources), number.get(before, -1), entry, s)
                sources += self.channels.sources(use)
            last, entry = number.get(chain[-1], -1), self._entry(first.segment, plain)
            sequences.append((query, first.segment, len(sources), last, entry))
            sources += self.channels.sources(first)
        counted = Counter(sequence.query for sequence in self.sequences)
        channels = [bound.column for bounds in self.channels.bounds for bound in bounds]
        begin = 0
        alike: dict[Hashable, int] = {}
        for q, member in enumerate(self.members):
            end = begin + counted[q]
            like = alike.setdefault(self.links.answers[begin:end] or q, q)
            queries.append((len(member.channels), len(channels), begin, end, like))
            channels += [channel.column for channel in member.channels]
            begin = end
        records = np.array(queries, records_of(QueryRecord))
        return Chains(
            segments,
            np.array(links, records_of(LinkRecord)),
            np.array(sequences, records_of(SequenceRecord)),
            records,
            np.argsort(records["like"], kind="stable"),
            np.array([(kind_of(column), empty_of(kind_of(column))) for column in channels], records_of(ChannelRecord)),
            np.array(sources, np.int64),
        )

    def _entry(self, segment: int, plain: NDArray[np.int64]) -> int:
        """The entry of the last place of a plain segment, or -1."""
        return int(plain[segment]) + len(self.parts.segments[segment]) if plain[segment] >= 0 else -1

    def _targets(
        self, plain: NDArray[np.int64], table: Records
    ) -> tuple[list[list[tuple[int, int]]], list[list[int]], list[list[tuple[int, int]]], list[list[int]]]:
        """Per symbol: plain targets, plain entries to clear, other targets, and the segments with slots it begins."""
        plains: list[list[tuple[int, int]]] = [[] for _ in self.symbols]
        clears: list[list[int]] = [[] for _ in self.symbols]
        targets: list[list[tuple[int, int]]] = [[] for _ in self.symbols]
        begins: list[list[int]] = [[] for _ in self.symbols]
        sources = self._sources(plain)
        for g, segment in enumerate(self.parts.segments):
            first = 1 if plain[g] >= 0 else 1 + self.channels.shift(g)
            for j, symbol in enumerate(segment.symbols, start=first):
                if plain[g] >= 0:
                    entry = int(plain[g]) + j
                    plains[self.symbols[symbol]].append((entry, sources.get(entry, entry - 1)))
                else:
                    targets[self.symbols[symbol]].append((2 * j, g))
            for j, negated in enumerate(segment.negated, start=first):
                for symbol in negated:
                    if plain[g] >= 0:
                        clears[self.symbols[symbol]].append(int(plain[g]) + j)
                    else:
                        targets[self.symbols[symbol]].append((2 * j + 1, g))
            if table["slots"][g] != SINGLE:
                begins[self.symbols[segment.symbols[0]]].append(g)
        return plains, clears, targets, begins


def _by_segment(use: Use) -> int:
    return use.segment


def _records(lists: list[list[tuple[int, int]]], record: type) -> tuple[NDArray[np.int64], Records]:
    """Lists of records of two numbers, in descending order."""
    ptr, items = csr([sorted(row, reverse=True) for row in lists], width=2)
    return ptr, items.view(records_of(record)).reshape(-1)


@dataclass(frozen=True)
class Links:
    """Sequences whose chains begin with the same segments have the same counts so far, and share their links.

    - `uses`: per link, the use of its segment in the first sequence that has it; ordered by segment.
    - `of`: the link of each use of a segment, except for the first of a chain.
    - `answers[s]`: equal for sequences whose whole chains are the same.

    Two chains are the same up to a point if they consist of the same segments and their queries aggregate over the same
    places. A segment that is not shared belongs to one sequence, so chains diverge there.
    """

    uses: tuple[Use, ...]
    of: dict[Use, int]
    answers: tuple[Hashable, ...]


def links_of(members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut) -> Links:
    """The links of all chains, ordered by segment. O(length) per sequence and segment of it."""
    first: dict[Hashable, Use] = {}
    keys: dict[Use, Hashable] = {}
    answers = []
    for sequence, chain in zip(sequences, parts.chains, strict=True):
        member = members[sequence.query]
        end = 0
        for number, use in enumerate(chain):
            end += len(parts.segments[use.segment])
            key = tuple(earlier.segment for earlier in chain[: number + 1]), counted(member, sequence.positions[:end])
            if number:
                keys[use] = key
                first.setdefault(key, use)
        answers.append(key)
    uses = tuple(sorted(first.values(), key=lambda use: (use.segment, use.sequence, use.offset)))
    number_of = {keys[use]: number for number, use in enumerate(uses)}
    return Links(uses, {use: number_of[key] for use, key in keys.items()}, tuple(answers))
