"""SASE: stacks, pointers and construction."""

from math import comb

import pytest

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.construction.sase.algorithm import Sase
from cepbench.algorithms.engine.sinks import WRITTEN_MATCHES
from cepbench.algorithms.engine.window_stacks import FIRST_EVENTS
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, answer_of, run
from tests.algorithms.cases import agree
from tests.algorithms.complete_cases import NO_PATHS, REPEATED, SEEDS, check_complete_matches
from tests.contract.streams import batch
from tests.streams import golden_plans, stream

CET = golden_plans()["cet"]


def state(text: str, events: str) -> StateSize:
    """The state after all events, before the last windows close."""
    given = batch(stream(events))
    workload = compile_workload([parse_query(text)], given.schema)
    algorithm = Sase()
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    executor.process(given)
    return executor.state()


def test_one_pointer_to_the_top_of_the_stack_below() -> None:
    kinds = state("RETURN COUNT(*) PATTERN SEQ(A, B)", "A1 A2 A3 B4 B5").kinds
    assert (kinds["events"], kinds["edges"]) == (5, 2)


def test_predicates_need_a_pointer_to_each_predecessor() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x"
    kinds = state(text, "A1/1 A2/2 A3/3 B4/3 B5/9").kinds
    assert (kinds["events"], kinds["edges"]) == (5, 2 + 3)


def test_bytes_are_those_of_events_and_pointers() -> None:
    """Per event six columns and its attributes, of 8 bytes each; per pointer two; and the cell of one count."""
    text, cell = "RETURN COUNT(*) PATTERN SEQ(A, B)", 8 + 8
    assert state(text, "A1 A2 A3 B4 B5").bytes == cell + 5 * 8 * 6 + 2 * 8 * 2
    assert state(f"{text} WHERE A.x < B.x", "A1/1 A2/2 A3/3 B4/3 B5/9").bytes == cell + 5 * 8 * (6 + 1) + 5 * 8 * 2
    assert state(f"{text} WHERE A.x < B.x", "A1/1.5 B4/3.0").bytes == cell + 2 * 8 * (6 + 1) + 8 * 2


def test_events_without_predecessor_are_not_kept() -> None:
    assert state("RETURN COUNT(*) PATTERN SEQ(A, B)", "B1 B2 A3 A3 B3").kinds["events"] == 2


def test_events_that_left_all_windows_are_dropped() -> None:
    text = "RETURN COUNT(*) PATTERN A+ WITHIN 4 s SLIDE 2 s"
    assert state(text, "A1 A2 A3 A4 A5 A6 A7").kinds["events"] == 4  # the window from 4 on is open


@pytest.mark.parametrize("n", [3, FIRST_EVENTS - 1, FIRST_EVENTS + 1])
@pytest.mark.parametrize("semantics", ["any", "next"])
def test_events_at_more_positions_than_stacks_have_room_for(n: int, semantics: str) -> None:
    """Once, room was made for pointers only, for ever."""
    events = batch([{"time": time, "type": "A"} for time in range(n + 2)])
    text = f"RETURN COUNT(*) PATTERN A{{{n},}} SEMANTICS {semantics}"
    [count] = run(Sase(), parse_query(text), [events])["COUNT(*)"].tolist()
    assert count == (comb(n + 2, 2) + (n + 2) + 1 if semantics == "any" else 3 + 2 + 1)


def test_more_matches_than_the_output_has_room_for() -> None:
    events = batch([{"time": time, "type": "A"} for time in range(17)])
    frame = run(Sase(), parse_query("RETURN MATCHES PATTERN A+"), [events])
    assert len(frame) == 2**17 - 1 > WRITTEN_MATCHES
    assert len({tuple(match) for match in frame["match"]}) == len(frame)


@pytest.mark.parametrize("semantics", ["any", "next", "cont"])
def test_pairwise_predicates_hold_for_every_pair(semantics: str) -> None:
    text = f"RETURN MATCHES PATTERN SEQ(A a, B+, A c) SEMANTICS {semantics} WHERE a.x <= c.x WITHIN 6 s SLIDE 2 s"
    agree(text, "A1/2 B2/0 A3/1 B4/0 A5/2 B5/0 A7/2 B8/0 A9/3")


@pytest.mark.parametrize("seed", SEEDS)
def test_complete_matches(seed: int) -> None:
    check_complete_matches(Sase(), seed)


@pytest.mark.parametrize("patterns", [tuple(REPEATED), tuple(NO_PATHS)], ids=["paths", "compared"])
@pytest.mark.parametrize("seed", SEEDS)
def test_complete_matches_of_repeated_types(patterns: tuple[str, ...], seed: int) -> None:
    check_complete_matches(Sase(), seed, patterns)


def test_checks_of_the_paper() -> None:
    query = parse_query("RETURN COMPLETE MATCHES PATTERN Check C+ WHERE C.destination = NEXT(C).source")
    matches = run(Sase(), query, [batch(CET["checks"]["events"])])["match"].tolist()
    assert [[position + 1 for position in match] for match in matches] == CET["checks"]["complete_trends"]


def test_complete_matches_have_no_pointer_over_a_longer_way() -> None:
    assert state("RETURN COMPLETE MATCHES PATTERN A+", "A1 A2 A3 A4 A4").kinds["edges"] == 1 + 1 + 2
    text = "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x != NEXT(A).x"
    assert state(text, "A1/1 A2/1 A3/2 A4/1").kinds["edges"] == 2 + 1


@pytest.mark.parametrize(("each", "complete"), CET["groups"].items())
def test_simultaneous_events_of_twelve(each: int, complete: int) -> None:
    events = batch([{"time": n // each, "type": "A"} for n in range(12)])
    answer = answer_of(Sase(), parse_query("RETURN COMPLETE MATCHES PATTERN A+"), [events], summarised=True)
    assert (answer.rows, answer.matches) == (1, complete)


def test_more_matches_are_digested_than_the_output_has_room_for() -> None:
    events = batch([{"time": time, "type": "A"} for time in range(17)])
    query = parse_query("RETURN MATCHES PATTERN A+")
    plain, summarised = (answer_of(Sase(), query, [events], summarised=flag) for flag in (False, True))
    assert summarised.matches == plain.rows == 2**17 - 1 > WRITTEN_MATCHES
    assert summarised.digest() == plain.digest()


@pytest.mark.parametrize("summarised", [True, False])
def test_updates_are_the_events_of_all_trends(summarised: bool) -> None:
    """More rows than the output holds, so that the search is interrupted."""
    events = batch([{"time": time, "type": "A"} for time in range(17)])
    workload = compile_workload([parse_query("RETURN MATCHES PATTERN A+")], events.schema, summarised=summarised)
    algorithm = Sase()
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    executor.process(events)
    executor.finish()
    assert WRITTEN_MATCHES < 2**17 - 1
    assert executor.details() == {"updates": 17 * 2**16}
