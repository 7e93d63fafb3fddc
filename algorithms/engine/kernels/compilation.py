"""How kernels are compiled, and kept on disk; or run as plain Python, uncompiled.

Python runs them for a debugger, for coverage, and where compiling takes longer than the answer: with
`NUMBA_DISABLE_JIT=1`, or after `run_plain`. All that distinguishes the two is in this file: integers of 64 bits wrap
around without a warning in both, and records have the same attributes (`queries.records`).
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.event import Listener, install_listener

from cepbench.events.errors import CepbenchError

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "forceinline": False,  # a kernel that an inlined one calls would otherwise be inlined, too
}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
_Function = TypeVar("_Function", bound=Callable[..., Any])
_KERNELS: list[Any] = []

_ROOT = Path(__file__).parents[3]
TABLES = ("cepbench.queries.tables", "cepbench.queries.aggregates")
"""Where constants and named tuples of kernels are, besides the kernels themselves."""
_IMPORT = re.compile(r"^from (cepbench\.[\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
"""Parsing the modules took a tenth of a second, at every start."""

with suppress(ImportError):  # of names that an untried version of Numba may lack
    import_module("cepbench.algorithms.engine.kernels.machine_code").on_demand()


def _without_blas() -> None:
    """Numba imports `scipy.linalg` when the first kernel is loaded, to see whether products of matrices can use BLAS.
    That takes as long as to import Numba, and no kernel has such a product. In the kernels of a plug-in, `np.cov` is
    computed by a loop instead; products of matrices are as before.
    """
    blas: Any = "scipy.linalg.cython_blas"
    if blas in sys.modules:
        return
    sys.modules[blas] = None  # type: ignore[assignment] # an import of it is refused
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules[blas]


_without_blas()


class PlainKernels(CepbenchError):
    """Kernels that run as plain Python were to be compiled or measured."""


def is_plain() -> bool:
    """Whether kernels run as plain Python."""
    config: Any = numba.config
    return bool(config.DISABLE_JIT)


def run_plain() -> None:
    """Runs the kernels of all modules that this process imports from now on as plain Python."""
    config: Any = numba.config
    config.DISABLE_JIT = True


def check_compiled() -> None:
    """Raises `PlainKernels`: a measurement of kernels that are not compiled would mean nothing."""
    if is_plain():
        raise PlainKernels("with NUMBA_DISABLE_JIT=1 kernels run as plain Python, and are not measured; unset it")


def sources(module: Path) -> tuple[Path, ...]:
    """The module's file and those that it imports, directly or not, whose contents are compiled into its kernels."""
    found = {module}
    pending = [module]
    while pending:
        fresh = set(_imported(pending.pop())) - found
        found |= fresh
        pending.extend(fresh)
    return tuple(sorted(found))


def cache_folder(module: Path) -> Path:
    """Where the kernels of a module are kept.

    Numba compiles a kernel again when its own file changes, but not when one that it calls does. So a change of any of
    them has a folder of its own.
    """
    digest = hashlib.sha256()
    for source in sources(module):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return module.parent / "__pycache__" / digest.hexdigest()[:16]


def compiled_marker(algorithm: str, arithmetic: str) -> Path:
    """A file that exists once kernels of an algorithm, compiled from these sources, are on disk."""
    config: Any = numba.config
    folder = Path(config.CACHE_DIR) if config.CACHE_DIR else Path(__file__).parent / "__pycache__"
    return folder / f"{algorithm}-{arithmetic}-{_digest_of_all()}"


