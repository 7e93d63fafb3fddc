"""Costs that see comparisons: against numbers worked out by hand, what engines count, and all plans by brute force."""

from itertools import permutations, product
from math import isfinite
from random import Random

import numpy as np
import pytest

from cepbench.algorithms.detection.mcep.algorithm import Mcep
from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.detection.mcep.engine.tables import tables_of
from cepbench.algorithms.detection.mcep.planning.costs import ENTERED, ROW, VISIT, EngineCosts
from cepbench.algorithms.detection.mcep.planning.local_plans import SHAPES, Joins, LocalPlanner
from cepbench.algorithms.detection.mcep.planning.optimizer import PlanningOptions, SearchBudget, planned
from cepbench.algorithms.detection.mcep.planning.patterns import SubPatternTable, patterns_of
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import Selection, Selectivities, measured_selectivities
from cepbench.algorithms.options import WrongOption
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics, statistics_of
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Op
from cepbench.queries.parser import parse_query
from tests.algorithms.detection.mcep.planning.workloads import (
    all_trees,
    compared,
    ordered,
    pair,
    random_costs,
    random_patterns,
    table_of,
)

LESS, EQUAL, UNEQUAL = (compared("x", 1, op, "x", 1) for op in (Op.LT, Op.EQ, Op.NE))


def costs_of(text: str, given: dict[Selection, float] | None = None) -> EngineCosts:
    """For windows of 10 with 10 events of A, 20 of B and 30 of C."""
    return EngineCosts(table_of(text), Statistics(1, 1, {"A": 1, "B": 2, "C": 3}), Selectivities(given or {}))


def test_rows_are_made_in_the_order_of_a_sequence() -> None:
    """The last event comes last; of the 10 * 20 choices of the others every second one is in order."""
    costs = costs_of("SEQ(A, B, C)")
    assert costs.made(costs.table.of(0, 0b011), 10) == pytest.approx(10 * 20)
    assert costs.made(costs.table.of(0, 0b111), 10) == pytest.approx(10 * 20 * 30 / 2)
    assert costs.price(costs.table.of(0, 0b011), 10) == pytest.approx(ROW * 200 + VISIT * 20)
    assert costs.price(costs.table.of(0, 0b001), 10) == pytest.approx(ROW * 10 + VISIT * 10)


def test_any_operand_of_an_and_comes_last() -> None:
    costs = costs_of("A AND B AND C")
    assert costs.made(costs.table.of(0, 0b011), 10) == pytest.approx(2 * 10 * 20)
    assert costs.price(costs.table.of(0, 0b011), 10) == pytest.approx(ROW * 400 + VISIT * 30)
    assert costs.pairs(0, 0b001, 0b010, 10) == costs.pairs(0, 0b010, 0b001, 10) == pytest.approx(2 * 10 * 20)
    assert costs.pairs(0, 0b011, 0b100, 10) == pytest.approx(2 * 400 * 30)


def test_older_rows_of_a_sequence_are_before_the_next_operand() -> None:
    """A is looked for before B, which is in the middle of the window before C; B up to C; (A, B) up to C."""
    costs = costs_of("SEQ(A, B, C)")
    assert costs.pairs(0, 0b001, 0b110, 10) == costs.pairs(0, 0b110, 0b001, 10) == pytest.approx(600 * 10 / 2)
    assert costs.pairs(0, 0b101, 0b010, 10) == pytest.approx(300 * 20)
    assert costs.pairs(0, 0b011, 0b100, 10) == pytest.approx(30 * 200)
    assert costs.pairs(0, 0, 0b100, 10) == 0


