"""Counts of trends in windows, in two steps, against the oracle."""

from __future__ import annotations

from random import Random

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import random_cuts, split
from tests.algorithms.detection.mcep.engine.plans import random_rows
from tests.contract.streams import batch

PATTERNS = (
    "A",
    "A+",
    "SEQ(A, B)",
    "SEQ(A, B+, C)",
    "SEQ(A+, A)",
    "SEQ(B x, C y+) WHERE x.x > 1",
    "SEQ(A, B) WHERE [g]",
)
WINDOWS = ("WITHIN 4 s SLIDE 2 s", "WITHIN 5 s", "WITHIN 3 s SLIDE 5 s", "WITHIN 1 s", "WITHIN 6 s SLIDE 4 s")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts_are_those_of_the_oracle(pattern: str) -> None:
    random = Random(pattern)
    for _ in range(3):
        query = parse_query(f"RETURN g, COUNT(*) PATTERN {pattern} GROUP-BY g {random.choice(WINDOWS)}")
        events = [{**row, "g": random.randrange(2)} for row in random_rows(random, 24)]
        for spec in ("mcep[plan=trivial, sharing=prefix]", "mcep[plan=sh]", "mcep[adapt=2]"):
            pieces = split(batch(events), random_cuts(random, 24))
            frame = run(make(spec), query, pieces, promise=random.random() < 0.5, pickled=random.random() < 0.5)
            assert difference(answer(query, events), frame) is None


def test_queries_with_and_without_a_span_share_a_workload() -> None:
    texts = (
        "q1: RETURN COUNT(*) PATTERN SEQ(A, B+, C) WITHIN 5 s SLIDE 2 s",
        "q2: PATTERN SEQ(A, B+, C) WITHIN 4 s PER MATCH",
        "q3: RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 5 s",
    )
    events = random_rows(Random(4), 30)
    queries = [parse_query(text) for text in texts]
    frame = run(make("mcep[plan=sh]"), queries, [batch(events)])
    for query in queries:
        mine = frame[frame["query"] == query.name].dropna(axis="columns", how="all").reset_index(drop=True)
        assert len(mine) == len(answer(query, events)) > 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN MATCHES PATTERN SEQ(A, B) WITHIN 4 s", "PER MATCH"),
        ("RETURN SUM(A.x) PATTERN SEQ(A, B) WITHIN 4 s", r"COUNT\(\*\) only"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B)", "windows of time"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 events", "windows of time"),
        ("RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) WITHIN 4 s", "single event types"),
        ("RETURN COUNT(*) PATTERN (SEQ(A, B))+ WITHIN 4 s", "single event types"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS contiguous WITHIN 4 s", "skip-till-any-match"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x WITHIN 4 s", "two events"),
    ],
)
def test_what_is_not_counted_is_refused_with_a_reason(text: str, reason: str) -> None:
    from re import search

    refused = make("mcep").unsupported(parse_query(text))
    assert refused is not None
    assert search(reason, refused)
