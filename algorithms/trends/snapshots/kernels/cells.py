"""Parts of kernels of snapshots that are calls: compiled into each place that adds cells, they take minutes to compile.

Runs of cells, which each event of a burst needs, are compiled in, since a call takes longer than an addition; so are
cells that have only a count, since a call hands over every array of both cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels import cells as algebra
from cepbench.algorithms.engine.kernels import predicates
from cepbench.algorithms.engine.kernels.cells import Cells, add_ring, counts_only
from cepbench.algorithms.engine.kernels.compilation import in_python, inner

_add: Any = inner(in_python(algebra.add))
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
        _add(cells, int(i), source, int(j))
