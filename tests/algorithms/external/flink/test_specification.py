"""What our Java program is told of detection, which needs no Flink."""

from cepbench.algorithms.external.flink.orders import unsupported_detection
from cepbench.algorithms.external.flink.specification import detection_specification
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

SCHEMA = Schema(("A", "B", "C"), (Attribute("x", Kind.INT),), "s", ())


def lines(text: str) -> list[str]:
    [query] = compile_workload([parse_query(text)], SCHEMA)
    return detection_specification(query).splitlines()


def test_an_or_of_types_is_a_place_that_either_type_may_take() -> None:
    told = lines("PATTERN SEQ(A, (B OR C OR B z) x, C) WITHIN 5 s PER MATCH")
    assert [line for line in told if line.startswith(("flow", "place", "type"))] == [
        "flow 3 1 S3 E0 E1 E2", "place 0", "place 1", "place 2", "types 3", "type 0 0", "type 1 1", "type 2 1 2",
    ]  # fmt: skip
    assert [line for line in told if line.startswith("local")] == []


def test_conditions_on_an_or_are_those_of_its_place() -> None:
    told = lines("PATTERN SEQ((A OR B) x, C) WHERE x.x > 2 AND C.x < 1 WITHIN 5 s PER MATCH")
    assert [line.split()[:2] for line in told if line.startswith("local")] == [["local", "0"], ["local", "1"]]
    reason = unsupported_detection(parse_query("PATTERN SEQ((A OR B) x, C) WHERE A.x > 2 WITHIN 5 s PER MATCH"))
    assert reason is not None
    assert "one type of an OR" in reason


def test_counted_matches_are_asked_for_as_matches() -> None:
    counted, listed = (
        lines(f"{returns} PATTERN SEQ(A, B) WITHIN 5 s PER MATCH") for returns in ("RETURN COUNT(*)", "RETURN MATCHES")
    )
    assert counted == listed
