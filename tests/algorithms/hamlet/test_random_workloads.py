"""Random workloads against the oracle, in every mode and with random decisions; on long streams against GRETA."""

import pandas as pd
import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.hamlet.plan import plan_of
from cepbench.algorithms.oracle import TooManyMatches
from cepbench.algorithms.registry import make
from cepbench.queries.compile import compile_workload
from cepbench.verification.agreement import difference_of_rows, expected_rows, rows_of
from cepbench.verification.evaluators import run, subject_of
from cepbench.verification.random_cases import batch_of, split
from cepbench.verification.verify import smallest_failure, wrong
from tests.algorithms.hamlet.workloads import Forced, long_workload, random_workload

EACH = 50
SPECIFICATIONS = ("hamlet", "hamlet[sharing=static]", "hamlet[sharing=never]", "hamlet[benefit=paper]")


def algorithms(seed: int) -> list[Algorithm]:
    return [Forced(seed), *map(make, SPECIFICATIONS)]


@pytest.mark.parametrize("first", range(0, 6 * EACH, EACH))
def test_all_decisions_give_the_answers_of_the_oracle(first: int) -> None:
    compared = 0
    for seed in range(first, first + EACH):
        case = random_workload(seed)
        try:
            expected = expected_rows(case)
        except TooManyMatches:
            continue
        compared += sum(map(len, expected)) > 0
        for algorithm in algorithms(seed):
            subject = subject_of(algorithm)
            if wrong(case, subject, expected) is not None:
                pytest.fail(f"{vars(algorithm)}\n{smallest_failure(case, subject)}")
    assert compared > EACH / 2


@pytest.mark.parametrize("arithmetic", ["modular", "float"])
@pytest.mark.parametrize("seed", range(12))
def test_all_decisions_give_the_answers_of_greta_on_long_streams(seed: int, arithmetic: str) -> None:
    case = long_workload(seed)
    events = batch_of(case.events)
    expected = run(make("greta"), case.queries, [events], arithmetic)
    assert len(expected)
    for algorithm in algorithms(seed):
        found = run(algorithm, case.queries, split(events, case.cuts), arithmetic, promise=case.promise)
        assert_same(expected, found)


def assert_same(expected: pd.DataFrame, found: pd.DataFrame) -> None:
    reason = difference_of_rows(rows_of(expected), rows_of(found))
    assert reason is None, reason


def test_random_workloads_share() -> None:
    """What is tested above is sharing: most workloads have a sub-pattern to share."""
    schema = batch_of(()).schema
    found = [plan_of(compile_workload(random_workload(seed).queries, schema)).details for seed in range(60)]
    assert sum(details["sharable_sub_patterns"] > 0 for details in found) > 40
