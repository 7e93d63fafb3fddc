"""The worked examples of the paper: Figures 5 and 7, Table 3, Examples 5.6-5.10, 6.2 and 6.3."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from cepbench.algorithms.trends.gloria.optimizer.graph import GloriaGraph
from tests.algorithms.trends.gloria.graphs import Graph, text, transition
from tests.algorithms.trends.gloria.validity import check
from tests.streams import golden_plans

SEQ: Mapping[str, Any] = golden_plans()["gloria"]["seq"]
FLAT: Mapping[str, Any] = golden_plans()["gloria"]["flat_kleene"]
POOL_OF = {name: pool for pool, nodes in SEQ["nodes"].items() for name in nodes}


def graph_of(case: Mapping[str, Any]) -> Graph:
    return Graph(list(case["queries"].values()), case["frequencies"])


@pytest.fixture
def paper() -> Graph:
    return graph_of(SEQ)


def to_end(graph: Graph, built: GloriaGraph, name: str) -> float:
    """The weight of the edge from a node of the last pool to the end node: the only weight of that node."""
    number, n = place(graph, built, name)
    return built.pools[number].weights[n]


def place(graph: Graph, built: GloriaGraph, name: str) -> tuple[int, int]:
    """The pool of a node of the paper, and the node in it."""
    [here] = [h for h in built.pools if str(graph.pools.named(h.pool.transitions[0])) == POOL_OF[name]]
    plans = [graph.named(node, here.pool.number) for node in here.nodes]
    return here.pool.number, plans.index(SEQ["nodes"][POOL_OF[name]][name][0])


def test_the_whole_graph_has_the_nodes_of_the_paper(paper: Graph) -> None:
    built = paper.constructed("exact").graph()
    for here in built.pools:
        pool = str(paper.pools.named(here.pool.transitions[0]))
        distances = {paper.named(node, here.pool.number): d for node, d in zip(here.nodes, here.distances, strict=True)}
        if pool == "(C, D)":  # n9 is there, too; and distances here hold the edges to the end node
            n9 = 165 + 10 + 36 + 3
            assert distances.pop("(1,2)^B,(3)") == n9 + 12 * 10 + 2 * 4 * 10 + 4 * 12
            distances = {p: d - to_end(paper, built, n) for p, d in distances.items() for n in named_as(pool, p)}
        assert distances == dict(SEQ["nodes"][pool].values())


def named_as(pool: str, plan: str) -> list[str]:
    return [name for name, (p, _) in SEQ["nodes"][pool].items() if p == plan]


def test_edges_weigh_what_the_paper_says(paper: Graph) -> None:
    built = paper.constructed("exact").graph()
    edges = {(pair.before.number, pair.after.number): of_pair for pair, of_pair in built.edges.items()}
    weights = {}
    for name in SEQ["edges"]:
        before, _, after = name.partition("-")
        p, n = place(paper, built, before)
        if after == "end":
            weights[name] = built.pools[p].weights[n]
        else:
            q, m = place(paper, built, after)
            weights[name] = edges[p, q][n, m]
    assert weights == SEQ["edges"]


def test_the_graph_has_no_edges_that_split_q_sets(paper: Graph) -> None:
    """Table 3: the distance of n11 is 444, by n6 alone, though an edge from n4 would make it 279."""
    built = paper.constructed("exact").graph()
    (before, n4), (_, n6), (number, n11) = (place(paper, built, name) for name in ("n4", "n6", "n11"))
    [pair] = [pair for pair in built.pools[number].pool.before if pair.before.number == before]
    assert (built.edges[pair][n4, n11], built.edges[pair][n6, n11]) == (math.inf, 240)


def test_pruned_nodes_are_those_of_the_paper(paper: Graph) -> None:
    """Without n5, n9 is not there to be pruned."""
    construction = paper.constructed("algorithm1")
    built = construction.graph()
    left = {
        (str(paper.pools.named(h.pool.transitions[0])), paper.named(node, h.pool.number))
        for h in built.pools
        for node in h.nodes
    }
    expected = {(POOL_OF[name], SEQ["nodes"][POOL_OF[name]][name][0]) for name in POOL_OF if name not in SEQ["pruned"]}
    assert left == expected
    assert construction.counts["pruned_nodes"] == len(SEQ["pruned"])


@pytest.mark.parametrize("optimizer", ["gloria", "exact", "algorithm1"])
def test_the_optimum(paper: Graph, optimizer: str) -> None:
    decision = paper.decision(optimizer)
    assert decision.weight == SEQ["optimal"]["weight"] == 307
    check(decision.sharing, paper.template)
    for name in SEQ["optimal"]["plan"]:
        assert text(decision.sharing, transition(POOL_OF[name])) == SEQ["nodes"][POOL_OF[name]][name][0]


def test_the_greedy_plan_reuses_what_it_can(paper: Graph) -> None:
    decision = paper.decision("greedy")
    assert decision.weight == 307
    assert decision.numbers["nodes"] == len(paper.pools.pools)


def test_paths_of_a_flat_kleene_sub_pattern() -> None:
    graph = graph_of(FLAT)
    [here] = graph.constructed("exact").graph().pools
    assert here.pool.kleene
    assert len(here.pool.transitions) == 2
    starts = 2 * 5
    ends = {"(1),(2)": 2 * 5 * 10, "(1,2)^A": 5 + 2 * 10 * 5, "(1,2)^B": 5 * 10 + 2 * 10 * 10}
    plans = [graph.named(node, 0) for node in here.nodes]
    distances = {plan: distance - ends[plan] for plan, distance in zip(plans, here.distances, strict=True)}
    assert distances == FLAT["distances"]
    assert {plan: distance - starts for plan, distance in distances.items()} == FLAT["path_weights"]


def test_the_lightest_path_of_a_flat_kleene_sub_pattern() -> None:
    """Example 6.3: the snapshots of B are pruned, and those of A are taken."""
    graph = graph_of(FLAT)
    construction = graph.constructed("algorithm1")
    [here] = construction.graph().pools
    assert [graph.named(node, 0) for node in here.nodes] == ["(1),(2)", "(1,2)^A"]
    assert text(graph.decision().sharing, transition("BA")) == "(1,2)^A"


def test_paths_of_a_nested_kleene_sub_pattern() -> None:
    """Example 6.5: the path that shares nothing weighs 1192. The others are by the rule of Example 6.2 (findings)."""
    graph = Graph(["(SEQ(C, (SEQ(A, B))+, D))+"] * 4, {"A": 5, "B": 10, "C": 12, "D": 4})
    [here] = graph.constructed("exact").graph().pools
    starts = 4 * 12
    ends = {"A": 10 * 5 + 4 * 4 * 5, "B": 10 + 4 * 4 * 10, "C": 10 * 12 + 4 * 4 * 12, "D": 10 * 4 + 4 * 4 * 4}
    weights = {}
    for node, weight in zip(here.nodes, here.weights, strict=True):
        snapshot = graph.pools.states[node[0].snapshot].type if node else ""
        weights[snapshot] = weight - starts - ends.get(snapshot, 4 * 4 * 10)
    assert weights == {"": 1192, "A": 520, "B": 580, "C": 564, "D": 292}
    plan = graph.decision().sharing
    assert {text(plan, t) for t in plan.transitions} == {"(1,2,3,4)^D"}