def test_conditions_are_looked_up() -> None:
    """C looks up A by x: 30 * 10 pairs, or those in range and eight that are not sorted, where that is less."""
    below = costs_of("SEQ(A a, C c) WHERE a.x < c.x", {pair("A", "C", LESS): 0.1})
    assert below.pairs(0, 0b01, 0b10, 10) == pytest.approx(0.1 * 300 + 8 * 30)
    assert below.pairs(0, 0b01, 0b10, 100) == pytest.approx(0.1 * 30_000 + 8 * 300)
    often = costs_of("SEQ(A a, C c) WHERE a.x < c.x", {pair("A", "C", LESS): 0.8})
    assert often.pairs(0, 0b01, 0b10, 10) == 300
    other = costs_of("SEQ(A a, C c) WHERE a.x != c.x", {pair("A", "C", UNEQUAL): 0.1})
    assert other.pairs(0, 0b01, 0b10, 10) == 300
    seldom = costs_of("SEQ(A a, B b, C c) WHERE a.x = c.x", {pair("A", "C", EQUAL): 0.01})
    assert seldom.pairs(0, 0b001, 0b110, 10) == pytest.approx(0.01 * 3000 + 8 * 8 / (2 * 10) * 600)
    assert seldom.pairs(0, 0b001, 0b110, 1) == pytest.approx(3)
    assert seldom.pairs(0, 0b101, 0b010, 10) == pytest.approx(300 * 0.01 * 20)


def test_the_value_with_the_fewest_pairs_is_looked_up() -> None:
    given: dict[Selection, float] = {pair("A", "C", LESS): 0.5, pair("B", "C", LESS): 0.2}
    costs = costs_of("SEQ(A a, B b, C c) WHERE a.x < c.x AND b.x < c.x", given)
    assert costs.pairs(0, 0b011, 0b100, 100) == pytest.approx(0.2 * 300 * 20_000 + ENTERED * 20_000)


def test_two_conditions_bound_one_value() -> None:
    half = compared("x", 1, Op.GE, "x", 0.5)
    given: dict[Selection, float] = {pair("A", "C", LESS): 0.5, pair("A", "C", half): 0.25}
    costs = costs_of("SEQ(A a, C c) WHERE a.x < c.x AND a.x >= 0.5 * c.x", given)
    assert costs.pairs(0, 0b01, 0b10, 100) == pytest.approx(0.5 * 0.25 * 30_000 + 8 * 300)


def test_costs_stay_finite() -> None:
    many = " AND ".join(f"A+ a{i}" for i in range(30))
    costs = EngineCosts(table_of(many), Statistics(1, 1, {"A": 1e9}))
    assert isfinite(costs.pairs(0, 2**15 - 1, 2**30 - 2**15, 10))
    assert isfinite(costs.price(costs.table.of(0, 2**30 - 1), 10))


TEXTS = (
    "SEQ(A a, B b, C c)",
    "A a AND B b AND C c",
    "SEQ(A a, B b, C c) WHERE 0.1 * a.x > b.x",
    "SEQ(A a, B b, C c) WHERE 0.1 * a.x > c.x",
    "A a AND B b AND C c WHERE 0.1 * a.x > c.x",
    "SEQ(A a, B b, C c) WHERE 0.05 * b.x > c.x",
)


