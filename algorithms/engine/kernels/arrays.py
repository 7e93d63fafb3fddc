"""Array types of kernel signatures. Numba infers its own; these are for readers and the type checker."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Index = NDArray[np.uint64]
Place = int | np.uint64
"""An index. Unsigned ones spare kernels the test for Python's negative ones."""


NONE = -1
"""No item of a table."""


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: Numba compiles a kernel per kind of array, so each argument is always of one kind."""
    view = array.view()
    view.flags.writeable = False
    return view
