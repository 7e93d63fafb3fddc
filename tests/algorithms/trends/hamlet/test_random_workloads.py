"""Random workloads against the oracle, in every mode and with random decisions; on long streams against GRETA.

125 workloads by default; `CEPBENCH_HAMLET_CASES=5000` for as many as one likes.
"""

import os
from collections import Counter

import pandas as pd
import pytest

from cepbench.algorithms.oracle import TooManyMatches
from cepbench.algorithms.registry import make
from cepbench.verification.agreement import difference_of_rows, expected_rows, rows_of
from cepbench.verification.evaluators import run, subject_of
from cepbench.verification.random_cases import batch_of, split
from cepbench.verification.verify import smallest_failure, wrong
from tests.algorithms.trends.hamlet.coverage import FEATURES, covered
from tests.algorithms.trends.hamlet.decisions import all_decisions
from tests.algorithms.trends.snapshots.workloads import long_workload, random_workload

EACH = 25
CASES = int(os.environ.get("CEPBENCH_HAMLET_CASES", "125"))


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, CASES, EACH))
def test_all_decisions_give_the_answers_of_the_oracle(first: int) -> None:
    compared = 0
    for seed in range(first, first + EACH):
        case = random_workload(seed)
        try:
            expected = expected_rows(case)
        except TooManyMatches:
            continue
        compared += sum(map(len, expected)) > 0
        for algorithm in all_decisions(seed):
            subject = subject_of(algorithm)
            if wrong(case, subject, expected) is not None:
                pytest.fail(f"{vars(algorithm)}\n{smallest_failure(case, subject)}")
    assert compared > EACH / 2


@pytest.mark.full
@pytest.mark.parametrize("arithmetic", ["modular", "float"])
@pytest.mark.parametrize("seed", range(6))
def test_all_decisions_give_the_answers_of_greta_on_long_streams(seed: int, arithmetic: str) -> None:
    case = long_workload(seed)
    events = batch_of(case.events)
    expected = run(make("greta"), case.queries, [events], arithmetic)
    assert len(expected)
    for algorithm in all_decisions(seed):
        answer = run(algorithm, case.queries, split(events, case.cuts), arithmetic, promise=case.promise)
        assert_same(expected, answer)


def assert_same(expected: pd.DataFrame, answer: pd.DataFrame) -> None:
    reason = difference_of_rows(rows_of(expected), rows_of(answer))
    assert reason is None, reason


def test_random_workloads_have_all_that_is_hard() -> None:
    """The tests above cover sharing, wherever a burst or a Kleene sub-pattern may be."""
    features = Counter(feature for seed in range(120) for feature in covered(random_workload(seed)))
    assert {feature: features[feature] for feature in FEATURES if features[feature] < 5} == {}
    assert features["shared"] >= 80
