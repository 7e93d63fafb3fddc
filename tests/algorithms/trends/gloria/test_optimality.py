"""The optimized plan is the lightest that the generation principles allow; on any workload it is valid.

100 workloads by default; `CEPBENCH_GLORIA_CASES=5000` for as many as one likes.
"""

import math
import os
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.trends.gloria.optimizer import nodes
from cepbench.algorithms.trends.gloria.optimizer.costs import ExecutorCosts, PaperCosts
from cepbench.algorithms.trends.gloria.optimizer.elimination import SearchLimits, TablesTooLarge, lightest
from cepbench.algorithms.trends.gloria.optimizer.optimizer import OPTIMIZERS, optimize
from tests.algorithms.trends.gloria.brute_force import BruteForce
from tests.algorithms.trends.gloria.graphs import UNLIMITED, Graph, text, transition
from tests.algorithms.trends.gloria.validity import check

EACH = 50
CASES = int(os.environ.get("CEPBENCH_GLORIA_CASES", "100"))
FREQUENCIES = (1, 2, 3, 4, 5, 8, 10, 12, 20, 0.3, 50)


def random_sequences(random: Random, most_queries: int = 4, most_transitions: int = 4) -> list[str]:
    """Queries of a few types, mostly in one order so that they have transitions in common."""
    types = "ABCDEFGH"[: random.randint(3, 7)]
    queries = []
    for _ in range(random.randint(2, most_queries)):
        chosen = random.sample(types, random.randint(2, min(most_transitions + 1, len(types))))
        queries.append("".join(sorted(chosen) if random.random() < 0.8 else chosen))
    return queries


def graph_of(
    queries: list[str], random: Random, windows: tuple[float, ...] = (1.0,), costs: type[PaperCosts] = PaperCosts
) -> Graph:
    frequencies = {name: random.choice(FREQUENCIES) for name in "ABCDEFGH"}
    lengths = [random.choice(windows) for _ in queries]
    return Graph([f"SEQ({', '.join(q)})" for q in queries], frequencies, lengths, costs)


@pytest.mark.parametrize("first", range(0, CASES, EACH))
def test_the_plan_is_the_lightest_of_all(first: int) -> None:
    tried = 0
    for seed in range(first, first + EACH):
        random = Random(seed)
        queries = random_sequences(random)
        graph = graph_of(queries, random)
        force = BruteForce(queries, dict(zip((s.type for s in graph.pools.states), graph.costs.rates, strict=True)))
        if force.allowed is None:
            continue
        tried += 1
        least = pytest.approx(force.least(), rel=1e-9)
        for optimizer in ("gloria", "exact"):
            decision = graph.decision(optimizer)
            check(decision.sharing, graph.template)
            assert decision.weight == least, (seed, optimizer, queries)
    assert tried > EACH * 0.8


@pytest.mark.parametrize("costs", [PaperCosts, ExecutorCosts])
@pytest.mark.parametrize("first", range(0, CASES, EACH))
def test_no_lightest_plan_of_larger_workloads_is_lost(first: int, costs: type[PaperCosts]) -> None:
    for seed in range(first, first + EACH):
        random = Random(seed)
        graph = graph_of(random_sequences(random, 6, 5), random, (1.0, 2.0, 4.0), costs)
        gloria, full = graph.decision("gloria"), graph.decision("exact")
        assert gloria.weight == pytest.approx(full.weight, rel=1e-9), seed
        assert gloria.numbers["nodes"] <= full.numbers["nodes"]
        for paths in ("algorithm1", "noprune"):
            assert graph.decision(paths).weight >= gloria.weight * (1 - 1e-9)


SHAPES = ("SEQ({0}, {1}, {2})", "SEQ({0}, ({1})+, {2})", "(SEQ({0}, {1}))+", "SEQ({3}, (SEQ({0}, {1}))+, {2})",
          "(SEQ({0}, (SEQ({1}, {2}))+))+", "SEQ({0}, {1} | {2}, {3})", "SEQ({0}, NOT {1}, {2}, {3})",
          "SEQ({0}, {1}?, {2})", "SEQ({0}, {1}, {0}, {2})", "SEQ({0}?, ({1})+, {2}?)", "{0}{{2,}}", "{0}",
          "SEQ({0}, {1}) & SEQ({1}, {2})", "SEQ({0}, (SEQ({1}, NOT {3}, {2}))+)",
          "SEQ({1}, {2}, {0}, {3})")  # fmt: skip


def random_names(random: Random, types: str) -> list[str]:
    names = random.sample(types, 4)
    return sorted(names) if random.random() < 0.7 else names


def random_graph(random: Random, costs: type[PaperCosts] = PaperCosts) -> Graph:
    types = "ABCDE"[: random.randint(4, 5)]
    shapes = random.sample(SHAPES, 3)
    patterns = [random.choice(shapes).format(*random_names(random, types)) for _ in range(random.randint(1, 7))]
    return Graph(patterns, {name: random.choice(FREQUENCIES) for name in types}, None, costs)


