"""What kernels read of the template of any sharable set, and what they write of its members and of kept events."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.cells import Cells
from cepbench.queries.records import Records

DONE, OUTPUT, ROOM = range(3)
"""Why a kernel stopped: it is done, or there is no room for more rows, or for what it keeps."""


class Template(Protocol):
    """Tables of the records that `snapshots.kernels.records` has, or of others with more fields, and `lists`."""

    @property
    def position(self) -> Records: ...
    @property
    def transition(self) -> Records: ...
    @property
    def member(self) -> Records: ...
    @property
    def window(self) -> Records: ...
    @property
    def slot(self) -> Records: ...
    @property
    def negation(self) -> Records: ...
    @property
    def lists(self) -> Ints: ...
    @property
    def whole(self) -> Records: ...


class SetTotals(NamedTuple):
    """Aggregates of the open windows.

    `cells`: those to work with, the trends that *reach* an event window by window, of slots and of members, as their
    records say; `pending[S]`; `seen[J]`: negation starts known; `open[W]`; `counts[1]`: a record with the fields of
    `ProgressRecord`.
    """

    cells: Cells
    pending: Records
    seen: Ints
    open: Records
    counts: Records


class VertexQueue(NamedTuple):
    """Events of shared graphlets or outlets that later ones visit, in time order of each list.

    `event[V]` with attributes `ints[I, V]`, `reals[F, V]`, linked by list from `last[L]` on; `cells` as `event` says.
    """

    event: Records
    last: Ints
    ints: Ints
    reals: Reals
    cells: Cells


class ClosedRecord:
    """A closed `window` of a member."""

    member: int
    window: int


class MemberRows(NamedTuple):
    """Rows of closed windows: `closed[N]` and a cell each."""

    closed: Records
    cells: Cells
