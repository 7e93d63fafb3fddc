"""The channels of a sharable set: members that add up the same column have it in common, so that expressions do."""

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
    """A channel: its column, and the states whose events count for it or do not."""

    column: int
    counts: dict[Hashable, bool] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class MemberChannels:
    """`known[f]`: the set's channels of a family; `of[m][f]`: which of them a member's own ones are."""

    known: tuple[list[Channel], list[Channel], list[Channel]]
    of: list[tuple[list[int], ...]]

    @staticmethod
    def of_members(tables: Sequence[Tables], states: Sequence[Sequence[Hashable]]) -> MemberChannels:
        """The fewest channels such that no two of one member are the same; `states` has those of the positions.

        Where members have states in common, they share a channel if they sum the same column at all states that both
        have. The first channel of each member, and of all, is COUNT(*).
        """
        found = MemberChannels(([], [], []), [])
        for table, own in zip(tables, states, strict=True):
            families = zip((table.ring, table.real, table.least), found.known, strict=True)
            found.of.append(tuple(_chosen(weights, own, known) for weights, known in families))
        return found

    @property
    def layout(self) -> Layout:
        """A layout with as many channels, for cells."""
        return Layout(*((COUNT_ALL,) * len(known) for known in self.known))

    def weights(self, order: Sequence[Hashable]) -> Weighing:
        """The states in `order` whose events count for which channel.

        Behind them every channel counts, as `Weighing` says; but for COUNT(*), which is the first, no event does.
        """
        found = []
        for known in self.known:
            bound = [[*(channel.counts.get(state, False) for state in order), True] for channel in known]
            flags = np.array(bound, np.bool_).reshape(len(known), len(order) + 1)
            found.append(Weights(flags, np.array([channel.column for channel in known], np.int64)))
        found[0].bound[0] = False
        return Weighing(*found)

    def rows(self, m: int, window: NDArray[np.int64], cells: Cells, chosen: NDArray[np.int64]) -> AggregateRows:
        """Some cells as rows of a member, with its own channels."""
        ring, real, least = self.of[m]
        over = cells.over[chosen]
        own = np.zeros(len(chosen), np.uint64)
        for c, channel in enumerate(ring):
            own |= (over >> np.uint64(channel) & np.uint64(1)) << np.uint64(c)
        return AggregateRows(
            window[chosen],
            cells.ring[chosen][:, ring],
            own,
            cells.real[chosen][:, real],
            cells.least[chosen][:, least],
        )


def _chosen(weights: Weights, states: Sequence[Hashable], known: list[Channel]) -> list[int]:
    """The channels of a member in a family: known ones, or otherwise new ones."""
    chosen: list[int] = []
    for column, bound in zip(weights.column.tolist(), weights.bound.tolist(), strict=True):
        counts = dict(zip(states, bound, strict=True))
        fitting = (
            n
            for n, one in enumerate(known)
            if column == one.column and n not in chosen and all(one.counts.get(s, c) == c for s, c in counts.items())
        )
        n = next(fitting, len(known))
        if n == len(known):
            known.append(Channel(column))
        known[n].counts.update(counts)
        chosen.append(n)
    return chosen
