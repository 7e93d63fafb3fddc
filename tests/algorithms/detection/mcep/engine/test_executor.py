"""The engines on streams that are long for their rooms, against SASE; what they share, keep and drop."""

from __future__ import annotations

import pickle
from itertools import pairwise
from random import Random

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import MatchRows
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, answer_of
from cepbench.verification.random_cases import split
from tests.contract.streams import batch
from tests.streams import stream

TEXTS = (
    "PATTERN SEQ(A a, B b, C c) WHERE a.x < b.x AND b.x <= c.x WITHIN 9 s PER MATCH",
    "PATTERN SEQ(A a, B b, C c, A d) WHERE a.x < b.x AND c.x != d.x WITHIN 7 s PER MATCH",
    "PATTERN A a AND B b AND A c WHERE a.x < c.x WITHIN 6 s PER MATCH",
    "PATTERN SEQ(A a, NOT B n, C c) WHERE n.x > 4 WITHIN 8 s PER MATCH",
    "PATTERN SEQ(NOT C, A a, B b) WITHIN 5 s PER MATCH",
    "PATTERN SEQ(A a, B b, NOT C n) WHERE n.x < 5 WITHIN 5 s PER MATCH",
    "PATTERN SEQ(A a, B b+, C c) WHERE b.x < c.x WITHIN 6 s PER MATCH",
    "PATTERN B b+ AND C c WHERE b.x > c.x WITHIN 4 s PER MATCH",
    "PATTERN SEQ(A a, B b, C c) WHERE a.x < b.x AND b.x <= c.x WITHIN 12 events PER MATCH",
    "PATTERN SEQ(A a, B b) WITHIN 3 s PER MATCH",
    "PATTERN SEQ(A a, B b) WITHIN 6 s PER MATCH",
)
SPECS = ("mcep[plan=sh]", "mcep[plan=trivial, sharing=prefix]", "mcep[sharing=prefix]", "mcep[plan=sh-mdt]")


def events(size: int, seed: int = 1) -> list[dict[str, object]]:
    random, time, found = Random(seed), 0, []
    for _ in range(size):
        time += random.choice((0, 1, 1, 2))
        found.append({"time": time, "type": random.choice("ABC"), "x": random.randrange(8)})
    return found


@pytest.mark.parametrize("spec", SPECS)
def test_a_long_stream_is_answered_as_by_sase(spec: str) -> None:
    queries = [parse_query(text) for text in TEXTS]
    whole = batch(events(2500))
    for batches, pickled in (([whole], False), (split(whole, tuple(range(150, 2500, 150))), True)):
        wanted = answer_of(make("sase"), queries, [whole], summarised=True)
        found = answer_of(make(spec), queries, batches, summarised=True, pickled=pickled, promise=pickled)
        assert found.matches == wanted.matches > 5000
        assert found.digest() == wanted.digest()


def run_all(algorithm: Algorithm, texts: list[str], text: str) -> tuple[list[int], dict[str, float]]:
    """How many matches each query has, and what the executor tells."""
    whole = batch(stream(text))
    workload = compile_workload([parse_query(one) for one in texts], whole.schema)
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    rows = executor.process(whole)
    counts = [len(rows[n]) if n in rows else 0 for n in range(len(texts))]
    return counts, dict(executor.details())


@pytest.mark.parametrize("sharing", ["prefix", "subexpression"])
def test_what_patterns_share_is_made_once(sharing: str) -> None:
    text = "A1 A2 B3 B4 C5 D6"
    texts = [f"PATTERN SEQ(A, B, {last}) WITHIN 9 s PER MATCH" for last in "CD"]
    counts, shared = run_all(make(f"mcep[plan=sh, sharing={sharing}]"), texts, text)
    assert counts == [4, 4]
    counts, alone = run_all(make(f"mcep[plan=trivial, sharing={sharing}]"), texts, text)
    assert counts == [4, 4]
    # Shared: 2 A, 2 B, 4 pairs, and per pattern its last event and 4 matches.
    assert shared["instances"] == 2 + 2 + 4 + 2 * (1 + 4)
    assert alone["instances"] > shared["instances"]


def test_an_absence_is_decided_once_its_neighbors_are_bound() -> None:
    text = "PATTERN SEQ(A, NOT X, B, C) WITHIN 9 s PER MATCH"
    counts, details = run_all(make("mcep[plan=trivial, sharing=prefix]"), [text], "A1 X2 A3 B4 C5 C6")
    assert counts == [2]
    assert details["instances"] == 2 + 1 + 1 + 2 + 2  # A, B, one pair of them, C, and matches


