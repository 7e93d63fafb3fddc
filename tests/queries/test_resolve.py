from dataclasses import replace

import pytest

from cepbench.queries.errors import QueryError
from cepbench.queries.model import Aggregates, And, CountOf, Event, Plus, Query, Repeat, Seq, WindowClause
from cepbench.queries.parser import parse_query
from cepbench.queries.resolve import check, nullable


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A", False), ("A?", True), ("A*", True), ("(A?)+", True), ("A?, B*", True), ("A?, B", False), ("A OR B*", True)],
)
def test_nullable(text: str, expected: bool) -> None:
    assert nullable(parse_query(f"PATTERN {text}").pattern) is expected


def test_queries_built_by_hand_are_underlined_in_their_canonical_text() -> None:
    query = parse_query("q: RETURN COUNT(*) PATTERN A WITHIN 5 s")
    assert query.window is not None
    broken = [
        replace(query, pattern=Seq((Event("A"),))),
        replace(query, pattern=Plus(And((Event("A"), Event("B"))))),
        replace(query, pattern=Repeat(Event("A"), 0, 1)),
        replace(query, pattern=Repeat(Event("A"), 3, 2)),
        replace(query, returns=Aggregates((), (CountOf("B"),))),
        replace(
            query,
            window=WindowClause(query.window.within, replace(query.window.slide, amount=-query.window.slide.amount)),
        ),
    ]
    for malformed in broken:
        with pytest.raises(QueryError) as caught:
            check(malformed)
        assert caught.value.place
    check(query)


def test_depth_is_limited() -> None:
    def nested(levels: int) -> Query:
        query = parse_query("PATTERN A")
        for _ in range(levels):
            query = replace(query, pattern=Plus(query.pattern))
        return query

    check(nested(99))
    for levels in (100, 100_000):
        with pytest.raises(QueryError, match="nested too deeply; at most 100 levels"):
            check(nested(levels))
