"""SASE on flattened queries: an event sequence per length."""

import pytest

from cepbench.algorithms.construction.sase.algorithm import Sase
from cepbench.algorithms.construction.sase.flattened import FlattenedPlan
from cepbench.algorithms.engine.longest_match import LongerMatch
from cepbench.algorithms.options import WrongOption
from cepbench.algorithms.registry import make
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, run, subject_of
from cepbench.verification.verify import verify_subject
from tests.contract.streams import batch
from tests.streams import stream

RISING = "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x"


def flat(max_length: int | str = 3) -> Sase:
    return Sase("flatten", max_length)


def count(algorithm: Sase, text: str, events: str) -> list[int]:
    found: list[int] = run(algorithm, parse_query(text), [batch(stream(events))])["COUNT(*)"].tolist()
    return found


def test_a_sequence_per_length() -> None:
    events = batch(stream("A1 B2"))
    workload = compile_workload([parse_query("RETURN COUNT(*) PATTERN SEQ(A+, B)")], events.schema)
    plan = flat(4).plan(workload, Statistics())
    assert isinstance(plan, FlattenedPlan)
    assert [len(part.automaton.positions) for part in plan.parts[0]] == [2, 3, 4]
    assert all(len(part.automaton.transitions) == len(part.automaton.positions) - 1 for part in plan.parts[0])
    executor = OneKey(flat(4).operator(plan))
    executor.process(events)
    assert executor.details()["sequences_peak"] == 3


def test_each_length_has_stacks_of_its_own() -> None:
    events = batch(stream("A1 A2 A3"))
    kept = []
    for algorithm in (Sase(), flat(3)):
        workload = compile_workload([parse_query("RETURN COUNT(*) PATTERN A+")], events.schema)
        executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
        executor.process(events)
        kept.append(executor.state().kinds["events"])
    assert kept == [3, 3 + (3 + 2) + (3 + 2 + 1)]


@pytest.mark.parametrize(
    ("text", "events", "answer"),
    [
        ("RETURN COUNT(*) PATTERN A+", "A1 A2 A3", [7]),
        ("RETURN COUNT(*) PATTERN A+", "A1 A1 A2 A2", [8]),
        (RISING, "A1/5 A2/3 A3/7 A4/6 A5/9", [5 + 8 + 4]),
        (f"{RISING} WITHIN 3 s SLIDE 1 s", "A1/1 A2/2 A3/3 A5/4", [3, 7, 3, 3, 1, 1]),
        ("RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B)", "A1 A2 C3 A4 B5", [4]),
        ("RETURN COUNT(*) PATTERN A+ SEMANTICS contiguous", "A1 B2 A3 A4", [3 + 1]),
    ],
)
def test_answers(text: str, events: str, answer: list[int]) -> None:
    assert count(flat(4), text, events) == answer == count(Sase(), text, events)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("RETURN COUNT(*) PATTERN A+", "A1 A2 A3 A4"),
        (RISING, "A1/1 A2/2 A2/3 A3/3 A4/4"),
        ("RETURN COUNT(*) PATTERN (SEQ(A, B))+", "A1 B2 A3 B4"),  # no match has four events where three are the most
        (f"{RISING} WITHIN 4 s SLIDE 2 s", "A0/1 A4/1 A5/2 A6/3 A7/4"),
    ],
)
def test_a_longer_match_is_an_error(text: str, events: str) -> None:
    with pytest.raises(LongerMatch, match="query q: a match has 4 events, more than max_length=3"):
        count(flat(3), text, events)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (RISING, "A1/4 A2/3 A3/2 A4/1"),
        ("RETURN COUNT(*) PATTERN SEQ(A+, NOT C)", "A1 A2 A3 A4 C5"),
        ("RETURN COUNT(*) PATTERN SEQ(NOT C, A+)", "C1 A2 A3 A4 A5 A6"),
        (f"{RISING} WITHIN 3 s", "A0/1 A1/2 A2/3 A3/4 A4/5 A5/6"),
        ("RETURN COUNT(*) PATTERN SEQ(A+, B)", "A1 A2 A3 A4 A5"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B, C, D)", "A1 B2 C3 D4"),
    ],
)
def test_what_only_looks_longer_is_none(text: str, events: str) -> None:
    assert count(flat(3), text, events) == count(Sase(), text, events)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN COUNT(*) PATTERN A+ SEMANTICS next", "may be skipped when flattened"),
        ("RETURN COUNT(*) PATTERN A+ AND B", "AND counts pairs"),
        ("RETURN COMPLETE MATCHES PATTERN A+", "only queries with windows"),
        ("RETURN MATCHES PATTERN A, B WITHIN 3 s PER MATCH", "only queries with windows"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B+, C) WHERE A.x < C.x", "not adjacent"),
    ],
)
def test_what_cannot_be_flattened_is_refused(text: str, reason: str) -> None:
    told = flat(3).unsupported(parse_query(text))
    assert told is not None
    assert reason in told


def test_without_a_length_only_kleene_patterns_are_refused() -> None:
    unbounded = make("sase[kleene=flatten]")
    assert "give max_length" in str(unbounded.unsupported(parse_query("RETURN COUNT(*) PATTERN A+")))
    assert unbounded.unsupported(parse_query("RETURN COUNT(*) PATTERN SEQ(A, B?)")) is None


def test_a_length_needs_flattening() -> None:
    with pytest.raises(WrongOption, match=r"^sase\[max_length=3\]: it bounds flattened patterns; add kleene=flatten$"):
        make("sase[max_length=3]")


@pytest.mark.full
def test_random_cases() -> None:
    report = verify_subject(subject_of(flat(6)), 80, seed=21, thorough=False)
    assert report.clean, str(report)
    assert report.compared >= 80
