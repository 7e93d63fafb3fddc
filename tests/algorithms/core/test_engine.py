"""The real engine of CORE beside ours, where `CEPBENCH_CORE_PYTHON` is an interpreter that has `pycer`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.benchmarks.core import TYPES
from cepbench.benchmarks.core_engine import Engine
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import run
from tests.contract.streams import batch

PYTHON = os.environ.get("CEPBENCH_CORE_PYTHON", "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="CEPBENCH_CORE_PYTHON names no interpreter that has pycer")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    started = Engine(PYTHON)
    yield started
    started.close()


def told(engine: Engine, pattern: str, span: str, events: list[dict[str, int | str]]) -> list[list[int]]:
    rows = [[TYPES.index(str(event["type"])), int(event["time"]), int(event["x"])] for event in events]
    return sorted(sorted(match) for match in engine.run(pattern, span, rows, matches=True)["matches"])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("SEQ(A v0, B v1, C v2)", "(A as v0; B as v1; C as v2)"),
        ("SEQ(A v0, B+ v1, C v2)", "(A as v0; B+ as v1; C as v2)"),
        ("SEQ(A v0, B+ v1, A v2)", "(A as v0; B+ as v1; A as v2)"),
        ("SEQ(A v0, B v1) WHERE v0.x > 3 AND v1.x < 5", "(A as v0; B as v1) FILTER v0[x > 3] AND v1[x < 5]"),
    ],
)
def test_their_matches_are_ours(engine: Engine, ours: str, theirs: str) -> None:
    random = Random(ours)
    events = [{"time": 2 * n + n % 2, "type": random.choice("ABC"), "x": random.randrange(9)} for n in range(60)]
    for span, engine_span in (("9 s", "10 [ts]"), ("6 events", "5 EVENTS")):
        query = parse_query(f"PATTERN {ours} WITHIN {span} PER MATCH")
        found = sorted(run(make("core"), query, [batch(events)])["match"].tolist())
        assert found == sorted(row["match"] for row in answer(query, events))
        assert told(engine, theirs, engine_span, events) == found


def test_the_engine_reports_a_match_once_per_way_of_binding_it(engine: Engine) -> None:
    """docs/findings.md, What the engine of CORE detects."""
    events: list[dict[str, int | str]] = [{"time": time, "type": "B", "x": 0} for time in (1, 3, 5)]
    query = parse_query("PATTERN SEQ(B+ v0, B+ v1) WITHIN 13 s PER MATCH")
    found = run(make("core"), query, [batch(events)])["match"].tolist()
    assert sorted(found) == [[0, 1], [0, 1, 2], [0, 2], [1, 2]]
    assert told(engine, "(B+ as v0; B+ as v1)", "14 [ts]", events) == sorted([*found, [0, 1, 2]])


def test_events_of_one_time_follow_one_another_in_the_engine(engine: Engine) -> None:
    events: list[dict[str, int | str]] = [{"time": 1, "type": kind, "x": 0} for kind in "AB"]
    assert told(engine, "(A as v0; B as v1)", "14 [ts]", events) == [[0, 1]]
    assert len(run(make("core"), parse_query("PATTERN A, B WITHIN 13 s PER MATCH"), [batch(events)])) == 0
