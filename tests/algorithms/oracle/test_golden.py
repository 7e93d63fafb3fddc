from itertools import product
from typing import Any

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.queries.parser import parse_query
from tests.streams import golden_cases, golden_conditions, golden_plans

CASES = golden_cases()
CONDITIONS = golden_conditions()
CET = golden_plans()["cet"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_papers_examples(case: dict[str, Any]) -> None:
    rows = answer(parse_query(case["query"]), case["events"])
    assert [{name: row[name] for name in expected} for row, expected in zip(rows, case["rows"], strict=True)] == case[
        "rows"
    ]
    if case["paper_value"] is not None and len(rows) == 1:
        assert rows[0]["COUNT(*)"] == case["paper_value"]


@pytest.mark.parametrize("case", CONDITIONS, ids=[case["name"] for case in CONDITIONS])
def test_conditions_and_repetitions(case: dict[str, Any]) -> None:
    rows = answer(parse_query(case["query"]), case["events"], case.get("time_unit", "s"))
    if "matches" in case:
        assert [row["match"] for row in rows] == case["matches"]
    else:
        assert [{name: row[name] for name in case["rows"][0]} for row in rows] == case["rows"]


def test_complete_trends_of_deposited_checks() -> None:
    query = parse_query("RETURN COMPLETE MATCHES PATTERN Check C+ WHERE C.destination = NEXT(C).source")
    rows = answer(query, CET["checks"]["events"])
    by_time = [[position + 1 for position in row["match"]] for row in rows]
    assert by_time == CET["checks"]["complete_trends"]


@pytest.mark.parametrize(("size", "trends"), CET["groups"].items())
def test_complete_trends_of_groups_of_simultaneous_events(size: int, trends: int) -> None:
    query = parse_query("RETURN COMPLETE MATCHES PATTERN A+")
    events = [{"time": time, "type": "A"} for time, _ in product(range(12 // size), range(size))]
    assert len(answer(query, events)) == trends
