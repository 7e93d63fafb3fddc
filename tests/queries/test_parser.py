import time
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from cepbench.queries.model import (
    AggregateOf,
    Aggregates,
    AllOf,
    And,
    AnyOf,
    Comparison,
    CompleteMatches,
    CountAll,
    CountOf,
    Equivalence,
    Event,
    Function,
    In,
    Inverse,
    Length,
    Local,
    Matches,
    Maybe,
    Not,
    Op,
    Operand,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Relation,
    Repeat,
    Semantics,
    Seq,
    Star,
    Term,
    WindowClause,
)
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.queries.workloads import load_workload

SHARED = Path(__file__).parents[3] / "shared"
A, B, C = Event("A"), Event("B"), Event("C")


def test_every_clause() -> None:
    query = parse_query("""
        q1: RETURN sector, COUNT(*), AVG(S.price)   -- the query of docs/query-language.md
            PATTERN SEQ(Stock S+, NOT Halt H, Trade T)
            SEMANTICS skip-till-any-match
            WHERE [company] AND S.price * 1.05 < NEXT(S).price AND T.volume > 100
            GROUP-BY sector
            WITHIN 10 minutes SLIDE 30 seconds
    """)
    assert query == Query(
        name="q1",
        returns=Aggregates(("sector",), (CountAll(), AggregateOf(Function.AVG, "S", "price"))),
        pattern=Seq((Plus(Event("Stock", "S")), Not(Event("Halt", "H")), Event("Trade", "T"))),
        semantics=Semantics.ANY,
        predicates=(
            Equivalence(("company",)),
            Comparison(Operand("S", "price", 1.05), Op.LT, Operand("S", "price"), next=True),
            Local("T", Relation(Term("volume"), Op.GT, 100)),
        ),
        group_by=("sector",),
        window=WindowClause(Length(Fraction(10), "min"), Length(Fraction(30), "s")),
    )


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("A", A),
        ("SEQ(A)", A),
        ("((A))", A),
        ("A, B, C", Seq((A, B, C))),
        ("SEQ(A, B), C", Seq((Seq((A, B)), C))),
        ("(A, B)+", Plus(Seq((A, B)))),
        ("SEQ(A+, B)*", Star(Seq((Plus(A), B)))),
        ("A?", Maybe(A)),
        ("A{3,}", Repeat(A, 3, None)),
        ("A{ 0 , }", Star(A)),
        ("A{3}", Repeat(A, 3, 3)),
        ("A{1,3}", Repeat(A, 1, 3)),
        ("A{0,3}", Maybe(Repeat(A, 1, 3))),
        ("(A, B){2} ", Repeat(Seq((A, B)), 2, 2)),
        ("A+*", Star(Plus(A))),
        ("Check C+", Plus(Event("Check", "C"))),
        ("Check+ C", Plus(Event("Check", "C"))),
        ("Check{2,} C", Repeat(Event("Check", "C"), 2, None)),
        ("A OR B OR C", Or((A, B, C))),
        ("(A | B) ∨ C", Or((A, B, C))),
        ("OR(A, OR(B, C))", Or((A, B, C))),
        ("((A OR B) OR C)", Or((A, B, C))),
        ("A AND (B OR C)", And((A, Or((B, C))))),
        ("A & B ∧ C", And((A, B, C))),
        ("AND(A, B, C)", And((A, B, C))),
        ("A, B OR C", Seq((A, Or((B, C))))),
        ("SEQ(A, NOT (B, C), A)", Seq((A, Not(Seq((B, C))), A))),
        ("SEQ(A, not B+, C)", Seq((A, Not(Plus(B)), C))),
        ("seq (A, B)", Seq((A, B))),
        ("s min", Event("s", "min")),
        ("count, max, next, matches", Seq((Event("count"), Event("max"), Event("next"), Event("matches")))),
        ("Straße_1", Event("Straße_1")),
    ],
)
def test_patterns(text: str, pattern: Pattern) -> None:
    assert parse_query(f"PATTERN {text}").pattern == pattern


def test_an_or_with_an_alias() -> None:
    span = "WITHIN 5 s PER MATCH"
    either = Or((A, B), "x")
    for text, expected in {
        "A, (A OR B) x": Seq((A, either)),
        "A, OR(A, B)": Seq((A, Or((A, B)))),
        "(A OR B)+ x, C": Seq((Plus(either), C)),
        "(A OR B) x+, C": Seq((Plus(either), C)),
        "(A OR B) x OR C": Or((either, C)),
        "(A OR B) x": either,
    }.items():
        query = parse_query(f"PATTERN {text} {span}")
        assert query.pattern == expected
        assert parse_query(to_text(query)) == query


