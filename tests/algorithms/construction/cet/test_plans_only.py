"""`detect=plan`: what the optimizer finds, on windows whose trends nobody could construct."""

import numpy as np
import pytest

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.construction.cet.graph import window_bytes
from cepbench.algorithms.construction.cet.partitioning.partition import partition
from cepbench.algorithms.construction.cet.stored import PER_VERTEX
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.algorithms.construction.cet.running import PARTITIONERS, graph_of, groups, watch
from tests.contract.streams import batch

ALL = "RETURN COMPLETE MATCHES PATTERN A+"


@pytest.mark.parametrize("method", PARTITIONERS)
def test_plans_are_those_of_the_partitioner_with_the_memory_that_the_graph_leaves(method: str) -> None:
    """3^20 trends, none of which is constructed."""
    whole, live = graph_of(ALL, batch(groups(20, 3)))
    graph_bytes = whole.bytes + window_bytes(live) + PER_VERTEX * 60
    seen = watch(Cet("plan", method, str(graph_bytes + 6000)), ALL, groups(20, 3))
    plan = partition(live, method, 6000)
    assert seen.rows == []
    assert seen.peak == graph_bytes
    assert seen.details["plan_cpu"] == plan.cpu
    assert seen.details["plan_bytes"] == plan.bytes <= 6000
    assert seen.details["plan_graphlets"] == plan.graphlets > 1
    for name in ("partition_nodes", "partition_bytes_peak"):
        assert seen.details[name] == plan.details[name]
    assert seen.details["partition_seconds"] > 0
    assert seen.details["trends"] == seen.details["updates"] == 0


def test_each_window_is_planned() -> None:
    one, three = (watch(Cet("plan"), f"{ALL} WITHIN 5 s", groups(5 * number, 3)).details for number in (1, 3))
    assert (one["windows_planned"], three["windows_planned"]) == (1, 3)
    assert three["plan_cpu"] == 3 * one["plan_cpu"] > 0


def test_a_window_that_no_plan_fits_is_refused() -> None:
    with pytest.raises(NotEnoughMemory):
        watch(Cet("plan", memory="5400"), ALL, groups(8, 3))


def test_users_are_told_that_answers_are_empty() -> None:
    workload = compile_workload([parse_query(ALL)], batch(groups(1, 1)).schema)
    plan, other = Cet("plan").plan(workload, Statistics()), Cet().plan(workload, Statistics())
    [notice] = plan.notices
    assert "detects no trends" in notice
    assert other.notices == ()
    assert (plan.unanswered, other.unanswered) == (True, False)
    assert "COMPLETE" in str(Cet("plan").unsupported(parse_query("RETURN COUNT(*) PATTERN A+")))


def test_an_empty_window_has_no_plan() -> None:
    text = f"{ALL} WHERE A.x > 5"
    seen = watch(Cet("plan"), text, [{"time": time, "type": "A", "x": time % 2} for time in range(4)])
    assert seen.details.get("windows_planned", 0.0) == 0.0
    assert np.isclose(seen.details["trends"], 0.0)
