"""The comparison of answers."""

import pytest

from cepbench.queries.workloads import parse_workload
from cepbench.verification.agreement import case_difference, expected_rows, frame_of
from cepbench.verification.random_cases import Case, Rows
from tests.streams import stream

CASE = Case(
    0,
    parse_workload("q1: RETURN COUNT(*) PATTERN A\n\nq2: RETURN SUM(B.x) PATTERN SEQ(A, B) GROUP-BY g"),
    tuple(stream("A1/1@u B2/5@u A3/1@v")),
)


@pytest.fixture
def rows() -> list[Rows]:
    """The right rows of both queries."""
    return expected_rows(CASE)


def test_the_right_answer_does_not_differ(rows: list[Rows]) -> None:
    assert [len(query_rows) for query_rows in rows] == [1, 1]
    assert case_difference(CASE, rows, frame_of([row for query_rows in rows for row in query_rows])) is None
    assert case_difference(CASE, rows, frame_of([row for query_rows in reversed(rows) for row in query_rows])) is None


@pytest.mark.parametrize(("wrong", "message"), [(0, "query q1: row 0, COUNT(*)"), (1, "query q2: row 0, SUM(B.x)")])
def test_every_query_of_a_workload_is_compared(rows: list[Rows], wrong: int, message: str) -> None:
    item = ("COUNT(*)", "SUM(B.x)")[wrong]
    answered = [{**row, item: row[item] + 1} if item in row else row for query_rows in rows for row in query_rows]
    assert str(case_difference(CASE, rows, frame_of(answered))).startswith(message)
    missing = frame_of(rows[1 - wrong])
    assert str(case_difference(CASE, rows, missing)).endswith("1 rows expected, 0 answered")


def test_columns_of_other_queries_are_null(rows: list[Rows]) -> None:
    answered = frame_of([{**rows[0][0], "SUM(B.x)": 0}, *rows[1]])
    assert str(case_difference(CASE, rows, answered)).startswith("query q1: columns")


def test_rows_of_queries_that_nobody_asked(rows: list[Rows]) -> None:
    answered = frame_of([*rows[0], *rows[1], {**rows[0][0], "query": "q3"}])
    assert case_difference(CASE, rows, answered) == "rows of unknown queries: q3"
