"""Where engines are installed, what is wrong with them, and what else they need."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cepbench.algorithms.external import packages
from cepbench.algorithms.external.core_engine.algorithm import CoreEngine
from cepbench.algorithms.external.core_engine.engine import Engine, EngineFailed
from cepbench.algorithms.external.duckdb import session
from cepbench.algorithms.external.duckdb.algorithm import DuckDB
from cepbench.algorithms.external.flink import installation
from cepbench.algorithms.external.flink.algorithm import Flink
from cepbench.algorithms.external.packages import CORE, DUCKDB, FLINK, Package
from cepbench.algorithms.registry import list_algorithms
from cepbench.queries.parser import parse_query
from tests.algorithms.external.wheels import unpacked

QUERY = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B)")
DETECTION = parse_query("PATTERN SEQ(A, B) WITHIN 5 s PER MATCH")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder of engines, beside an environment that has none."""
    monkeypatch.setenv(packages.VARIABLE, str(tmp_path))
    everywhere = packages._places
    monkeypatch.setattr(packages, "_places", lambda package: (place for place in everywhere(package) if place[0]))
    caches = (packages.look_up, packages.interpreter, installation._folder)
    for cache in caches:
        cache.cache_clear()
    yield tmp_path
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("engines")
def test_an_engine_that_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "interpreter", lambda package: None)
    for algorithm, query, reason in [
        (Flink(), QUERY, "Flink is not available: it is not installed (cepbench engines install flink)"),
        (DuckDB(), QUERY, "DuckDB is not available: it is not installed (cepbench engines install duckdb)"),
        (CoreEngine(), DETECTION, "CORE's engine is not available: it is not installed, and there is no CPython 3.13 "
        "(python3.13 on the PATH)"),
    ]:  # fmt: skip
        assert algorithm.missing() == algorithm.unsupported(query) == reason


@pytest.mark.usefixtures("engines")
def test_without_engines_all_else_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    available = {row["name"]: row["available"] for row in list_algorithms()}
    assert all("is not available: it is not installed" in available.pop(package.name) for package in packages.PACKAGES)
    assert set(available.values()) == {"yes"}
    monkeypatch.setattr(session, "_connections", {})
    with pytest.raises(session.DuckDBFailed, match="DuckDB is not available"):
        session.current()
    with pytest.raises(installation.FlinkMissing, match="Flink is not available"):
        installation.classes()
    with pytest.raises(EngineFailed, match="CORE's engine is not available"):
        Engine()


@pytest.mark.parametrize("package", packages.PACKAGES, ids=lambda package: package.name)
def test_what_is_wrong_with_a_package(engines: Path, package: Package) -> None:
    site = unpacked(engines, package)
    assert packages.missing(package) is None
    module = site / package.module / "__init__.py"
    module.write_text("more")
    assert_fault(package, "it is damaged: __init__.py has 4 of 0 bytes")
    module.unlink()
    assert_fault(package, "it is damaged: __init__.py is missing")
    [record] = site.glob("*.dist-info/RECORD")
    record.write_text(record.read_text()[:8])
    assert_fault(package, "it is damaged: its list of files cannot be read")


def assert_fault(package: Package, fault: str) -> None:
    packages.look_up.cache_clear()
    assert packages.look_up(package) == fault
    assert str(packages.missing(package)).startswith(f"{package.title} is not available: {fault}")


@pytest.mark.parametrize(("version", "accepted"), [((2, 0, 0), False), ((2, 0, 9), True), ((2, 1), False)])
def test_versions(engines: Path, version: tuple[int, ...], accepted: bool) -> None:
    unpacked(engines, DUCKDB, version)
    text = ".".join(map(str, version))
    fault = f"version {text} is installed, and >=2.0.1,<2.1 is needed (cepbench engines install duckdb)"
    assert packages.missing(DUCKDB) == (None if accepted else f"DuckDB is not available: {fault}")


def test_a_package_for_another_python_is_none(engines: Path) -> None:
    for package, usable in ((FLINK, True), (DUCKDB, False)):
        site = unpacked(engines, package)
        site.parent.rename(site.parent.with_name("python3.9"))
        assert (packages.missing(package) is None) is usable


def test_an_interpreter_that_is_gone(engines: Path) -> None:
    unpacked(engines, CORE)
    python = engines / CORE.name / "bin" / "python"
    python.unlink()
    python.symlink_to(engines / "removed")
    assert_fault(CORE, f"its interpreter {engines}/removed is missing")


def test_a_launcher_without_its_python_is_no_interpreter(engines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = engines / "python0.1"
    launcher.write_text("#!/bin/sh\nexit 127\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(engines))
    other = Package("toy", "Toy", "toy", "toy", (1,), (2,), "none", 1, python=(0, 1))
    assert packages.interpreter(other) is None
    launcher.write_text("#!/bin/sh\necho cpython 0 1\n")
    packages.interpreter.cache_clear()
    assert packages.interpreter(other) == launcher


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [("java", "there is no java on the PATH or in JAVA_HOME"), ("javac", "there is no javac, the compiler of a JDK")],
)
def test_flink_needs_a_jdk(engines: Path, monkeypatch: pytest.MonkeyPatch, replaced: str, reason: str) -> None:
    unpacked(engines)
    monkeypatch.setattr(installation, "tool", lambda name: None if name == replaced else name)
    assert str(installation.missing()).startswith(f"Flink is not available: {reason}")
