"""Rows of a sharable set by member, as kernels write them."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.cells import empty_cells
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.snapshots.channels import MemberChannels
from cepbench.algorithms.snapshots.kernels.rows import ClosedRecord, MemberRows
from cepbench.queries.records import records_of

ROWS = 1024

MemberAnswers = dict[int, AggregateRows]
"""Rows by the number of a member in its set."""


class RowBuffer:
    """Room for the rows of closed windows, at least two of each of the `most` windows that may be open."""

    def __init__(self, channels: MemberChannels, arithmetic: str, most: int) -> None:
        capacity = max(ROWS, 2 * most)
        self.channels = channels
        self.arrays = MemberRows(
            np.empty(capacity, records_of(ClosedRecord)), empty_cells(capacity, channels.layout, arithmetic)
        )
        self.found: dict[int, list[AggregateRows]] = {}

    def take(self, size: int) -> None:
        """Takes the first `size` rows out of the buffer."""
        if size == 0:
            return
        members, windows = self.arrays.closed["member"][:size], self.arrays.closed["window"]
        order = np.argsort(members, kind="stable")
        numbers, first = np.unique(members[order], return_index=True)
        for m, chosen in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
            self.found.setdefault(m, []).append(self.channels.rows(m, windows, self.arrays.cells, chosen))

    def tell(self) -> MemberAnswers:
        """All rows taken since the last call."""
        found, self.found = self.found, {}
        return {m: AggregateRows.concatenate(rows) for m, rows in found.items()}
