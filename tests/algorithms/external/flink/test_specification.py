"""The specification of detection for our Java program; no Flink is needed."""

import pytest

from cepbench.algorithms.external.flink.specification import detection_specification
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

SCHEMA = Schema(("A", "B", "C"), (Attribute("x", Kind.INT),), "s", ())


def lines(text: str) -> list[str]:
    [query] = compile_workload([parse_query(text)], SCHEMA)
    return detection_specification(query).splitlines()


def test_an_or_of_types_is_a_place_that_either_type_may_take() -> None:
    specified = lines("PATTERN SEQ(A, (B OR C OR B z) x, C) WITHIN 5 s PER MATCH")
    assert [line for line in specified if line.startswith(("flow", "place", "type"))] == [
        "flow 3 1 S3 E0 E1 E2", "place 0", "place 1", "place 2", "types 3", "type 0 0", "type 1 1 3", "type 2 2 4",
    ]  # fmt: skip
    assert [line for line in specified if line.startswith(("operands", "local"))] == [
        "operands 0 1 1 1 2",
        "local -1 -1 -1 -1 -1",
    ]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [("x.x > 2 AND C.x < 1", "local 0 0 1"), ("A.x > 2 AND (C.x > 2 OR C.x < 1)", "local 0 -1 1")],
)
def test_conditions_on_an_or_are_those_of_its_types(condition: str, rows: str) -> None:
    specified = lines(f"PATTERN SEQ((A OR B) x, C) WHERE {condition} WITHIN 5 s PER MATCH")
    assert [line for line in specified if line.startswith(("local", "adjacent"))] == [rows]


def test_counted_matches_are_asked_for_as_matches() -> None:
    counted, listed = (
        lines(f"{returns} PATTERN SEQ(A, B) WITHIN 5 s PER MATCH") for returns in ("RETURN COUNT(*)", "RETURN MATCHES")
    )
    assert counted == listed
