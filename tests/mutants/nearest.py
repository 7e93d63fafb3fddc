"""Finds the tests nearest to a file: those that name it, those in its folder, and those of the systems that use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cepbench.algorithms.registry import ALGORITHMS
from tests.mutants.mutant import ROOT

MOST = 12
"""The most test files; otherwise a file that everything imports would have all of them."""
MOST_SYSTEMS = 3

_DOTTED = re.compile(r"\b(?:cepbench|tests)(?:\.\w+)+")
_IMPORT = re.compile(r"^\s*from ((?:cepbench|tests)[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def nearest_tests(file: str) -> list[str]:
    """Test files, the nearest first: of the same name, those that import or name the file, those of its folder.

    A file that no test names has the tests of the files that import it. A kernel has those of its system's folder.
    """
    folder = _mirrored(file)
    found = [test for test in _tests_below(folder) if Path(test).name == f"test_{Path(file).name}"]
    found += _nearest_first(_naming(file), folder)
    if len(folder.parts) > 2:  # the folder of one system or part, not of all
        found += _tests_below(folder)
    reached = {file}
    while not found and (importers := _importers(reached) - reached):
        reached |= importers
        found = _nearest_first({test for importer in importers for test in _naming(importer)}, folder)
    return list(dict.fromkeys(found))[:MOST]


def systems_of(file: str) -> list[str]:
    """Names of the algorithms that use a file; those with the shortest chain of imports come first."""
    homes = {f"{'/'.join(kind.__module__.split('.')[1:])}.py": kind.name for kind in ALGORITHMS if not kind.missing()}
    found: list[str] = []
    reached, importers = {file}, {file}
    while importers and len(found) < MOST_SYSTEMS:
        found += sorted(homes[one] for one in importers & homes.keys())
        importers = _importers(importers) - reached
        reached |= importers
    return found[:MOST_SYSTEMS]


def _mirrored(file: str) -> Path:
    """The test folder of a file; a system's kernels share the folder of the system."""
    parts = Path(file).parent.parts
    at = Path("tests", *(part for part in parts if part != "kernels" or parts == ("algorithms", "engine", "kernels")))
    while not (ROOT / at).is_dir():
        at = at.parent
    return at


def _tests_below(folder: Path) -> list[str]:
    return sorted(file for file in _files() if _is_test(file) and Path(file).is_relative_to(folder))


def _naming(file: str) -> set[str]:
    """Tests that import or name a file, directly or through other test files."""
    reached: set[str] = set()
    pending = {file}
    while pending:
        users = {user for one in pending for user in _users().get(one, ()) if user.startswith("tests/")} - reached
        reached |= users
        pending = {user for user in users if not _is_test(user)}
    return {user for user in reached if _is_test(user)}


def _importers(files: set[str]) -> set[str]:
    return {user for file in files for user in _users().get(file, ()) if not user.startswith("tests/")}


def _nearest_first(tests: set[str], folder: Path) -> list[str]:
    """The tests in order; those that share more folders with `folder` come first."""

    def common(test: str) -> int:
        return sum(one == other for one, other in zip(Path(test).parts, folder.parts, strict=False))

    return sorted(tests, key=lambda test: (-common(test), test))


def _is_test(file: str) -> bool:
    return Path(file).name.startswith("test_")


@cache
def _files() -> frozenset[str]:
    """Python files of the package and its tests, except those about mutants."""
    folders = (ROOT / "tests", *(file.parent for file in ROOT.glob("*/__init__.py")))
    found = (str(file.relative_to(ROOT)) for folder in folders for file in folder.rglob("*.py"))
    return frozenset(file for file in found if not file.startswith(("tests/mutants/", "tests/test_mutants")))


@cache
def _users() -> dict[str, set[str]]:
    """The files that import each file, or name its module."""
    users: dict[str, set[str]] = {}
    for file in _files():
        text = (ROOT / file).read_text(encoding="utf-8")
        for used in {one for name in _names(text) for one in _modules(name)} - {file}:
            users.setdefault(used, set()).add(file)
    return users


def _names(text: str) -> Iterator[str]:
    yield from _DOTTED.findall(text)
    for found in _IMPORT.finditer(text):
        yield from (f"{found[1]}.{name}" for name in re.findall(r"\w+", found[2]))


def _modules(name: str) -> Iterator[str]:
    """The file of the module that a dotted name is or belongs to, if it is one of the project's."""
    parts = name.removeprefix("cepbench.").split(".")
    for path in ("/".join(parts), "/".join(parts[:-1])):
        yield from {f"{path}.py", f"{path}/__init__.py"} & _files()