X = Operand("A", "x")
Y = Operand("B", "y")
ONE, TWO = Relation(Term("x"), Op.EQ, 1), Relation(Term("y"), Op.EQ, 2)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("[a]", Equivalence(("a",))),
        ("[a, b]", Equivalence(("a", "b"))),
        ("A.x < 5", Local("A", Relation(Term("x"), Op.LT, 5))),
        ("A.x<-5", Local("A", Relation(Term("x"), Op.LT, -5))),
        ("5 < A.x", Local("A", Relation(Term("x"), Op.GT, 5))),
        ("A.x = -1.5e-3", Local("A", Relation(Term("x"), Op.EQ, -0.0015))),
        ("A.x >= .5", Local("A", Relation(Term("x"), Op.GE, 0.5))),
        ("A.x <= 9223372036854775807", Local("A", Relation(Term("x"), Op.LE, 2**63 - 1))),
        ("A.x >= -9223372036854775808", Local("A", Relation(Term("x"), Op.GE, -(2**63)))),
        ("A.x <> 'a; -- b'", Local("A", Relation(Term("x"), Op.NE, "a; -- b"))),
        ('"it\'s" == A.x', Local("A", Relation(Term("x"), Op.EQ, "it's"))),
        ("A.x = passive", Local("A", Relation(Term("x"), Op.EQ, "passive"))),
        ("(A.x ≠ 1)", Local("A", Relation(Term("x"), Op.NE, 1))),
        ("2 * A.x ≤ 5", Local("A", Relation(Term("x", 2), Op.LE, 5))),
        ("A.x < A.y", Local("A", Relation(Term("x"), Op.LT, Term("y")))),
        ("A.x - A.y < 3", Local("A", Relation(Term("y", 1, 3), Op.GT, Term("x")))),
        ("A.x + 1 < 5", Local("A", Relation(Term("x", 1, 1), Op.LT, 5))),
        ("A.x IN (1, 'b', c)", Local("A", In("x", (1, "b", "c")))),
        ("A.x NOT IN (1)", Local("A", Inverse(In("x", (1,))))),
        ("(A.x = 1 OR NOT A.y = 2)", Local("A", AnyOf((ONE, Inverse(TWO))))),
        ("NOT (A.x = 1 AND A.y = 2)", Local("A", Inverse(AllOf((ONE, TWO))))),
        ("A.time > 2 min", Local("A", Relation(Term("time"), Op.GT, Length(Fraction(2), "min")))),
        ("A.x < B.y", Comparison(X, Op.LT, Y)),
        ("A.x + 2 < 3 * B.y - 1.5", Comparison(Operand("A", "x", 1, 2), Op.LT, Operand("B", "y", 3, -1.5))),
        ("B.y - A.x <= 5", Comparison(Operand("A", "x", 1, 5), Op.GE, Y)),
        ("A.x < NEXT(B).y", Comparison(X, Op.LT, Y, next=True)),
        ("NEXT(B).y > A.x", Comparison(X, Op.LT, Y, next=True)),
        ("2 * A.x < B.y * 1.5", Comparison(Operand("A", "x", 2), Op.LT, Operand("B", "y", 1.5))),
        ("A.x * -2 != 3 * next(B).y", Comparison(Operand("A", "x", -2), Op.NE, Operand("B", "y", 3), next=True)),
        ("A.min = B.count", Comparison(Operand("A", "min"), Op.EQ, Operand("B", "count"))),
    ],
)
def test_predicates(text: str, predicate: Predicate) -> None:
    assert parse_query(f"PATTERN A, B WHERE {text}").predicates == (predicate,)


def test_integers_and_floats_stay_apart() -> None:
    first, second = parse_query("PATTERN A WHERE A.x = 5 AND A.x = 5.0").predicates
    assert isinstance(first, Local)
    assert isinstance(second, Local)
    assert first != second
    assert (first.condition, second.condition) == (Relation(Term("x"), Op.EQ, 5), Relation(Term("x"), Op.EQ, 5.0))


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("10 min", (10, "min", 10, "min")),
        ("10 minutes SLIDE 30 SECONDS", (10, "min", 30, "s")),
        ("5s slide 100ms", (5, "s", 100, "ms")),
        ("1.5 h", (Fraction(3, 2), "h", Fraction(3, 2), "h")),
        ("1/3 hours slide 1/6 hour", (Fraction(1, 3), "h", Fraction(1, 6), "h")),
        ("2 days slide 1 day", (2, "day", 1, "day")),
        ("100 EVENTS slide 1 event", (100, "events", 1, "events")),
        ("1e3 sec", (1000, "s", 1000, "s")),
        ("1 minute slide 2 minute", (1, "min", 2, "min")),
    ],
)
def test_windows(text: str, window: tuple[Fraction, str, Fraction, str]) -> None:
    clause = parse_query(f"PATTERN A WITHIN {text}").window
    assert clause is not None
    assert (clause.within.amount, clause.within.unit, clause.slide.amount, clause.slide.unit) == window