@pytest.mark.parametrize("text", TEXTS)
def test_engines_make_and_look_at_about_as_many(text: str) -> None:
    """On a stream without bursts: every tree of three operands, within 1.2 times the rows and twice the pairs."""
    size, window = 5000, 500
    random = np.random.default_rng(3)
    schema = Schema(("A", "B", "C"), (Attribute("x", Kind.FLOAT),), "s")
    time = np.sort(random.integers(0, 10 * size, size))
    kinds = random.choice(3, size, p=[0.2, 0.3, 0.5]).astype(np.int32)
    events = EventBatch(schema, time, kinds, {"x": random.random(size)}, np.arange(size, dtype=np.int64))
    counts = {name: int((kinds == code).sum()) for code, name in enumerate(schema.types)}
    statistics = statistics_of(counts, int(time[0]), int(time[-1]))
    query = parse_query(f"PATTERN {text} WITHIN {window} seconds PER MATCH")
    workload = compile_workload([query], schema, summarised=True)
    patterns = patterns_of(workload)
    costs = EngineCosts(SubPatternTable(patterns), statistics, measured_selectivities(patterns, events, size))
    for joins in (((1, 2), (3, 4)), ((2, 4), (1, 6)), ((1, 4), (5, 2))):
        plan = MultiPlan(costs)
        plan.exchange([plan.local(0, joins)])
        executor = DetectionExecutor(workload, tables_of(workload, plan), {})
        executor.process(events)
        executor.finish()
        details = executor.details()
        windows = statistics.duration / window
        rows = windows * sum(costs.made(costs.table.of(0, mask), window) for mask, _ in plan.plans[0].places)
        pairs = windows * sum(costs.pairs(0, left, right, window) for left, right in joins)
        assert details["instances"] / 1.2 < rows < 1.2 * details["instances"]
        assert details["comparisons"] / 2 < pairs < 2 * details["comparisons"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_the_best_local_plan_is_the_cheapest_of_all(shape: str, seed: int) -> None:
    random = Random(seed)
    [pattern] = given = random_patterns(random, 1, 4, repeats=False)
    known = random_costs(random, given)
    costs = EngineCosts(known.table, known.statistics, known.selectivities)
    plan = LocalPlanner(costs, shape).start([0])
    assert plan.cost == pytest.approx(min(_every_cost(shape, costs, (len(pattern),))))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(2))
def test_a_search_ends_near_the_cheapest_of_all(shape: str, seed: int) -> None:
    random = Random(seed)
    patterns = random_patterns(random, 3, 3, "ABCD", repeats=False)
    known = random_costs(random, patterns)
    options = PlanningOptions("sa", shape, costs="executor", budget=SearchBudget(steps=400))
    outcome = planned(patterns, known.statistics, known.selectivities, options)
    costs = EngineCosts(SubPatternTable(patterns), known.statistics, known.selectivities)
    lowest = min(_every_cost(shape, costs, tuple(map(len, patterns))))
    assert outcome.details["cost"] <= outcome.details["start_cost"]
    assert lowest * (1 - 1e-12) <= outcome.plan.cost <= 1.05 * lowest


@pytest.mark.parametrize(
    ("shape", "leaves", "steps"), [("trees", 3, ((2, 4), (1, 6))), ("orders", 1, ((2, 4), (6, 1)))]
)
def test_comparisons_decide_where_rows_do_not(shape: str, leaves: int, steps: tuple[object, ...]) -> None:
    """Two operands make 81 rows each; A is looked for up to B, in the middle of the window, but B up to C, its end."""
    costs = EngineCosts(table_of("SEQ(A, B, C) WITHIN 9 seconds"), Statistics(1, 1, dict.fromkeys("ABC", 1.0)))
    plan = LocalPlanner(costs, shape).start([0])
    assert plan.plans[0].steps == steps
    rows, visits = leaves * 9 + 81 + 729 / 2, leaves * 9 + 9 + 9
    assert plan.cost == pytest.approx(ROW * rows + VISIT * visits + 9 * 9 + 81 * 9 / 2)


def test_bad_costs() -> None:
    with pytest.raises(CepbenchError, match="unknown costs 'assumed'; choose paper or executor"):
        PlanningOptions(costs="assumed")
    with pytest.raises(WrongOption, match="costs"):
        Mcep(costs="assumed")


def _every_cost(shape: str, costs: EngineCosts, sizes: tuple[int, ...]) -> list[float]:
    """The cost of every plan of some patterns."""
    found = []
    plan = MultiPlan(costs, orders=shape == "orders")
    for each in product(*(_every_plan(shape, size) for size in sizes)):
        plan.exchange(plan.local(pattern, joins) for pattern, joins in enumerate(each))
        found.append(plan.cost)
    return found


def _every_plan(shape: str, size: int) -> list[Joins]:
    if shape == "orders":
        return [ordered(order) for order in permutations(range(size))]
    return list(all_trees(tuple(1 << i for i in range(size))))
