"""Queries with `WITHIN ... PER MATCH`: their meaning, and refusals."""

from fractions import Fraction

import pytest

from cepbench.events.errors import InputError
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, compile_workload
from cepbench.queries.detection import (
    ClauseOperand,
    DetectionClause,
    NegatedType,
    OperandType,
    choices,
    clauses_of,
    may_repeat,
    without_or,
)
from cepbench.queries.detection_rules import MOST_OPERANDS
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Comparison, Length, Matches, Op, Operand, Relation, Term
from cepbench.queries.names import Names
from cepbench.queries.parser import parse_query
from tests.queries.test_query_errors import refused

SCHEMA = Schema(("A", "B", "C"), (Attribute("x", Kind.INT), Attribute("y", Kind.FLOAT)), "s", ())


def clauses(text: str) -> tuple[DetectionClause, ...]:
    query = parse_query(text)
    return clauses_of(query, Names.of(query.pattern))


def compiled(text: str, time_unit: str = "s") -> CompiledQuery:
    return compile_workload([parse_query(text)], Schema(SCHEMA.types, SCHEMA.attributes, time_unit, ())).queries[0]


def test_a_span_is_no_window() -> None:
    query = parse_query("pattern a, b within 1.5 min per match")
    assert (query.window, query.span, query.returns) == (None, Length(Fraction(3, 2), "min"), Matches())


def test_per_and_match_remain_names() -> None:
    query = parse_query("PATTERN SEQ(PER MATCH, match per) WHERE per.PER < MATCH.match WITHIN 3 s PER MATCH")
    assert [event.alias for event in Names.of(query.pattern).events] == ["MATCH", "per"]


def test_the_clauses_of_a_pattern() -> None:
    first, second, third = clauses(
        "PATTERN SEQ(A a, NOT B, NOT C n, B b+, NOT A z) OR A AND B b2+ OR C+ "
        "WHERE b.x > a.x AND A.y <= 2 AND n.x = 1 WITHIN 5 s PER MATCH"
    )
    small, equal = Relation(Term("y"), Op.LE, 2), Relation(Term("x"), Op.EQ, 1)
    assert first.ordered
    assert first.operands == (ClauseOperand((OperandType("A", (small,)),)), ClauseOperand((OperandType("B"),), True))
    assert first.negated == (NegatedType("B", 1, ()), NegatedType("C", 1, (equal,)), NegatedType("A", 2, (small,)))
    [condition] = first.conditions
    assert (condition.left, condition.right) == (1, 0)
    assert condition.predicate == Comparison(Operand("b", "x"), Op.GT, Operand("a", "x"))
    assert (first.occurrences, second.occurrences, third.occurrences) == (((0,), (3,)), ((5,), (6,)), ((7,),))
    assert (first.waits, second.waits, third.waits) == (True, False, False)
    assert (second.ordered, third.ordered) == (False, True)
    assert second.operands == (ClauseOperand((OperandType("A", (small,)),)), ClauseOperand((OperandType("B"),), True))
    assert third.operands == (ClauseOperand((OperandType("C"),), True),)


