"""Patterns written as queries, random workloads, and costs by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import fsum
from random import Random

from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.local_plans import Joins, left_deep
from cepbench.algorithms.detection.mcep.planning.patterns import (
    DetectionPattern,
    PairCondition,
    PatternElement,
    SubPatternTable,
    operands_of,
    patterns_of,
)
from cepbench.algorithms.detection.mcep.planning.plans import BUFFER, SHARED, MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import Selection, Selectivities, TypeFilters, TypePair
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Comparison, Condition, Number, Op, Operand, Relation, Term
from cepbench.queries.parser import parse_query

LETTERS = "ABCDEFGHN"
SCHEMA = Schema(tuple(LETTERS), (Attribute("x", Kind.INT), Attribute("y", Kind.FLOAT), Attribute("g", Kind.INT)))


def patterns(*texts: str) -> tuple[DetectionPattern, ...]:
    """`PATTERN ... WITHIN ...` without the first word and `PER MATCH`; a span of 10 seconds unless it is given."""
    spans = [text if "WITHIN" in text else f"{text} WITHIN 10 seconds" for text in texts]
    queries = [parse_query(f"PATTERN {text} PER MATCH") for text in spans]
    return patterns_of(compile_workload(queries, SCHEMA))


def table_of(*texts: str) -> SubPatternTable:
    return SubPatternTable(patterns(*texts))


def costs_of(table: SubPatternTable, rates: dict[str, float], given: dict[Selection, float] | None = None) -> CostModel:
    return CostModel(table, Statistics(1, 1, rates), Selectivities(given or {}))


def local(attribute: str, factor: Number, op: Op, constant: Number | str) -> Relation:
    return Relation(Term(attribute, factor), op, constant)


def compared(left: str, left_factor: Number, op: Op, right: str, right_factor: Number) -> Comparison:
    return Comparison(Operand("", left, left_factor), op, Operand("", right, right_factor))


def pair(left: str, right: str, *comparisons: Comparison) -> TypePair:
    return TypePair(left, right, frozenset(comparisons))


def alone(name: str, *filters: Condition) -> TypeFilters:
    return TypeFilters(name, frozenset(filters))


def random_patterns(
    random: Random, count: int, most: int = 5, letters: str = "ABCDEF", repeats: bool = True
) -> list[DetectionPattern]:
    """SEQ and AND with few types, conditions, filters and windows, so that there is much to share."""
    made = []
    for query in range(count):
        size = random.randint(1, most)
        types = random.choices(letters, k=size) if repeats else random.sample(letters, size)
        ordered = size > 1 and random.random() < 0.6
        above = frozenset({local("x", 1, Op.GT, 3)})
        filters = [above if random.random() < 0.1 else frozenset[Relation]() for _ in types]
        elements = tuple(
            PatternElement(name, random.random() < 0.1, one) for name, one in zip(types, filters, strict=True)
        )
        conditions = {
            PairCondition(a, b, compared("x", 1, random.choice([Op.LT, Op.GT]), "x", 1))
            for a, b in combinations(range(size), 2)
            if random.random() < 0.2
        }
        made.append(
            DetectionPattern(ordered, elements, (), frozenset(conditions), random.choice([10, 10, 20]), query=query)
        )
    return made


def random_costs(random: Random, given: Sequence[DetectionPattern]) -> CostModel:
    rates = {name: random.uniform(0.05, 1.9) for name in LETTERS}
    found: dict[Selection, float] = {}
    for pattern in given:
        for one in sorted(pattern.conditions, key=repr):
            condition = pair(pattern.elements[one.left].type, pattern.elements[one.right].type, one.comparison)
            if condition.flipped not in found:
                found.setdefault(condition, random.uniform(0.05, 0.9))
        for element in pattern.elements:
            if element.filters:
                found.setdefault(TypeFilters(element.type, element.filters), random.uniform(0.1, 0.9))
    return costs_of(SubPatternTable(given), rates, found)


def instances(costs: CostModel, pattern: DetectionPattern, mask: int, window: int) -> float:
    """W^k, the rates, and the selectivities of all conditions, straight from the pattern (Section 3.3)."""
    of, found = costs.selectivities.of, 1.0
    for operand in operands_of(mask):
        element = pattern.elements[operand]
        events = window * costs.statistics.rates[element.type]
        events *= of(TypeFilters(element.type, element.filters))
        found *= 2**events if element.kleene else events
    for one in pattern.conditions:
        if mask >> one.left & 1 and mask >> one.right & 1:
            found *= of(pair(pattern.elements[one.left].type, pattern.elements[one.right].type, one.comparison))
    return found


def ordered(order: Sequence[int]) -> Joins:
    """The steps of an order of operands."""
    return left_deep([1 << operand for operand in order])


def check(plan: MultiPlan, patterns: Sequence[int]) -> None:
    """Exactly these patterns are evaluated, by nodes in use that make the sub-patterns of their operands."""
    assert sorted(plan.plans) == sorted(patterns)
    for pattern, local in plan.plans.items():
        made = dict(local.places)
        assert local.pattern == pattern
        assert local.root == made[plan.table[pattern].everything]
        assert len(made) == 2 * len(plan.table[pattern]) - 1
        for mask, number in made.items():
            node, parts = plan.nodes.items[number], local.parts(mask)
            assert node.owner in (SHARED, BUFFER, pattern)
            assert node.sub == plan.table.of(pattern, mask)
            assert (number in local.nodes) == (node.owner != BUFFER)
            assert node.owner == BUFFER or plan.window(number) >= plan.table[pattern].window
            assert len(parts) == 2 * (mask.bit_count() > 1)
            assert sum(parts) in (0, mask)
            assert node.children == tuple(sorted(made[part] for part in parts))
            if plan.orders and parts:
                buffered = plan.nodes.items[made[parts[1]]].owner == BUFFER
                assert parts[1].bit_count() == 1
                assert buffered


def recomputed_cost(plan: MultiPlan) -> float:
    """The cost of a global plan from its local plans alone: every node once, in its users' largest window."""
    seen: dict[int, tuple[int, int, int]] = {}
    for pattern, local in plan.plans.items():
        for mask, node in local.places:
            if node not in local.nodes:
                continue
            window = max(plan.table[pattern].window, seen[node][2] if node in seen else 0)
            seen[node] = pattern, mask, window
    return fsum(instances(plan.costs, plan.table[p], mask, window) for p, mask, window in seen.values())


def all_trees(parts: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Every binary tree over some parts, as its joins."""
    if len(parts) == 1:
        yield ()
        return
    first, rest = parts[0], parts[1:]
    for size in range(len(rest)):
        for chosen in combinations(rest, size):
            left = (first, *chosen)
            right = tuple(one for one in rest if one not in chosen)
            for a in all_trees(left):
                for b in all_trees(right):
                    yield (*a, *b, (sum(left), sum(right)))
