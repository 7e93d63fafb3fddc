"""What kernels read of the template of any sharable set, and what they write of its members that share nothing."""

from __future__ import annotations

from typing import Protocol

from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.cells import Cells
from cepbench.queries.records import Records


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


class SetTotals(Protocol):
    """Aggregates of the open windows.

    `cells`: of events to work with, of slots and of members, where their records say; `pending[S]`; `seen[J]`: negation
    starts known; `open[W]`; `counts[1]`: a record with `now`, `edge`, `touched` slots that have pending cells, `edges`
    that were visited, and the ends of the queue of `vertices` and of their cells.
    """

    @property
    def cells(self) -> Cells: ...
    @property
    def pending(self) -> Records: ...
    @property
    def seen(self) -> Ints: ...
    @property
    def open(self) -> Records: ...
    @property
    def counts(self) -> Records: ...


class VertexQueue(Protocol):
    """Events that later ones visit, in time order; those of a position are linked: `event[V]`, `last[P]`; attributes
    `ints[I, V]`, `reals[F, V]`.
    """

    @property
    def event(self) -> Records: ...
    @property
    def last(self) -> Ints: ...
    @property
    def ints(self) -> Ints: ...
    @property
    def reals(self) -> Reals: ...
    @property
    def cells(self) -> Cells: ...