@cache
def _digest_of_all() -> str:
    """The sources of all kernels, and what compiles them; computed once, since that takes 10 ms."""
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()} {platform.machine()}".encode())
    for source in sorted((_ROOT / "algorithms").rglob("kernels/**/*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def mark_compiled(algorithm: str, arithmetic: str) -> None:
    """Creates the `compiled_marker`, unless the kernels are plain Python or nothing can be written."""
    if not is_plain():
        with suppress(OSError):
            compiled_marker(algorithm, arithmetic).touch()


@cache
def _imported(module: Path) -> tuple[Path, ...]:
    """The kernels and tables among a module's imports."""
    if module.is_relative_to(_ROOT / "queries"):
        return ()  # tables and layouts are computed from much that no kernel sees
    names: set[str] = set()
    for found in _IMPORT.finditer(module.read_text(encoding="utf-8")):
        names |= {found[1], *(f"{found[1]}.{name}" for name in re.findall(r"\w+", found[2]))}
    chosen = (name for name in names if ".kernels." in name or name in TABLES)
    files = (_ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in chosen)
    return tuple(file for file in files if file.is_file())


@cache
def _made_folder(module: Path) -> Path:
    """`cache_folder`, on disk. Most modules have several kernels: to ask for each took 0.15 s at every start."""
    folder = cache_folder(module)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _kept_with(function: Callable[..., Any]) -> Iterator[None]:
    """Unless the user chose a folder, or the sources lie in an archive or where nothing can be written."""
    config: Any = numba.config
    module = Path(function.__code__.co_filename)
    if config.CACHE_DIR or not module.is_file():
        yield
        return
    with suppress(OSError):
        config.CACHE_DIR = str(_made_folder(module))
    try:
        yield
    finally:
        config.CACHE_DIR = ""


def kernel(function: _Function) -> _Function:
    """A kernel: compiled once per combination of dtypes and kept on disk.

    Kernels own no arrays, so Numba's reference counting is off: it cost ten times the work of a small kernel, since
    every access to a named tuple of arrays counted its references (measured: 1.4 against 17 million events per second).
    """
    if is_plain():
        return np.errstate(all="ignore")(function)  # which also includes the parts that it calls
    compiled = _compiled(function, _OPTIONS)
    _KERNELS.append(compiled)
    return compiled


def inner(function: _Function) -> _Function:
    """A kernel that only kernels call: without the way in from Python, which takes as long to compile as a small body,
    and without which a call from Python ends the process.

    Constants are handed to it as `np.int64(0)`: Numba compiles it anew for each literal.
    """
    return _compiled(function, _INNER)


def loaded() -> int:
    """How many specializations of kernels this process has compiled, or read from disk, so far."""
    return sum(len(compiled.overloads) for compiled in _KERNELS)


def inlined(function: _Function) -> _Function:
    """A part of kernels that LLVM copies into each of them, with its arguments in registers; Python cannot call it.

    Numba types and lowers it once. Numba's own inlining copies the part before that, and two thirds of the time to
    compile large kernels went there.
    """
    return _compiled(function, {**_INNER, "forceinline": True})


def in_python(function: _Function) -> _Function:
    """A part of kernels as Python runs it, on the same arrays."""
    plain: _Function = getattr(function, "py_func", function)
    return plain


def written_out(function: _Function) -> _Function:
    """A part of kernels that Numba copies into each of them, since it is handed another kernel."""
    return _compiled(function, {**_OPTIONS, "inline": "always"})


def _compiled(function: _Function, options: dict[str, Any]) -> _Function:
    """Compiled with these options, and kept on disk where there is a folder for it."""
    if is_plain():
        return function
    config: Any = numba.config
    compiled: Any = njit(**options)(function)
    if Path(function.__code__.co_filename).is_file() or config.CACHE_DIR:  # not in an archive
        with _kept_with(function), suppress(RuntimeError):  # no folder for the cache
            compiled._cache = _Kept(function)  # type: ignore[no-untyped-call]
            compiled._cache.options = options
    result: _Function = compiled
    return result


class _Kept(FunctionCache):
    """The specializations of a kernel on disk, without those that were compiled for a type which no longer exists.

    The types of a kernel's arguments may be defined in files that it does not import. The same text with other
    `options` is kept apart: Numba would take a part that kernels call for one that is copied into them.
    """

    options: dict[str, Any]

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return super()._index_key(signature, codegen), tuple(self.options.items())  # type: ignore[no-untyped-call]

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            return super().load_overload(signature, context)  # type: ignore[no-untyped-call]
        except (ImportError, AttributeError):
            self.flush()  # type: ignore[no-untyped-call]
            return None


@contextmanager
def watched(notify: Callable[[str], None]) -> Iterator[None]:
    """Calls `notify` with the name of every kernel whose compilation begins meanwhile; those on disk are only read."""
    with install_listener("numba:compile", _Compiling(notify)):
        yield


class _Compiling(Listener):
    def __init__(self, notify: Callable[[str], None]) -> None:
        self._notify = notify

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        module = function.__module__ or ""  # a function that was made by `exec` may have none
        if module.startswith("cepbench."):
            self._notify(f"{module.removeprefix('cepbench.algorithms.')}.{function.__name__}")

    def on_end(self, event: Any) -> None:
        pass
