"""Many queries on long streams: random plans of Gloria against COGRA.

By default windows hold a thousand events. `CEPBENCH_GLORIA_STREAMS=100 CEPBENCH_GLORIA_EVENTS=40000` for as many
streams, and streams as long, as one likes; those with events that are visited one by one have a quarter.
"""

import os

import pytest

from cepbench.algorithms.registry import make
from cepbench.verification.agreement import difference_of_rows, rows_of
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import split
from tests.algorithms.trends.gloria.plans import drawn
from tests.algorithms.trends.snapshots.large import SUMMED, VISITED, large_workload

STREAMS = int(os.environ.get("CEPBENCH_GLORIA_STREAMS", "6"))
EVENTS = int(os.environ.get("CEPBENCH_GLORIA_EVENTS", "2000"))
LONGER = ("SEQ(A, {1}, {2})", "SEQ({1}, A, {2}, {3})", "SEQ({1}, (SEQ(A, {2}))+)", "(SEQ({1}, (SEQ(A, {2}))+))+",
          "SEQ((SEQ(A, {1}))+, {2})", "SEQ(A, {1}, {2}, A)")  # fmt: skip
LOOPS = ("SEQ({1}, (SEQ(A+, {2}))+)", "(SEQ({1}, A+, {2}))+", "SEQ({1}, {2}, A+, {3})")
"""Patterns in which A follows A, so that there can be predicates on both."""


@pytest.mark.parametrize("visited", [False, True], ids=["summed", "visited"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, STREAMS))])
def test_random_plans_give_the_answers_of_cogra(seed: int, visited: bool) -> None:
    patterns = (*LOOPS, *VISITED) if visited else (*LONGER, *SUMMED) if seed % 2 else LONGER
    case = large_workload(seed, EVENTS // 4 if visited else EVENTS, visited, patterns)
    arithmetic = "float" if seed % 4 == 1 else "modular"
    expected = rows_of(run(make("cogra"), case.queries, [case.events], arithmetic))
    assert expected
    for algorithm in drawn(seed):
        batches = split(case.events, case.cuts)
        rows = rows_of(run(algorithm, case.queries, batches, arithmetic, pickled=seed % 2 == 1))
        reason = difference_of_rows(expected, rows)
        assert reason is None, f"plan {algorithm.seed} of {seed}: {reason}"
