"""The algebra of cells for kernels of snapshots: single cells by calls, runs of cells compiled into their callers.

These kernels touch cells in so many places that compiling the algebra into each of them takes minutes. Runs, which each
event of a burst needs, are compiled in, since a call takes longer than an addition; so are cells that have only a
count, since a call hands over every array of both cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels import cells as shared
from cepbench.algorithms.engine.kernels import predicates
from cepbench.algorithms.engine.kernels.cells import ZERO, Cells, add_ring, counts_only
from cepbench.algorithms.engine.kernels.compilation import in_python, inlined, inner

_add: Any = shared.add
_clear, _copy = shared.clear, shared.copy
_add_all: Any = inner(in_python(shared.add))
_clear_all: Any = inner(in_python(shared.clear))
_copy_all: Any = inner(in_python(shared.copy))
follows: Any = inner(in_python(predicates.hold))
Index = int | np.int64
"""A constant is handed over as `np.int64(0)`, since Numba compiles an inner kernel anew for each literal."""


@inner
def add(cells: Cells, i: Index, source: Cells, j: Index) -> None:
    """`kernels.cells.add`."""
    if counts_only(cells):
        add_ring(cells, int(i), 0, source.counts[j, 0])
        cells.over[i] |= source.over[j]
    else:
        _add_all(cells, int(i), source, int(j))


@inner
def clear(cells: Cells, i: Index) -> None:
    """`kernels.cells.clear`."""
    if counts_only(cells):
        cells.counts[i, 0] = cells.counts.dtype.type(0)
        cells.over[i] = ZERO
    else:
        _clear_all(cells, int(i))


@inner
def copy(cells: Cells, i: Index, source: Cells, j: Index) -> None:
    """`kernels.cells.copy`."""
    if counts_only(cells):
        cells.counts[i, 0] = source.counts[j, 0]
        cells.over[i] = source.over[j]
    else:
        _copy_all(cells, int(i), source, int(j))


@inlined
def add_run(cells: Cells, i: int, j: int, count: int) -> None:
    """Adds `count` cells from cell j on to those from cell i on."""
    for n in range(count):
        _add(cells, i + n, cells, j + n)


@inlined
def clear_run(cells: Cells, i: int, count: int) -> None:
    """Makes `count` cells those of no trend, from cell i on."""
    for n in range(i, i + count):
        _clear(cells, n)


@inlined
def copy_run(cells: Cells, i: int, source: Cells, j: int, count: Index) -> None:
    """Sets `count` cells from cell i on to those of `source` from cell j on."""
    for n in range(count):
        _copy(cells, i + n, source, j + n)
