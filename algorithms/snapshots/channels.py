"""The channels of a sharable set: members that add up the same column have it in common, so that expressions do."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.snapshots.kernels.cells import Weighing
from cepbench.queries.aggregates import COUNT_ALL, Layout
from cepbench.queries.tables import Tables, Weights

FAMILIES = ("ring", "real", "least")


@dataclass
class _Channel:
    """A channel: its column, the states whose events count for it or do not, and the members that add it up."""

    column: int
    counts: dict[Hashable, bool] = field(default_factory=dict)
    members: set[int] = field(default_factory=set)

    def takes(self, m: int, column: int, counts: dict[Hashable, bool]) -> bool:
        """Whether a member can use this channel: at common states, events count for both channels or for neither."""
        known = self.counts
        return column == self.column and m not in self.members and all(known.get(s, c) == c for s, c in counts.items())


@dataclass(frozen=True, eq=False)
class MemberChannels:
    """`columns[f]`: the columns of the set's channels in a family; `of[m][f]`: which of them a member's own ones are.

    `bound[m][f]`: bool[own channels, positions of the member].
    """

    columns: tuple[tuple[int, ...], ...]
    of: tuple[tuple[tuple[int, ...], ...], ...]
    bound: tuple[tuple[NDArray[np.bool_], ...], ...]

    @staticmethod
    def of_members(tables: Sequence[Tables], states: Sequence[Sequence[Hashable]] = ()) -> MemberChannels:
        """The fewest channels such that no two of one member are the same.

        Where members have positions in common, `states` of each, they share a channel if they sum the same column at
        all states that both have. The first channel of each member, and of all, is COUNT(*).
        """
        own = states or [[(m, p) for p in range(len(table.start))] for m, table in enumerate(tables)]
        bound = tuple(tuple(getattr(table, family).bound for family in FAMILIES) for table in tables)
        columns: list[tuple[int, ...]] = []
        of: list[list[tuple[int, ...]]] = [[] for _ in tables]
        for f, family in enumerate(FAMILIES):
            known: list[_Channel] = []
            for m, table in enumerate(tables):
                chosen = []
                for c, column in enumerate(getattr(table, family).column.tolist()):
                    counts = dict(zip(own[m], bound[m][f][c].tolist(), strict=True))
                    fitting = (n for n, k in enumerate(known) if k.takes(m, column, counts))
                    n = next(fitting, len(known))
                    if n == len(known):
                        known.append(_Channel(column))
                    known[n].counts |= counts
                    known[n].members.add(m)
                    chosen.append(n)
                of[m].append(tuple(chosen))
            columns.append(tuple(channel.column for channel in known))
        return MemberChannels(tuple(columns), tuple(map(tuple, of)), bound)

    @property
    def layout(self) -> Layout:
        """A layout with as many channels, for cells."""
        return Layout(*((COUNT_ALL,) * len(columns) for columns in self.columns))

    def weights(self, states: Sequence[Sequence[Hashable]], order: Sequence[Hashable]) -> Weighing:
        """The states in `order` whose events count for which channel; `states` has those of each member's positions.

        Behind them every channel counts, as `Weighing` says; but for COUNT(*), which is the first, no event does.
        """
        number = {state: s for s, state in enumerate(order)}
        found = [np.zeros((len(columns), len(order) + 1), np.bool_) for columns in self.columns]
        for m, own in enumerate(self.of):
            places = [number[state] for state in states[m]]
            for f, bound in enumerate(found):
                for c, channel in enumerate(own[f]):
                    bound[channel, places] |= self.bound[m][f][c]
        for bound in found:
            bound[:, -1] = True
        found[0][0] = False
        columns = (np.array(one, np.int64) for one in self.columns)
        return Weighing(*map(Weights, found, columns))

    def rows(self, m: int, window: NDArray[np.int64], cells: Cells, chosen: NDArray[np.int64]) -> AggregateRows:
        """Some cells as rows of a member, with its own channels."""
        ring, real, least = (list(own) for own in self.of[m])
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
