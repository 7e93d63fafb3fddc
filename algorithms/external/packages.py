"""The packages of the engines that others wrote: which there are, where each is installed, and what it lacks.

An engine comes from the environment in use, or from an environment of its own below one folder, which
`cepbench engines install` creates (`installing.py`). The first one without a fault is used.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

VARIABLE = "CEPBENCH_ENGINES"
Version = tuple[int, ...]


@dataclass(frozen=True)
class Package:
    """The Python package of an engine.

    Attributes
    ----------
    name
        Of its algorithm.
    title
        Of the engine, in messages.
    distribution, module
        Its names in the package index and in Python.
    version, before
        The version that was tried, which is installed; later ones are accepted up to the second, which is not.
    license, megabytes
        The license, and the size of a download.
    python
        The version of CPython that it needs; any if None.
    in_process
        This process imports it, so it has to be one for this version of Python.
    """

    name: str
    title: str
    distribution: str
    module: str
    version: Version
    before: Version
    license: str
    megabytes: int
    python: Version | None = None
    in_process: bool = False

    @property
    def bounds(self) -> str:
        """The accepted versions."""
        return f">={_text(self.version)},<{_text(self.before)}"

    @property
    def requirement(self) -> str:
        """The requirement of pip: the version that was tried."""
        return f"{self.distribution}=={_text(self.version)}"

    @property
    def command(self) -> str:
        """The command that installs it."""
        return f"cepbench engines install {self.name}"


# `apache-flink` itself pins other versions of pyarrow and pandas.
FLINK = Package("flink", "Flink", "apache-flink-libraries", "pyflink", (2, 3, 0), (2, 4), "Apache-2.0", 330)
DUCKDB = Package("duckdb", "DuckDB", "duckdb", "duckdb", (2, 0, 1), (2, 1), "MIT", 25, in_process=True)
CORE = Package("core-engine", "CORE's engine", "pycer", "pycer", (0, 1, 6), (0, 2), "GPL-3.0", 15, python=(3, 13))
PACKAGES = (FLINK, DUCKDB, CORE)


@dataclass(frozen=True)
class Installed:
    """A package that is installed: its version, the folder of its modules, and the interpreter that imports them."""

    version: str
    site: Path
    python: Path


def folder() -> Path:
    """The folder of all engines: `CEPBENCH_ENGINES`, or one in the user's cache."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).absolute()
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "cepbench" / "engines"


def missing(package: Package) -> str | None:
    """Why an engine cannot run on this machine, in one line; None if it can."""
    state = look_up(package)
    if isinstance(state, Installed):
        return None
    if package.python is not None and interpreter(package) is None:
        return unavailable(package, f"{state}, and there is no {_wanted(package)}")
    return unavailable(package, f"{state} ({package.command})")


def unavailable(package: Package, reason: str) -> str:
    """The line of an engine that cannot run."""
    return f"{package.title} is not available: {reason}"


@cache
def look_up(package: Package) -> Installed | str:
    """Where a package is installed, or why it cannot be used."""
    faults = []
    for site, python in _places(package):
        paths = sys.path if site is None else [str(site)]
        for distribution in metadata.distributions(name=package.distribution, path=paths):
            fault = _fault(package, distribution, python)
            if fault is None:
                return Installed(distribution.version, Path(str(distribution.locate_file(""))), python)
            faults.append(fault)
            break
    return faults[-1] if faults else "it is not installed"


def importable(package: Package) -> None:
    """Lets this process import an installed package."""
    state = look_up(package)
    if isinstance(state, Installed) and str(state.site) not in sys.path:
        sys.path.insert(0, str(state.site))


@cache
def interpreter(package: Package) -> Path | None:
    """An interpreter that can run the engine; None if there is none."""
    if package.python in (None, sys.version_info[:2]):
        return Path(sys.executable)
    wanted = _text(package.python)
    path = shutil.which(f"python{wanted}")
    if path is None:
        return None
    command = [path, "-I", "-c", "import sys; print(sys.implementation.name, *sys.version_info[:2])"]
    try:  # a launcher on the PATH may stand for a Python that is not installed
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Path(path) if ran.stdout.split() == ["cpython", *wanted.split(".")] else None


def site_packages(environment: Path, version: Version) -> Path:
    """The folder of modules in a virtual environment."""
    return environment / "lib" / f"python{_text(version[:2])}" / "site-packages"


def _wanted(package: Package) -> str:
    assert package.python is not None
    return f"CPython {_text(package.python)} (python{_text(package.python)} on the PATH)"


def _places(package: Package) -> Iterator[tuple[Path | None, Path]]:
    """Folders of modules, of which None is that of this process, each with its interpreter."""
    if package.python in (None, sys.version_info[:2]):
        yield None, Path(sys.executable)
    environment = folder() / package.name
    version = package.python or (sys.version_info[:2] if package.in_process else None)
    for site in sorted(environment.glob("lib/python*/site-packages")):
        if version is None or site == site_packages(environment, version):
            yield site, environment / "bin" / "python"


def _fault(package: Package, distribution: metadata.Distribution, python: Path) -> str | None:
    """The fault of an installed package: a file, its version, or its interpreter; None if it has none."""
    try:
        for name, _, size in csv.reader((distribution.read_text("RECORD") or "").splitlines()):
            file = Path(str(distribution.locate_file(name)))
            if size and not file.is_file():
                return f"it is damaged: {file.name} is missing"
            if size and file.stat().st_size != int(size):
                return f"it is damaged: {file.name} has {file.stat().st_size} of {size} bytes"
    except ValueError:
        return "it is damaged: its list of files cannot be read"
    numbers = tuple(int(part) for part in distribution.version.split(".") if part.isdigit())
    if not package.version <= numbers < package.before:
        return f"version {distribution.version} is installed, and {package.bounds} is needed"
    if package.python is not None and not python.exists():
        return f"its interpreter {python.readlink() if python.is_symlink() else python} is missing"
    return None


def _text(version: Version | None) -> str:
    return ".".join(map(str, version or ()))
