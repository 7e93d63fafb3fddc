"""The curated mutants: small changes of meaning, each with the tests that must notice it.

A file of the catalogue (`tests/mutants/*.yaml`) is a list of mutants of one part of the project:

    - name: a-short-name
      changes: what goes wrong, in words
      file: queries/automaton.py
      old: text that occurs in the file once
      new: what takes its place
      tests: [tests/queries/test_automaton.py::test_name, "tests/contract/test_x.py::test_y[greta]"]

`equivalent: why` marks a change that no answer can show; its tests must pass. `needs: flink` names an algorithm without
whose extra the tests are skipped, and the mutant with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from cepbench.algorithms.registry import make

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class BrokenMutant(Exception):
    """A mutant that does not apply, or a name that no mutant has."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file. `name` starts with the name of its part: `queries/nullable-sequence`."""

    name: str
    changes: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    equivalent: str | None = None
    needs: str | None = None

    def missing(self) -> str | None:
        """Why its tests cannot run here, or None."""
        return None if self.needs is None else make(self.needs).missing()

    def applied_to(self, text: str) -> str:
        """The file's text with the change. Raises `BrokenMutant` unless there is exactly one place for it."""
        places = text.count(self.old)
        if places != 1:
            raise BrokenMutant(f"{self.name} no longer applies: its old text occurs {places} times in {self.file}")
        if self.old == self.new:
            raise BrokenMutant(f"{self.name} changes nothing")
        return text.replace(self.old, self.new)


def load(folder: Path = HERE) -> tuple[Mutant, ...]:
    """All mutants, by part and in the order of its file. Raises `BrokenMutant` for a malformed one."""
    mutants = [
        _mutant(file.stem, entry)
        for file in sorted(folder.glob("*.yaml"))
        for entry in yaml.safe_load(file.read_text(encoding="utf-8"))
    ]
    names = [mutant.name for mutant in mutants]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BrokenMutant(f"two mutants are called {twice[0]}")
    return tuple(mutants)


def chosen(mutants: Sequence[Mutant], names: Sequence[str]) -> tuple[Mutant, ...]:
    """Those with one of these names, or of a part with one of them; all for no name. Raises `BrokenMutant`."""
    for name in names:
        if not any(_is_called(mutant, name) for mutant in mutants):
            parts = ", ".join(dict.fromkeys(mutant.name.partition("/")[0] for mutant in mutants))
            raise BrokenMutant(f"no mutant is called {name!r}; give one of --list, or a part: {parts}")
    return tuple(mutant for mutant in mutants if not names or any(_is_called(mutant, name) for name in names))


def _is_called(mutant: Mutant, name: str) -> bool:
    return name in (mutant.name, *mutant.name.split("/", 1))


def _mutant(part: str, entry: object) -> Mutant:
    try:
        assert isinstance(entry, dict)
        return Mutant(**{**entry, "name": f"{part}/{entry['name']}", "tests": tuple(entry["tests"])})
    except (AssertionError, KeyError, TypeError) as error:
        raise BrokenMutant(f"{part}.yaml: {entry!r:.80} is no mutant: {error}") from None
