"""Random workloads against the oracle, under SPASS's own plans and any other valid plan."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.algorithms.sequences.spass.plan import SpassPlan
from cepbench.queries.model import Query
from cepbench.verification.agreement import difference
from tests.algorithms.sequences.spass.workloads import planned, random_events, random_plan, random_workload, run_all

SEEDS = range(20)


def check(plan: SpassPlan, queries: Sequence[Query], events: Sequence[Mapping[str, Any]], random: Random) -> None:
    expected = [answer(query, events, modular=True) for query in queries]
    for frames in (run_all(plan, events)[0], run_all(plan, events, random)[0]):
        for query, rows, frame in zip(queries, expected, frames, strict=True):
            assert difference(rows, frame) is None, query


@pytest.mark.parametrize("seed", SEEDS)
def test_its_own_plan(seed: int) -> None:
    random = Random(seed)
    queries = random_workload(random, random.randint(1, 12))
    events = random_events(random, queries)
    check(planned(queries, events), queries, events, random)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_valid_plan(seed: int) -> None:
    random = Random(1000 + seed)
    queries = random_workload(random, random.randint(2, 12))
    events = random_events(random, queries)
    check(random_plan(planned(queries, events), random), queries, events, random)


def test_workloads_share_and_match() -> None:
    """The random workloads are worth their time."""
    shared = matches = 0
    for seed in SEEDS:
        random = Random(1000 + seed)
        queries = random_workload(random, random.randint(2, 12))
        events = random_events(random, queries)
        plan = random_plan(planned(queries, events), random)
        frames, executor = run_all(plan, events)
        shared += executor.details()["constructed"] > 0
        matches += any(len(frame) for frame in frames)
    assert shared > len(SEEDS) / 3
    assert matches > len(SEEDS) / 2


@pytest.mark.full
def test_float_arithmetic() -> None:
    for seed in range(10):
        random = Random(seed)
        queries = random_workload(random, 5)
        events = [event | {"x": event["x"] % 7} for event in random_events(random, queries)]
        frames, _ = run_all(planned(queries, events, "float"), events, random)
        for query, frame in zip(queries, frames, strict=True):
            rows = answer(query, events)
            assert difference([{n: _float(n, value) for n, value in row.items()} for row in rows], frame) is None


def _float(name: str, value: Any) -> Any:
    return float(value) if name.startswith(("COUNT", "SUM")) else value
