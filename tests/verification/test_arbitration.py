"""The oracle says which of several algorithms are right."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.cogra.algorithm import Cogra
from cepbench.events.files import read_events
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Query
from cepbench.queries.workloads import parse_workload
from cepbench.verification import arbitration
from cepbench.verification.arbitration import Arbitration, arbitrated

MEMORY = 2**30
EVENTS = pd.DataFrame({"time": range(40), "type": ["A", "B"] * 20, "x": [0] * 20 + [1] * 20})


class LateMistake(Cogra):
    """Ignores conditions."""

    def plan(self, workload: Any, statistics: Any) -> Any:
        queries = [replace(query.query, predicates=()) for query in workload]
        return super().plan(compile_workload(queries, workload.schema, "modular"), statistics)


class Fails(Cogra):
    """Has no plan."""

    def plan(self, workload: Any, statistics: Any) -> Any:
        raise ValueError("no plan")


class Endless(Cogra):
    """Plans forever."""

    def plan(self, workload: Any, statistics: Any) -> Any:
        while True:
            pass


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for kernels that are not on disk."""
    monkeypatch.setattr(arbitration, "SECONDS", 300.0)


def asked(text: str, numbers: str = "modular", **algorithms: Algorithm) -> Arbitration:
    queries: tuple[Query, ...] = parse_workload(text)
    return arbitrated(queries, read_events(EVENTS).batch, {"cogra": make("cogra"), **algorithms}, numbers, MEMORY)


COUNT = "RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < 1 WITHIN 4 s SLIDE 2 s"


def test_the_first_prefix_with_a_difference_says_who_is_wrong() -> None:
    result = asked(COUNT, other=LateMistake())
    assert (result.events, list(result.wrong)) == (32, ["other"])
    assert result.wrong["other"] == "10 rows expected, 16 answered"


def test_errors_are_differences() -> None:
    assert asked(COUNT, other=Fails()) == Arbitration(8, {"other": "ValueError: no plan"})


@pytest.mark.parametrize("arithmetic", ["modular", "float"])
def test_algorithms_that_are_right_agree_on_all_events(arithmetic: str) -> None:
    workload = f"a: {COUNT}\n\nb: RETURN x, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) GROUP-BY x WITHIN 6 s"
    assert asked(workload, arithmetic, greta=make("greta")) == Arbitration(40)


def test_an_algorithm_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arbitration, "SECONDS", 0.5)
    assert asked(COUNT, other=Endless()) == Arbitration()
