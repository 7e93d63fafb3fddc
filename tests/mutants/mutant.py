"""A mutant: one small change of one file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class BrokenMutant(Exception):
    """A mutant that does not apply, or a name that no mutant has."""


@dataclass(frozen=True)
class Mutant:
    """A change of the text between two offsets of a file.

    `name` is that of the catalogue (`queries/nullable-sequence`) or the place (`queries/literals.py:43`) and the
    operator. `tests` are those which must notice it; none if they are to be found.
    """

    name: str
    changes: str
    file: str
    start: int
    old: str
    new: str
    tests: tuple[str, ...] = ()

    def applied_to(self, text: str) -> str:
        """The file's text with the change. Raises `BrokenMutant` if the file has changed since the mutant was made."""
        end = self.start + len(self.old)
        if text[self.start : end] != self.old or self.old == self.new:
            raise BrokenMutant(f"{self.name} does not apply to {self.file}")
        return text[: self.start] + self.new + text[end:]

    def is_called(self, name: str) -> bool:
        """Whether a name selects this mutant: its own, the first or second part of it, its file, or a folder above."""
        parts = (self.name, *self.name.split("/", 1), self.name.split(" ", 1)[0], self.file)
        return name in parts or self.file.startswith(f"{name.rstrip('/')}/")


def named(mutants: Iterable[Mutant], names: Sequence[str]) -> tuple[Mutant, ...]:
    """The mutants that the names select, or all without names. Raises `BrokenMutant` for a name that selects none."""
    among = tuple(mutants)
    for name in names:
        if not any(mutant.is_called(name) for mutant in among):
            raise BrokenMutant(f"{name!r} is no mutant, file or folder that has one; see --list")
    return tuple(mutant for mutant in among if not names or any(mutant.is_called(name) for name in names))
