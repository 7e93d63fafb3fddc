"""Array types of kernel signatures. Numba infers its own; these are for readers and the type checker."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
