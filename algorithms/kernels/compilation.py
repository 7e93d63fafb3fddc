"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_Function = TypeVar("_Function", bound=Callable[..., Any])
_KERNELS: list[Any] = []


def kernel(function: _Function) -> _Function:
    """A kernel: compiled once per combination of dtypes and kept on disk.

    Kernels own no arrays, so Numba's reference counting is off: it cost ten times the work of a small kernel, since
    every access to a named tuple of arrays counted its references (measured: 1.4 against 17 million events per second).
    """
    compiled: _Function = njit(**_OPTIONS)(function)
    _KERNELS.append(compiled)
    return compiled


def loaded() -> int:
    """How many specialisations of kernels this process has compiled, or read from disk, so far."""
    return sum(len(compiled.signatures) for compiled in _KERNELS)


def inlined(function: _Function) -> _Function:
    """A part of kernels that is compiled into each of them."""
    compiled: _Function = njit(**_OPTIONS, inline="always")(function)
    return compiled
