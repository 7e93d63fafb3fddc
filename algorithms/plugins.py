"""Algorithms from outside of cepbench: files that a user names, and installed packages.

- Files come from `--plugin FILE.py` of a command or from the variable `CEPBENCH_PLUGINS` (paths, separated as in PATH).
  A file becomes the module `cepbench.algorithms.plugins.<name of the file>`, so that its executors can be pickled.
  Workers find it by the same variable.
- Installed packages have an entry point of the group `cepbench.algorithms` that names the class.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.compose import IndependentAlgorithm
from cepbench.events.errors import CepbenchError

VARIABLE = "CEPBENCH_PLUGINS"
GROUP = "cepbench.algorithms"
RENAMED = {"pool": "operator", "load": "Executor.load", "evaluator": "part_executor", "lanes": "part_operator"}
"""Former names of attributes of algorithms, and their replacements."""
_EXECUTORS = (
    "`Evaluator` is `Executor` of `cepbench.algorithms.base` now, and `IndependentAlgorithm` is in "
    "`cepbench.algorithms.compose`"
)
MOVED = {
    "cepbench.algorithms.running": f"its modules are in `cepbench.algorithms.engine` now; {_EXECUTORS}",
    "cepbench.algorithms.kernels": "its modules are in `cepbench.algorithms.engine.kernels` now",
    "cepbench.algorithms.engine.evaluator": _EXECUTORS,
    "cepbench.algorithms.engine.independent": _EXECUTORS,
}
"""Former modules and packages, and where their contents are."""

_UNANSWERED = (IndependentAlgorithm.part_executor, IndependentAlgorithm.part_operator)

__path__: list[str] = []  # makes this module a package, whose modules are the plug-in files


class WrongPlugin(CepbenchError):
    """A plug-in contains no algorithm or cannot be loaded; the message says why in one line."""


def use(files: Iterable[Path]) -> None:
    """Loads the algorithms of `files` in this process and in those that it starts. Raises `WrongPlugin`."""
    named = [str(file.resolve()) for file in files]
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys((*_plugin_files(), *named)))
    plugin_algorithms()


def plugin_algorithms() -> tuple[type[Algorithm], ...]:
    """The algorithms of all plug-ins, files first. Raises `WrongPlugin`."""
    found = [kind for file in _plugin_files() for kind in _algorithms(_module(Path(file)), file)]
    for point in _points(tuple(sys.path)):
        try:
            kind = point.load()
        except Exception as error:
            raise WrongPlugin(f"plug-in {point.value}: cannot be loaded: {described(error)}") from None
        if not (inspect.isclass(kind) and issubclass(kind, Algorithm)):
            raise WrongPlugin(f"plug-in {point.value}: no class of an algorithm (`cepbench.algorithms.base.Algorithm`)")
        found.append(kind)
    return tuple(found)


@cache
def _points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of packages that are installed on a path; reading them takes milliseconds, at every `make`."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))


def digests() -> dict[str, str]:
    """SHA-256 of each plug-in file, by the file's name. Results store it."""
    return {Path(file).name: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in _plugin_files()}


def is_plugin(kind: type[Algorithm]) -> bool:
    """Whether an algorithm comes from outside of cepbench."""
    return file_of(kind) is not None or not kind.__module__.startswith("cepbench.")


def file_of(kind: type[Algorithm]) -> str | None:
    """The name of the plug-in file that defines an algorithm; None for an algorithm of a package."""
    return f"{kind.__module__.rpartition('.')[2]}.py" if kind.__module__.startswith(f"{__name__}.") else None


def described(error: BaseException) -> str:
    """An error in one line, with its place if a plug-in caused it.

    The place is the last line of a plug-in that ran, as in "own.py, line 21, in process, `self.close()`: NameError".
    """
    reason = f"{type(error).__name__}{': ' if (text := _reason(error)) else ''}{text}"
    place = origin(error)
    return reason if place is None else f"{place}: {reason}"


def origin(error: BaseException) -> str | None:
    """The last line of a plug-in that ran before an error, or before the errors that caused it; None without one."""
    places = _places()
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for cause in causes:
        if isinstance(cause, SyntaxError) and cause.filename in places:
            return f"{Path(cause.filename).name}, line {cause.lineno}"
        frames = traceback.extract_tb(cause.__traceback__)
        for frame in (frame for frame in reversed(frames) if frame.filename.startswith(places)):
            inside = "" if frame.name == "<module>" else f" in {frame.name},"
            return f"{Path(frame.filename).name}, line {frame.lineno},{inside} `{frame.line}`"
    return None


