"""Tallied aggregates are those of listed matches, and exact where nobody could list them."""

from math import comb, inf

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepbench.algorithms.oracle import CannotTally, TooManyMatches, answer, tally
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import LIMIT, difference_of_rows
from cepbench.verification.features import Feature
from cepbench.verification.random_cases import random_case
from tests.streams import stream

WISHES = (
    frozenset[Feature](),
    frozenset({Feature.SUM, Feature.AVG}),
    frozenset({Feature.LEAST, Feature.NOT_BETWEEN}),
    frozenset({Feature.COUNT_OF, Feature.NOT_SEQUENCE}),
)


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**48))
@pytest.mark.full
def test_it_agrees_with_the_list(seed: int) -> None:
    case = random_case(seed, WISHES[seed % len(WISHES)])
    for modular in (False, True):
        try:
            tallied = tally(case.query, case.events, modular=modular)
            listed = answer(case.query, case.events, modular=modular, limit=LIMIT)
        except (CannotTally, TooManyMatches):
            return
        assert difference_of_rows(listed, tallied) is None


def test_counts_that_nobody_could_list() -> None:
    query = parse_query("RETURN COUNT(*), COUNT(A), SUM(A.x), AVG(A.x), MIN(A.x), MAX(B.x) PATTERN SEQ(A+, B)")
    events = stream(" ".join(f"A{time}/3" for time in range(100)) + " B100/7 B100/9")
    [row] = tally(query, events)
    trends = 2 * (2**100 - 1)
    assert row["COUNT(*)"] == trends
    assert row["COUNT(A)"] == 2 * 100 * 2**99
    assert row["SUM(A.x)"] == 3 * row["COUNT(A)"]
    assert (row["AVG(A.x)"], row["MIN(A.x)"], row["MAX(B.x)"], row["overflow"]) == (3.0, 3, 9, True)
    [shown] = tally(query, events, modular=True)
    assert [shown[name] for name in ("COUNT(*)", "COUNT(A)", "SUM(A.x)", "AVG(A.x)")] == [None] * 4


def test_sums_overflow_by_their_magnitude() -> None:
    # 3 * 2**62 beside its opposite: the sum is 0 on the way to which the ring overflows.
    query = parse_query("RETURN SUM(B.x), AVG(B.x) PATTERN SEQ(A, B)")
    events = stream(f"A0/0 A1/0 A2/0 B3/{2**62} B3/{-(2**62)}")
    for rows in (tally(query, events), answer(query, events)):
        assert [(row["SUM(B.x)"], row["AVG(B.x)"], row["overflow"]) for row in rows] == [(0, 0.0, True)]


@pytest.mark.parametrize("values", [(1e308, 1e308), (inf, 1.0), (inf, -inf)])
def test_float_sums_past_their_range_overflow(values: tuple[float, float]) -> None:
    query = parse_query("RETURN SUM(A.x), AVG(A.x) PATTERN A+")
    events = [{"time": time, "type": "A", "x": x} for time, x in enumerate(values)]
    for modular, value in ((False, inf), (True, None)):
        for rows in (tally(query, events, modular=modular), answer(query, events, modular=modular)):
            assert [(row["SUM(A.x)"], row["AVG(A.x)"], row["overflow"]) for row in rows] == [(value, value, True)]


def test_a_window_that_slides_and_a_predicate() -> None:
    # Two windows of 4 and 2 events; only pairs with a rising x are adjacent.
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x WITHIN 4 s SLIDE 2 s")
    rows = tally(query, stream("A0/1 B1/2 A2/5 B3/4"))
    assert [(row["window_start"], row["COUNT(*)"]) for row in rows] == [(0, 2)]


def test_sequences_of_one_type_are_binomials() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A X, A Y, A Z)")
    [row] = tally(query, stream(" ".join(f"A{time}" for time in range(60))))
    assert row["COUNT(*)"] == comb(60, 3)


@pytest.mark.parametrize(
    "text",
    [
        "RETURN MATCHES PATTERN A",
        "RETURN COUNT(*) PATTERN A+ AND B+",
        "RETURN COUNT(*) PATTERN A OR SEQ(A, B)",
        "RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE A.x < C.x",
    ],
)
def test_what_has_to_be_listed(text: str) -> None:
    with pytest.raises(CannotTally):
        tally(parse_query(text), stream("A1/1 B2/2 C3/3"))
