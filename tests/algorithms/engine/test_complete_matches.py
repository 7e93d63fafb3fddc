from dataclasses import replace

import pytest

from cepbench.algorithms.engine.complete_matches import unsupported_complete
from cepbench.queries.model import CompleteMatches
from cepbench.queries.parser import parse_query


@pytest.mark.parametrize(
    "pattern", ["A+", "SEQ(A+, B)", "(SEQ(A+, B))+", "A+ OR B+", "SEQ(A, B?, C*)", "SEQ(A, (B OR C))"]
)
def test_supports_patterns_that_bind_a_type_once(pattern: str) -> None:
    text = f"RETURN COMPLETE MATCHES PATTERN {pattern} WHERE A.x < NEXT(A).x"
    assert unsupported_complete(parse_query(text if "A+" in pattern else text.partition(" WHERE")[0])) is None


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("A+ SEMANTICS contiguous", "skip-till-any-match, not contiguous"),
        ("A+ SEMANTICS skip-till-next-match", "skip-till-any-match, not skip-till-next-match"),
        ("SEQ(A+, NOT C, B)", "negated"),
        ("SEQ(A, B, C) WHERE A.x < C.x", "not adjacent"),
        ("SEQ(A, B, A)", "type A may bind"),
        ("A{2,}", "type A may bind"),
        ("A+ OR SEQ(A+, B)", "type A may bind"),
    ],
)
def test_refuses_what_is_no_maximal_path(rest: str, reason: str) -> None:
    found = unsupported_complete(parse_query(f"RETURN COMPLETE MATCHES PATTERN {rest}"))
    assert found is not None
    assert reason in found


def test_refuses_pairs() -> None:
    query = replace(parse_query("RETURN COUNT(*) PATTERN A AND B"), returns=CompleteMatches())
    assert "AND" in str(unsupported_complete(query))
