"""Queries as sets of event sequences."""

import pytest

from cepbench.algorithms.base import UnsupportedQuery
from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.engine.flattening import (
    MAX_SEQUENCES,
    TooManySequences,
    is_kleene,
    sequences_of,
    unsupported_as_sequences,
)
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = batch(stream("A1/1 B2/2 C3/3 D4/4"))


def compiled(text: str) -> CompiledQuery:
    [query] = compile_workload([parse_query(f"RETURN COUNT(*) PATTERN {text}")], EVENTS.schema)
    return query


def sequences(text: str, max_length: int | None = None) -> tuple[Sequence, ...]:
    return sequences_of(compiled(text), max_length)


def types(text: str, max_length: int | None = None) -> list[str]:
    return ["".join(symbol.type for symbol in sequence.symbols) for sequence in sequences(text, max_length)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A", ["A"]),
        ("SEQ(A, B, C)", ["ABC"]),
        ("SEQ(A, B?, C)", ["AC", "ABC"]),
        ("SEQ(A, B?, C?)", ["A", "AB", "AC", "ABC"]),
        ("SEQ(A, B) OR C", ["C", "AB"]),
        ("SEQ(A, B OR C)", ["AB", "AC"]),
        ("SEQ(A, B, A)", ["ABA"]),
        ("SEQ(A, B?, B)", ["AB", "ABB"]),
    ],
)
def test_accepting_paths(pattern: str, expected: list[str]) -> None:
    assert types(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "bound", "expected"),
    [
        ("A+", 3, ["A", "AA", "AAA"]),
        ("SEQ(A+, B)", 4, ["AB", "AAB", "AAAB"]),
        ("(SEQ(A, B))+", 5, ["AB", "ABAB"]),
        ("A{2,}", 3, ["AA", "AAA"]),
        ("A+", 0, []),
        ("SEQ(A, B, C)", 2, ["ABC"]),  # no Kleene pattern: nothing to bound
    ],
)
def test_kleene_patterns_are_flattened_up_to_a_length(pattern: str, bound: int, expected: list[str]) -> None:
    assert types(pattern, bound) == expected


def test_kleene_patterns_need_a_bound() -> None:
    with pytest.raises(UnsupportedQuery, match="give max_length"):
        sequences("SEQ(A+, B)")


def test_distinct_bindings_are_distinct_sequences() -> None:
    flattened = sequences("SEQ(A, A?, A?)")
    assert [sequence.positions for sequence in flattened] == [(0,), (0, 1), (0, 2), (0, 1, 2)]


def test_symbols_are_equal_across_queries_when_they_match_the_same_events() -> None:
    def symbol(text: str) -> Symbol:
        return sequences(text)[0].symbols[0]

    assert symbol("SEQ(A X, B) WHERE X.x > 1") == symbol("SEQ(A, C) WHERE A.x > 1")
    assert symbol("SEQ(A, B) WHERE A.x > 1 AND A.x < 5") == symbol("SEQ(A, B) WHERE A.x < 5 AND A.x > 1")
    assert symbol("SEQ(A, B) WHERE A.x > 1") != symbol("SEQ(A, B) WHERE A.x > 2")
    assert symbol("SEQ(A, B) WHERE A.x > 1") != symbol("SEQ(A, B)")
    big = 2**53 + 2
    assert symbol(f"A WHERE A.x > {big}") != symbol(f"A WHERE A.x > {big}.0")  # compared as integers, and as floats


def test_negations_stand_between_places() -> None:
    [sequence] = sequences("SEQ(A, NOT C, B, D) WHERE C.x > 3")
    [negated] = sequence.negated[0]
    assert (negated.type, len(negated.predicates), sequence.negated[1]) == ("C", 1, frozenset())
    shorter, longer = sequences("SEQ(A, NOT C, B?, NOT D, A)")
    assert [{symbol.type for symbol in gap} for gap in shorter.negated] == [{"C", "D"}]
    assert [{symbol.type for symbol in gap} for gap in longer.negated] == [{"C"}, {"D"}]


def test_too_many_sequences_are_refused() -> None:
    optional = ", ".join(["A"] + ["B?"] * 14)
    with pytest.raises(TooManySequences, match=f"query q: the pattern has more than {MAX_SEQUENCES} event sequences"):
        sequences(f"SEQ({optional})")
    with pytest.raises(TooManySequences, match="of up to 20 events"):
        sequences("(A OR B)+", 20)


@pytest.mark.parametrize(("most", "allowed"), [(3, False), (4, True)])
def test_as_many_sequences_as_are_kept_are_allowed(most: int, allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepbench.algorithms.engine.flattening.MAX_SEQUENCES", most)
    if allowed:
        assert types("SEQ(A, B?, C?)") == ["A", "AB", "AC", "ABC"]
    else:
        with pytest.raises(TooManySequences, match="more than 3 event sequences"):
            sequences("SEQ(A, B?, C?)")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN MATCHES PATTERN SEQ(A, B)", "matches cannot be returned"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS next", "not skip-till-next-match"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS cont", "not contiguous"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x", "compare two events"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE A.x < C.x", "compare two events"),
        ("RETURN COUNT(*) PATTERN SEQ(NOT C, A, B)", "before the first or after the last"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B, NOT C)", "before the first or after the last"),
        ("RETURN COUNT(*) PATTERN SEQ(A, NOT SEQ(C, D), B)", "not patterns of several events"),
        ("RETURN COUNT(*) PATTERN SEQ(A+, B)", "give max_length"),
        ("RETURN COUNT(*) PATTERN SEQ(A, NOT C+, B)", None),  # any C is a match of it
        ("RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A, NOT C, B) WHERE [h] AND A.x > 1 GROUP-BY g WITHIN 3 s", None),
    ],
)
def test_what_is_supported(text: str, reason: str | None) -> None:
    refusal = unsupported_as_sequences(parse_query(text), kleene=False)
    assert (refusal is None) if reason is None else reason in str(refusal)


@pytest.mark.parametrize(("pattern", "kleene"), [("SEQ(A, B?)", False), ("A*", True), ("SEQ(A, (SEQ(B, C))+)", True)])
def test_kleene(pattern: str, kleene: bool) -> None:
    query = parse_query(f"RETURN COUNT(*) PATTERN {pattern}")
    [automaton] = analyse(query).automata
    assert is_kleene(automaton) is kleene
    assert (unsupported_as_sequences(query, kleene=False) is None) is not kleene
    assert unsupported_as_sequences(query, kleene=True) is None
