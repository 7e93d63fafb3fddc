"""Position automata of the dissertation's templates, and where negations end up."""

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.algorithms.trends.greta import Greta
from cepbench.queries.automaton import MOST_POSITIONS, Automaton, build
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import run
from tests.contract.streams import batch
from tests.streams import stream


def automaton_of(pattern: str) -> Automaton:
    return build(parse_query(f"PATTERN {pattern}").pattern)


def types(automaton: Automaton) -> str:
    return " ".join(p.type for p in automaton.positions)


def starts(automaton: Automaton) -> dict[int, list[int]]:
    """START positions with their leading negations."""
    return {i: sorted(p.start) for i, p in enumerate(automaton.positions) if p.start is not None}


def ends(automaton: Automaton) -> dict[int, list[int]]:
    """END positions with their trailing negations."""
    return {i: sorted(p.end) for i, p in enumerate(automaton.positions) if p.end is not None}


def transitions(automaton: Automaton) -> dict[tuple[int, int], list[int]]:
    """Transitions with the negations on them."""
    return {(t.source, t.target): sorted(t.negations) for t in automaton.transitions}


def test_figure_2_1() -> None:
    automaton = automaton_of("(SEQ(A+, B))+")
    assert types(automaton) == "A B"
    assert (starts(automaton), ends(automaton)) == ({0: []}, {1: []})
    assert transitions(automaton) == {(0, 0): [], (0, 1): [], (1, 0): []}


def test_figure_2_2_a() -> None:
    automaton = automaton_of("(SEQ(A+, NOT SEQ(C, NOT E, D), B))+")
    assert types(automaton) == "A B"
    assert transitions(automaton) == {(0, 0): [], (0, 1): [0], (1, 0): []}
    [inner] = automaton.negations
    assert types(inner) == "C D"
    assert transitions(inner) == {(0, 1): [0]}
    assert types(inner.negations[0]) == "E"
    assert [p.occurrences for p in inner.positions] == [(1,), (3,)]


@pytest.mark.parametrize(
    ("pattern", "start", "end"), [("SEQ(A+, NOT E)", [], [0]), ("SEQ(NOT E, A+)", [0], [])]
)  # fmt: skip
def test_figure_2_2_b_and_c(pattern: str, start: list[int], end: list[int]) -> None:
    automaton = automaton_of(pattern)
    assert (starts(automaton), ends(automaton)) == ({0: start}, {0: end})
    assert transitions(automaton) == {(0, 0): []}


def test_figure_12_2() -> None:
    automaton = automaton_of("SEQ(A+, B, A, A+, B+)")
    assert types(automaton) == "A B A A B"
    assert (starts(automaton), ends(automaton)) == ({0: []}, {4: []})
    assert list(transitions(automaton)) == [(0, 0), (0, 1), (1, 2), (2, 3), (3, 3), (3, 4), (4, 4)]


def test_at_least_n_has_n_positions_of_one_occurrence() -> None:
    automaton = automaton_of("A{3,}")
    assert [p.occurrences for p in automaton.positions] == [(0,)] * 3
    assert (starts(automaton), ends(automaton)) == ({0: []}, {2: []})
    assert list(transitions(automaton)) == [(0, 1), (1, 2), (2, 2)]


def test_parts_that_may_be_absent_are_skipped() -> None:
    automaton = automaton_of("SEQ(A?, B*, C)")
    assert (starts(automaton), ends(automaton)) == ({0: [], 1: [], 2: []}, {2: []})
    assert list(transitions(automaton)) == [(0, 1), (1, 1), (0, 2), (1, 2)]


def test_negations_go_with_the_part_that_they_stand_beside() -> None:
    automaton = automaton_of("SEQ(A+, B?, NOT C, D)")
    assert transitions(automaton) == {(0, 0): [], (0, 1): [], (0, 2): [0], (1, 2): [0]}
    behind_nothing = automaton_of("SEQ(A?, NOT C, D)")
    assert starts(behind_nothing) == {0: [], 1: [0]}
    before_nothing = automaton_of("SEQ(A, NOT C, D?)")
    assert ends(before_nothing) == {0: [0], 1: []}


def test_an_optional_part_that_is_absent_leaves_the_negation_beside_it() -> None:
    behind = automaton_of("SEQ(A, SEQ(NOT B, C?), D)")
    assert types(behind) == "A C D"
    assert transitions(behind) == {(0, 1): [0], (0, 2): [0], (1, 2): []}
    before = automaton_of("SEQ(A, SEQ(C?, NOT B), D)")
    assert transitions(before) == {(0, 1): [], (0, 2): [0], (1, 2): [0]}
    assert ends(automaton_of("SEQ(A, SEQ(NOT B, C?))")) == {0: [0], 1: []}


def test_such_a_negation_holds_in_the_answer() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, SEQ(NOT B, C?), D)")
    events = stream("A1 B2 C3 D4 A5 C6 B7 D8 D9")
    # By hand: of all A before D, with or without C between them, only A5 C6 D8 and A5 C6 D9 have no B behind the A.
    [expected] = answer(query, events)
    assert expected["COUNT(*)"] == 2
    assert difference([expected], run(Greta(), query, [batch(events)])) is None


def test_positions_keep_the_numbers_of_their_occurrences() -> None:
    automaton = automaton_of("SEQ(A, NOT B, (SEQ(C, D) OR E)+, F{2,})")
    assert types(automaton) == "A C D E F F"
    assert [p.occurrences for p in automaton.positions] == [(0,), (2,), (3,), (4,), (5,), (5,)]


def test_a_loop_joins_trailing_and_leading_negations() -> None:
    automaton = automaton_of("(SEQ(NOT B, A, NOT C))+")
    assert (starts(automaton), ends(automaton)) == ({0: [0]}, {0: [1]})
    assert transitions(automaton) == {(0, 0): [0, 1]}


def test_the_weaker_of_two_ways_holds() -> None:
    assert transitions(automaton_of("(SEQ(A+, NOT C))+")) == {(0, 0): []}
    assert transitions(automaton_of("(SEQ((SEQ(A, NOT B))+, NOT C))+")) == {(0, 0): [0]}


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("SEQ(A, (SEQ(NOT B, C?) OR SEQ(NOT D, E?)), F)", "different NOTs between them"),
        (f"SEQ(A{{{MOST_POSITIONS},}}, B)", "more than 1024 positions"),
    ],
)
def test_what_has_no_automaton(pattern: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        automaton_of(pattern)


def test_what_every_match_binds_is_not_avoidable() -> None:
    automaton = automaton_of("SEQ(A, B?, C OR D)")
    assert not automaton.avoidable({0})
    assert automaton.avoidable({1})
    assert automaton.avoidable({2})
    assert not automaton.avoidable({2, 3})
