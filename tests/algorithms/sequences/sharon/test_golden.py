"""The worked example of the papers: Figure 1, Table I, Figure 4, Examples 23.1-23.9."""

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.sequences.plan import Candidate, sharing_candidates
from cepbench.algorithms.sequences.sharon.benefit import BenefitModel
from cepbench.algorithms.sequences.sharon.graph import SharonGraph, construct, maximal_score, options, reduce_graph
from cepbench.algorithms.sequences.sharon.limits import Limits
from cepbench.algorithms.sequences.sharon.optimizer import optimize
from cepbench.algorithms.sequences.sharon.search import find_plan, guaranteed_weight, gwmin

GOLDEN = yaml.safe_load((Path(__file__).parents[3] / "golden" / "optimizers.yaml").read_text())["sharon"]
QUERIES = list(GOLDEN["queries"])
NAMES = list(GOLDEN["candidates"])
UNLIMITED = Limits(math.inf)


def sequences() -> list[Sequence]:
    return [
        Sequence(
            q,
            tuple(range(len(types))),
            tuple(Symbol(name) for name in types),
            tuple(frozenset[Symbol]() for _ in types[1:]),
        )
        for q, types in enumerate(GOLDEN["queries"].values())
    ]


def named(name: str) -> Candidate:
    """The candidate as Table I gives it."""
    pattern = tuple(Symbol(t) for t in GOLDEN["candidates"][name]["pattern"])
    texts = {q: [Symbol(t) for t in types] for q, types in GOLDEN["queries"].items()}
    occurrences = []
    for query in GOLDEN["candidates"][name]["queries"]:
        text = texts[query]
        [start] = [i for i in range(len(text)) if tuple(text[i : i + len(pattern)]) == pattern]
        occurrences.append((QUERIES.index(query), start))
    return Candidate(pattern, tuple(occurrences))


@pytest.fixture
def graph() -> SharonGraph:
    weights = [float(GOLDEN["candidates"][name]["weight"]) for name in NAMES]
    return construct([named(name) for name in NAMES], weights, UNLIMITED)


def names(mask: int) -> list[str]:
    return [name for i, name in enumerate(NAMES) if mask >> i & 1]


def queries(candidate: Candidate) -> list[str]:
    return [QUERIES[s] for s in candidate.sequences]


def test_sharable_patterns_of_the_workload() -> None:
    candidates = sharing_candidates(sequences(), ["all"] * len(QUERIES))
    assert set(candidates) == {named(name) for name in NAMES}
    assert len(candidates) == len(NAMES)


def test_conflicts(graph: SharonGraph) -> None:
    edges = [[NAMES[u], NAMES[v]] for u, v in combinations(range(len(NAMES)), 2) if graph.neighbors[u] >> v & 1]
    assert edges == GOLDEN["conflicts"]
    assert graph.edges == len(GOLDEN["conflicts"])
    for u, v in combinations(range(len(NAMES)), 2):
        assert graph.candidates[u].overlaps(graph.candidates[v]) == ([NAMES[u], NAMES[v]] in GOLDEN["conflicts"])


def test_guaranteed_weight_and_maximal_score(graph: SharonGraph) -> None:
    assert round(guaranteed_weight(graph), 2) == GOLDEN["guaranteed_weight"]
    for name, score in GOLDEN["score_max"].items():
        assert maximal_score(graph, NAMES.index(name), graph.everything) == score


def test_reduction(graph: SharonGraph) -> None:
    reduction = reduce_graph(graph, guaranteed_weight(graph), UNLIMITED)
    assert names(reduction.conflict_ridden) == GOLDEN["conflict_ridden"]
    assert names(reduction.conflict_free) == GOLDEN["conflict_free"]
    taken = GOLDEN["conflict_ridden"] + GOLDEN["conflict_free"]
    assert names(reduction.left) == [name for name in NAMES if name not in taken]


def test_plan_finder(graph: SharonGraph) -> None:
    reduction = reduce_graph(graph, guaranteed_weight(graph), UNLIMITED)
    outcome = find_plan(graph, reduction.left, reduction.conflict_free, UNLIMITED)
    assert outcome.visited == GOLDEN["valid_plans_after_reduction"]
    assert names(outcome.plan) == GOLDEN["optimal"]["plan"]
    assert graph.weight(outcome.plan) == GOLDEN["optimal"]["score"]
    assert outcome.stopped is None


def test_greedy_plan(graph: SharonGraph) -> None:
    assert names(gwmin(graph)) == GOLDEN["greedy"]["plan"]
    assert graph.weight(gwmin(graph)) == GOLDEN["greedy"]["score"]


def test_options_of_p1(graph: SharonGraph) -> None:
    """Example 24.2 and Figure 24.2: the other candidates have no option but themselves."""
    found = [queries(option) for option in options(graph, NAMES.index("p1"), UNLIMITED)]
    assert sorted(found) == [["q1", "q2"], ["q1", "q2", "q3", "q4"], ["q1", "q3"], ["q2", "q3", "q4"]]
    for name in NAMES[1:]:
        assert options(graph, NAMES.index(name), UNLIMITED) == (named(name),)


class Table(BenefitModel):
    """The weights of Figure 4; an option is worth its share of the queries."""

    def __init__(self) -> None:
        super().__init__(sequences(), [1.0] * len(QUERIES), {})

    def benefit(self, candidate: Candidate) -> float:
        for name in NAMES:
            if named(name).pattern == candidate.pattern:
                golden: dict[str, Any] = GOLDEN["candidates"][name]
                return float(golden["weight"] * len(candidate.sequences) / len(golden["queries"]))
        raise AssertionError


@pytest.mark.parametrize("optimizer", ["sharon", "exhaustive"])
def test_optimisers_on_the_workload(optimizer: str) -> None:
    """With conflicts resolved, p1 for q1 and q3 joins p5, p7: 12.5 + 20 + 18 exceeds the 50 of Example 23.9."""
    decision = optimize(sequences(), ["all"] * len(QUERIES), Table(), optimizer, Limits(60))
    assert decision.details["score"] == 50.5
    chosen = {tuple(str(s.type) for s in c.pattern): queries(c) for c in decision.shared}
    assert chosen == {
        ("OakSt", "MainSt"): ["q1", "q3"],
        ("OakSt", "MainSt", "WestSt"): ["q2", "q4"],
        ("ElmSt", "ParkAve"): ["q6", "q7"],
    }
    assert decision.details["candidates"] == 7
    assert decision.details["options"] == 10
    assert decision.details["fell_back"] == 0


def test_greedy_optimiser_resolves_no_conflict() -> None:
    decision = optimize(sequences(), ["all"] * len(QUERIES), Table(), "greedy", Limits(60))
    assert {c.pattern for c in decision.shared} == {named(name).pattern for name in GOLDEN["greedy"]["plan"]}
    assert decision.details["score"] == GOLDEN["greedy"]["score"]
    assert decision.details["options"] == 0