def _places() -> tuple[str, ...]:
    """Plug-in files, and the folders of packages with algorithms."""
    packages = [sys.modules.get(point.module.partition(".")[0]) for point in _points(tuple(sys.path))]
    folders = [str(Path(package.__file__).parent) + os.sep for package in packages if package and package.__file__]
    return (*_plugin_files(), *folders)


def _reason(error: BaseException) -> str:
    """The first line of a message; of one of Numba, also the second one, and the line of the kernel."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not type(error).__module__.startswith("numba."):
        return "".join(lines[:1])
    kernel = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    return " ".join(lines[:2]) + (f" ({Path(kernel[-1][0]).name}, line {kernel[-1][1]})" if kernel else "")


def _plugin_files() -> list[str]:
    return [file for file in os.environ.get(VARIABLE, "").split(os.pathsep) if file]


def _module(file: Path) -> ModuleType:
    """Loads the module of a file, once."""
    name = f"{__name__}.{file.stem}"
    if (module := sys.modules.get(name)) is not None:
        if Path(str(module.__file__)) == file:
            return module
        if str(module.__file__) in _plugin_files():
            reason = f"a plug-in of the same name is loaded from {module.__file__}"
            raise WrongPlugin(f"{file}: {reason}; rename one of them")
        del sys.modules[name]  # the variable no longer has it
    if not file.is_file():
        raise WrongPlugin(f"{file}: no such file")
    if file.suffix != ".py" or not file.stem.isidentifier():
        raise WrongPlugin(f"{file}: no Python module; a plug-in is a file such as my_algorithm.py")
    try:
        return import_module(name)
    except Exception as error:
        raise WrongPlugin(f"{file}: cannot be loaded: {described(error)}{_moved(error)}") from None


def _moved(error: Exception) -> str:
    """Where the module is now that an import did not find."""
    missing = error.name or "" if isinstance(error, ImportError) else ""
    now = next((new for old, new in MOVED.items() if f"{missing}.".startswith(f"{old}.")), None)
    return "" if now is None else f"; {now}"


def _algorithms(module: ModuleType, file: str) -> list[type[Algorithm]]:
    """The algorithms that a module defines, in the order of their definition."""
    found = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind)
        and issubclass(kind, Algorithm)
        and kind.__module__ == module.__name__
        and (not inspect.isabstract(kind) or hasattr(kind, "name"))
    ]
    if not found:
        raise WrongPlugin(f"{file}: no class of an algorithm (`cepbench.algorithms.base.Algorithm`)")
    for kind in found:
        for part in (kind, getattr(kind, "part_executor", None)):
            if inspect.isclass(part) and inspect.isabstract(part):
                missing = ", ".join(f"`{name}`" for name in sorted(getattr(part, "__abstractmethods__", ())))
                raise WrongPlugin(f"{file}: class {part.__name__} has no {missing}")
        for name in ("name", "paper"):
            if not isinstance(getattr(kind, name, None), str):
                raise WrongPlugin(f"{file}: class {kind.__name__} has no `{name}`")
        for name, instead in RENAMED.items():
            if hasattr(kind, name):
                raise WrongPlugin(f"{file}: class {kind.__name__} has `{name}`, which is `{instead}` now")
        if kind.executor is Algorithm.executor and kind.operator is Algorithm.operator:
            raise WrongPlugin(f"{file}: class {kind.__name__} has neither `executor` nor `operator`")
        if issubclass(kind, IndependentAlgorithm) and (kind.part_executor, kind.part_operator) == _UNANSWERED:
            raise WrongPlugin(f"{file}: class {kind.__name__} has neither `part_executor` nor `part_operator`")
    return found


class _Finder(MetaPathFinder):
    """Finds the modules of plug-in files, for example in a worker that unpickles an executor."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        parent, _, stem = name.rpartition(".")
        files = [file for file in _plugin_files() if Path(file).stem == stem] if parent == __name__ else []
        return spec_from_file_location(name, files[0]) if files else None


sys.meta_path.append(_Finder())
