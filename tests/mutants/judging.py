"""Whether a test fails on a mutant: the nearest tests run first, then the default tier, then all."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import Mutant
from tests.mutants.nearest import nearest_tests, systems_of
from tests.mutants.scratch import NO_TESTS, PASSED, Scratch, TestRun

NEAREST, DEFAULT, ALL = STAGES = ("nearest", "default", "all")
KILLED, SURVIVED, NOT_JUDGED, ERROR = "killed", "SURVIVED", "not judged in time", "ERROR"

TEST_SECONDS = 60.0
COMPILATION = 240.0
"""CPU seconds that a test may take, and what is added for a test that compiles kernels."""
SLOWER = 5
"""A test hangs if it takes this many times as long as without the mutant."""

NOT_THESE = ("--ignore=tests/test_mutants.py",)
"""These tests check that the curated mutants apply to the code, so every change would fail them."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a mutant: the stage and the test that killed it, if any."""

    mutant: Mutant
    outcome: str
    stage: str
    seconds: float
    test: str = ""

    def __str__(self) -> str:
        """A row of the table."""
        by = f" by {self.stage}" if self.outcome == KILLED else ""
        why = f"\n            {self.test}" if self.test else ""
        return f"{self.outcome}{by}  {self.seconds:.0f} s  {self.mutant.name}{why}"


class Judge:
    """Judges mutants in one copy of the project, up to a last stage and a deadline (`time.monotonic()`)."""

    def __init__(self, copy: Scratch, first: str = NEAREST, last: str = ALL, deadline: float = math.inf) -> None:
        self._copy = copy
        self._stages = STAGES[STAGES.index(first) : STAGES.index(last) + 1]
        self._deadline = deadline
        self._unchanged: dict[str, float | None] = {}

    def verdict(self, mutant: Mutant) -> Verdict:
        """Runs the tests of each stage until one fails that passes without the mutant."""
        begin = time.monotonic()
        stage = self._stages[0]
        for stage in self._stages:
            for arguments in commands(mutant, stage):
                outcome, test = self._outcome(mutant, arguments)
                if outcome != SURVIVED:
                    return Verdict(mutant, outcome, stage, time.monotonic() - begin, test)
        return Verdict(mutant, SURVIVED, stage, time.monotonic() - begin)

    def _outcome(self, mutant: Mutant, arguments: list[str], allowed: float | None = None) -> tuple[str, str]:
        limit = allowed or TEST_SECONDS + COMPILATION * _compiles(mutant)
        with self._copy.changed_by(mutant):
            run = self._run(arguments, limit)
        if run.late:
            return NOT_JUDGED, ""
        if run.code in (PASSED, NO_TESTS) and not run.failed:
            return SURVIVED, ""
        if run.failed is None and not run.hung:
            return ERROR, f"its tests cannot be run\n{run.output[-2000:]}"
        test = run.failed or arguments[0]
        if test not in self._unchanged:
            alone = [test] if "::" in test else ["--collect-only", str(Path(test).parent)]
            tier = [name for name in arguments if name == "--all"]  # which leaves out what it contains in another form
            without = self._run([*tier, *alone], math.inf)
            if without.late:
                return NOT_JUDGED, ""
            self._unchanged[test] = without.seconds if without.code == PASSED else None
        seconds = self._unchanged[test]
        if seconds is None:
            return ERROR, f"{test} fails without the mutant, too"
        if run.hung and limit < SLOWER * seconds:
            return self._outcome(mutant, arguments, SLOWER * seconds)
        return KILLED, f"{test} (does not end)" if run.hung else test

    def _run(self, arguments: list[str], test_seconds: float) -> TestRun:
        return self._copy.run(arguments, test_seconds, self._deadline - time.monotonic())


def commands(mutant: Mutant, stage: str) -> Iterator[list[str]]:
    """The arguments of each run of pytest in a stage."""
    if stage == NEAREST:
        if mutant.tests:
            yield [*mutant.tests, "--all"]  # these tests may be outside the default tier
        elif tests := nearest_tests(mutant.file):
            yield list(tests)
        systems = [] if mutant.tests else systems_of(mutant.file)
        if systems:
            yield ["tests/contract", "-k", " or ".join(systems)]
    elif stage == DEFAULT:
        yield ["tests", *NOT_THESE]
    else:
        yield ["tests", "--all", *NOT_THESE]


def _compiles(mutant: Mutant) -> bool:
    """Whether a mutant makes Numba compile kernels again."""
    return bool({"kernels", "queries"} & set(Path(mutant.file).parts))
