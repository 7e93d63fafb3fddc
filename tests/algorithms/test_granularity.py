"""Which granularity COGRA selects (Table 14.1), and which negation it keeps."""

import pytest

from algorithms.cogra import Cogra
from algorithms.cogra.algorithm import evaluator
from algorithms.cogra.granularity import Granularity, select
from algorithms.execution import WHOLE_STREAM
from events.schema import Attribute, Kind, Schema
from queries.analysis import analyse
from queries.compile import compile_workload
from queries.parser import parse_query
from tests.algorithms.cases import agree

SCHEMA = Schema(("A", "B", "C"), (Attribute("x", Kind.INT),))


@pytest.mark.parametrize(
    ("text", "granularity", "evaluator_name"),
    [
        ("COUNT(*) PATTERN (SEQ(A+, B))+", Granularity.TYPE, "TypeGrainedCount"),
        ("COUNT(*) PATTERN SEQ(A+, A)", Granularity.TYPE, "TypeGrained"),
        ("COUNT(*) PATTERN A+ WHERE A.x > 1", Granularity.TYPE, "TypeGrained"),
        ("SUM(A.x) PATTERN A+", Granularity.TYPE, "TypeGrained"),
        ("COUNT(*) PATTERN SEQ(A, NOT C, B)", Granularity.TYPE, "TypeGrained"),
        ("COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x", Granularity.MIXED, "GraphGrained"),
        ("COUNT(*) PATTERN A+ SEMANTICS next", Granularity.PATTERN, "TypeGrained"),
        ("COUNT(*) PATTERN A+ SEMANTICS cont", Granularity.PATTERN, "TypeGrained"),
        ("COUNT(*) PATTERN A+ SEMANTICS next WHERE A.x < NEXT(A).x", Granularity.PATTERN, "PatternGrained"),
        ("COUNT(*) PATTERN A+ SEMANTICS cont WHERE A.x < NEXT(A).x", Granularity.PATTERN, "PatternGrained"),
    ],
)
def test_the_coarsest_granularity_that_is_exact(text: str, granularity: Granularity, evaluator_name: str) -> None:
    parsed = parse_query(f"RETURN {text}")
    assert select(analyse(parsed).automata[0], parsed.semantics) is granularity
    [query] = compile_workload([parsed], SCHEMA)
    assert type(evaluator(query, query.parts[0], WHOLE_STREAM)).__name__ == evaluator_name


def test_mixed_granularity_keeps_events_that_predicates_compare_with_later_ones() -> None:
    [query] = compile_workload([parse_query("RETURN COUNT(*) PATTERN SEQ(A+, B+) WHERE A.x < B.x")], SCHEMA)
    graph = evaluator(query, query.parts[0], WHOLE_STREAM).graph  # type: ignore[attr-defined]
    assert graph.kept.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SEQ(A, NOT C, B)", None),
        ("SEQ(A, NOT SEQ(C, B), B)", "a negated sequence between events"),
        ("SEQ(A, B, NOT SEQ(C, B))", "a negated sequence at the end"),
        ("SEQ(NOT SEQ(C, B), A, B)", None),
        ("SEQ(A, NOT C, B) SEMANTICS next", "not kept at pattern granularity"),
        ("SEQ(A, NOT SEQ(C, B), B) SEMANTICS cont", None),
        ("SEQ(A, B, NOT C) SEMANTICS next", None),
    ],
)
def test_negation_that_needs_the_times_of_aggregated_events_is_refused(text: str, reason: str | None) -> None:
    query = f"RETURN COUNT(*) PATTERN {text}"
    found = Cogra().unsupported(parse_query(query))
    assert found is None if reason is None else found is not None and reason in found
    agree(query, "C0 A1 B1 C2 B3 A3 A4 C5 B5 B6 A7 C7 B8 C8 B9 C9 B9")


@pytest.mark.parametrize(
    ("query", "events"),
    [
        ("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS next", "A1 A2 B3"),
        ("RETURN COUNT(*) PATTERN A+ SEMANTICS next WHERE A.x < NEXT(A).x", "A1/5 A2/3 A3/7"),
    ],
)
def test_several_partial_trends_may_wait(query: str, events: str) -> None:
    """Where the one last event of Algorithm 9 undercounts."""
    [row] = agree(query, events)
    assert row["COUNT(*)"] >= 2
