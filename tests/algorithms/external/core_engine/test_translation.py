"""Queries in the language of CORE's engine, which needs no engine."""

import pytest

from cepbench.algorithms.external.core_engine.translation import translated, unsupported
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

SCHEMA = Schema(
    ("A", "B", "C"), (Attribute("x", Kind.INT), Attribute("y", Kind.FLOAT), Attribute("s", Kind.STRING)), "s", ("", "u")
)


@pytest.mark.parametrize(
    ("text", "pattern", "span"),
    [
        ("SEQ(A, B+, Unseen) WITHIN 5 s", "(T0 as v0; T1+ as v1; T3 as v2)", "6 [ts]"),
        ("SEQ(A, (B OR C)+ x) WITHIN 4 events", "(T0 as v0; (T1 as v1 OR T2 as v2)+)", "3 EVENTS"),
        ("A+ WITHIN 5 s", "T0+ as v0", "6 [ts]"),
        (
            "SEQ(A, B) OR C WHERE A.x > -2 AND B.y <= 0.0000001 WITHIN 5 s",
            "((T0 as v0; T1 as v1) OR T2 as v2) FILTER v0[a0 > 0 - 2] AND v1[a1 <= 0.0000001]",
            "6 [ts]",
        ),
        (
            "SEQ(A a, (A OR B) x) WHERE x.x = 1 AND a.s != 'u' AND a.s = 'none' WITHIN 5 s",
            "(T0 as v0; (T0 as v1 OR T1 as v2)) FILTER v1[a0 = 1] AND v2[a0 = 1] AND v0[a1 != 1] AND v0[a1 = 0 - 1]",
            "6 [ts]",
        ),
        (
            "SEQ(A, B) WHERE (A.x > 2 AND A.y < 1e30 OR A.s IN ('u', 'none')) AND NOT B.x IN (1, -2) WITHIN 5 s",
            "(T0 as v0; T1 as v1) FILTER v0[((a0 > 2) AND (a1 < 1000000000000000000000000000000.0)) OR "
            "(a2 = 1 OR a2 = 0 - 1)] AND v1[NOT (a0 = 1 OR a0 = 0 - 2)]",
            "6 [ts]",
        ),
        (
            "SEQ(A, B) WHERE A.time >= 1 minute AND B.x != B.y AND B.x > -9223372036854775808 WITHIN 5 s",
            "(T0 as v0; T1 as v1) FILTER v0[ts >= 60] AND v1[a0 != a1] AND v1[a0 > 0 - 9223372036854775807 - 1]",
            "6 [ts]",
        ),
    ],
)
def test_queries(text: str, pattern: str, span: str) -> None:
    [query] = compile_workload([parse_query(f"PATTERN {text} PER MATCH")], SCHEMA)
    translation = translated(query, SCHEMA)
    assert (translation.pattern, translation.span) == (pattern, span)
    assert len(translation.types) == (4 if "Unseen" in text else 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PATTERN A, B WITHIN 5 s", "write WITHIN ... PER MATCH"),
        ("PATTERN A AND B WITHIN 5 s PER MATCH", "AND is not supported"),
        ("PATTERN A, NOT B, C WITHIN 5 s PER MATCH", "NOT is not supported"),
        ("PATTERN A, B WHERE A.x < B.x WITHIN 5 s PER MATCH", "single events only"),
        ("PATTERN A, B WHERE 2 * A.x < 5 WITHIN 5 s PER MATCH", "without factors and sums"),
        ("PATTERN A, B WHERE A.x = 1 OR A.x < A.y + 3 WITHIN 5 s PER MATCH", "without factors and sums"),
        ("PATTERN A WITHIN 1 events PER MATCH", "no span of one event"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    refusal = unsupported(parse_query(text))
    assert refusal is not None
    assert reason in refusal
