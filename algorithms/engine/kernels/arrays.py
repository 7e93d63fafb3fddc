"""Array types of kernel signatures. Numba infers its own; these are for readers and the type checker."""

from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Index = NDArray[np.uint64]
Place = int | np.uint64
"""An index. Unsigned ones spare kernels the test for Python's negative ones."""


Static = tuple[bool, ...]
"""A number that is known when a kernel is compiled, as the length of a tuple. As a condition: whether it is not 0."""
Size = np.uint64 | Static
"""A number that is known when a kernel runs, or when it is compiled."""


def static(value: int | bool | np.bool_) -> Static:
    """A number or a flag that is known when a kernel is compiled: it has a kernel of its own."""
    return (True,) * int(value)


def number(size: Size) -> np.uint64:
    """A size as a number."""
    return np.uint64(len(size)) if isinstance(size, tuple) else size


@overload(number, inline="always", jit_options=cast(Any, {"_nrt": False, "no_cfunc_wrapper": True}))
def _number(size: Any) -> Any:
    def of_tuple(size: Any) -> Any:
        return np.uint64(len(size))

    def itself(size: Any) -> Any:
        return size

    return of_tuple if isinstance(size, types.BaseTuple) else itself


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: Numba compiles a kernel per kind of array, so each argument is always of one kind."""
    view = array.view()
    view.flags.writeable = False
    return view
