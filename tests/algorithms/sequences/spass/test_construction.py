"""How much SPASS constructs, and what it keeps."""

from math import comb

import pytest

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.engine.longest_match import LongerMatch
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.sequences.spass import Spass
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import OneKey
from cepbench.verification.random_cases import split
from tests.algorithms.sequences.spass.workloads import planned, run_all
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = "A1 B2 C3 A4 B5 B5 C6 D7 E8 C9 D10 E11"


def executor(events: str, *patterns: str) -> Executor:
    """After all events, before the last windows close."""
    queries = [parse_query(f"RETURN COUNT(*) PATTERN {pattern}") for pattern in patterns]
    found = OneKey(Spass().operator(planned(queries, stream(events))))
    found.process(batch(stream(events)))
    return found


def matches(pattern: str, events: str = EVENTS) -> int:
    rows = answer(parse_query(f"RETURN COUNT(*) PATTERN {pattern}"), stream(events))
    return sum(row["COUNT(*)"] for row in rows)


@pytest.mark.parametrize("queries", [2, 3, 7])
def test_instances_are_constructed_once_for_all_queries(queries: int) -> None:
    patterns = [f"SEQ(A, B, C, {last})" for last in ("D", "E")] + ["SEQ(A, B, C)"] * (queries - 2)
    details = executor(EVENTS, *patterns).details()
    assert details["constructed"] == matches("SEQ(A, B, C)") > 0
    assert details["joined"] == sum(matches(pattern) for pattern in patterns)


def test_queries_that_share_nothing_construct_nothing_shared() -> None:
    patterns = ("SEQ(A, B)", "SEQ(B, C)", "D")
    details = executor(EVENTS, *patterns).details()
    assert details == {"constructed": 0.0, "joined": float(sum(matches(pattern) for pattern in patterns))}


def test_overlapping_windows_share_construction() -> None:
    """A match in several windows is constructed once."""
    window = "WITHIN 8 s SLIDE 1 s"
    details = executor(EVENTS, f"SEQ(A, B, C, D) {window}", f"SEQ(A, B, C) {window}").details()
    within = [(a, c) for a in (1, 4) for b in (2, 5, 5) for c in (3, 6, 9) if a < b < c and c - a < 8]
    assert details["constructed"] == len(within)
    assert matches(f"SEQ(A, B, C) {window}") > len(within)


def test_every_instance_of_a_shared_sub_sequence_is_kept() -> None:
    kinds = executor(EVENTS, "SEQ(A, B, C)", "SEQ(A, B, D)").state().kinds
    assert kinds == {"events": 10, "partial matches": 5}  # A1 with B2 and both B5, A4 with both B5


def test_state_is_the_largest_since_the_last_call() -> None:
    events = batch(stream("A1 A2 B3 A8 B9"))
    queries = [parse_query(f"RETURN COUNT(*) PATTERN SEQ(A, B{rest}) WITHIN 4 s") for rest in ("", ", A", ", B")]
    found = OneKey(Spass().operator(planned(queries, stream("A1 A2 B3 A8 B9"))))
    found.process(events)
    first: StateSize = found.state()
    assert first.kinds == {"events": 3, "partial matches": 2}
    second = found.state()
    assert second.kinds == {"events": 2, "partial matches": 1}
    assert 0 < second.bytes < first.bytes
    found.finish()
    assert found.state().kinds == {"events": 0, "partial matches": 0}


def test_events_that_no_sequence_uses_are_not_kept() -> None:
    kinds = executor("A1 Z2 D3 B4", "SEQ(A, NOT D, B)").state().kinds
    assert kinds == {"events": 2, "partial matches": 0}


@pytest.mark.timeout(60)
def test_starts_that_come_late_leave_no_dead_ends() -> None:
    """Without a look at the START, the As before the B alone could end sequences in 10^12 ways."""
    events = [{"time": time, "type": "B" if time == 90 else "A"} for time in range(103)]
    queries = [parse_query(f"RETURN COUNT(*) PATTERN SEQ(B, {', '.join('A' * n)})") for n in (10, 11)]
    frames, _ = run_all(planned(queries, events), events)
    assert [frame["COUNT(*)"].tolist() for frame in frames] == [[comb(12, 10)], [comb(12, 11)]]


def test_stores_grow() -> None:
    events = [{"time": time, "type": "AB"[time >= 300]} for time in range(600)]
    queries = [parse_query(f"RETURN COUNT(*) PATTERN {p}") for p in ("SEQ(A, B)", "SEQ(A, B)", "B")]
    frames, found = run_all(planned(queries, events), events)
    assert [frame["COUNT(*)"].tolist() for frame in frames] == [[300 * 300], [300 * 300], [300]]
    assert found.details()["constructed"] == 300 * 300


def test_kleene_patterns_need_a_bound() -> None:
    query = parse_query("RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, B)")
    assert "max_length" in str(Spass().unsupported(query))
    assert Spass(max_length=3).unsupported(query) is None


def test_bounded_kleene_patterns_are_exact_or_refused() -> None:
    events = stream("A1/1 A2/3 B3/0 A4/2 B5/0 A6/1")
    queries = [parse_query(f"RETURN COUNT(*), SUM(A.x) PATTERN SEQ({p}) WITHIN 9 s") for p in ("A+, B", "B, A+")]
    plan = planned(queries, events, algorithm=Spass(max_length=4))
    for query, frame in zip(queries, run_all(plan, events)[0], strict=True):
        assert difference(answer(query, events), frame) is None
    with pytest.raises(LongerMatch, match="max_length=3"):
        run_all(planned(queries, events, algorithm=Spass(max_length=3)), events)


def test_a_bound_below_every_match() -> None:
    queries = [parse_query("RETURN COUNT(*) PATTERN SEQ(A, B+, C)")]
    plan = planned(queries, stream("A1 B2 B3 C4"), algorithm=Spass(max_length=2))
    assert not plan.sequences
    with pytest.raises(LongerMatch):
        run_all(plan, stream("A1 B2 B3 C4"))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("RETURN MATCHES PATTERN SEQ(A, B)", "return"),
        ("RETURN COUNT(*) PATTERN A AND B", "AND"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS next", "skip-till-next-match"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x", "compare"),
        ("RETURN COUNT(*) PATTERN SEQ(NOT C, A, B)", "negation"),
    ],
)
def test_what_it_refuses(text: str, word: str) -> None:
    assert word in str(Spass().unsupported(parse_query(text)))


def test_cuts_inside_a_time_stamp() -> None:
    listed = "A1 B1 A2 B2 A2 B2 C3 B3 C3"
    events, patterns = stream(listed), ("SEQ(A, B, C)", "SEQ(A, B, C)", "SEQ(B, C)")
    found = OneKey(Spass().operator(planned([parse_query(f"RETURN COUNT(*) PATTERN {p}") for p in patterns], events)))
    assert not any(found.process(piece) for piece in split(batch(events), tuple(range(1, len(events)))))
    counts = [rows.ring[0, 0] for rows in found.finish().values() if isinstance(rows, AggregateRows)]
    expected = [matches(pattern, listed) for pattern in patterns]
    assert counts == expected
    assert found.details() == {"constructed": expected[0], "joined": sum(expected)}
