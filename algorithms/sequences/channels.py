"""The channels of each segment: the union of what the queries that use it need from its places."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Sequence as Sequences
from dataclasses import dataclass
from functools import cached_property

from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.sequences.kernels.program import BY_COUNT, LEAST, NOT_BOUND, REAL, RING
from cepbench.algorithms.sequences.segments import Cut, Use
from cepbench.queries.aggregates import COUNT_ALL, NO_VALUE, Channel, Column, Transform
from cepbench.queries.compile import CompiledQuery, Part

KINDS = {Transform.REAL: REAL, Transform.KEY: LEAST, Transform.INVERTED_KEY: LEAST}
"""The kinds of channels by their columns; all others are ring channels."""


@dataclass(frozen=True, eq=False)
class Member:
    """A query whose sequences a counter counts, and the part of it to which they belong."""

    query: CompiledQuery
    part: Part

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The channels that it returns: COUNT(*), the other ring channels, real channels, least channels."""
        layout = self.query.layout
        return layout.ring + layout.real + layout.least

    @cached_property
    def bound(self) -> list[list[bool]]:
        """For each channel and position of the part, whether events at the position count for the channel."""
        tables = self.part.tables
        families = (tables.ring, tables.real, tables.least)
        return [bound for weights in families for bound in weights.bound.tolist()]

    @property
    def only_counts(self) -> bool:
        """Whether it returns only COUNT(*)."""
        return self.channels == (COUNT_ALL,)


@dataclass(frozen=True)
class Bound:
    """A channel of a segment: the places that it counts (from 0), and the column of their weight, or None for 1."""

    places: frozenset[int]
    column: Column | None


COUNT_BOUND = Bound(frozenset(), None)
"""COUNT(*), which no place counts for."""


class Channels:
    """Channels of all segments.

    - `bounds[g]`: channels of segment g, COUNT(*) first.
    - `codes[g]`: per place of segment g, a code per channel (`Program.code`).
    - `totals`: the columns to which codes refer.

    Channels of different queries that count the same places are merged. A segment that continues the counts of its
    sequence has the channels of its query, and an additional place before its first one, which counts for none.
    """

    def __init__(
        self, members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut, carrying: frozenset[int]
    ) -> None:
        self.members, self.sequences, self.parts, self.carrying = members, sequences, parts, carrying
        columns = (channel.column for member in members for channel in member.channels)
        # numbered per query, so that all its segments use the same numbers
        self.totals = tuple(dict.fromkeys(column for column in columns if column is not None))
        self.bounds = [self._bounds(g) for g in range(len(parts.segments))]
        self.codes = [self._codes(g) for g in range(len(parts.segments))]

    @property
    def widest(self) -> int:
        """Maximum number of channels of a query or segment."""
        return max(map(len, [*self.bounds, *(member.channels for member in self.members)]))

    def sources(self, use: Use) -> list[int]:
        """For each channel of the query that uses a segment, the segment's channel or -1."""
        bounds = self.bounds[use.segment]
        if use.segment in self.carrying:
            return list(range(len(bounds)))
        return [0, *(bounds.index(bound) if bound.places else -1 for bound in self._bounds_of(use)[1:])]

    def gathered(self, symbols: dict[Symbol, int]) -> list[list[int]]:
        """For each symbol, the totals over its events that some place needs."""
        totals_of: list[set[int]] = [set() for _ in symbols]
        for g, segment in enumerate(self.parts.segments):
            for symbol, codes in zip(segment.symbols, self.codes[g][self.shift(g) :], strict=True):
                totals_of[symbols[symbol]].update(code for code in codes if code >= 0)
        return [sorted(totals) for totals in totals_of]

    def shift(self, segment: int) -> int:
        """Number of additional places before a segment's own."""
        return int(segment in self.carrying)

    def _bounds(self, g: int) -> list[Bound]:
        bounds = [bound for use in self.parts.segments[g].uses for bound in self._bounds_of(use)]
        if g in self.carrying:
            return bounds
        return list(dict.fromkeys(bound for bound in bounds if bound.places or bound == COUNT_BOUND))

    def _bounds_of(self, use: Use) -> list[Bound]:
        """The channels of the query that uses a segment, restricted to the segment's places."""
        member = self.members[self.sequences[use.sequence].query]
        positions = self.sequences[use.sequence].positions[use.offset :][: len(self.parts.segments[use.segment])]
        return [
            Bound(frozenset(i for i, p in enumerate(positions) if bound[p]), channel.column)
            for channel, bound in zip(member.channels, member.bound, strict=True)
        ]

    def _codes(self, g: int) -> list[tuple[int, ...]]:
        rows = []
        for bound in self.bounds[g]:
            code = BY_COUNT if bound.column is None else self.totals.index(bound.column)
            places = (code if i in bound.places else NOT_BOUND for i in range(len(self.parts.segments[g])))
            rows.append([*[NOT_BOUND] * self.shift(g), *places])
        return list(zip(*rows, strict=True))


def kind_of(column: Column | None) -> int:
    """The kind of channels and totals of a column, or of COUNT."""
    return RING if column is None else KINDS.get(column.transform, RING)


def empty_of(kind: int) -> int:
    """The word of a channel of a kind without sequences, as an integer: 0 and 0.0 have the same bits."""
    return NO_VALUE if kind == LEAST else 0


def counted(member: Member, positions: tuple[int, ...]) -> Hashable:
    """The aggregates of a query on a path through its pattern; equal if queries count the same on these events."""
    channels = zip(member.channels, member.bound, strict=True)
    return tuple((channel.column, tuple(bound[p] for p in positions)) for channel, bound in channels)
