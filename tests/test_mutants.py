"""Mutants: the curated ones are in order, operators make what they say, and a draw is a function of its seed."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.mutants import catalogue
from tests.mutants.catalogue import Entry
from tests.mutants.drawing import AREAS, area_of, drawn
from tests.mutants.judging import DEFAULT, KILLED, NEAREST, NOT_JUDGED, SURVIVED, Judge, Verdict, commands
from tests.mutants.mutant import ROOT, BrokenMutant, Mutant, named
from tests.mutants.nearest import nearest_tests, systems_of
from tests.mutants.operators import mutants_of
from tests.mutants.scratch import NO_TESTS, PASSED, Scratch, TestRun

ENTRIES = catalogue.load()


@cache
def functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_a_curated_mutant_applies_and_its_tests_exist(entry: Entry) -> None:
    mutant = entry.mutant()
    ast.parse(mutant.applied_to((ROOT / mutant.file).read_text(encoding="utf-8")))
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert name.rpartition("::")[2] in functions(file), test


@cache
def made(file: str) -> set[str]:
    text = (ROOT / file).read_text(encoding="utf-8")
    return {mutant.applied_to(text) for mutant in mutants_of(file, text)}


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_no_operator_makes_a_curated_mutant(entry: Entry) -> None:
    mutant = entry.mutant()
    assert mutant.applied_to((ROOT / mutant.file).read_text(encoding="utf-8")) not in made(mutant.file)


@pytest.mark.parametrize(
    ("operator", "line", "changed"),
    [
        ("comparison", "y = a < b", ["a <= b", "a >= b"]),
        ("comparison", "y = a <= b <= c", ["a < b <= c", "a > b <= c", "a <= b < c", "a <= b > c"]),
        ("comparison", "y = a not in b", ["a in b"]),
        ("comparison", "y = (a) == (b)  # ==", ["(a) != (b)  # =="]),
        ("off by one", "y = a[1:] + 0", ["a[2:] + 0", "a[0:] + 0", "a[1:] + 1"]),
        ("off by one", "y = 1.0 * a + True", []),
        ("min and max", "y = min(a, b) + a.max()", ["max(a, b) + a.max()", "min(a, b) + a.min()"]),
        ("min and max", "y = np.minimum.reduce(a)", []),
        ("and and or", "y = a and b and c", ["a or b and c", "a and b or c"]),
        ("dropped not", "y = not (a or b)", ["(a or b)"]),
        ("dropped not", "y = a & ~b", ["a & b"]),
        ("flipped flag", "y = f(a, deep=True)", ["f(a, deep=False)"]),
        ("flipped flag", "y = zip(a, b, strict=True)", []),
        ("swapped arguments", "y = f(a.p, b.p, 1)", ["f(b.p, a.p, 1)"]),
        ("swapped arguments", "y = max(a, b) + g(a, np.int64)", []),
    ],
)
def test_an_operator_makes_these_changes(operator: str, line: str, changed: list[str]) -> None:
    text = f"def f(a, b, c):\n    {line}\n    return y\n"
    found = [one.applied_to(text).splitlines()[1] for one in mutants_of("f.py", text) if one.changes == operator]
    assert sorted(found) == sorted(f"    y = {new}" for new in changed)


def test_statements_are_dropped_that_nothing_else_needs_to_run() -> None:
    text = (
        "def f(self, a, b: int) -> int:\n"
        "    c = a\n"
        "    c += 1\n"
        "    self.n = c\n"
        "    a[0] = 1\n"
        "    self.note(a)\n"
        "    log(a)\n"
        "    for n in a:\n"
        "        c = n\n"
        "    return c\n"
    )
    dropped = [one for one in mutants_of("f.py", text) if one.changes == "dropped statement"]
    assert [one.old for one in dropped] == ["c += 1", "self.n = c", "a[0] = 1", "self.note(a)", "c = n"]
    assert all("pass" in one.applied_to(text) for one in dropped)


def test_texts_types_and_options_have_no_mutants() -> None:
    text = (
        '"""Before 1 and not 2."""\n'
        "from __future__ import annotations\n"
        "__slots__ = (1, 2)\n"
        "if TYPE_CHECKING:\n"
        "    x = 1 < 2\n"
        "@dataclass(frozen=True)\n"
        "class A(Generic[1]):\n"
        "    def __str__(self) -> str:\n"
        "        return self.a < 1\n"
        "    def f(self, a: Literal[1, 2]) -> Literal[3]:\n"
        '        raise ValueError(f"{a + 1}", min(a, 2))\n'
    )
    assert mutants_of("f.py", text) == []


def test_a_mutant_changes_its_place_alone() -> None:
    text = "def f(ä, b):\n    # 1 < 2\n    return g('ö', ä) if ä < b and b < 1 else (b  +  1)\n"
    for mutant in mutants_of("f.py", text):
        changed = mutant.applied_to(text)
        assert changed.splitlines()[:2] == text.splitlines()[:2]
        ast.parse(changed)
        with pytest.raises(BrokenMutant, match="does not apply"):
            mutant.applied_to(f" {text}")


def numbered(file: str, count: int) -> list[Mutant]:
    text = "".join(f"x{n} = {n}\n" for n in range(count))
    return mutants_of(file, text)


def test_a_draw_depends_on_its_seed_and_takes_areas_in_turn() -> None:
    mutants = {area: numbered(f"{area}.py", 40) for area in AREAS}
    first, again, other = drawn(mutants, 21, "a"), drawn(mutants, 21, "a"), drawn(mutants, 21, "b")
    assert first == again != other
    assert Counter(mutant.file for mutant in first) == dict.fromkeys((f"{area}.py" for area in AREAS), 3)
    assert drawn(mutants, 7, "a") == first[:7]
    assert len({(mutant.file, mutant.start) for mutant in first}) == 21
    assert len(drawn(mutants, 10**6, "a")) == 40 * len(AREAS)


@pytest.mark.parametrize(
    ("file", "area"),
    [
        ("algorithms/some/kernels/deep/a.py", "kernels"),
        ("algorithms/some/optimizer/a.py", "optimizers"),
        ("algorithms/some/a.py", "algorithms"),
        ("queries/a.py", "semantics"),
        ("experiments/verdicts/a.py", "verdicts"),
        ("experiments/a.py", None),
        ("tests/queries/test_a.py", None),
        ("setup.py", None),
    ],
)
def test_the_area_of_a_file_is_that_of_its_folders(file: str, area: str | None) -> None:
    assert area_of(file) == area


def test_an_entry_applies_within_its_function_however_that_is_laid_out(tmp_path: Path) -> None:
    entry = Entry("a/b", "", "f.py::A.f", "x = g(a)\nx += 1", "x += 1\nx = g(a)")
    other = "class B:\n    def f(self, a):\n        x = g(a)\n        x += 1\n"
    for text, changed in (
        ("class A:\n    def f(self, a):\n        x = g(a)\n        x += 1\n", "        x += 1\n        x = g(a)\n"),
        (
            f"{other}class A:\n  def f(self, a):\n    if a:\n      x = g(a)\n      x += 1\n",
            "      x += 1\n      x = g(a)\n",
        ),
    ):
        (tmp_path / "f.py").write_text(text)
        assert entry.mutant(tmp_path).applied_to(text).endswith(changed)
    for text in (
        other,
        "class A:\n    def f(self, a):\n        pass\n",
        "class A:\n    def f(self): x = g(a); x += 1\n",
    ):
        (tmp_path / "f.py").write_text(text)
        with pytest.raises(BrokenMutant, match="a/b"):
            entry.mutant(tmp_path)


def test_mutants_are_chosen_by_name_file_folder_and_part() -> None:
    one = Mutant("left/x", "", "queries/a.py", 0, "a", "b")
    two = Mutant("queries/b.py:3 comparison: < -> <=", "comparison", "queries/b.py", 0, "a", "b")
    assert named((one, two), ()) == named((one, two), ("queries",)) == (one, two)
    for name in ("left/x", "left", "x", "queries/a.py"):
        assert named((one, two), (name,)) == (one,)
    assert named((one, two), ("queries/b.py:3",)) == (two,)
    with pytest.raises(BrokenMutant, match="'y' is no mutant"):
        named((one, two), ("y",))


def test_the_nearest_tests_are_those_of_the_name_then_those_that_import_a_file() -> None:
    assert nearest_tests("queries/automaton.py")[0] == "tests/queries/test_automaton.py"
    assert "tests/queries/test_parser.py" in nearest_tests("queries/literals.py")  # imported by the parser's files
    assert nearest_tests("algorithms/sequences/spass/kernels/arrival.py")[0].startswith(
        "tests/algorithms/sequences/spass/"
    )
    assert systems_of("algorithms/sequences/spass/kernels/arrival.py") == ["spass"]
    assert len(systems_of("algorithms/engine/kernels/cells.py")) == 3


class Runs(Scratch):
    """Answers to what would be run: `outcomes` by test or folder, with and without the mutant."""

    def __init__(self, folder: Path, changed: dict[str, TestRun], unchanged: TestRun) -> None:
        super().__init__(folder)
        self.changed, self.unchanged, self.asked = changed, unchanged, list[str]()

    def run(self, arguments: object, test_seconds: float, seconds: float) -> TestRun:
        assert isinstance(arguments, list)
        if (self.folder / "a.py").read_text() == "b":
            self.asked.append(arguments[0])
            return self.changed.get(arguments[0], TestRun(PASSED, None, 1.0, ""))
        return self.unchanged


MUTANT = Mutant("a", "", "a.py", 0, "a", "b", ("near.py",))
PASSES = TestRun(PASSED, None, 1.0, "")
FAILS = TestRun(1, "x.py::test", 1.0, "")


def judged(folder: Path, changed: dict[str, TestRun], unchanged: TestRun = PASSES) -> tuple[Verdict, list[str]]:
    (folder / "a.py").write_text("a")
    runs = Runs(folder, changed, unchanged)
    verdict = Judge(runs).verdict(MUTANT)
    assert (folder / "a.py").read_text() == "a"
    return verdict, runs.asked


def test_a_mutant_is_judged_by_the_nearest_tests_then_by_the_tiers(tmp_path: Path) -> None:
    verdict, asked = judged(tmp_path, {"near.py": FAILS})
    assert (verdict.outcome, verdict.stage, verdict.test, asked) == (KILLED, NEAREST, "x.py::test", ["near.py"])
    verdict, asked = judged(tmp_path, {"tests": FAILS})
    assert (verdict.outcome, verdict.stage, asked) == (KILLED, DEFAULT, ["near.py", "tests"])
    verdict, asked = judged(tmp_path, {"near.py": TestRun(NO_TESTS, None, 1.0, "")})
    assert (verdict.outcome, asked) == (SURVIVED, ["near.py", "tests", "tests"])


def test_a_test_that_fails_anyway_kills_nothing(tmp_path: Path) -> None:
    verdict, _ = judged(tmp_path, {"near.py": FAILS}, FAILS)
    assert verdict.outcome == "ERROR"
    assert "without the mutant" in verdict.test


def test_a_test_that_does_not_end_kills_unless_it_is_slow_anyway(tmp_path: Path) -> None:
    hung = TestRun(-9, "x.py::test", 60.0, "", hung=True)
    verdict, asked = judged(tmp_path, {"near.py": hung})
    assert (verdict.outcome, len(asked)) == (KILLED, 1)
    verdict, asked = judged(tmp_path, {"near.py": hung}, TestRun(PASSED, None, 100.0, ""))
    assert (verdict.outcome, len(asked)) == (KILLED, 2)  # the second time with five times as long


def test_what_is_not_judged_in_time_is_said_to_be_so(tmp_path: Path) -> None:
    verdict, _ = judged(tmp_path, {"near.py": TestRun(-9, None, 9.0, "", late=True)})
    assert verdict.outcome == NOT_JUDGED


def test_mutants_are_not_judged_by_tests_about_mutants() -> None:
    for stage in (DEFAULT, "all"):
        assert all("--ignore=tests/test_mutants.py" in arguments for arguments in commands(MUTANT, stage))
