"""Many queries on long streams with long bursts: every mode of Hamlet against COGRA, and GRETA where it is cheap.

By default windows hold up to a thousand events. `CEPBENCH_HAMLET_STREAMS=100 CEPBENCH_HAMLET_EVENTS=40000` sets how
many and how long the streams are; where events are visited one by one, they have a quarter.
"""

import os

import pytest

from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.hamlet.algorithm import Hamlet
from cepbench.algorithms.trends.online.granularity import EVENT, GRANULARITIES
from cepbench.verification.agreement import difference_of_rows, rows_of
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import split
from tests.algorithms.trends.hamlet.decisions import all_decisions
from tests.algorithms.trends.snapshots.large import LargeCase, large_workload

STREAMS = int(os.environ.get("CEPBENCH_HAMLET_STREAMS", "4"))
EVENTS = int(os.environ.get("CEPBENCH_HAMLET_EVENTS", "2000"))
EACH = 4
CHEAP = 3000
"""Events that GRETA visits one by one in reasonable time."""


def check(case: LargeCase, seed: int, arithmetic: str, granularity: str) -> tuple[int, int]:
    """Rows, and those of them that have not overflowed, after comparing the modes of a granularity."""
    expected = rows_of(run(make("cogra"), case.queries, [case.events], arithmetic))
    if len(case.events) <= CHEAP:
        greta = rows_of(run(make("greta"), case.queries, [case.events], arithmetic))
        assert difference_of_rows(expected, greta) is None
    batches = split(case.events, case.cuts)
    for algorithm in all_decisions(seed):
        assert isinstance(algorithm, Hamlet)
        if algorithm.granularity != granularity:
            continue
        rows = rows_of(run(algorithm, case.queries, batches, arithmetic, pickled=seed % 2 == 1))
        reason = difference_of_rows(expected, rows)
        assert reason is None, f"seed {seed}, {vars(algorithm)}: {reason}"
    return len(expected), sum(not row["overflow"] for row in expected)


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("visited", [False, pytest.param(True, marks=pytest.mark.full)], ids=["summed", "visited"])
@pytest.mark.parametrize("first", range(0, STREAMS, EACH))
def test_all_decisions_give_the_answers_of_cogra(first: int, visited: bool, granularity: str) -> None:
    size = EVENTS // 4 if visited or granularity == EVENT else EVENTS
    rows = exact = 0
    for seed in range(first, min(first + EACH, STREAMS)):
        case = large_workload(seed, size, visited)
        checked = check(case, seed, "float" if seed % 4 == 3 else "modular", granularity)
        rows, exact = rows + checked[0], exact + checked[1]
    assert exact > rows / 10