def test_a_type_that_stands_for_several_operands() -> None:
    [clause] = clauses("PATTERN A p AND A q AND B WHERE A.x < B.x WITHIN 5 s PER MATCH")
    assert [(condition.left, condition.right) for condition in clause.conditions] == [(0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("pattern", "repeats"),
    [
        ("SEQ(A, A, B)", False),
        ("SEQ(A+, B, A)", True),
        ("SEQ(A+, NOT A, B)", False),
        ("A AND B", False),
        ("A AND A", True),
        ("SEQ(A, B) OR SEQ(A, C)", False),
        ("SEQ(A, B) OR (B AND A)", True),
        ("SEQ(A, A) OR A+", True),
        ("A OR A", True),
        ("SEQ((A OR B) x, (B OR A) y)", False),
        ("SEQ((A OR A) x, B)", True),
        ("SEQ((A OR B)+ x, C)", False),
        ("SEQ((A OR B)+ x, C, B)", True),
        ("SEQ((A OR B) x, C) OR SEQ(B, C)", True),
        ("SEQ((A OR B) x, C) OR SEQ(D, E)", False),
    ],
)
def test_which_matches_may_be_found_twice(pattern: str, repeats: bool) -> None:
    assert may_repeat(clauses(f"PATTERN {pattern} WITHIN 5 s PER MATCH")) is repeats


def test_the_windows_of_a_span() -> None:
    minutes = compiled("PATTERN A, B WITHIN 2 min PER MATCH")
    assert minutes.detects
    assert (minutes.window, minutes.reach) == (Window(121, 1), 120)
    events = compiled("PATTERN A, B WITHIN 4 events PER MATCH")
    assert (events.window, events.reach) == (Window(4, 1, counts_events=True), 3)
    assert not compiled("PATTERN A, B WITHIN 2 min").detects
    with pytest.raises(InputError, match="not a whole number"):
        compiled("PATTERN A, B WITHIN 90 s PER MATCH", "min")
    with pytest.raises(QueryError, match=r"at most 2\*\*62"):
        compiled("PATTERN A, B WITHIN 1000000000 days PER MATCH", "ns")


def test_conditions_stand_in_both_directions() -> None:
    query = compiled("PATTERN A AND B WHERE A.x < B.x WITHIN 5 s PER MATCH")
    [part] = query.clauses
    assert part.tables.pairs.ptr.tolist() == [0, 0, 1, 2, 2]
    with pytest.raises(QueryError, match="no attribute 'z'"):
        compiled("PATTERN A AND B WHERE A.z < B.x WITHIN 5 s PER MATCH")


@pytest.mark.parametrize(
    ("text", "underlined", "message"),
    [
        ("PATTERN A SEMANTICS next WITHIN 5 s PER MATCH", "SEMANTICS next", "under skip-till-any-match only"),
        ("PATTERN A SEMANTICS cont WITHIN 5 s PER MATCH", "SEMANTICS cont", "under skip-till-any-match only"),
        ("RETURN COUNT(A) PATTERN A WITHIN 5 s PER MATCH", "RETURN COUNT(A)", "write RETURN MATCHES or COUNT(*)"),
        (
            "RETURN COUNT(*), SUM(A.x) PATTERN A WITHIN 5 s PER MATCH",
            "RETURN COUNT(*), SUM(A.x)",
            "write RETURN MATCHES",
        ),
        ("PATTERN SEQ(A, (B OR SEQ(C, D)) x) WITHIN 5 s PER MATCH", "(B OR SEQ(C, D)) x", "OR is at the top"),
        ("PATTERN SEQ(A, (B OR C+) x) WITHIN 5 s PER MATCH", "(B OR C+) x", "OR is at the top"),
        ("PATTERN SEQ(A, NOT (B OR C)) WITHIN 5 s PER MATCH", "(B OR C)", "NOT takes a single event type"),
        ("PATTERN A AND (B OR C) x WITHIN 5 s PER MATCH", "(B OR C) x", "an operand is a single event type"),
        ("PATTERN SEQ(A, (B OR C) x) WITHIN 5 s", "(B OR C) x", "OR has an alias under PER MATCH only"),
        ("PATTERN SEQ(A x, (B OR C) x) WITHIN 5 s PER MATCH", "(B OR C) x", "the alias 'x' is given twice"),
        ("PATTERN SEQ(A, (B, C) x) WITHIN 5 s PER MATCH", "x", "an alias follows an event type or an OR"),
        ("PATTERN SEQ(A, (B b) x) WITHIN 5 s PER MATCH", "x", "an alias follows an event type or an OR"),
        (
            "PATTERN SEQ(A, (B OR C) x) WHERE A.x < B.x WITHIN 5 s PER MATCH",
            "A.x < B.x",
            "'B' is a part of an OR; give the OR an alias",
        ),
        (
            "PATTERN D OR SEQ(A, (B OR A)+ x) WHERE A.x < x.x WITHIN 5 s PER MATCH",
            "A.x < x.x",
            "A and x may mean the same event; give each occurrence an alias",
        ),
        ("RETURN COMPLETE MATCHES PATTERN A WITHIN 5 s PER MATCH", "RETURN COMPLETE MATCHES", "write RETURN MATCHES"),
        ("PATTERN A WITHIN 5 s SLIDE 2 s PER MATCH", "PER", "WITHIN has SLIDE or PER MATCH, not both"),
        ("PATTERN A WITHIN 5 s PER MATCH SLIDE 2 s", "SLIDE", "WITHIN has SLIDE or PER MATCH, not both"),
        ("PATTERN A WITHIN 5 s PER", "", "expected MATCH"),
        ("PATTERN A WITHIN 5 s PER day", "day", "expected MATCH"),
        ("PATTERN A WITHIN PER MATCH", "PER", "expected a number"),
        ("PATTERN A WITHIN 0 s PER MATCH", "0", "a length must be positive"),
        ("PATTERN A WITHIN 2.5 events PER MATCH", "2.5 events", "a span counts whole events"),
        ("PATTERN SEQ(A, (B, C)) WITHIN 5 s PER MATCH", "(B, C)", "an operand is a single event type"),
        ("PATTERN A AND SEQ(B, C) WITHIN 5 s PER MATCH", "SEQ(B, C)", "an operand is a single event type"),
        ("PATTERN A AND (B OR C) WITHIN 5 s PER MATCH", "(B OR C)", "an operand is a single event type"),
        ("PATTERN SEQ(A, B)+ WITHIN 5 s PER MATCH", "SEQ(A, B)+", "an operand is a single event type"),
        ("PATTERN SEQ(A, B*) WITHIN 5 s PER MATCH", "B*", "an operand is a single event type"),
        ("PATTERN SEQ(A, B?) WITHIN 5 s PER MATCH", "B?", "an operand is a single event type"),
        ("PATTERN SEQ(A, B{2,}) WITHIN 5 s PER MATCH", "B{2,}", "an operand is a single event type"),
        ("PATTERN SEQ(A, B++) WITHIN 5 s PER MATCH", "B++", "an operand is a single event type"),
        ("PATTERN C OR SEQ(A, B*) WITHIN 5 s PER MATCH", "B*", "an operand is a single event type"),
        ("PATTERN SEQ(A AND C, B) WITHIN 5 s PER MATCH", "A AND C", "AND is allowed at the top"),
        ("PATTERN A OR SEQ(A AND C, B) WITHIN 5 s PER MATCH", "A AND C", "AND is allowed at the top"),
        ("PATTERN A OR (B AND C) WITHIN 5 s", "(B AND C)", "AND is allowed at the top"),
        ("PATTERN SEQ(A, NOT B+) WITHIN 5 s PER MATCH", "B+", "NOT takes a single event type"),
        ("PATTERN SEQ(A, NOT (B, C)) WITHIN 5 s PER MATCH", "(B, C)", "NOT takes a single event type"),
        ("PATTERN A AND NOT B WITHIN 5 s PER MATCH", "NOT B", "NOT is allowed inside SEQ only"),
        ("PATTERN SEQ(NOT A, NOT B) WITHIN 5 s PER MATCH", "SEQ(NOT A, NOT B)", "a SEQ needs a part without NOT"),
        ("PATTERN A, B WHERE A.x < NEXT(B).x WITHIN 5 s PER MATCH", "NEXT(B).x", "leave NEXT out"),
        ("PATTERN A, B WHERE NEXT(A).x < B.x WITHIN 5 s PER MATCH", "NEXT(A).x", "leave NEXT out"),
        ("PATTERN A+ WHERE A.x < A.x WITHIN 5 s PER MATCH", "A.x < A.x", "A.x is compared with itself"),
        ("PATTERN A p AND A WHERE p.x < A.x WITHIN 5 s PER MATCH", "p.x < A.x", "p and A may mean the same event"),
        ("PATTERN A OR B WHERE A.x < B.x WITHIN 5 s PER MATCH", "A.x < B.x", "different alternatives"),
        ("PATTERN A, NOT B, C WHERE A.x < B.x WITHIN 5 s PER MATCH", "A.x < B.x", "negated and positive"),
        ("PATTERN A, NOT B b, NOT B c WHERE b.x < c.x WITHIN 5 s PER MATCH", "b.x < c.x", "different NOTs"),
        ("PATTERN A, B WHERE A.x < D.x WITHIN 5 s PER MATCH", "D.x", "unknown name 'D'"),
    ],
)
def test_what_is_refused(text: str, underlined: str, message: str) -> None:
    reported, place = refused(text)
    assert message in reported
    assert place == underlined


def test_an_operand_that_is_an_or() -> None:
    [clause] = clauses(
        "PATTERN SEQ(A a, (B b OR C) x, (A OR A two)+ y) "
        "WHERE a.x < x.x AND x.y > 1 AND b.x = 2 AND two.x = 3 WITHIN 5 s PER MATCH"
    )
    above, two, three = (
        Relation(Term("y"), Op.GT, 1),
        Relation(Term("x"), Op.EQ, 2),
        Relation(Term("x"), Op.EQ, 3),
    )
    assert clause.operands == (
        ClauseOperand((OperandType("A"),)),
        ClauseOperand((OperandType("B", (above, two)), OperandType("C", (above,)))),
        ClauseOperand((OperandType("A"), OperandType("A", (three,))), True),
    )
    assert clause.occurrences == ((0,), (1, 2), (3, 4))
    [condition] = clause.conditions
    assert (condition.left, condition.right) == (0, 1)
    assert clause.has_or
    assert choices(clause) is None
    query = compiled("PATTERN SEQ(A a, (B OR C) x) WHERE a.x < x.x WITHIN 5 s PER MATCH")
    [part] = query.clauses
    assert part.tables.operand.tolist() == [0, 1, 1]
    assert part.tables.binding.tolist() == [0, 1, 2]


def test_an_or_of_several_operands_as_clauses_without_it() -> None:
    [clause] = clauses("PATTERN SEQ((A OR B) x, C, (A OR C) y) WHERE x.x < y.x WITHIN 5 s PER MATCH")
    assert choices(clause) == 4
    alternatives = list(without_or(clause))
    assert [[operand.single.type for operand in alternative.operands] for alternative in alternatives] == [
        ["A", "C", "A"], ["A", "C", "C"], ["B", "C", "A"], ["B", "C", "C"],
    ]  # fmt: skip
    assert all(alternative.conditions == clause.conditions and not alternative.has_or for alternative in alternatives)


def test_the_automaton_of_seq_and_or() -> None:
    query = compiled(
        "PATTERN SEQ(A a, (B OR C)+ x) OR SEQ(C, NOT A, B) WHERE x.x > 2 AND a.x < x.x WITHIN 5 s PER MATCH"
    )
    [automaton] = query.analysis.automata
    assert [position.type for position in automaton.positions] == ["A", "B", "C", "C", "B"]
    assert automaton.all_transitions == {(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2), (3, 4)}
    assert [len(position.predicates) for position in automaton.positions] == [0, 1, 1, 0, 0]
    [pair] = automaton.pairwise  # also where a transition leads from one operand to the other
    assert (pair.left, pair.right, pair.predicate.op) == ({0}, {1, 2}, Op.LT)
    assert not any(transition.predicates for transition in automaton.transitions)
    assert len(automaton.negations) == 1
    [beside] = compiled("PATTERN (A AND B) OR SEQ(A, C) WHERE A.x > C.x WITHIN 5 s PER MATCH").analysis.automata
    assert [position.occurrences for position in beside.positions] == [(2,), (3,)]
    assert [(pair.left, pair.right) for pair in beside.pairwise] == [({0}, {1})]
    assert not compiled("PATTERN (A AND B) OR (A AND C) WITHIN 5 s PER MATCH").analysis.automata


def test_a_count_is_reported_for_the_whole_stream() -> None:
    counted = compiled("RETURN COUNT(*) PATTERN A AND B AND C WITHIN 5 s PER MATCH")
    assert (counted.row_window, counted.window) == (None, Window(6, 1))
    assert compiled("PATTERN A AND B WITHIN 5 s PER MATCH").row_window == Window(6, 1)


def test_too_many_operands() -> None:
    names = ", ".join(f"T{n}" for n in range(MOST_OPERANDS))
    assert len(clauses(f"PATTERN NOT A, {names}, NOT B WITHIN 5 s PER MATCH")[0].operands) == MOST_OPERANDS
    reported, place = refused(f"PATTERN SEQ({names}, A) WITHIN 5 s PER MATCH")
    assert "join at most 64 events" in reported
    assert place.startswith("SEQ(T0, T1")
