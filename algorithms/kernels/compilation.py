"""How kernels are compiled, and kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_Function = TypeVar("_Function", bound=Callable[..., Any])
_KERNELS: list[Any] = []

_HERE = Path(__file__).parent
_QUERIES = _HERE.parent.parent / "queries"
SOURCES = (*sorted(_HERE.glob("*.py")), _QUERIES / "tables.py", _QUERIES / "aggregates.py")
"""All that is compiled into kernels: they call one another, and read constants and named tuples of these modules."""


def cache_folder(sources: Iterable[Path]) -> Path:
    """Where kernels of these sources are kept.

    Numba compiles a kernel again when its own file changes, but not when one that it calls does. So a change of any
    source has a folder of its own.
    """
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return _HERE / "__pycache__" / digest.hexdigest()[:16]


def _choose_cache_folder() -> None:
    """Unless the user chose one, or the sources lie in an archive or where nothing can be written."""
    config: Any = numba.config
    if not config.CACHE_DIR and _HERE.is_dir():
        folder = cache_folder(SOURCES)
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            config.CACHE_DIR = str(folder)


_choose_cache_folder()


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
