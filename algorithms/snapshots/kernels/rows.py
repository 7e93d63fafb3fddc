"""Rows of the windows that members close."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.cells import Cells
from cepbench.queries.records import Records


class ClosedRecord:
    """A closed `window` of a member."""

    member: int
    window: int


class MemberRows(NamedTuple):
    """Rows of closed windows: `closed[N]` and a cell each."""

    closed: Records
    cells: Cells
