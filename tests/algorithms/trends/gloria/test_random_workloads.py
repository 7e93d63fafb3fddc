"""Random workloads with plans drawn at random among all valid ones, against the oracle; on long streams against GRETA.

125 workloads by default; `CEPBENCH_GLORIA_CASES=5000` for as many as one likes.
"""

import os

import pytest

from cepbench.algorithms.oracle import TooManyMatches
from cepbench.algorithms.registry import make
from cepbench.verification.agreement import difference_of_rows, expected_rows, rows_of
from cepbench.verification.evaluators import run, subject_of
from cepbench.verification.random_cases import Case, batch_of, split
from cepbench.verification.verify import smallest_failure, wrong
from tests.algorithms.trends.gloria.plans import drawn
from tests.algorithms.trends.snapshots.workloads import (
    KLEENE,
    SEQUENCES,
    SHARED,
    SHORT_BURSTS,
    long_workload,
    random_workload,
)

EACH = 25
CASES = int(os.environ.get("CEPBENCH_GLORIA_CASES", "125"))


def workload_of(seed: int) -> Case:
    """SEQ, flat and nested Kleene, and both together, by turns; some with few types, so that queries share much."""
    kind, orders = seed % 5, (1, 2, 3)[seed // 5 % 3]
    if kind == 0:
        return random_workload(seed)
    patterns = {1: SEQUENCES, 2: KLEENE, 3: (*SEQUENCES, *KLEENE), 4: (*SHARED, *SEQUENCES, *KLEENE)}[kind]
    return random_workload(seed, 30, patterns=patterns, orders=orders, bursts=SHORT_BURSTS)


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, CASES, EACH))
def test_random_plans_give_the_answers_of_the_oracle(first: int) -> None:
    compared = 0
    for seed in range(first, first + EACH):
        case = workload_of(seed)
        try:
            expected = expected_rows(case)
        except TooManyMatches:
            continue
        compared += sum(map(len, expected)) > 0
        for algorithm in drawn(seed):
            subject = subject_of(algorithm, "float" if seed % 16 == 9 else "modular")
            if wrong(case, subject, expected) is not None:
                pytest.fail(f"plan {algorithm.seed} of {seed}\n{smallest_failure(case, subject)}")
    assert compared > EACH / 2


@pytest.mark.full
@pytest.mark.parametrize("arithmetic", ["modular", "float"])
@pytest.mark.parametrize("seed", range(6))
def test_random_plans_give_the_answers_of_greta_on_long_streams(seed: int, arithmetic: str) -> None:
    case = long_workload(seed)
    events = batch_of(case.events)
    expected = rows_of(run(make("greta"), case.queries, [events], arithmetic))
    assert len(expected)
    for algorithm in drawn(seed):
        batches = split(events, case.cuts)
        rows = rows_of(run(algorithm, case.queries, batches, arithmetic, promise=case.promise))
        assert difference_of_rows(expected, rows) is None
