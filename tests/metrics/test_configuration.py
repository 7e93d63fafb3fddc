"""Differences of two configurations, as a user reads them."""

from typing import Any

import pytest

from cepbench.metrics.configuration import differences

QUERY = """q1: RETURN sector, COUNT(*)
    PATTERN SEQ(Stock S+, Trade T)  -- of a company
    WHERE [company]
    GROUP-BY sector
    WITHIN 40 s SLIDE 20 s"""


def workload(text: str) -> dict[str, Any]:
    return {"workload": text}


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("WITHIN 40 s", "WITHIN 20 s", "query: WITHIN 40 s -> WITHIN 20 s"),
        (" SLIDE 20 s", "", "query: SLIDE 20 s -> none"),
        ("WHERE [company]", "WHERE [company] SEMANTICS next", "query: none -> SEMANTICS next"),
        ("Stock S+", "Stock S", "query: PATTERN SEQ(Stock S+, Trade T) -> PATTERN SEQ(Stock S, Trade T)"),
        ("q1:", "q2:", "query: q1: -> q2:"),
    ],
)
def test_of_a_query_the_clause_that_differs_is_named(old: str, new: str, reported: str) -> None:
    assert differences(workload(QUERY), workload(QUERY.replace(old, new))) == (reported,)


def test_blanks_comments_and_the_case_of_keywords_are_no_difference() -> None:
    rewritten = QUERY.replace("  -- of a company", "").replace("\n", " ").replace("WITHIN", "within")
    assert differences(workload(QUERY), workload(rewritten)) == ()


def test_of_a_long_clause_the_words_that_differ_are_shown() -> None:
    long = "PATTERN A+ WHERE A.price < 5 AND A.volume > {} AND A.company = 7 AND A.sector < NEXT(A).sector AND A.x = 1"
    assert differences(workload(long.format(10)), workload(long.format(20))) == (
        "query: WHERE … A.volume > 10 … -> WHERE … A.volume > 20 …",
    )


def test_of_many_queries_the_one_that_differs_is_named() -> None:
    many = "q1: PATTERN A+ WITHIN 5 s\n\nfast:\nPATTERN B+ WITHIN 5 s;\nPATTERN C+"
    assert differences(workload(many), workload(many.replace("B+", "B"))) == ("query fast: PATTERN B+ -> PATTERN B",)
    assert differences(workload(many), workload(many.replace("C+", "C"))) == ("query 3: PATTERN C+ -> PATTERN C",)
    assert differences(workload(many), workload("PATTERN A+")) == ("workload: 3 -> 1 queries",)


def test_other_fields_are_named_by_their_path() -> None:
    a = {"stream": {"generator": "stock", "parameters": {"rate": 5, "seed": 1}}, "limits": {"seconds": 20}, "slots": 2}
    b = {"stream": {"generator": "stock", "parameters": {"rate": 5, "seed": 2}}, "limits": {"seconds": 10}}
    assert differences(a, b) == ("stream.parameters.seed: 1 -> 2", "limits.seconds: 20 -> 10", "slots: 2 -> none")
    assert differences(a, a) == ()


def test_how_often_a_cell_runs_is_no_difference() -> None:
    assert differences({"repeat": {"seconds": 1}}, {"repeat": {"seconds": 2}}) == ()