@pytest.mark.parametrize("costs", [PaperCosts, ExecutorCosts])
@pytest.mark.parametrize("first", range(0, CASES, EACH))
def test_no_lightest_plan_of_any_workload_is_lost(first: int, costs: type[PaperCosts]) -> None:
    for seed in range(first, first + EACH):
        graph = random_graph(Random(seed), costs)
        assert graph.decision("gloria").weight == pytest.approx(graph.decision("exact").weight, rel=1e-9), seed


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("first", range(0, CASES, EACH))
def test_any_workload_has_a_valid_plan(first: int, optimizer: str) -> None:
    """Kleene patterns that only some queries have, types that recur, OR, AND, negations, optional parts, circles."""
    shared = 0
    for seed in range(first, first + EACH):
        graph = random_graph(Random(seed))
        decision = graph.decision(optimizer)
        check(decision.sharing, graph.template)
        shared += any(q.snapshot for q_sets in decision.sharing.transitions.values() for q in q_sets)
    assert shared > EACH / 8


def test_algorithm_1_misses_the_lightest_path_where_transitions_branch() -> None:
    """docs/findings.md."""
    graph = Graph(["SEQ(A, C, E)", "SEQ(A, C, D, E)", "SEQ(A, C, D, E)"], {"A": 2, "B": 2, "C": 5, "D": 5, "E": 1})
    decisions = {optimizer: graph.decision(optimizer) for optimizer in OPTIMIZERS}
    assert {name: decision.weight for name, decision in decisions.items()} == {
        "gloria": 47, "exact": 47, "greedy": 110, "algorithm1": 101, "noprune": 101,
    }  # fmt: skip
    assert text(decisions["gloria"].sharing, transition("AC")) == "(1),(2,3)^A"


def test_snapshots_are_not_reused_where_some_members_start() -> None:
    graph = Graph(["SEQ(A, B, C, D)", "SEQ(A?, B, C, D)"], {"A": 1, "B": 20, "C": 20, "D": 20})
    for optimizer in OPTIMIZERS:
        plan = graph.decision(optimizer).sharing
        check(plan, graph.template)
        assert "A" not in text(plan, transition("BC"))


def test_limits_thin_the_graph_and_leave_a_valid_plan() -> None:
    for seed in range(20):
        random = Random(seed)
        graph = graph_of(random_sequences(random, 12, 6), random, (1.0, 3.0))
        decision = optimize(graph.pools, graph.costs, "gloria", SearchLimits(math.inf, 4, 64))
        check(decision.sharing, graph.template)
        assert decision.weight >= graph.decision("gloria").weight * (1 - 1e-9)


def test_tables_that_are_too_large_raise_an_error() -> None:
    graph = graph_of(["ABCDE", "ABDCE", "ACBDE", "ABCDEF", "BCDEF"], Random(1))
    built = graph.constructed("exact").graph()
    chosen = lightest(built, UNLIMITED.check)
    assert built.weight(chosen) == pytest.approx(graph.decision().weight)
    with pytest.raises(TablesTooLarge):
        lightest(built, UNLIMITED.check, limit=1)


def branches(random: Random, costs: type[PaperCosts] = PaperCosts) -> Graph:
    """Six or seven queries with a shared sub-pattern between branches of their own, some with a longer part of it."""
    queries = [f"{first}{'FGHI'[: random.choice((3, 4, 4))]}" for first in "ABCDE"[: random.randint(3, 5)]]
    queries += ["FGHI"] * (random.randint(6, 7) - len(queries))
    graph = Graph([f"SEQ({', '.join(q)})" for q in queries], {name: random.choice(FREQUENCIES) for name in "ABCDEFGHI"})
    windows = [random.choice((1.0, 2.0)) for _ in queries]
    graph.costs = costs(graph.costs.rates, windows, [int(w) for w in windows], windows)
    return graph


@pytest.mark.parametrize("costs", [PaperCosts, ExecutorCosts])
def test_an_exchange_of_alike_parts_loses_no_lightest_plan(monkeypatch: pytest.MonkeyPatch, costs: Any) -> None:
    graphs = [branches(Random(seed), costs) for seed in range(12)]
    decisions = [graph.decision("gloria", 128) for graph in graphs]
    assert not any(decision.numbers.get("thinned") for decision in decisions)
    monkeypatch.setattr(nodes, "MOST_PARTS", 99)  # every part is in a class of its own
    for graph, decision in zip(graphs, decisions, strict=True):
        check(decision.sharing, graph.template)
        least = graph.decision("gloria", 128).weight
        assert decision.weight == pytest.approx(least, rel=1e-9)


def test_parts_that_choose_together_are_reported() -> None:
    patterns = [f"SEQ({first}, F, G, H)" for first in "ABCDE"]
    few, many = (Graph([*patterns, *more], dict.fromkeys("ABCDEFGH", 2)) for more in ([], ["SEQ(F, G, H)"] * 3))
    for optimizer in ("gloria", "exact", "noprune"):
        assert few.decision(optimizer).numbers.get("thinned", 0) == 0
        assert many.decision(optimizer).numbers["thinned"] == 1
        assert many.decision(optimizer, 2**8).numbers.get("thinned", 0) == 0
    assert "thinned" not in many.decision("greedy").numbers
