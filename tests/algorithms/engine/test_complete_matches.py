from dataclasses import replace

import pytest

from cepbench.algorithms.engine.complete_matches import stand_ins, unsupported_complete
from cepbench.queries.analysis import analyse
from cepbench.queries.model import CompleteMatches
from cepbench.queries.parser import parse_query


@pytest.mark.parametrize(
    "pattern", ["A+", "SEQ(A+, B)", "(SEQ(A+, B))+", "A+ OR B+", "SEQ(A, B?, C*)", "SEQ(A, (B OR C))"]
)
def test_supports_patterns_that_bind_a_type_once(pattern: str) -> None:
    text = f"RETURN COMPLETE MATCHES PATTERN {pattern} WHERE A.x < NEXT(A).x"
    assert unsupported_complete(parse_query(text if "A+" in pattern else text.partition(" WHERE")[0])) is None


@pytest.mark.parametrize(
    "pattern", ["A{4,}", "A{3}", "SEQ(A{4,}, B)", "SEQ(A+, B, A)", "SEQ(A, A+)", "(SEQ(A+, B)){2,}", "SEQ(A{2,}, B{3})"]
)
def test_supports_a_repeated_type_where_a_longer_way_does_not_matter(pattern: str) -> None:
    assert unsupported_complete(parse_query(f"RETURN COMPLETE MATCHES PATTERN {pattern}")) is None


@pytest.mark.parametrize(
    ("pattern", "alike"),
    [
        ("A{3,}", [[0, 1, 2], [1, 2], [2]]),
        ("A{3}", [[0], [1], [2]]),
        ("SEQ(A+, B, A)", [[0], [1], [2]]),
        ("SEQ(A a, A+ b) WHERE b.x > 1", [[0, 1], [1]]),
        ("SEQ(A a, A+ b, B) WHERE a.x < NEXT(b).x", [[0, 1], [1], [2]]),
        ("SEQ(A a, A+ b, B) WHERE b.x < NEXT(b).x", [[0], [1], [2]]),
    ],
)
def test_what_goes_on_from_a_position_goes_on_from_one_that_stands_in_for_it(
    pattern: str, alike: list[list[int]]
) -> None:
    [automaton] = analyse(parse_query(f"RETURN COMPLETE MATCHES PATTERN {pattern}")).automata
    assert stand_ins(automaton) == alike


@pytest.mark.parametrize(
    ("clauses", "reason"),
    [
        ("A+ SEMANTICS contiguous", "skip-till-any-match, not contiguous"),
        ("A+ SEMANTICS skip-till-next-match", "skip-till-any-match, not skip-till-next-match"),
        ("SEQ(A+, NOT C, B)", "negated"),
        ("SEQ(A, B, C) WHERE A.x < C.x", "not adjacent"),
        ("SEQ(A+, A)", "type A may bind in several ways"),
        ("A{1,3}", "bind the same events of type A at other places"),
        ("(SEQ(A{2,}, B))+", "bind the same events of type A at other places"),
        ("A{65}", "64 positions, and the pattern has 65"),
        ("A+ OR SEQ(A+, B)", "type A may bind"),
    ],
)
def test_refuses_what_is_no_maximal_path(clauses: str, reason: str) -> None:
    refusal = unsupported_complete(parse_query(f"RETURN COMPLETE MATCHES PATTERN {clauses}"))
    assert refusal is not None
    assert reason in refusal


def test_refuses_pairs() -> None:
    query = replace(parse_query("RETURN COUNT(*) PATTERN A AND B"), returns=CompleteMatches())
    assert "AND" in str(unsupported_complete(query))
