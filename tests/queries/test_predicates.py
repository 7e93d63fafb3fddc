"""The positions and transitions that a predicate restricts."""

import pytest

from cepbench.queries.analysis import analyse
from cepbench.queries.automaton import Automaton
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Comparison, Relation
from cepbench.queries.parser import parse_query


def automaton_of(text: str) -> Automaton:
    [automaton] = analyse(parse_query(f"RETURN COUNT(*) PATTERN {text}")).automata
    return automaton


def written(predicate: Comparison) -> str:
    return f"{predicate.left.name}.{predicate.left.attribute} {predicate.op} {predicate.right.name}." + (
        predicate.right.attribute
    )


def adjacent(automaton: Automaton) -> dict[tuple[int, int], list[str]]:
    """The transitions that have predicates."""
    return {(t.source, t.target): [written(p) for p in t.predicates] for t in automaton.transitions if t.predicates}


def pairs(automaton: Automaton) -> list[tuple[str, list[int], list[int]]]:
    return [(written(p.predicate), sorted(p.left), sorted(p.right)) for p in automaton.pairwise]


def test_a_comparison_restricts_the_transitions_from_its_first_to_its_second_name_only() -> None:
    automaton = automaton_of("(SEQ(A+, B))+ WHERE A.x < NEXT(A).x AND B.x < A.x")
    assert adjacent(automaton) == {(0, 0): ["A.x < A.x"], (1, 0): ["B.x < A.x"]}
    assert pairs(automaton) == []


def test_a_type_means_all_of_its_occurrences() -> None:
    assert adjacent(automaton_of("SEQ(A a, A, B, A+) WHERE A.x < NEXT(A).y")) == {
        (0, 1): ["A.x < A.y"],
        (3, 3): ["A.x < A.y"],
    }
    automaton = automaton_of("SEQ(A a, A, B, A+) WHERE A.x < A.y")
    assert [len(position.predicates) for position in automaton.positions] == [1, 1, 0, 1]
    assert adjacent(automaton_of("SEQ(A, A b, B) WHERE b.x < B.x")) == {(1, 2): ["b.x < B.x"]}


def test_what_never_follows_directly_is_compared_in_pairs() -> None:
    automaton = automaton_of("SEQ(A, B+, C) WHERE A.x < C.x")
    assert adjacent(automaton) == {}
    assert pairs(automaton) == [("A.x < C.x", [0], [2])]


@pytest.mark.parametrize(
    ("op", "turned"), [("<", ">"), ("<=", ">="), (">", "<"), (">=", "<="), ("=", "="), ("!=", "!=")]
)  # fmt: skip
def test_sides_in_the_order_that_cannot_occur_are_exchanged(op: str, turned: str) -> None:
    assert adjacent(automaton_of(f"SEQ(A, B) WHERE B.x {op} A.y")) == {(0, 1): [f"A.y {turned} B.x"]}
    assert pairs(automaton_of(f"SEQ(A, C, B) WHERE B.x {op} A.y")) == [(f"A.y {turned} B.x", [0], [2])]


def test_a_predicate_on_single_events_holds_at_each_position_of_its_name() -> None:
    automaton = automaton_of("SEQ(A, NOT SEQ(B, A), A c) WHERE A.x > 1 AND c.x < 9 AND B.x = 3")
    assert [[p.op for p in position.predicates] for position in automaton.positions] == [[">"], [">", "<"]]
    [negation] = automaton.negations
    assert [[p.op for p in position.predicates] for position in negation.positions] == [["="], [">"]]
    assert all(isinstance(p, Relation) for position in negation.positions for p in position.predicates)


def test_a_comparison_of_negated_events_restricts_the_negation() -> None:
    automaton = automaton_of("SEQ(A, NOT SEQ(C, D), B) WHERE C.x < D.x")
    assert adjacent(automaton) == {}
    assert adjacent(automaton.negations[0]) == {(0, 1): ["C.x < D.x"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SEQ(A, B, C) WHERE A.x < NEXT(C).x", r"NEXT\(C\) never directly follows A"),
        ("SEQ(A, B) WHERE B.x < NEXT(A).x", r"NEXT\(A\) never directly follows B"),
        ("SEQ(A, NOT SEQ(C, E, D), B) WHERE C.x < D.x", "on single and on adjacent events only"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(text: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        automaton_of(text)
