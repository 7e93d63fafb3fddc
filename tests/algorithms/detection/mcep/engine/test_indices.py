"""The rows that joins look up by a condition, and the pairs that this spares."""

from __future__ import annotations

from math import nan
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.detection.mcep.engine.indices import Sorting
from cepbench.algorithms.detection.mcep.engine.tables import EngineTables, tables_of
from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.patterns import SubPatternTable, patterns_of
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities, TypePair
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Op
from cepbench.queries.parser import parse_query
from cepbench.queries.tables import GREATER, LESS
from cepbench.verification.evaluators import answer_of
from cepbench.verification.random_cases import split
from tests.algorithms.detection.mcep.planning.workloads import compared
from tests.contract.streams import batch

SORTED = Sorting(16, 0)
UNSORTED = Sorting(16, 10**9)


def events(size: int, types: str = "AB", values: int = 1000) -> EventBatch:
    random = Random(2)
    return batch(
        [
            {"time": n, "type": random.choice(types), "x": random.randrange(values), "y": random.random()}
            for n in range(size)
        ]
    )


def tables(
    text: str, whole: EventBatch, joins: Any, sorting: Sorting = SORTED, indexed: bool = True, **known: float
) -> EngineTables:
    """The tables of a tree of one pattern, given selectivities of `x op x` between A and B by name of the operator."""
    workload = compile_workload([parse_query(text)], whole.schema)
    given = {
        TypePair("A", "B", frozenset({compared("x", 1, Op[name], "x", 1)})): value for name, value in known.items()
    }
    plan = MultiPlan(CostModel(SubPatternTable(patterns_of(workload)), Statistics(), Selectivities(given)))
    plan.exchange([plan.local(0, joins)])
    return tables_of(workload, plan, sorting, indexed)


def bounds(found: EngineTables) -> list[list[int]]:
    """The operators of the look-ups of each join, none for a join that scans."""
    joins, bound = found.tables.join, found.tables.bound
    return [bound["op"][one["within"] : one["within_end"]].tolist() for one in joins if one["index"] != NONE]


PAIR = [(0b01, 0b10)]
TRIPLE = [(0b001, 0b100), (0b101, 0b010)]


def test_all_conditions_on_a_value_bound_it() -> None:
    text = "PATTERN A a AND B b AND A c WHERE a.x < b.x AND b.x < c.x WITHIN 9 s PER MATCH"
    # Fresh A and C look B up from both sides; a fresh B looks them up by the value of one of them.
    found = sorted(map(sorted, bounds(tables(text, events(9), TRIPLE))))
    assert sorted([LESS, GREATER]) in found
    assert len(found) == 2


@pytest.mark.parametrize(
    ("where", "looked_up"),
    [("a.x != b.x", 0), ("a.x < b.x", 1), ("a.x = b.x AND a.x != b.x", 1), ("a.x > 3", 0)],
)
def test_inequalities_are_no_use(where: str, looked_up: int) -> None:
    found = tables(f"PATTERN SEQ(A a, B b) WHERE {where} WITHIN 9 s PER MATCH", events(9), PAIR)
    assert len(found.tables.indices) == looked_up


def test_the_value_with_the_fewest_pairs_is_looked_up() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE a.x < b.x AND a.y > b.y WITHIN 9 s PER MATCH"
    columns = [tables(text, events(9), PAIR, LT=share).tables.indices["real"].tolist() for share in (0.01, 0.5, 0.99)]
    assert columns == [[False], [True], [True]]
    text = "PATTERN SEQ(A a, B b) WHERE a.x < b.x WITHIN 9 s PER MATCH"
    assert [len(tables(text, events(9), PAIR, LT=share).tables.indices) for share in (0.5, 0.9)] == [1, 0]


def counted(found: EngineTables, text: str, whole: EventBatch) -> tuple[int, float]:
    """Matches and comparisons."""
    workload = compile_workload([parse_query(text)], whole.schema, summarised=True)
    executor = DetectionExecutor(workload, found, {})
    rows = [executor.process(piece) for piece in split(whole, (700, 1900))]
    matches = sum(len(part[0]) for part in rows if 0 in part)
    return matches, executor.details()["comparisons"]


@pytest.mark.parametrize("where", ["a.x = b.x", "a.y <= b.y AND a.y >= 0.99 * b.y", "a.y > 100 * b.y"])
def test_sorted_rows_are_not_all_looked_at(where: str) -> None:
    text = f"PATTERN SEQ(A a, B b) WHERE {where} WITHIN 900 s PER MATCH"
    whole = events(3000)
    matches, pairs = counted(tables(text, whole, PAIR), text, whole)
    same, all_pairs = counted(tables(text, whole, PAIR, UNSORTED), text, whole)
    assert matches == same > 0
    assert all_pairs > 500_000
    assert pairs < all_pairs / 10


def test_without_indices_all_older_rows_are_scanned() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE a.x = b.x WITHIN 900 s PER MATCH"
    whole = events(3000)
    matches, pairs = counted(tables(text, whole, PAIR), text, whole)
    scanning = tables(text, whole, PAIR, indexed=False)
    assert len(scanning.tables.indices) == 0
    same, all_pairs = counted(scanning, text, whole)
    assert matches == same > 0
    assert all_pairs > 10 * pairs


def test_rows_are_sorted_when_it_pays() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE a.x = b.x WITHIN 900 s PER MATCH"
    whole = events(3000)
    _, always = counted(tables(text, whole, PAIR), text, whole)
    _, usual = counted(tables(text, whole, PAIR, Sorting()), text, whole)
    _, never = counted(tables(text, whole, PAIR, UNSORTED), text, whole)
    assert always < usual < never / 10


TEXTS = (
    "PATTERN SEQ(A a, B b, C c) WHERE a.x = b.x AND b.y < c.y WITHIN 300 s PER MATCH",
    "PATTERN A a AND B b AND C c WHERE a.x = b.x AND a.x = c.x WITHIN 200 s PER MATCH",
    "PATTERN SEQ(A a, B b, C c) WHERE a.x < c.x AND c.x < 1.1 * b.x AND a.y > b.y WITHIN 150 events PER MATCH",
    "PATTERN SEQ(A a, C c, B b) WHERE a.x = b.x AND c.y < 0.1 * a.y WITHIN 300 s PER MATCH",
)


@pytest.mark.parametrize("spec", ["mcep[plan=trivial]", "mcep[plan=sh]", "mcep[sharing=prefix]"])
def test_long_windows_are_answered_as_by_sase(spec: str) -> None:
    queries = [parse_query(text) for text in TEXTS]
    whole = events(3000, "ABC", 60)
    whole.columns["y"][::7] = nan
    wanted = answer_of(make("sase"), queries, [whole], summarised=True)
    for batches, pickled in (([whole], False), (split(whole, tuple(range(250, 3000, 250))), True)):
        answers = answer_of(make(spec), queries, batches, summarised=True, pickled=pickled)
        assert answers.matches == wanted.matches > 5000
        assert answers.digest() == wanted.digest()
