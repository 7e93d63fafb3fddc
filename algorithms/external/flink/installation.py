"""Checks whether Flink can run: its jars, a Java runtime, and our Java program, which is compiled once and cached."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path

from cepbench.algorithms.external import packages
from cepbench.events.errors import CepbenchError

NEEDED = (
    "flink-dist-*.jar",
    "flink-cep-*.jar",
    "flink-connector-files-*.jar",
    "log4j-api-*.jar",
    "log4j-core-*.jar",
    "log4j-slf4j-impl-*.jar",
)
"""The smallest class path: further jars (tables, formats) make the start slower."""

SMALL = (
    "-XX:+UseSerialGC",
    "-XX:CompressedClassSpaceSize=64m",
    "-XX:ReservedCodeCacheSize=128m",
    "-Xss512k",
)
"""Java options that keep the address space close to the memory in use, since a worker's limit is on address space."""


class FlinkMissing(CepbenchError):
    """Flink cannot run on this machine; the message says what is missing."""


def missing() -> str | None:
    """Why Flink cannot run on this machine, in one line; None if it can."""
    reason = packages.missing(packages.FLINK)
    if reason is not None:
        return reason
    if not jars():
        return packages.unavailable(packages.FLINK, "it lacks one of its jars")
    if tool("java") is None:
        return packages.unavailable(packages.FLINK, "there is no java on the PATH or in JAVA_HOME")
    if not _compiled(_folder()) and tool("javac") is None:
        return packages.unavailable(
            packages.FLINK, "there is no javac, the compiler of a JDK, on the PATH or in JAVA_HOME"
        )
    return None


def jars() -> tuple[Path, ...]:
    """The jars of the class path; empty if one of them is missing."""
    state = packages.look_up(packages.FLINK)
    if not isinstance(state, packages.Installed):
        return ()
    matching = [sorted((state.site / "pyflink" / "lib").glob(pattern)) for pattern in NEEDED]
    return tuple(versions[-1] for versions in matching) if all(matching) else ()


def tool(name: str) -> str | None:
    """The path of `java` or `javac`; JAVA_HOME takes precedence."""
    home = os.environ.get("JAVA_HOME")
    return (shutil.which(name, path=str(Path(home) / "bin")) if home else None) or shutil.which(name)


def version() -> str:
    """Flink's."""
    state = packages.look_up(packages.FLINK)
    return state.version if isinstance(state, packages.Installed) else "unknown"


def classes() -> Path:
    """The folder of our compiled program; compiles it if necessary. Raises `FlinkMissing`."""
    reason = missing()
    if reason is not None:
        raise FlinkMissing(reason)
    folder = _folder()
    if _compiled(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            target = Path(scratch) / "classes"
            _compile(Path(scratch), target)
            try:
                target.replace(folder)
            except OSError:  # another process has compiled it meanwhile
                if not _compiled(folder):
                    raise
    except OSError as error:
        raise FlinkMissing(f"Flink's program cannot be kept in {folder}: {error.strerror}") from None
    return folder


def class_path() -> str:
    """The class path of our program and Flink. Raises `FlinkMissing`."""
    return os.pathsep.join(map(str, (classes(), *jars())))


def _compile(scratch: Path, target: Path) -> None:
    sources = []
    for name, text in _sources().items():
        place = (target if name.endswith(".properties") else scratch) / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(text)
        if place.suffix == ".java":
            sources.append(str(place))
    javac = tool("javac")
    assert javac is not None
    within = [f"-J{option}" for option in ("-Xmx512m", *SMALL)]
    path = os.pathsep.join(map(str, jars()))
    command = [javac, *within, "-nowarn", "-encoding", "UTF-8", "-d", str(target), "-cp", path]
    done = subprocess.run([*command, *sources], capture_output=True, text=True, check=False)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "rror" in line), done.stderr[:200])
        raise FlinkMissing(
            f"Flink's program does not compile with Flink {version()}: {first.replace(str(scratch), '')}"
        )


@cache
def _sources() -> dict[str, bytes]:
    """The source of our program, by file name."""
    folder = resources.files("cepbench.algorithms.external.flink") / "java"
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir(), key=lambda file: file.name)}


def _compiled(folder: Path) -> bool:
    return (folder / "cepbench" / "Server.class").is_file()


@cache
def _folder() -> Path:
    """The folder of the compiled program, which depends on its source and Flink's version."""
    digest = hashlib.sha256(version().encode())
    for name, text in _sources().items():
        digest.update(f"\n{name} {len(text)}\n".encode() + text)
    return packages.folder() / "flink-program" / digest.hexdigest()[:16]
