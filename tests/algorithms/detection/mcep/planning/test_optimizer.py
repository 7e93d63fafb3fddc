"""Strategies by name."""

from random import Random

import pytest

from cepbench.algorithms.detection.mcep.algorithm import IDLE_STEPS, Mcep
from cepbench.algorithms.detection.mcep.planning.local_plans import SHAPES
from cepbench.algorithms.detection.mcep.planning.optimizer import (
    BASELINES,
    IN_TREES,
    SEARCHES,
    PlanningOptions,
    SearchBudget,
    planned,
)
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from tests.algorithms.detection.mcep.planning.workloads import (
    check,
    random_costs,
    random_patterns,
    recomputed_cost,
)

CASES = [
    (strategy, shape)
    for strategy in (*SEARCHES, *BASELINES)
    for shape in SHAPES
    if not (strategy in IN_TREES and shape == "orders")
]


@pytest.mark.parametrize(("strategy", "shape"), CASES)
def test_every_strategy_plans_every_pattern(strategy: str, shape: str) -> None:
    random = Random(4)
    given = random_patterns(random, 10)
    costs = random_costs(random, given)
    options = PlanningOptions(strategy, shape, 3, budget=SearchBudget(steps=200))
    outcome = planned(given, costs.statistics, costs.selectivities, options)
    check(outcome.plan, range(10))
    assert outcome.plan.orders == (shape == "orders")
    assert outcome.details["cost"] == outcome.plan.cost == pytest.approx(recomputed_cost(outcome.plan))
    assert outcome.details["nodes"] == len(outcome.plan)
    assert bool(outcome.trace) == (strategy in SEARCHES)
    if outcome.trace:
        assert outcome.details["search_steps"] == 200
        assert (
            outcome.details["start_cost"] == outcome.trace[0].cost >= outcome.details["cost"] == outcome.trace[-1].cost
        )
    assert (outcome.details["shared_nodes"] == 0) == (strategy in ("trivial", "re", "alone"))


def test_bad_strategies() -> None:
    with pytest.raises(CepbenchError, match=r"unknown strategy 'best' .* choose one of sa, tabu, random, trivial"):
        PlanningOptions("best")
    with pytest.raises(CepbenchError, match="sh-rr shares sub-patterns that are not prefixes; choose trees"):
        PlanningOptions("sh-rr", "orders")
    with pytest.raises(CepbenchError, match="unknown shape"):
        planned([], Statistics(), random_costs(Random(0), []).selectivities, PlanningOptions("sh", "bushes"))


@pytest.mark.parametrize("strategy", [*SEARCHES, *BASELINES])
def test_no_patterns(strategy: str) -> None:
    nothing = random_costs(Random(0), []).selectivities
    outcome = planned([], Statistics(), nothing, PlanningOptions(strategy, budget=SearchBudget(steps=3)))
    assert outcome.details["cost"] == 0


@pytest.mark.parametrize("strategy", SEARCHES)
def test_a_search_reports_that_time_was_left(strategy: str) -> None:
    random = Random(4)
    given = random_patterns(random, 10)
    costs = random_costs(random, given)
    outcome = {
        name: planned(given, costs.statistics, costs.selectivities, PlanningOptions(strategy, budget=budget)).details
        for name, budget in (
            ("idle", SearchBudget(seconds=60, idle=20)),
            ("time", SearchBudget(seconds=0.02)),
            ("steps", SearchBudget(steps=20)),
        )
    }
    assert {name: details["stopped_early"] for name, details in outcome.items()} == {"idle": 1, "time": 0, "steps": 0}


def test_a_search_stops_by_time_alone_or_when_idle() -> None:
    assert Mcep(stop="time", seconds="2").planning_options(3).budget == SearchBudget(seconds=2)
    assert Mcep(seconds="2").planning_options(3).budget == SearchBudget(seconds=2, idle=3 * IDLE_STEPS)
    assert Mcep(stop="500", seconds="2").planning_options(3).budget == SearchBudget(steps=500)
    for stop in ("never", "0"):
        with pytest.raises(CepbenchError, match="stop"):
            Mcep(stop=stop)
