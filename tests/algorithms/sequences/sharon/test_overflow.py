"""Overflow on the way: in a prefix, a middle, a suffix that queries share, at ties, and where it is forgotten again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from cepbench.verification.agreement import rows_of
from tests.algorithms.exact import Pattern
from tests.algorithms.sequences.sharon.plans import case_of, plan_for, wrong
from tests.algorithms.sequences.sharon.random_plans import answers
from tests.contract.streams import batch

BIG = 2**62
Events = list[dict[str, Any]]


def row_of(types: str, each: int, start: int, *, apart: bool, x: int = 1) -> Events:
    """So many events of each type, type after type; simultaneous, or one after the other."""
    return [
        {"time": start + (each * place + i if apart else place), "type": name, "x": x}
        for place, name in enumerate(types)
        for i in range(each)
    ]


def difference_of(
    patterns: Sequence[Pattern], events: Sequence[Mapping[str, Any]], *shared: str, cuts: tuple[int, ...] = ()
) -> str | None:
    """The difference from exact integers of the answer to patterns that share the named sub-patterns."""
    named = {f"q{i}": pattern for i, pattern in enumerate(patterns)}
    case = case_of([pattern.text(name) for name, pattern in named.items()], events, cuts)
    expected = {name: pattern.rows(name, events) for name, pattern in named.items()}
    assert any(row["overflow"] for rows in expected.values() for row in rows)
    return wrong(case, plan_for(case, *shared), expected)


SHARED = [(), ("ABCDEFGH",), ("ABCDEFGHI",), ("CDEF",), ("GHI",), ("AB", "CDEF", "GH"), ("ABCD", "EFGH"), ("BCDEFGH",)]


@pytest.mark.parametrize(("apart", "within"), [(False, 4000), (True, None)], ids=["simultaneous", "apart"])
@pytest.mark.parametrize("shared", SHARED, ids=["+".join(patterns) or "nothing" for patterns in SHARED])
def test_counts_that_overflow_before_the_end(shared: tuple[str, ...], apart: bool, within: int | None) -> None:
    """256^8 sequences are 0 in the ring: nothing but flags tells of them, and later windows know nothing of them."""
    start = 256 * 8 + 10
    events = row_of("ABCDEFGH", 256, 5, apart=apart) + row_of("IJ", 1, start, apart=True)
    events += row_of("ABCDEFGHIJ", 1, start + 2, apart=True, x=-3) + row_of("ABCDEFGHIJ", 1, 6500, apart=True, x=7)
    windows = (within, within and 1000)
    patterns = [
        Pattern("ABCDEFGHIJ", "J", {}, *windows),
        Pattern("ABCDEFGHI", "A", {}, *windows),
        Pattern("CDEFGHI", "D", {}, *windows),
        Pattern("ABCDEFGHI", "I", {}, *windows),
    ]
    assert difference_of(patterns, events, *shared, cuts=(700, 2049)) is None


@pytest.mark.parametrize("within", [None, 4000])
def test_only_counts_that_overflow_before_the_end(within: int | None) -> None:
    """As above where COUNT(*) is all that is asked for; the second window has one match."""
    window = f"WITHIN {within} s" if within else ""
    events = row_of("ABCDEFGH", 256, 0, apart=True) + row_of("I", 1, 3000, apart=True)
    case = case_of(["q: RETURN COUNT(*) PATTERN SEQ(A, B, C, D, E, F, G, H, I) " + window], [
        *events, *row_of("ABCDEFGHI", 1, 4100, apart=True)
    ])  # fmt: skip
    frame = answers(plan_for(case), batch(case.events), case)
    assert frame["overflow"].tolist() == ([True, False] if within else [True])
    assert not within or frame["COUNT(*)"].tolist()[1] == 1


@pytest.mark.parametrize("shared", [(), ("BCDEFGH",)], ids=["nothing", "BCDEFGH"])
def test_groups_overflow_on_their_own(shared: tuple[str, ...]) -> None:
    """One group has 256^8 sequences, another one 2^8 among their events."""
    events = [event | {"g": g} for g, each in ((1, 256), (2, 2)) for event in row_of("ABCDEFGH", each, 0, apart=False)]
    events.sort(key=lambda event: int(event["time"]))
    places = (", ".join("ABCDEFGH"), ", ".join("BCDEFGH"))
    case = case_of([f"q{i}: RETURN g, COUNT(*) PATTERN SEQ({p}) GROUP-BY g" for i, p in enumerate(places)], events)
    frame = answers(plan_for(case, *shared), batch(events), case)
    found = {(row["query"], row["g"]): (row["COUNT(*)"], row["overflow"]) for row in rows_of(frame)}
    assert found == {
        ("q0", 1): (None, True),
        ("q0", 2): (2**8, False),
        ("q1", 1): (2**56, False),
        ("q1", 2): (2**7, False),
    }


@pytest.mark.parametrize("slide", [4000, 2000])
@pytest.mark.parametrize("of", "AHI")
def test_windows_forget_an_overflow(of: str, slide: int) -> None:
    events = row_of("ABCDEFGH", 256, 0, apart=False) + row_of("I", 1, 20, apart=False)
    events += row_of("ABCDEFGHI", 2, 4100, apart=False) + row_of("ABCDEFGHI", 1, 8200, apart=False)
    assert difference_of([Pattern("ABCDEFGHI", of, {}, 4000, slide)] * 2, events, cuts=(2000,)) is None


@pytest.mark.parametrize("window", [(None, None), (4000, 4000), (4000, 1000)])
@pytest.mark.parametrize("shared", [(), ("ABC",)])
def test_a_negated_event_forgets_an_overflow(shared: tuple[str, ...], window: tuple[int | None, int | None]) -> None:
    """I after X extends only what reached H since."""
    events = (
        row_of("ABCDEFGH", 256, 0, apart=False) + row_of("XH", 1, 20, apart=True, x=5) + row_of("I", 1, 30, apart=True)
    )
    overflowing = Pattern("ABCDEFGH", "A", {}, *window)
    assert difference_of([Pattern("ABCDEFGHI", "H", {8: "X"}, *window), overflowing], events, *shared) is None


@pytest.mark.parametrize("only_counts", [True, False])
@pytest.mark.parametrize("within", ["", "WITHIN 900 s SLIDE 300 s"])
@pytest.mark.parametrize("lacking", [0, 1])
def test_alternatives_of_one_query_add_up(lacking: int, within: str, only_counts: bool) -> None:
    """Each has 2^63 sequences, or one of them a little less."""
    events = row_of("ABCDEFG", 256, 0, apart=False) + row_of("H", 128, 10, apart=False)
    events += row_of("I", 128 - lacking, 10, apart=False)
    items = "COUNT(*)" if only_counts else "COUNT(*), COUNT(A), MIN(B.x)"
    case = case_of([f"RETURN {items} PATTERN SEQ(A, B, C, D, E, F, G, H OR I) {within}"], events)
    row = answers(plan_for(case), batch(events), case).iloc[0]
    assert bool(row["overflow"]) == (not lacking)
    assert pd.isna(row["COUNT(*)"]) if not lacking else row["COUNT(*)"] == 2**64 - 2**56
    assert only_counts or row["MIN(B.x)"] == 1


@pytest.mark.parametrize("window", [(None, None), (6, 2)])
@pytest.mark.parametrize("shared", [(), ("AB",), ("BC",), ("CD",)], ids="+".join)
@pytest.mark.parametrize("of", "ABCD")
def test_sums_of_simultaneous_events(of: str, shared: tuple[str, ...], window: tuple[int | None, int | None]) -> None:
    """Four times 2^62 is 0 in the ring, and 2^62 - 2^62 no sum at all; other time stamps begin anew."""
    events: Events = []
    for start, values in ((0, (BIG, BIG, BIG, BIG)), (10, (3, 4)), (20, (BIG, -BIG)), (30, (0,))):
        for place, name in enumerate("ABCD"):
            xs = values if name == of else (1,)
            events += [{"time": start + place, "type": name, "x": x} for x in xs]
    patterns = [Pattern("ABCD", of, {}, *window), Pattern("ABCD", "A", {}, *window), Pattern("BCD", "D", {}, *window)]
    assert difference_of(patterns, events, *shared, cuts=(1, 6)) is None


@pytest.mark.parametrize("shared", [(), ("BC",), ("GH",), ("BCDEFGH",)], ids="+".join)
def test_nothing_times_an_overflow_is_nothing(shared: tuple[str, ...]) -> None:
    """A sum of weights 0 over too many sequences is 0."""
    events = row_of("ABCDEFGH", 256, 0, apart=False, x=0) + row_of("B", 1, 9, apart=False, x=BIG)
    patterns = [Pattern("ABCDEFGH", "B"), Pattern("BCDEFGH", "C"), Pattern("ABCDEFGH", "H"), Pattern("HB", "B")]
    assert difference_of(patterns, events, *shared) is None


@pytest.mark.full
@pytest.mark.parametrize("shared", [False, True])
def test_infinitely_many_prefixes_times_none(shared: bool) -> None:
    """In float arithmetic 550 of 1,100 As are chosen in 10^329 ways; no match ends after them but the second B's."""
    size = 550
    listed: Events = [{"time": t, "type": "A", "x": 1.0} for t in range(2 * size)]
    listed += [{"time": 2 * size + i, "type": name, "x": 2.0} for i, name in enumerate("BB")]
    long = f"SEQ({', '.join('A' * size)}, B, C, D)"
    texts = [f"p: RETURN COUNT(*), SUM(B.x) PATTERN {long}", "q: RETURN COUNT(*), SUM(C.x) PATTERN SEQ(B, C)"]
    for ends in (False, True):
        ending = [{"time": 3 * size + i, "type": name, "x": 2.0} for i, name in enumerate("CD")]
        events = listed + (ending if ends else [{"time": 3 * size, "type": "D", "x": 2.0}])
        case = case_of(texts, events)
        plan = plan_for(case, *(["BC"] if shared else []), arithmetic="float")
        frame = answers(plan, batch(events), case)
        assert frame["query"].tolist() == (["p", "q"] if ends else [])
        assert frame["overflow"].tolist() == ([True, False] if ends else [])
        assert not ends or frame["SUM(C.x)"].tolist()[1] == 4.0
