"""The automaton that is determinized as events ask for it."""

import numpy as np
import pytest

from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.kernels.automaton import NOTHING, START, UNKNOWN
from cepbench.algorithms.detection.core.runs import Runs
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch
from tests.streams import stream


def read(pattern: str, events: str) -> SubsetAutomaton:
    """A pattern's automaton after some events."""
    given = batch(stream(events))
    [query] = compile_workload([parse_query(f"PATTERN {pattern} WITHIN 100 s PER MATCH")], given.schema)
    runs = Runs(query.parts[0], SubsetAutomaton.of(query.parts[0]), query.reach, False, digests=True)
    for _ in runs.read(kernel_events(query.columns, given), given.position):
        pass
    return runs.automaton


def sets(automaton: SubsetAutomaton) -> list[set[int]]:
    """The states but the one before any event, as sets of positions."""
    return [{p for p in range(64) if state >> p & 1} for state in automaton.states[1:]]


def test_a_state_per_place_where_types_differ() -> None:
    assert sets(read("SEQ(A, B, C)", "A1 B2 C3 A4 B5")) == [{0}, {1}, {2}]


def test_states_are_made_when_a_run_reaches_them() -> None:
    automaton = read("SEQ(A, B, C)", "C1 B2 A3 C4")
    assert sets(automaton) == [{0}]
    assert len(automaton.letters) == 3


def test_an_event_may_lead_to_several_positions_at_once() -> None:
    assert sets(read("SEQ(A+, A, B)", "A1 A2 A3 B4 B5")) == [{0}, {0, 1}, {2}]
    assert sets(read("SEQ(A, B) OR SEQ(A, C)", "A1 B2 C3")) == [{0, 2}, {1}, {3}]


def test_positions_with_equal_predicates_share_a_test() -> None:
    automaton = read("SEQ(A a, A b, A c, A) WHERE a.x > 2 AND b.x > 5 AND c.x > 2", "A1/1 A2/3 A3/9 A4/4")
    letters = [{p for p in range(4) if letter >> p & 1} for letter in automaton.letters]
    assert letters == [{3}, {0, 2, 3}, {0, 1, 2, 3}]
    assert len(automaton.tests) == 3


def test_what_never_comes_is_not_asked_for() -> None:
    automaton = read("SEQ(A a, B b) WHERE a.x > 2 AND b.x > 2", "A1/1 A2/1 Z3/0")
    assert automaton.letters == []
    assert automaton.root == [0, NOTHING]
    [asked] = automaton.tests
    assert asked.branch == [NOTHING, UNKNOWN]


def test_tables_list_the_sources_of_each_state() -> None:
    cea = read("SEQ(A, B+, C)", "A1 B2 B3 C4").tables()
    edges = sorted((int(one["source"]), int(one["target"]), bool(one["final"])) for one in cea.edge)
    assert edges == [(START, 1, False), (1, 2, False), (2, 2, False), (2, 3, True)]
    assert not cea.edge["goes_on"][cea.edge["target"] == 3].any()
    assert np.diff(cea.list_ptr).tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("places", [70, 200])
def test_more_positions_than_bits_of_a_word(places: int) -> None:
    branches = " OR ".join(f"SEQ(A, B{n})" for n in range(places // 2))
    automaton = read(branches, "A1 A2")
    assert sets(automaton) == [{p for p in range(64) if p % 2 == 0}]
    assert automaton.states[1].bit_count() == places // 2
