"""The curated mutants: changes of meaning that no operator makes, such as a misreading of a paper's algorithm.

`tests/mutants/catalogue.yaml` is a list of them:

    - name: queries/a-short-name
      changes: what goes wrong, in words
      in: queries/automaton.py::_Builder.sequence
      old: text that occurs once in the function; any white space counts as one blank
      new: the replacement; further lines are indented relative to the first
      tests: [tests/queries/test_automaton.py::test_name]

The function may be anywhere in its file. Without `tests`, the nearest tests are found as for any mutant.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.mutants.mutant import ROOT, BrokenMutant, Mutant
from tests.mutants.operators import Source

FILE = Path(__file__).with_name("catalogue.yaml")


@dataclass(frozen=True)
class Entry:
    """One entry; `place` is `file::qualified.name`."""

    name: str
    changes: str
    place: str
    old: str
    new: str
    tests: tuple[str, ...] = ()

    def mutant(self, root: Path = ROOT) -> Mutant:
        """The mutant of the current file. Raises `BrokenMutant` unless the old text occurs exactly once."""
        file, _, function = self.place.partition("::")
        if not (root / file).is_file():
            raise BrokenMutant(f"{self.name}: there is no file {file}")
        source = Source((root / file).read_text(encoding="utf-8"))
        begin, end = _span(source, function, self)
        pattern = re.compile(r"\s+".join(map(re.escape, self.old.split())))
        found = list(pattern.finditer(source.text, begin, end))
        if len(found) != 1:
            raise BrokenMutant(f"{self.name}: {self.place} holds its old text {len(found)} times")
        start = found[0].start()
        before = source.text[source.text.rfind("\n", 0, start) + 1 : start]
        indent = before[: len(before) - len(before.lstrip())]
        new = self.new.strip().replace("\n", f"\n{indent}")
        return Mutant(self.name, self.changes, file, start, found[0].group(), new, self.tests)


def load(file: Path = FILE) -> tuple[Entry, ...]:
    """All entries. Raises `BrokenMutant` for a malformed one."""
    entries = tuple(_entry(value) for value in yaml.safe_load(file.read_text(encoding="utf-8")))
    names = [entry.name for entry in entries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BrokenMutant(f"two mutants are called {twice[0]}")
    return entries


def _span(source: Source, function: str, entry: Entry) -> tuple[int, int]:
    """Where the function, or the class or name of the module, starts and ends."""
    node: ast.AST = source.tree
    for name in function.split("."):
        inner = [child for child in ast.iter_child_nodes(node) if name in _names(child)]
        if len(inner) != 1:
            raise BrokenMutant(f"{entry.name}: {entry.place} is there {len(inner)} times")
        node = inner[0]
    assert isinstance(node, ast.stmt)
    return source.span(node)


def _names(node: ast.AST) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case _:
            return set()


def _entry(value: object) -> Entry:
    try:
        assert isinstance(value, dict)
        fields = {("place" if key == "in" else key): text for key, text in value.items()}
        return Entry(**{**fields, "tests": tuple(fields.get("tests", ()))})
    except (AssertionError, TypeError) as error:
        raise BrokenMutant(f"{value!r:.80} is no mutant: {error}") from None
