from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings

from cepbench.queries.model import And, Event, Length, Not, Or, Plus, Query, Seq, Star, WindowClause
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import source_of, to_text
from tests.queries.strategies import detection_queries, queries


@given(queries())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_the_canonical_text_parses_to_the_same_query(query: Query) -> None:
    text = to_text(query)
    again = parse_query(text)
    assert again == query
    assert to_text(again) == text


@given(detection_queries())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_the_canonical_text_of_detection_parses_to_the_same_query(query: Query) -> None:
    text = to_text(query)
    assert text.endswith(" PER MATCH")
    assert parse_query(text) == query


def test_the_canonical_form() -> None:
    text = """
        q1: return Stock.sector, count( * ), avg(S.price)
        pattern Stock S+, not Halt, (Trade | Quote q){2,}
        where [company] & S.price*1.05 < next(S).price ∧ 100 ≤ q.volume AND q.side == sell
        within 600 sec slide .5 minutes group by sector
    """
    assert to_text(parse_query(text)) == (
        "q1:\n"
        "RETURN sector, COUNT(*), AVG(S.price)\n"
        "PATTERN SEQ(Stock S+, NOT Halt, (Trade OR Quote q){2,})\n"
        "SEMANTICS skip-till-any-match\n"
        "WHERE [company] AND 1.05 * S.price < NEXT(S).price AND q.volume >= 100 AND q.side = 'sell'\n"
        "GROUP-BY sector\n"
        "WITHIN 600 s SLIDE 0.5 min"
    )


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (Fraction(10), "10"),
        (Fraction(5, 2), "2.5"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(7, 12), "7/12"),
        (Fraction(10**18), "1000000000000000000"),
    ],
)
def test_fractions_are_exact(amount: Fraction, written: str) -> None:
    length = Length(amount, "s")
    query = Query("q", parse_query("PATTERN A").returns, Event("A"), window=WindowClause(length, length))
    assert to_text(query).endswith(f"WITHIN {written} s")
    assert parse_query(to_text(query)) == query


def test_names_that_are_no_words_are_quoted() -> None:
    query = parse_query("`a query`: PATTERN SEQ(`where` `my\\`x`, `\\u0000`, `Größe`) WHERE `my\\`x`.`a b` = 'it\\'s'")
    assert query.name == "a query"
    assert query.pattern == Seq((Event("where", "my`x"), Event("\0"), Event("Größe")))
    assert parse_query(to_text(query)) == query


def test_parentheses_only_where_they_are_needed() -> None:
    def pattern(text: str) -> str:
        return to_text(parse_query(f"PATTERN {text}")).split("PATTERN ")[1].split("\n")[0]

    assert pattern("((A)) OR ((B AND (C)))".replace("AND", "OR")) == "A OR B OR C"
    assert pattern("(A OR B) AND ((C))") == "(A OR B) AND C"
    assert pattern("SEQ(NOT ((B OR C)), (A)+)") == "SEQ(NOT (B OR C), A+)"
    assert pattern("((A+)*)?") == "A+*?"
    assert pattern("SEQ(SEQ(A, B), C)") == "SEQ(SEQ(A, B), C)"


def test_places_of_the_canonical_text() -> None:
    query = Query(
        "q",
        parse_query("PATTERN A").returns,
        And((Seq((Event("A"), Not(Event("N")), Star(Event("B", "b")))), Or((Event("C"), Plus(Event("D")))))),
    )
    source = source_of(query)

    def at(*path: int) -> str:
        node = source.clauses["pattern"]
        for index in path:
            node = node.children[index]
        return source.text[node.start : node.stop]

    assert at(0) == "SEQ(A, NOT N, B b*)"
    assert at(0, 1) == "NOT N"
    assert at(0, 2, 0) == "B b"
    assert at(1) == "(C OR D+)"
    assert at(1, 1) == "D+"
