"""What kernels read and write besides their state: a batch of events, a window specification, rows."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cepbench.algorithms.engine.kernels.arrays import Codes, Flags, Ints, Place, Reals
from cepbench.algorithms.engine.kernels.cells import Cells
from cepbench.algorithms.engine.kernels.compilation import inlined


class KernelEvents(NamedTuple):
    """A batch: `time` int64[n], `kind` int32[n] type codes, `ints` int64[I, n], `reals` float64[F, n], read-only.

    `flags` bool[C, n] has, per condition on single events, the events that pass it. `negated` int64[n + m, J] holds the
    latest START among the matches of each negation that ended before an event, and before what follows the events of
    each of m keys. Row i + j is that of event i if it has the j-th key; a kernel of one key sees rows j and later.
    """

    time: Ints
    kind: Codes
    ints: Ints
    reals: Reals
    flags: Flags
    negated: Ints


class Attributes(Protocol):
    """Columns of events: `ints[I, n]` and `reals[F, n]`."""

    @property
    def ints(self) -> Ints: ...
    @property
    def reals(self) -> Reals: ...


class Conditions(Protocol):
    """Which events pass conditions: `flags[C, n]`."""

    @property
    def flags(self) -> Flags: ...


class Sliding(NamedTuple):
    """Window k covers [k * slide, k * slide + within)."""

    within: int
    slide: int


class RowCells(NamedTuple):
    """Rows of closed windows: `window[N]` and a cell each."""

    window: Ints
    cells: Cells


@inlined
def fits(condition: Place, i: int, events: Conditions) -> bool:
    """Whether event i passes a condition, a row of `flags`; -1 is none."""
    return bool(condition < 0 or events.flags[condition, i])


@inlined
def keep_columns(i: int, events: Attributes, ints: Ints, reals: Reals, at: int) -> None:
    """Copies the columns of event i to place `at` of `ints[I, V]` and `reals[F, V]`."""
    for c in range(events.ints.shape[0]):
        ints[c, at] = events.ints[c, i]
    for c in range(events.reals.shape[0]):
        reals[c, at] = events.reals[c, i]
