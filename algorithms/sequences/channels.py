"""The channels of each segment: the union of what the queries that use it need from its places."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from collections.abc import Sequence as Sequences
from dataclasses import dataclass

from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.sequences.kernels.program import BY_COUNT, NOT_BOUND, PerFamily
from cepbench.algorithms.sequences.segments import Cut, Segment, Use
from cepbench.queries.aggregates import Channel, Column
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.tables import Weights

FAMILIES = PerFamily._fields


@dataclass(frozen=True, eq=False)
class Member:
    """A query whose sequences a counter counts, and the part of it to which they belong."""

    query: CompiledQuery
    part: Part

    @property
    def width(self) -> PerFamily:
        """Number of channels that it returns."""
        layout = self.query.layout
        return PerFamily(len(layout.ring), len(layout.real), len(layout.least))

    @property
    def only_counts(self) -> bool:
        """Whether it returns only COUNT(*)."""
        return self.width == (1, 0, 0)


@dataclass(frozen=True)
class Bound:
    """A channel of a segment: the places that it counts (from 0), and the column of their weight, or None for 1."""

    places: frozenset[int]
    column: Column | None


class Channels:
    """Channels of all segments, except COUNT(*), which all segments have.

    - `bounds[g][f]`: channels of segment g in family f.
    - `codes[g]`: per place of segment g, a code per channel of all families, including COUNT(*) (`Program.code`).
    - `weights[f]`: the columns to which codes refer.

    Channels of different queries that count the same places are merged. A segment that continues the counts of its
    sequence has the channels of its query, and an additional place before its first one, which counts for none.
    """

    def __init__(
        self, members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut, carrying: frozenset[int]
    ) -> None:
        self.members, self.sequences, self.parts, self.carrying = members, sequences, parts, carrying
        self.weights: list[list[Column]] = [[] for _ in FAMILIES]
        for member in members:  # numbered per query, so that all its segments use the same numbers
            for weights, family in zip(self.weights, FAMILIES, strict=True):
                for _, channel, _ in _channels(member, family):
                    if channel.column is not None and channel.column not in weights:
                        weights.append(channel.column)
        self.bounds = [[self._bounds(g, family) for family in FAMILIES] for g in range(len(parts.segments))]
        self.codes = [self._codes(g) for g in range(len(parts.segments))]

    def sizes(self, segment: int) -> PerFamily:
        """Number of channels of a segment, including COUNT(*)."""
        ring, real, least = self.bounds[segment]
        return PerFamily(1 + len(ring), len(real), len(least))

    def widest(self) -> PerFamily:
        """Maximum number of channels of a query or segment in each family."""
        sizes = [member.width for member in self.members] + [self.sizes(g) for g in range(len(self.parts.segments))]
        return PerFamily(*map(max, zip(*sizes, strict=True)))

    def mapped(self, use: Use) -> list[int]:
        """For each channel of the query that uses a segment, the segment's channel or -1; families in order."""
        member = self.members[self.sequences[use.sequence].query]
        channels = [0]  # COUNT(*)
        for family, bounds in zip(FAMILIES, self.bounds[use.segment], strict=True):
            for number, (c, needed, weights) in enumerate(_channels(member, family)):
                before = 1 if family == "ring" else 0
                if use.segment in self.carrying:
                    channels.append(before + number)
                    continue
                bound = self._bound(use, c, needed.column, weights)
                channels.append(before + bounds.index(bound) if bound.places else -1)
        return channels

    def gathered(self, symbols: dict[Symbol, int]) -> list[list[list[int]]]:
        """For each family and symbol, the weights that are summed over events of the symbol."""
        weights_of: list[list[set[int]]] = [[set() for _ in symbols] for _ in FAMILIES]
        for g, segment in enumerate(self.parts.segments):
            families = [family for family, size in enumerate(self.sizes(g)) for _ in range(size)]
            for symbol, codes in zip(segment.symbols, self.codes[g][self.shift(g) :], strict=True):
                for family, code in zip(families, codes, strict=True):
                    if code >= 0:
                        weights_of[family][symbols[symbol]].add(code)
        return [[sorted(weights) for weights in rows] for rows in weights_of]

    def shift(self, segment: int) -> int:
        """Number of additional places before a segment's own."""
        return int(segment in self.carrying)

    def _bounds(self, g: int, family: str) -> list[Bound]:
        segment: Segment = self.parts.segments[g]
        bounds = []
        for use in segment.uses:
            member = self.members[self.sequences[use.sequence].query]
            for c, channel, weights in _channels(member, family):
                bounds.append(self._bound(use, c, channel.column, weights))
        return bounds if g in self.carrying else list(dict.fromkeys(bound for bound in bounds if bound.places))

    def _bound(self, use: Use, channel: int, column: Column | None, weights: Weights) -> Bound:
        positions = self.sequences[use.sequence].positions[use.offset :]
        length = len(self.parts.segments[use.segment])
        return Bound(frozenset(i for i, p in enumerate(positions[:length]) if weights.bound[channel, p]), column)

    def _codes(self, g: int) -> list[tuple[int, ...]]:
        places = range(len(self.parts.segments[g]))
        rows = [[NOT_BOUND] * (self.shift(g) + len(places))]  # COUNT(*)
        for weights, bounds in zip(self.weights, self.bounds[g], strict=True):
            for bound in bounds:
                code = BY_COUNT if bound.column is None else weights.index(bound.column)
                row = [code if i in bound.places else NOT_BOUND for i in places]
                rows.append([NOT_BOUND] * self.shift(g) + row)
        return list(zip(*rows, strict=True))


def counted(member: Member, positions: tuple[int, ...]) -> Hashable:
    """The aggregates of a query on a path through its pattern; equal if queries count the same on these events."""
    return member.width, tuple(
        (channel.column, tuple(bool(weights.bound[c, p]) for p in positions))
        for family in FAMILIES
        for c, channel, weights in _channels(member, family)
    )


def _channels(member: Member, family: str) -> Iterator[tuple[int, Channel, Weights]]:
    """The channels of a query in a family, except COUNT(*), with their numbers."""
    channels: tuple[Channel, ...] = getattr(member.query.layout, family)
    weights: Weights = getattr(member.part.tables, family)
    for c in range(1 if family == "ring" else 0, len(channels)):
        yield c, channels[c], weights
