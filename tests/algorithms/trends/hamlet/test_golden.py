"""The worked example of the paper: Tables 3-5, Equations 9-11, Examples 2, 3 and 10."""

from collections.abc import Mapping
from typing import Any

import pytest

from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.hamlet.algorithm import GRANULARITIES
from cepbench.algorithms.trends.hamlet.kernels.benefit import non_shared_cost, shared_cost
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, run
from tests.contract.streams import batch
from tests.streams import golden_plans, stream

GOLDEN = golden_plans()["hamlet"]
STREAM = "A1/0 A2/0 C3/0 B4/1 B5/2 B6/2 B7/3 A8/0 A9/0 C10/0 C11/0 C12/0 B13/9 Z99/0"
X, Y = (GOLDEN["snapshots"][name] for name in "xy")
SHARED = sum(GOLDEN["snapshots"]["in_graphlet_B3"])
"""The coefficient of x in the sum of the first graphlet; the second one has a single event, whose count is y."""


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize(
    ("where", "counts", "snapshots"),
    [
        ("", {name: X[name] * SHARED + Y[name] for name in X}, (2, 0)),
        # There is no edge from the second B to the third for q2: the third B has a snapshot, z, and so has the last.
        ("WHERE B.x != NEXT(B).x", {"q1": 2 * 15 + 34, "q2": 1 + 2 + 2 + 6 + 15}, (2, 2)),
    ],
    ids=["graphlets", "events"],
)
def test_snapshots(granularity: str, where: str, counts: dict[str, int], snapshots: tuple[int, int]) -> None:
    rows, details, _ = evaluated(f"hamlet[sharing=static, granularity={granularity}]", where)
    assert rows == counts
    assert (details["graphlet_snapshots"], details["event_snapshots"]) == snapshots


@pytest.mark.parametrize(
    ("granularity", "edges"),
    [
        ("coarsest", 0),
        ("graphlet", 0 + 1 + 2 + 3),  # of the first graphlet; the second one has a single event
        (
            "event",
            0 + 1 + 2 + 3 + (2 + 1) + (4 + 4) + (4 + 4),
        ),  # and those of x and y: all As or Cs, and all Bs, by query
    ],
)
def test_visits(granularity: str, edges: int) -> None:
    """Table 3 visits the events of a graphlet; Equation 5 adds up those of earlier graphlets."""
    assert evaluated(f"hamlet[sharing=static, granularity={granularity}]")[1]["edges"] == edges


@pytest.mark.parametrize("sharing", ["static", "dynamic"])
def test_all_events_that_others_may_follow_are_kept(sharing: str) -> None:
    """Also where a burst is not shared: each of the two queries has four Bs, q1 four As, and q2 four Cs."""
    kinds = evaluated(f"hamlet[sharing={sharing}, granularity=graphlet]")[2]
    waiting = 1  # the last B, whose burst is incomplete
    assert kinds["events"] == {"static": 4, "dynamic": 2 * 4}[sharing] + 4 + 4 + waiting
    assert evaluated(f"hamlet[sharing={sharing}]")[2]["events"] == 4, "those of a burst that waits for its end"


def evaluated(specification: str, where: str = "") -> tuple[Mapping[str, int], Mapping[str, float], Mapping[str, int]]:
    """The counts of the two queries; counted work; and the live things by kind before the window ends."""
    algorithm = make(specification)
    texts = ("q1: RETURN COUNT(*) PATTERN SEQ(A, B+)", f"q2: RETURN COUNT(*) PATTERN SEQ(C, B+) {where}")
    queries, events = [parse_query(text) for text in texts], batch(stream(STREAM))
    rows = run(algorithm, queries, [events])
    executor = OneKey(algorithm.operator(algorithm.plan(compile_workload(queries, events.schema), Statistics())))
    executor.process(events)
    kinds = executor.state().kinds
    executor.finish()
    return dict(zip(rows["query"], rows["COUNT(*)"], strict=True)), executor.details(), kinds


@pytest.mark.parametrize("case", GOLDEN["decisions"])
def test_benefit_of_the_worked_decisions(case: dict[str, Any]) -> None:
    numbers = {name: float(case[name]) for name in ("b", "n", "sp", "sc", "k", "g", "t")}
    b, n, sp, sc, k, g, t = numbers.values()
    shared, alone = shared_cost(b, n, sp, sc, k, g, t, 0.0), non_shared_cost(b, n, k, 0.0)
    assert (shared, alone) == (case["shared"], case["non_shared"])
    assert (alone - shared > 0) is case["share"]
