"""The channels of a sharable set: members that add up the same column have it in common, so that expressions do."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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

    `counts[f]`: by channel, the states whose events count for it or do not.
    """

    columns: tuple[tuple[int, ...], ...]
    counts: tuple[tuple[Mapping[Hashable, bool], ...], ...]
    of: tuple[tuple[tuple[int, ...], ...], ...]

    @staticmethod
    def of_members(tables: Sequence[Tables], states: Sequence[Sequence[Hashable]]) -> MemberChannels:
        """The fewest channels such that no two of one member are the same; `states` has those of the positions.

        Where members have states in common, they share a channel if they sum the same column at all states that both
        have. The first channel of each member, and of all, is COUNT(*).
        """
        found: list[list[_Channel]] = []
        of: list[list[tuple[int, ...]]] = [[] for _ in tables]
        for family in FAMILIES:
            known: list[_Channel] = []
            for m, table in enumerate(tables):
                chosen, weights = [], getattr(table, family)
                for column, bound in zip(weights.column.tolist(), weights.bound.tolist(), strict=True):
                    counts = dict(zip(states[m], bound, strict=True))
                    fitting = (n for n, k in enumerate(known) if k.takes(m, column, counts))
                    n = next(fitting, len(known))
                    if n == len(known):
                        known.append(_Channel(column))
                    known[n].counts |= counts
                    known[n].members.add(m)
                    chosen.append(n)
                of[m].append(tuple(chosen))
            found.append(known)
        columns = tuple(tuple(channel.column for channel in known) for known in found)
        counting = tuple(tuple(channel.counts for channel in known) for known in found)
        return MemberChannels(columns, counting, tuple(map(tuple, of)))

    @property
    def layout(self) -> Layout:
        """A layout with as many channels, for cells."""
        return Layout(*((COUNT_ALL,) * len(columns) for columns in self.columns))

    def weights(self, order: Sequence[Hashable]) -> Weighing:
        """The states in `order` whose events count for which channel.

        Behind them every channel counts, as `Weighing` says; but for COUNT(*), which is the first, no event does.
        """
        found = []
        for columns, counts in zip(self.columns, self.counts, strict=True):
            bound = [[*(of_channel.get(state, False) for state in order), True] for of_channel in counts]
            flags = np.array(bound, np.bool_).reshape(len(columns), len(order) + 1)
            found.append(Weights(flags, np.array(columns, np.int64)))
        found[0].bound[0] = False
        return Weighing(*found)

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
