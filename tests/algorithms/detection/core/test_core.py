"""Queries that CORE evaluates or refuses."""

import pytest

from cepbench.algorithms.detection.core.algorithm import Core
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import split
from tests.contract.streams import batch


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN MATCHES PATTERN A, B WITHIN 5 s", "write WITHIN ... PER MATCH"),
        ("PATTERN A AND B WITHIN 5 s PER MATCH", "AND is not supported"),
        ("PATTERN SEQ(A, B) OR A AND B WITHIN 5 s PER MATCH", "AND is not supported"),
        ("PATTERN A, NOT B, C WITHIN 5 s PER MATCH", "NOT is not supported"),
        ("PATTERN C OR SEQ(A, NOT B) WITHIN 5 s PER MATCH", "NOT is not supported"),
        ("PATTERN A, B WHERE A.x < B.x WITHIN 5 s PER MATCH", "predicates on two events are not supported"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    found = Core().unsupported(parse_query(text))
    assert found is not None
    assert reason in found


@pytest.mark.parametrize(
    "text",
    [
        "SEQ(A a, (B OR C)+ x, A b) WHERE a.x > 1 AND x.x < 5 WITHIN 4 s",
        "SEQ(A+, A) OR SEQ(A, B) OR SEQ(A, A) OR B WITHIN 5 events",
        "(A OR B)+ x WHERE [g] WITHIN 4 s",
        "SEQ(A a, A b, A c) WHERE a.x > 1 AND b.x > 2 AND c.x > 1 WITHIN 7 events",
        " OR ".join(f"SEQ(A, B{n})" for n in range(40)) + " OR SEQ(A, B, C) WITHIN 5 events",  # beyond bits of a word
    ],
)
@pytest.mark.parametrize("returns", ["RETURN MATCHES", "RETURN COUNT(*)"])
def test_answers_are_those_of_the_oracle(text: str, returns: str) -> None:
    query = parse_query(f"{returns} PATTERN {text} PER MATCH")
    events = [{"time": n // 2, "type": "ABC"[n * n // 5 % 3], "x": n * 7 % 6, "g": n % 2} for n in range(60)]
    expected = answer(query, events)
    assert expected
    for cuts in ((), (25,), tuple(range(1, 60))):
        assert difference(expected, run(make("core"), query, split(batch(events), cuts), pickled=True)) is None
