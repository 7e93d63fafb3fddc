"""OR as a difference, AND as a product."""

import pytest

from cepbench.queries.analysis import Analysis, analyse
from cepbench.queries.automaton import Automaton
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query


def analysis_of(text: str) -> Analysis:
    return analyse(parse_query(f"RETURN COUNT(*) PATTERN {text}"))


def trends(automaton: Automaton, length: int) -> list[str]:
    """The sequences of types, one per path, of matches of at most `length` events."""
    words = []
    paths = [(i, p.type) for i, p in enumerate(automaton.positions) if p.start is not None]
    while paths:
        words += [word for i, word in paths if automaton.positions[i].end is not None]
        paths = [
            (t.target, word + automaton.positions[t.target].type)
            for i, word in paths
            for t in automaton.transitions
            if t.source == i and len(word) < length
        ]
    return sorted(words)


def test_alternatives_that_share_no_trend_stand_side_by_side() -> None:
    [union] = analysis_of("A+ OR SEQ(A, B)").automata
    assert len(union.positions) == 3
    assert trends(union, 3) == ["A", "AA", "AAA", "AB"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A+ OR SEQ(A, B?)", ["A", "AA", "AAA", "AB"]),
        ("SEQ(A+, B) OR SEQ(A, B+)", ["AAB", "AB", "ABB"]),
        ("SEQ(A, B) OR A OR (SEQ(A, B?))+", ["A", "AA", "AAA", "AAB", "AB", "ABA"]),
        ("(A OR B)+ OR SEQ(A, B)", ["A", "AA", "AAA", "AAB", "AB", "ABA", "ABB", "B", "BA", "BAA", "BAB", "BB", "BBA",
                                    "BBB"]),
        ("A{2,} OR A+", ["A", "AA", "AAA"]),
        ("A OR A", ["A"]),
    ],
)  # fmt: skip
def test_a_trend_of_several_alternatives_is_one(pattern: str, expected: list[str]) -> None:
    [union] = analysis_of(pattern).automata
    assert trends(union, 3) == expected


def test_bindings_of_one_alternative_stay_many() -> None:
    [union] = analysis_of("SEQ(A?, A?) OR A").automata
    assert trends(union, 3) == ["A", "A", "AA"]


def test_a_conjunction_has_sides_and_common_trends() -> None:
    analysis = analysis_of("A+ AND SEQ(A, B?)")
    assert analysis.conjunction
    assert [trends(automaton, 2) for automaton in analysis.automata] == [["A", "AA"], ["A", "AB"], ["A"]]


def test_common_trends_obey_both_sides() -> None:
    common = analysis_of("SEQ(A, NOT C, B) AND SEQ(A a, B b, NOT D) WHERE A.v < 5 AND a.v < b.v").automata[2]
    assert trends(common, 3) == ["AB"]
    [transition] = common.transitions
    assert transition.negations == {0}
    assert [str(predicate.left.name) for predicate in transition.predicates] == ["a"]
    first, last = common.positions
    assert (len(first.predicates), first.start, first.end) == (1, frozenset(), None)
    assert (last.start, last.end) == (None, {1})


def test_predicates_on_pairs_stay_with_their_alternative() -> None:
    [union] = analysis_of("SEQ(A, B, C) OR SEQ(D d, E, F f) WHERE d.v < f.v").automata
    [pairwise] = union.pairwise
    assert [union.positions[i].type for i in (*pairwise.left, *pairwise.right)] == ["D", "F"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A+ OR SEQ(A x, A y) WHERE x.v < y.v", "different predicates"),
        ("A+ OR SEQ(NOT B, A)", "contain NOT"),
        ("A+ OR SEQ(A, B?) SEMANTICS next", "skip-till-next-match"),
        ("SEQ(A+ OR A, B)", "put the OR at the top"),
        ("A+ AND SEQ(A?, A?)", "binds some events in two ways"),
        ("A+ AND SEQ(B x, C y) WHERE A.v < y.v", "both sides of AND"),
        ("SEQ((A OR B)+, A, " + ", ".join(["(A OR B)"] * 20) + ") OR (A OR B)+", "more than 1024 positions"),
        ("A{40,} AND SEQ(" + ", ".join(["A?"] * 40) + ")", "two ways"),
    ],
)
def test_what_cannot_be_distinguished_is_refused(text: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        analysis_of(text)
