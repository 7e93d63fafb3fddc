"""The sharable patterns of a workload, and their occurrences."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from cepbench.algorithms.engine.event_sequence import Symbol
from cepbench.algorithms.sequences.plan import Candidate, sharing_candidates
from tests.algorithms.sequences.sharon.workloads import sequences, symbols


def found(*texts: str, families: str | None = None) -> dict[str, tuple[tuple[int, int], ...]]:
    workload = sequences(texts)
    candidates = sharing_candidates(workload, list(families or "x" * len(texts)))
    return {"".join(str(s.type) for s in c.pattern): c.occurrences for c in candidates}


def test_longer_than_one_and_in_more_than_one_sequence() -> None:
    assert found("ABC", "ABD", "XC") == {"AB": ((0, 0), (1, 0))}
    assert found("ABC", "ABC") == {"ABC": ((0, 0), (1, 0)), "AB": ((0, 0), (1, 0)), "BC": ((0, 1), (1, 1))}
    assert found("ABAB") == {}


def test_several_occurrences_in_one_sequence_do_not_overlap() -> None:
    assert found("ABXAB", "YAB") == {"AB": ((0, 0), (0, 3), (1, 1))}
    assert found("AAAAA", "AA") == {"AA": ((0, 0), (0, 2), (1, 0))}


def test_families_share_nothing() -> None:
    assert found("AB", "AB", "AB", families="xyx") == {"AB": ((0, 0), (2, 0))}
    assert found("AB", "AB", families="xy") == {}


def test_gaps_with_a_negation_are_neither_inside_nor_at_the_ends() -> None:
    assert found("AB!NCDE", "ABCDE", "ABCDE").keys() == {"ABCDE", "ABCD", "ABC", "AB", "BCDE", "BCD", "BC"} | {
        "CDE",
        "CD",
        "DE",
    }
    assert found("AB!NCDE", "ABCDE") == {"DE": ((0, 3), (1, 3))}
    assert found("AB!NC", "AB!NC") == {}
    assert found("XAB!NC", "XAB!NC") == {"XA": ((0, 0), (1, 0))}


def test_predicates_tell_symbols_apart() -> None:
    from cepbench.queries.model import Op, Relation, Term

    plain, other = sequences(["AB", "AB"])
    checked = Symbol("A", frozenset({Relation(Term("x"), Op.GT, 1)}))
    other = type(other)(1, other.positions, (checked, other.symbols[1]), other.negated)
    assert sharing_candidates([plain, other], ["x", "x"]) == ()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ABC", min_size=1, max_size=6), min_size=1, max_size=5))
def test_against_counting_substrings(texts: list[str]) -> None:
    patterns = Counter(
        pattern
        for text in texts
        for pattern in {text[i:j] for i in range(len(text)) for j in range(i + 2, len(text) + 1)}
    )
    expected = {
        pattern: tuple((number, start) for number, text in enumerate(texts) for start in leftmost(text, pattern))
        for pattern, containing in patterns.items()
        if containing > 1
    }
    assert found(*texts) == expected


def leftmost(text: str, pattern: str) -> list[int]:
    """As `str.count` finds them."""
    starts, start = [], text.find(pattern)
    while start >= 0:
        starts.append(start)
        start = text.find(pattern, start + len(pattern))
    return starts


def test_overlap_is_any_common_place() -> None:
    def candidate(text: str, *occurrences: tuple[int, int]) -> Candidate:
        return Candidate(symbols(text), occurrences)

    whole, inner = candidate("ABCD", (0, 0), (1, 0)), candidate("BC", (0, 1), (2, 0))
    assert whole.overlaps(inner)
    assert inner.overlaps(whole)
    assert not inner.restricted(frozenset({2})).overlaps(whole)
    assert not candidate("AB", (0, 0), (1, 0)).overlaps(candidate("CD", (0, 2), (1, 2)))
    assert candidate("AB", (0, 0)).overlaps(candidate("BC", (0, 1)))