@pytest.mark.parametrize(
    ("word", "semantics"),
    [
        ("skip-till-any-match", Semantics.ANY),
        ("SKIP_TILL_NEXT_MATCH", Semantics.NEXT),
        ("Contiguous", Semantics.CONTIGUOUS),
        ("any", Semantics.ANY),
        ("next", Semantics.NEXT),
        ("cont -- a comment", Semantics.CONTIGUOUS),
    ],
)
def test_semantics(word: str, semantics: Semantics) -> None:
    assert parse_query(f"PATTERN A SEMANTICS {word}").semantics is semantics


@pytest.mark.parametrize("keyword", ["GROUP-BY", "GROUP_BY", "GROUPBY", "group by", "Group - By"])
def test_grouping(keyword: str) -> None:
    query = parse_query(f"RETURN B.b, COUNT(*), a, COUNT(A) PATTERN A, B {keyword} a, A.b")
    assert query.group_by == ("a", "b")
    assert query.returns == Aggregates(("b", "a"), (CountAll(), CountOf("A")))


def test_match_queries() -> None:
    assert parse_query("PATTERN A").returns == Matches()
    assert parse_query("return matches PATTERN A").returns == Matches()
    assert parse_query("RETURN COMPLETE MATCHES PATTERN A").returns == CompleteMatches()
    assert parse_query("RETURN complete, COUNT(*) PATTERN A GROUP-BY complete").group_by == ("complete",)


def test_the_clauses_after_the_pattern_come_in_any_order() -> None:
    clauses = ["SEMANTICS next", "WHERE A.x = 1", "GROUP-BY g", "WITHIN 5 s"]
    query = parse_query("RETURN COUNT(*) PATTERN A " + " ".join(clauses))
    assert parse_query("RETURN COUNT(*) PATTERN A " + " ".join(reversed(clauses))) == query


def test_names() -> None:
    assert parse_query("PATTERN A").name == "q"
    assert parse_query("PATTERN A", "other").name == "other"
    assert parse_query("q7\nPATTERN A", "other").name == "q7"
    assert parse_query("q7 : PATTERN A").name == "q7"
    assert parse_query("-- a comment\nq7 -- another\n\nPATTERN A;\n").name == "q7"


def test_layout_is_free() -> None:
    text = "RETURN COUNT(*)\nPATTERN SEQ(A, B)\n-- a comment; with a semicolon\n\nWHERE A.x = '--' WITHIN 5 s"
    query = parse_query(text)
    assert query.predicates == (Local("A", Relation(Term("x"), Op.EQ, "--")),)
    assert parse_query("\ufeff" + text.replace("\n", "\r\n")) == query
    assert parse_query(text.replace("\n", "\r")) == query


@pytest.mark.skipif(not SHARED.exists(), reason="needs the published material beside the repository")
def test_golden_queries() -> None:
    cases = yaml.safe_load((SHARED / "golden" / "queries.yaml").read_text())["cases"]
    for case in cases:
        query = parse_query(case["query"])
        assert parse_query(to_text(query)) == query


@pytest.mark.skipif(not SHARED.exists(), reason="needs the published material beside the repository")
@pytest.mark.full
def test_published_workloads() -> None:
    paths = sorted((SHARED / "reference" / "gloria" / "workloads").rglob("*.txt"))
    assert paths
    for path in paths:
        queries = load_workload(path)
        assert len(queries) == path.read_text().count("PATTERN")
        assert [query.name for query in queries] == [f"q{number}" for number in range(len(queries))]
        assert parse_query(to_text(queries[-1])) == queries[-1]


def test_speed() -> None:
    text = """
        RETURN TOQ.Line_ID, COUNT(*)
        PATTERN SEQ(SEQ(TOQ,SEQ(WBA,MKV,YXT,TMR,XBL,BPG,YSA,GJE)+,PAV)+, QVO,XOS)
        WHERE TOQ.congestion = 0 GROUP-BY TOQ.Line_ID WITHIN 10 min SLIDE 5 min
    """
    parse_query(text)
    begin = time.process_time()
    for _ in range(200):
        parse_query(text)
    assert time.process_time() - begin < 1  # measured: 0.15 s
