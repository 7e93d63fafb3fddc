"""The channels of a sharable set: members that sum the same column share a channel, so that expressions serve all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.cells import Cells, Weighing
from cepbench.algorithms.rows import AggregateRows
from cepbench.queries.aggregates import COUNT_ALL, Layout
from cepbench.queries.tables import Tables, Weights


@dataclass(frozen=True)
class Channel:
    """A channel: its column, and, by state, whether its events count for the channel."""

    column: int
    counts: dict[Hashable, bool] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class MemberChannels:
    """`of_set[f]`: the channels of the set in family f; `of_member[m][f]`: numbers of those of member m."""

    of_set: tuple[list[Channel], list[Channel], list[Channel]]
    of_member: list[tuple[list[int], ...]]

    @staticmethod
    def of_members(tables: Sequence[Tables], states: Sequence[Sequence[Hashable]]) -> MemberChannels:
        """The fewest channels such that no two of one member are the same; `states` has those of the positions.

        Where members have states in common, they share a channel if they sum the same column at all states that both
        have. The first channel of each member, and of all, is COUNT(*).
        """
        channels = MemberChannels(([], [], []), [])
        for table, positions in zip(tables, states, strict=True):
            families = zip((table.ring, table.real, table.least), channels.of_set, strict=True)
            channels.of_member.append(tuple(_chosen(weights, positions, family) for weights, family in families))
        return channels

    @property
    def layout(self) -> Layout:
        """A layout with as many channels, for cells."""
        return Layout(*((COUNT_ALL,) * len(channels) for channels in self.of_set))

    def weights(self, order: Sequence[Hashable]) -> Weighing:
        """The channels for which the events of each state in `order` count; one extra state, last, counts for all
        channels, as `Weighing` says. No event counts for COUNT(*), the first channel.
        """
        weights = []
        for channels in self.of_set:
            bound = [[*(channel.counts.get(state, False) for state in order), True] for channel in channels]
            flags = np.array(bound, np.bool_).reshape(len(channels), len(order) + 1)
            weights.append(Weights(flags, np.array([channel.column for channel in channels], np.int64)))
        weights[0].bound[0] = False
        return Weighing(*weights)

    def rows(self, m: int, window: NDArray[np.int64], cells: Cells, chosen: NDArray[np.int64]) -> AggregateRows:
        """The `chosen` cells as rows of a member, with its own channels."""
        ring, real, least = self.of_member[m]
        over = cells.over[chosen]
        member_over = np.zeros(len(chosen), np.uint64)
        for c, channel in enumerate(ring):
            member_over |= (over >> np.uint64(channel) & np.uint64(1)) << np.uint64(c)
        return AggregateRows(
            window[chosen],
            cells.counts[chosen][:, ring],
            member_over,
            cells.reals[chosen][:, int(cells.words.real) :][:, real],
            cells.ints[chosen][:, int(cells.words.least) :][:, least],
        )


def _chosen(weights: Weights, states: Sequence[Hashable], channels: list[Channel]) -> list[int]:
    """The numbers of the channels of a member in a family: those of the set that fit, and new ones."""
    chosen: list[int] = []
    for column, bound in zip(weights.column.tolist(), weights.bound.tolist(), strict=True):
        counts = dict(zip(states, bound, strict=True))
        fitting = (
            n
            for n, channel in enumerate(channels)
            if column == channel.column
            and n not in chosen
            and all(channel.counts.get(s, c) == c for s, c in counts.items())
        )
        n = next(fitting, len(channels))
        if n == len(channels):
            channels.append(Channel(column))
        channels[n].counts.update(counts)
        chosen.append(n)
    return chosen
