"""The enumeration of all paths: the bytes that the authors published, and the lightest plan of the enumerated ones."""

from __future__ import annotations

import csv
from itertools import product
from math import inf
from pathlib import Path
from random import Random

import pytest

from cepbench.algorithms.options import WrongOption
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.gloria.optimizer.elimination import SearchLimitReached, SearchLimits
from cepbench.algorithms.trends.gloria.optimizer.enumeration import enumerated
from cepbench.algorithms.trends.gloria.optimizer.optimizer import ENUMERATE, SharingDecision, optimize
from cepbench.generators.workloads.gloria import closure
from tests.algorithms.trends.gloria.graphs import Graph
from tests.algorithms.trends.gloria.test_optimality import random_graph
from tests.algorithms.trends.gloria.validity import check

PUBLISHED = Path(__file__).parents[4] / "experiments" / "published" / "gloria"
OPTIMIZERS = {"gloria": "algorithm1", "noprune": "noprune"}
CASES = 100
QUERIES = 10
"""Queries of a block, as the authors plan them."""


def published(name: str) -> list[dict[str, float]]:
    lines = (line for line in (PUBLISHED / name).read_text().splitlines() if not line.startswith("#"))
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]


def blocks(*, seq: int = 0, kleene: int = 0, length: int = 10, layers: int = 1) -> Graph:
    """A block of queries as in the published workloads, with the ranks of their frequencies: the hub is the most
    frequent of the shared types, and each next type of the chain is less frequent."""
    chain = [f"C{n}" for n in range(length + 1)]
    patterns = [f"SEQ(F{n}, {', '.join(chain[:4])}, L{n})" for n in range(seq)]
    patterns += [f"SEQ({closure(tuple(chain[:length]), layers)}, {chain[length]}, K{n})" for n in range(kleene)]
    ends = [f"{kind}{n}" for kind in "FLK" for n in range(QUERIES)]
    rates = {"C0": 456.0} | {name: 101.0 - n for n, name in enumerate(chain) if n} | dict.fromkeys(ends, 500.0)
    return Graph(patterns, rates)


def enumeration(graph: Graph, optimizer: str) -> SharingDecision:
    return optimize(graph.pools, graph.costs, optimizer, SearchLimits(60), ENUMERATE)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_block_of_sequences_has_the_published_bytes(name: str) -> None:
    numbers = enumeration(blocks(seq=QUERIES), OPTIMIZERS[name]).numbers
    assert numbers["paths"] == {"gloria": 2**QUERIES, "noprune": 4 * 2**QUERIES}[name]
    for data in ("bus", "taxi", "stock"):
        for row in published(f"{data}-mixed.csv"):  # twelve queries, of which two are Kleene queries, are not counted
            assert row["queries"] / 12 * numbers["enumerated_bytes"] == row[f"{name}_bytes"]


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("data", ["bus", "taxi"])
def test_workloads_of_sequences_have_the_published_bytes(data: str, name: str) -> None:
    """Of the taxi zones, the 18th block has two types that are equally frequent, and 1,068 bytes more with pruning."""
    of_block = enumeration(blocks(seq=QUERIES), OPTIMIZERS[name]).numbers["enumerated_bytes"]
    for row in published(f"{data}-seq.csv"):
        tied = 1068 if data == "taxi" and name == "gloria" and row["queries"] >= 180 else 0
        assert row["queries"] / QUERIES * of_block + tied == row[f"{name}_bytes"]


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("file", ["bus-kleene-length.csv", "taxi-kleene-length.csv"])
def test_a_block_of_kleene_queries_has_the_published_bytes(file: str, name: str) -> None:
    for row in published(file):
        length = int(row["length"])
        numbers = enumeration(blocks(kleene=QUERIES, length=length), OPTIMIZERS[name]).numbers
        assert numbers["paths"] == {"gloria": 1, "noprune": 2 * length - 1}[name] * 2**QUERIES
        assert numbers["enumerated_bytes"] == row[f"{name}_bytes"]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_nested_closures_have_the_published_bytes(name: str) -> None:
    for row in published("bus-kleene-layers.csv"):
        graph = blocks(kleene=QUERIES, layers=int(row["layers"]))
        assert enumeration(graph, OPTIMIZERS[name]).numbers["enumerated_bytes"] == row[f"{name}_bytes"]


@pytest.mark.parametrize(
    ("kleene", "paths"),
    [(1, (514, 2086)), (2, (260, 1100)), (3, (136, 664)), (4, (80, 560)), (5, (64, 736)), (6, (80, 1280))],
)
def test_paths_of_mixed_blocks(kleene: int, paths: tuple[int, int]) -> None:
    """2^s + 2^k with pruning, and 4 2^s + (2L - 1) 2^k without, for closures of L = 10 types."""
    graph = blocks(seq=QUERIES - kleene, kleene=kleene, layers=2)
    assert tuple(enumeration(graph, name).numbers["paths"] for name in OPTIMIZERS.values()) == paths


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values())
def test_any_workload_has_a_valid_plan_that_is_the_lightest_of_all_paths(optimizer: str) -> None:
    shared = 0
    for seed in range(CASES):
        graph = random_graph(Random(seed))
        decision = enumeration(graph, optimizer)
        check(decision.sharing, graph.template)
        shared += any(q.snapshot for q_sets in decision.sharing.transitions.values() for q in q_sets)
        result = enumerated(graph.pools, graph.costs, optimizer == "algorithm1", lambda: None)
        every = product(*(range(len(here.nodes)) for here in result.graph.pools))
        least = min(result.graph.weight(path) for path in every)
        assert decision.weight == pytest.approx(least, rel=1e-9), seed
        assert decision.weight < inf
        assert decision.weight >= graph.decision("exact").weight * (1 - 1e-9), seed
        assert bool(decision.numbers["paths"]) == bool(graph.pools.pools)
    assert shared > CASES / 8


def test_the_search_stops_at_its_limit() -> None:
    graph = blocks(seq=QUERIES)
    with pytest.raises(SearchLimitReached):
        optimize(graph.pools, graph.costs, "algorithm1", SearchLimits(0), ENUMERATE)


def test_only_the_optimizers_of_the_paper_enumerate() -> None:
    for optimizer in ("gloria", "greedy", "none"):
        with pytest.raises(WrongOption):
            make(f"gloria[optimizer={optimizer}, search=enumerate]")
