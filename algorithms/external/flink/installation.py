"""Checks whether Flink can run: its jars, a Java runtime, and our Java program, which is compiled once and cached."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path

from cepbench.events.errors import CepbenchError

DISTRIBUTION = "apache-flink-libraries"
EXTRA = "pip install -e '.[flink]'"
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


@cache
def missing() -> str | None:
    """Why Flink cannot run on this machine, in one line; None if it can."""
    if not jars():
        return f"Flink is not available: its jars are not installed ({EXTRA})"
    if tool("java") is None:
        return "Flink is not available: there is no java on the PATH or in JAVA_HOME"
    if not (_folder() / "cepbench" / "Server.class").is_file() and tool("javac") is None:
        return "Flink is not available: there is no javac, the compiler of a JDK, on the PATH or in JAVA_HOME"
    return None


@cache
def jars() -> tuple[Path, ...]:
    """The jars of the class path; empty if one of them is missing."""
    module = find_spec("pyflink")
    folders = [Path(place) / "lib" for place in (module.submodule_search_locations or ())] if module is not None else []
    for folder in folders:
        matching = [sorted(folder.glob(pattern)) for pattern in NEEDED]
        if all(matching):
            return tuple(versions[-1] for versions in matching)
    return ()


def tool(name: str) -> str | None:
    """The path of `java` or `javac`; JAVA_HOME takes precedence."""
    home = os.environ.get("JAVA_HOME")
    return (shutil.which(name, path=str(Path(home) / "bin")) if home else None) or shutil.which(name)


def version() -> str:
    """Flink's."""
    return metadata.version(DISTRIBUTION)


def classes() -> Path:
    """The folder of our compiled program; compiles it if necessary. Raises `FlinkMissing`."""
    reason = missing()
    if reason is not None:
        raise FlinkMissing(reason)
    folder = _folder()
    if (folder / "cepbench" / "Server.class").is_file():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            target = Path(scratch) / "classes"
            _compile(Path(scratch), target)
            try:
                target.replace(folder)
            except OSError:  # another process has compiled it meanwhile
                if not (folder / "cepbench" / "Server.class").is_file():
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


@cache
def _folder() -> Path:
    """The folder of the compiled program, which depends on its source and Flink's version."""
    digest = hashlib.sha256(version().encode())
    for name, text in _sources().items():
        digest.update(f"\n{name} {len(text)}\n".encode() + text)
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "cepbench" / "flink" / digest.hexdigest()[:16]
