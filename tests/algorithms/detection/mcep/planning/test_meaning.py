"""The meaning of global plans: a naive interpreter of their nodes finds the matches of the oracle."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.detection.mcep.planning.local_plans import SHAPES
from cepbench.algorithms.detection.mcep.planning.optimizer import (
    BASELINES,
    IN_TREES,
    SEARCHES,
    PlanningOptions,
    SearchBudget,
    planned,
)
from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern, operands_of, patterns_of
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities
from cepbench.algorithms.oracle import answer
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Op
from cepbench.queries.parser import parse_query
from tests.algorithms.detection.mcep.planning.workloads import SCHEMA

OPS = {Op.LT: lambda a, b: a < b, Op.GT: lambda a, b: a > b}
CASES = [
    (strategy, shape)
    for strategy in (*SEARCHES, *BASELINES)
    for shape in SHAPES
    if not (strategy in IN_TREES and shape == "orders")
]


def random_query(random: Random) -> str:
    size = random.randint(1, 4)
    names = [f"{random.choice('ABC')} p{i}" for i in range(size)]
    pattern = names[0]
    if size > 1:
        pattern = f"SEQ({', '.join(names)})" if random.random() < 0.5 else " AND ".join(names)
    conditions = [
        f"p{a}.x {random.choice('<>')} p{b}.x" for a, b in combinations(range(size), 2) if random.random() < 0.3
    ]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"PATTERN {pattern} {where} WITHIN {random.choice([4, 8])} seconds PER MATCH"


def interpreted(plan: MultiPlan, events: list[dict[str, Any]]) -> dict[int, set[tuple[int, ...]]]:
    """By pattern: the sets of events of its matches. Every node is made once, for the first of its users."""
    instances: dict[int, set[tuple[int, ...]]] = {}
    for node, (number, mask) in sorted(plan.first_places().items()):
        pattern, local = plan.table[number], plan.plans[number]
        places = plan.table.places(number, mask)
        made = dict(local.places)
        bound: list[dict[int, int]] = [{}]
        parts = local.parts(mask)
        assert sorted(made[part] for part in parts) == sorted(plan.nodes.items[node].children)
        for part in parts:
            mine = plan.table.places(number, part)
            found = instances[made[part]]
            bound = [
                old | dict(zip(mine, one, strict=True)) for old in bound for one in found if disjoint(old.values(), one)
            ]
        for operand in operands_of(0 if parts else mask):
            kind = pattern.elements[operand].type
            fresh = [position for position, event in enumerate(events) if event["type"] == kind]
            bound = [old | {operand: position} for old in bound for position in fresh if position not in old.values()]
        window = plan.window(node) if node in plan.windows else 0  # a buffer has single events
        instances[node] = {
            tuple(one[operand] for operand in places) for one in bound if matches(pattern, one, window, events)
        }
    found_by: dict[int, set[tuple[int, ...]]] = {}
    for node, numbers in plan.finals().items():
        for number in numbers:
            pattern = plan.table[number]
            places = plan.table.places(number, pattern.everything)
            bindings = [dict(zip(places, one, strict=True)) for one in instances[node]]
            found_by[number] = {
                tuple(sorted(one.values())) for one in bindings if matches(pattern, one, pattern.window, events)
            }
    return found_by


def disjoint(some: Any, others: tuple[int, ...]) -> bool:
    return not set(some).intersection(others)


def matches(pattern: DetectionPattern, bound: dict[int, int], window: int, events: list[dict[str, Any]]) -> bool:
    times = {operand: events[position]["time"] for operand, position in bound.items()}
    if max(times.values()) - min(times.values()) > window:
        return False
    if pattern.ordered and any(times[a] >= times[b] for a, b in combinations(sorted(bound), 2)):
        return False
    return all(
        OPS[one.comparison.op](events[bound[one.left]]["x"], events[bound[one.right]]["x"])
        for one in pattern.conditions
        if one.left in bound and one.right in bound
    )


@pytest.mark.parametrize(("strategy", "shape"), CASES)
@pytest.mark.parametrize("seed", range(5))
def test_every_plan_finds_the_matches_of_the_oracle(strategy: str, shape: str, seed: int) -> None:
    random = Random(seed)
    queries = [parse_query(random_query(random)) for _ in range(6)]
    times = sorted(random.choices(range(14), k=16))
    events = [{"time": t, "type": random.choice("ABC"), "x": random.randrange(5), "y": 0.0, "g": 0} for t in times]
    patterns = patterns_of(compile_workload(queries, SCHEMA))
    rates = {name: random.uniform(0.1, 1) for name in "ABC"}
    options = PlanningOptions(strategy, shape, seed=seed, budget=SearchBudget(steps=100))
    plan = planned(patterns, Statistics(1, 1, rates), Selectivities(), options).plan
    found = interpreted(plan, events)
    for number, query in enumerate(queries):
        expected = {tuple(sorted(row["match"])) for row in answer(query, events)}
        assert found[number] == expected
    assert any(found.values())
