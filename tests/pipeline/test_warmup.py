"""Runs before the clock starts."""

from itertools import count

import pytest

from cepbench.algorithms.base import Operator, Plan
from cepbench.algorithms.compose import Several
from cepbench.algorithms.trends.greta import Greta
from cepbench.pipeline import warmup
from cepbench.pipeline.warmup import warm_up
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch
from tests.streams import stream


class GretaThatLoads(Greta):
    """Notes the plans whose kernels it is asked to load."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def operator(self, plan: Plan) -> Operator:
        return Loading(self, plan)


class Loading(Several):
    """Notes that it is asked to load."""

    def __init__(self, algorithm: GretaThatLoads, plan: Plan) -> None:
        super().__init__([Greta().operator(plan)])
        self.algorithm, self.indices = algorithm, [query.index for query in plan.workload]

    def load(self) -> None:
        self.algorithm.asked.append(self.indices)


def asked() -> list[list[int]]:
    algorithm = GretaThatLoads()
    queries = [parse_query(f"RETURN COUNT(*) PATTERN {pattern}") for pattern in ("A+", "SEQ(A, B)")]
    warm_up(algorithm, Plan(compile_workload(queries, batch(stream("A1 B2")).schema)))
    return algorithm.asked


def test_algorithms_load_what_few_events_may_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "loaded", count().__next__)  # another kernel whenever somebody looks
    assert asked() == [[0, 1], [0], [1]]


def test_queries_run_alone_only_where_kernels_were_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "loaded", lambda: 7)
    assert asked() == [[0, 1]]
