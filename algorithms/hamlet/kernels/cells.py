"""Cells as the kernels of Hamlet call them: compiled once each, where the shared ones are compiled into their callers.

These kernels have so many places that touch a cell that they took ten minutes to compile. What each event of a burst
needs is compiled into them all the same: a call takes longer than an addition (measured: 160 ns per event and query).
"""

from __future__ import annotations

from typing import Any

from cepbench.algorithms.hamlet.kernels.program import Weighing
from cepbench.algorithms.kernels import cells as shared
from cepbench.algorithms.kernels import predicates
from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.kernels.compilation import inner
from cepbench.queries.tables import Predicates

_add, _begin, _clear, _copy = shared.add, shared.begin, shared.clear, shared.copy
_is_empty, _hold = shared.is_empty, predicates.hold
append: Any = shared.extend
"""Compiled into its callers; it reads of the tables what `Weighing` has."""


@inner
def add(cells: Cells, i: int, other: Cells, j: int) -> None:
    """`kernels.cells.add`."""
    _add(cells, i, other, j)


@inner
def begin(cells: Cells, i: int) -> None:
    """`kernels.cells.begin`."""
    _begin(cells, i)


@inner
def clear(cells: Cells, i: int) -> None:
    """`kernels.cells.clear`."""
    _clear(cells, i)


@inner
def copy(cells: Cells, i: int, other: Cells, j: int) -> None:
    """`kernels.cells.copy`."""
    _copy(cells, i, other, j)


@inner
def is_empty(cells: Cells, i: int) -> bool:
    """`kernels.cells.is_empty`."""
    empty: bool = _is_empty(cells, i)
    return empty


@inner
def extend(cells: Cells, i: int, weights: Weighing, p: int, ints: Ints, reals: Reals, event: int) -> None:
    """`kernels.cells.extend`."""
    append(cells, i, weights, p, ints, reals, event)


@inner
def fits(local: Predicates, p: int, ints: Ints, reals: Reals, i: int) -> bool:
    """Whether event i passes the local predicates of position p."""
    return _hold(local, p, ints, reals, i, ints, reals, i)


@inner
def follows(
    adjacent: Predicates, e: int, left_ints: Ints, left_reals: Reals, v: int, ints: Ints, reals: Reals, i: int
) -> bool:
    """Whether event i may follow event v over transition e, as the predicates on adjacent events tell."""
    return _hold(adjacent, e, left_ints, left_reals, v, ints, reals, i)
