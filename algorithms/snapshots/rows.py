"""Rows of a sharable set by member, as kernels write them."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.snapshots.channels import MemberChannels
from cepbench.algorithms.snapshots.kernels.template import ClosedRecord, MemberRows
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
        self.found: list[MemberRows] = []

    def take(self, size: int) -> None:
        """Takes the first `size` rows out of the buffer."""
        if size > 0:
            ring, over, real, least = self.arrays.cells
            cells = Cells(ring[:size].copy(), over[:size].copy(), real[:size].copy(), least[:size].copy())
            self.found.append(MemberRows(self.arrays.closed[:size].copy(), cells))

    def take_all(self) -> MemberAnswers:
        """All rows taken since the last call: divided among members once, of which there may be as many as rows."""
        if not self.found:
            return {}
        found, self.found = self.found, []
        closed = np.concatenate([rows.closed for rows in found])
        cells = Cells(*map(np.concatenate, zip(*(rows.cells for rows in found), strict=True)))
        order = np.argsort(closed["member"], kind="stable")
        numbers, first = np.unique(closed["member"][order], return_index=True)
        return {
            m: self.channels.rows(m, closed["window"], cells, chosen)
            for m, chosen in zip(numbers.tolist(), np.split(order, first[1:]), strict=True)
        }
