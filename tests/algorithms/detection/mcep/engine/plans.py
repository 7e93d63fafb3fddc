"""Random patterns with all that detection has, and random valid plans of them, by which the engines are run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import Any

from cepbench.algorithms.detection.mcep.engine.indices import DEFAULT_SORTING, Sorting
from cepbench.algorithms.detection.mcep.engine.tables import EngineTables, tables_of
from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.local_plans import GENERATORS, SHAPES
from cepbench.algorithms.detection.mcep.planning.optimizer import SEARCHES, PlanningOptions, SearchBudget, planned
from cepbench.algorithms.detection.mcep.planning.patterns import SubPatternTable, patterns_of
from cepbench.algorithms.detection.mcep.planning.plans import SHARED, MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities, conditions_of
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from tests.algorithms.detection.mcep.planning.workloads import check, ordered

TYPES = "ABC"
OPERATORS = ("<", "<=", ">", ">=", "=", "!=")
CONDITIONS = (
    *3 * ("{a}.x {op} {b}.x",),
    "{a}.x {op} 2 * {b}.y",
    "{a}.y {op} {b}.y AND {a}.x <= {b}.x",
    "{a}.s = {b}.s",
    "{a}.x <= {b}.x AND {a}.x >= 0.5 * {b}.x",
)
SORTINGS = (DEFAULT_SORTING, Sorting(1, 0), Sorting(2, 0), Sorting(3, 1))
"""Streams of a few events sort nothing as they are usually sorted."""


def random_text(random: Random) -> str:
    """A query of up to two alternatives."""
    parts, names = [], []
    for alternative in range(1 if random.random() < 0.85 else 2):
        text, bound = _alternative(random, f"p{alternative}")
        parts.append(text)
        names.append(bound)
    pattern = parts[0] if len(parts) == 1 else " OR ".join(f"({part})" for part in parts)
    conditions = [
        random.choice(CONDITIONS).format(a=a, b=b, op=random.choice(OPERATORS))
        for bound in names
        for a, b in combinations(bound, 2)
        if random.random() < 0.3
    ]
    conditions += [f"{a}.x {random.choice('<>')} 2" for bound in names for a in bound if random.random() < 0.1]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    span = f"{random.randint(1, 7)} {random.choice(['seconds', 'seconds', 'events'])}"
    return f"PATTERN {pattern} {where} WITHIN {span} PER MATCH"


def _alternative(random: Random, prefix: str) -> tuple[str, list[str]]:
    size = random.choice((1, 2, 2, 3, 3, 3, 4))
    names = [f"{prefix}{i}" for i in range(size)]
    operands = [f"{random.choice(TYPES)} {name}{'+' if random.random() < 0.2 else ''}" for name in names]
    if size > 1 and random.random() < 0.4:
        return " AND ".join(operands), names
    for gap in range(size, -1, -1):
        if random.random() < 0.15:
            operands.insert(gap, f"NOT {random.choice('ABCN')} n{prefix}{gap}")
    return (f"SEQ({', '.join(operands)})" if len(operands) > 1 else operands[0]), names


def random_plan(workload: Workload, random: Random, shape: str) -> MultiPlan:
    """A valid plan of a workload in which every order or tree is drawn at random; some patterns share nothing."""
    patterns = patterns_of(workload)
    costs = CostModel(SubPatternTable(patterns), Statistics(1, 1, dict.fromkeys("ABCN", 1.0)))
    plan = MultiPlan(costs, orders=shape == "orders")
    for number, pattern in enumerate(patterns):
        order = random.sample(range(len(pattern)), len(pattern))
        joins = ordered(order) if plan.orders else _random_joins(random, len(pattern))
        plan.exchange([plan.local(number, joins, number if random.random() < 0.2 else SHARED)])
    check(plan, range(len(patterns)))
    return plan


def random_search(workload: Workload, random: Random) -> MultiPlan:
    """The plan of a random strategy for random rates and selectivities, by either costs."""
    patterns = patterns_of(workload)
    rates = Statistics(1, 1, {name: random.uniform(0.1, 3) for name in "ABCN"})
    selectivities = Selectivities({one: random.uniform(0.02, 1) for one in conditions_of(patterns)})
    shape, generator = random.choice(SHAPES), random.choice(GENERATORS)
    options = PlanningOptions(
        random.choice(SEARCHES), shape, random.choice((2, 3)), generator, random.choice(("paper", *3 * ("executor",))),
        random.randrange(100), SearchBudget(steps=random.choice((0, 20))),
    )  # fmt: skip
    plan = planned(patterns, rates, selectivities, options).plan
    check(plan, range(len(patterns)))
    return plan


def _random_joins(random: Random, size: int) -> list[tuple[int, int]]:
    parts, joins = [1 << operand for operand in range(size)], []
    while len(parts) > 1:
        left, right = random.sample(parts, 2)
        joins.append((left, right))
        parts = [part for part in parts if part not in (left, right)] + [left | right]
    return joins


def random_tables(workload: Workload, random: Random, shape: str) -> EngineTables:
    """The tables of a random plan, with rows sorted sooner or later; or of one that is `searched`."""
    plan = random_search(workload, random) if shape == "searched" else random_plan(workload, random, shape)
    return tables_of(workload, plan, random.choice(SORTINGS))


def random_rows(random: Random, size: int) -> list[dict[str, Any]]:
    """Events of which several have one time, most of the types of the patterns."""
    time, rows = 0, []
    for _ in range(size):
        time += random.choice((0, 0, 1, 1, 2))
        rows.append({"time": time, "type": random.choice("AABBCCN"), "x": random.randrange(5)})
        rows[-1] |= {"y": random.choice((-1.5, 0.0, 0.5, 1.0, 1.5)), "s": random.choice("uv"), "g": 0}
    return rows


def all_matches(found: Sequence[dict[str, Any]]) -> list[tuple[tuple[int, ...], int, int]]:
    """The matches of an answer of the oracle, with the times of their first and last events."""
    return sorted((tuple(row["match"]), row["window_start"], row["window_end"]) for row in found)