def test_absences_that_not_all_users_have_wait_for_their_own_nodes() -> None:
    texts = [
        f"PATTERN SEQ(A, {absent}B, {last}) WITHIN 9 s PER MATCH" for absent, last in (("NOT X, ", "C"), ("", "D"))
    ]
    counts, details = run_all(make("mcep[plan=sh, sharing=prefix]"), texts, "A1 X2 A3 B4 C5 C6 D7")
    assert counts == [2, 2]
    assert details["instances"] == 2 + 1 + 2 + (2 + 2) + (
        1 + 2
    )  # A, B, pairs; of each pattern, its last event and matches


def test_equal_patterns_are_told_each_in_its_own_window() -> None:
    texts = [f"PATTERN SEQ(A, B) WITHIN {span} s PER MATCH" for span in (1, 3, 9)]
    for sharing in ("prefix", "subexpression"):
        counts, details = run_all(make(f"mcep[plan=sh, sharing={sharing}]"), texts, "A1 A3 B4 B6 B12")
        assert counts == [1, 3, 5]
        assert details["instances"] == 2 + 3 + 5


def test_only_the_last_operand_of_a_sequence_is_looked_up_from() -> None:
    _, details = run_all(make("mcep[plan=trivial]"), ["PATTERN SEQ(A, B) WITHIN 9 s PER MATCH"], "B1 B2 B3 A4 A5 B6")
    assert details["comparisons"] == 2
    _, details = run_all(make("mcep[plan=trivial]"), ["PATTERN SEQ(A, B) WITHIN 2 s PER MATCH"], "A1 A2 A4 B5 A5 A9 B9")
    assert details["comparisons"] == 1 + 0


@pytest.mark.parametrize("unit", ["s", "events"])
def test_state_does_not_grow_with_the_stream(unit: str) -> None:
    texts = [text.replace(" s PER", f" {unit} PER") for text in TEXTS if "events" not in text]
    whole = batch(events(3000, seed=3))
    workload = compile_workload([parse_query(text) for text in texts], whole.schema)
    algorithm = make("mcep[plan=sh]")
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    sizes, pickles = [], []
    for piece in split(whole, tuple(range(300, 3000, 300))):
        executor.process(piece)
        sizes.append(executor.state().bytes)
        pickles.append(len(pickle.dumps(executor)))
    assert max(sizes[5:]) < 2 * max(sizes[:5])
    assert pickles[-1] < 2 * pickles[3]
    executor.process(whole.slice(0, 0, watermark=10**9))
    executor.state()
    assert executor.state().bytes <= (0 if unit == "s" else sizes[0])


def test_matches_that_wait_are_told_when_their_spans_have_passed() -> None:
    whole = batch(stream("A1 B2 N5 A6 B7 A20"))
    query = parse_query("PATTERN SEQ(A, B, NOT N) WITHIN 4 s PER MATCH")
    workload = compile_workload([query], whole.schema)
    algorithm = make("mcep")
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    told = []
    for n in range(len(whole)):
        rows = executor.process(whole.slice(n, n + 1)).get(0)
        told.append([] if rows is None else _positions(rows))
    assert told == [[], [], [], [], [], [[3, 4]]]


def test_fresh_rows_of_both_sides_do_not_meet() -> None:
    _, details = run_all(make("mcep"), ["PATTERN A a AND A b WITHIN 9 s PER MATCH"], "A1 A2 A3")
    assert details["comparisons"] == 2 * (0 + 1 + 2)


def test_rows_that_nobody_looks_up_are_not_kept() -> None:
    whole = batch(stream("A1 B2 B3 B4 B5"))
    workload = compile_workload([parse_query("PATTERN SEQ(A, B) WITHIN 9 s PER MATCH")], whole.schema)
    algorithm = make("mcep")
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    executor.process(whole)
    executor.state()
    assert executor.state().kinds["partial matches"] == 1


def test_a_match_is_told_in_the_name_of_the_clause_that_decides_first() -> None:
    whole = batch(stream("A1 A9"))
    query = parse_query("PATTERN SEQ(A a, NOT B b) OR A c WITHIN 2 s PER MATCH")
    workload = compile_workload([query], whole.schema)
    algorithm = make("mcep")
    rows = OneKey(algorithm.operator(algorithm.plan(workload, Statistics()))).process(whole)[0]
    assert rows.window.tolist() == [1 - 2, 9 - 2]


def _positions(rows: object) -> list[list[int]]:
    assert isinstance(rows, MatchRows)
    offsets = rows.offsets.tolist()
    return [rows.positions[a:b].tolist() for a, b in pairwise(offsets)]
