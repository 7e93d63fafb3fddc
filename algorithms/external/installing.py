"""Installs an engine into an environment of its own: whole, or not at all.

The environment is created in a folder beside its place, and moved there when the engine can be imported. An engine that
is there, and is not damaged, is left alone.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cepbench.algorithms.external.packages import (
    PACKAGES,
    VARIABLE,
    Installed,
    Package,
    folder,
    interpreter,
    look_up,
    missing,
    site_packages,
)
from cepbench.events.errors import CepbenchError, choices

UNREACHABLE = re.compile("connection broken by|Max retries exceeded|Read timed out|No route to host")
"""Output of pip when it has no network."""
REACTION = 0.5
"""Seconds within which an installation reacts to a signal."""


class NotInstalled(CepbenchError):
    """An engine could not be installed; the message says why, in one line."""


def package_of(name: str) -> Package:
    """The package of an engine. Raises `NotInstalled`."""
    for package in PACKAGES:
        if package.name == name:
            return package
    raise NotInstalled(f"unknown engine {name!r}; {choices(name, [package.name for package in PACKAGES])}")


def install(package: Package, notify: Callable[[str], object] = str) -> str:
    """Installs an engine, unless it is there; returns a line with its version and its place.

    `notify` receives a line before a download. Raises `NotInstalled`.
    """
    state = look_up(package)
    if isinstance(state, Installed):
        return f"{package.title} {state.version} is installed in {state.site}"
    python = interpreter(package)
    if python is None:
        raise NotInstalled(str(missing(package)))
    notify(f"Installing {package.title} ({package.megabytes} MB) ...")
    with _scratch(package) as scratch:
        environment = scratch / "environment"
        site = site_packages(environment, package.python or sys.version_info[:2])
        modules = ["--target", str(site), "--python-version", site.parent.name.removeprefix("python")]
        pip = [sys.executable, "-m", "pip", "install", "--no-user", "--only-binary", ":all:", *modules]
        for command in (
            [str(python), "-I", "-m", "venv", "--without-pip", str(environment)],
            [*pip, package.requirement],
            [str(environment / "bin" / "python"), "-I", "-c", f"import {package.module}"],
        ):
            _run(package, command, scratch)
        place = folder() / package.name
        if place.exists():
            place.rename(scratch / "former")
        environment.rename(place)
    look_up.cache_clear()
    state = look_up(package)
    if not isinstance(state, Installed):
        raise NotInstalled(str(missing(package)))
    return f"{package.title} {state.version} is now installed in {state.site}"


@contextmanager
def _scratch(package: Package) -> Iterator[Path]:
    """A folder beside the place of the engine, which no other process uses, and which is removed."""
    scratch = folder() / f".{package.name}"
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with (folder() / f".{package.name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise NotInstalled(f"{package.title} is being installed by another process") from None
            try:
                shutil.rmtree(scratch, ignore_errors=True)  # of a process that was killed
                scratch.mkdir()
                yield scratch
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        place = f"{folder()}: {(error.strerror or str(error)).lower()}"
        raise NotInstalled(f"engines cannot be kept in {place} ({VARIABLE} names another folder)") from None


def _run(package: Package, command: Sequence[str], scratch: Path) -> None:
    """Runs one step of an installation. Raises `NotInstalled` with the reason in its output."""
    environment: Mapping[str, str] = {
        **os.environ, "TMPDIR": str(scratch), "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }  # fmt: skip
    with subprocess.Popen(
        command, cwd=scratch, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as step:
        try:
            output = _output(step)
        except BaseException:
            step.kill()
            step.wait()
            raise
    if step.returncode:
        raise NotInstalled(f"{package.title} could not be installed: {_reason(output, step.returncode)}")


def _output(step: subprocess.Popen[str]) -> str:
    """The output of a step, when it has ended.

    A signal that arrives just before the process begins to wait does not end the wait. So the process waits `REACTION`
    seconds at a time: pip may wait for an index for minutes.
    """
    while True:
        with suppress(subprocess.TimeoutExpired):
            return step.communicate(timeout=REACTION)[0]


def _reason(output: str, status: int) -> str:
    """The reason in the output of a step that failed."""
    if UNREACHABLE.search(output):
        return "the Python package index cannot be reached"
    if "No module named pip" in output:
        return f"{sys.executable} has no pip"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or [f"status {status}"])[-1]
