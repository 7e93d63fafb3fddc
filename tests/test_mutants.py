"""The curated mutants are in order; `./run_tests.sh --mutants` tells whether tests notice them."""

import ast
from functools import cache

import pytest

from cepbench.algorithms.flink import Flink
from tests.mutants.__main__ import SKIPPED, run
from tests.mutants.catalogue import ROOT, BrokenMutant, Mutant, chosen, load

MUTANTS = load()
PARTS = ("algorithms/kernels", "algorithms/sharon/optimiser", "algorithms/cet/partitioning", "queries", "pipeline")
PARTS += ("metrics", "experiments", "plots", "cli")
NO_MEANING = ("__init__.py", "arrays.py", "compilation.py")
NO_MEANING += ("sequences/kernels/counters.py", "sequences/kernels/program.py")
NO_MEANING += ("hamlet/kernels/program.py", "hamlet/kernels/state.py")
NO_MEANING += ("gloria/kernels/program.py", "gloria/kernels/state.py")
NO_MEANING += ("snapshots/kernels/records.py", "snapshots/kernels/rows.py")
"""Kernel modules that compute no answer."""


@cache
def functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return names | {f"{c.name}::{node.name}" for c in classes for node in c.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_it_applies_and_its_tests_exist(mutant: Mutant) -> None:
    changed = mutant.applied_to((ROOT / mutant.file).read_text(encoding="utf-8"))
    if mutant.file.endswith(".py"):
        ast.parse(changed)
    assert mutant.changes
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert name.partition("[")[0] in functions(file), test


def test_there_are_enough_and_few_are_equivalent() -> None:
    assert len(MUTANTS) >= 120
    assert sum(mutant.equivalent is not None for mutant in MUTANTS) <= len(MUTANTS) / 20


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_some(part: str) -> None:
    assert sum(mutant.file.startswith(f"{part}/") for mutant in MUTANTS) >= 5


def test_every_kernel_has_one() -> None:
    kernels = {str(file.relative_to(ROOT)) for file in (ROOT / "algorithms").rglob("kernels/*.py")}
    kernels -= {file for file in kernels if file.endswith(NO_MEANING)}
    assert kernels - {mutant.file for mutant in MUTANTS} == set()


def test_a_mutant_that_no_longer_applies_is_an_error() -> None:
    mutant = Mutant("part/name", "", "file.py", "once", "twice", ("tests/test_x.py::test_y",))
    assert mutant.applied_to("at once") == "at twice"
    for text in ("", "once and once"):
        with pytest.raises(BrokenMutant, match="no longer applies"):
            mutant.applied_to(text)


def test_mutants_are_chosen_by_name_and_by_part() -> None:
    one, two = (Mutant(name, "", "file.py", "a", "b", ()) for name in ("left/x", "right/x"))
    assert chosen((one, two), ()) == (one, two)
    assert chosen((one, two), ("left",)) == chosen((one, two), ("left/x",)) == (one,)
    with pytest.raises(BrokenMutant, match="no mutant is called 'y'"):
        chosen((one, two), ("y",))


def test_a_mutant_whose_tests_need_an_extra_is_skipped_without_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flink = [mutant for mutant in MUTANTS if mutant.file.startswith("algorithms/flink/")]
    assert flink
    assert all(mutant.needs == "flink" for mutant in flink)
    monkeypatch.setattr(Flink, "missing", staticmethod(lambda: "Flink is not available: why"))
    assert {verdict.outcome for verdict in run(flink, 1)} == {SKIPPED}
    assert capsys.readouterr().out.count("Flink is not available: why") == len(flink)
