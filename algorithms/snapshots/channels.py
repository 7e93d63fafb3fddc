"""The channels of a sharable set: members that add up the same column have it in common, so that expressions do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.rows import AggregateRows
from cepbench.queries.aggregates import COUNT_ALL, Layout
from cepbench.queries.tables import Tables, Weights

FAMILIES = ("ring", "real", "least")
BY_COUNT = -1
"""The column of a channel that counts events."""
_COUNT = -2
"""That of COUNT(*)."""


@dataclass(frozen=True, eq=False)
class MemberChannels:
    """`columns[f]`: the columns of the set's channels in a family; `of[m][f]`: which of them a member's own ones are.

    `bound[m][f]`: bool[own channels, positions of the member].
    """

    columns: tuple[tuple[int, ...], ...]
    of: tuple[tuple[tuple[int, ...], ...], ...]
    bound: tuple[tuple[NDArray[np.bool_], ...], ...]

    @staticmethod
    def of_members(tables: Sequence[Tables]) -> MemberChannels:
        """The fewest channels such that no two of one member are the same."""
        columns: list[tuple[int, ...]] = []
        of: list[list[tuple[int, ...]]] = [[] for _ in tables]
        for family in FAMILIES:
            known: dict[tuple[int, int], int] = {}
            for m, table in enumerate(tables):
                seen: Counter[int] = Counter()
                own = []
                for c, column in enumerate(getattr(table, family).column.tolist()):
                    key = _COUNT if family == "ring" and c == 0 else column
                    own.append(known.setdefault((key, seen[key]), len(known)))
                    seen[key] += 1
                of[m].append(tuple(own))
            columns.append(tuple(max(column, BY_COUNT) for column, _ in known))
        bound = tuple(tuple(getattr(table, family).bound for family in FAMILIES) for table in tables)
        return MemberChannels(tuple(columns), tuple(map(tuple, of)), bound)

    @property
    def layout(self) -> Layout:
        """A layout with as many channels, for cells."""
        return Layout(*((COUNT_ALL,) * len(columns) for columns in self.columns))

    def weights(self, positions: Sequence[int], groups: Sequence[Sequence[int]]) -> tuple[Weights, Weights, Weights]:
        """Which positions count for which channel; behind them, one for each group, where any of its positions does."""
        found = []
        for f, columns in enumerate(self.columns):
            bound = np.zeros((len(columns), positions[-1] + len(groups)), np.bool_)
            for m, own in enumerate(self.of):
                for c, channel in enumerate(own[f]):
                    bound[channel, positions[m] : positions[m + 1]] |= self.bound[m][f][c]
            for g, units in enumerate(groups):
                bound[:, positions[-1] + g] = bound[:, list(units)].any(axis=1)
            found.append(Weights(bound, np.array(columns, np.int64)))
        return found[0], found[1], found[2]

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
