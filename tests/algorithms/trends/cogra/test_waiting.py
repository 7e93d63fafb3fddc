"""Events that wait for their next one, while time passes without any."""

import numpy as np
import pytest

from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, run
from tests.contract import streams
from tests.streams import stream

SCHEMA = Schema(("A",), (Attribute("x", Kind.INT), Attribute("g", Kind.INT)), "s")
QUERY = "RETURN g, COUNT(*) PATTERN A+ SEMANTICS {} WHERE A.x < NEXT(A).x GROUP-BY g WITHIN 10 s SLIDE 2 s"


def batch(events: list[tuple[int, int, int]], first: int, until: int | None = None) -> EventBatch:
    """(time, x, g) of events from position `first` on."""
    time, x, g = (np.array(column, np.int64) for column in zip(*events, strict=True))
    return EventBatch(
        SCHEMA, time, np.zeros(len(events), np.int32), {"x": x, "g": g}, np.arange(first, first + len(events)), until
    )


@pytest.mark.parametrize("semantics", ["contiguous", "skip-till-next-match"])
def test_time_that_passes_is_no_event(semantics: str) -> None:
    # Group 1 has nothing between 101 and 107, while its windows end at 102, 104 and 106.
    pieces = [[(101, 1, 1)], [(102, 1, 2)], [(104, 1, 2)], [(106, 1, 2)], [(107, 2, 1)], [(130, 1, 2)]]
    whole = batch([event for piece in pieces for event in piece], 0)
    cut = [batch(piece, n, piece[0][0]) for n, piece in enumerate(pieces)]
    query = parse_query(QUERY.format(semantics))
    expected = run(make("sase"), query, [whole])
    one = expected[expected["g"] == 1]
    assert one["COUNT(*)"].max() == 3  # 101, 107, and both
    for algorithm in ("cogra", "sase"):
        for batches in ([whole], cut):
            assert run(make(algorithm), query, batches).equals(expected), algorithm


@pytest.mark.parametrize("later", [[], ["B3"]])
def test_cells_that_wait_for_the_time_stamp_to_end_are_state(later: list[str]) -> None:
    """Three cells of the window: its result, A, and A before B without C between; the latter two wait."""
    events = streams.batch(stream(" ".join(["A1", "A1", *later])))
    workload = compile_workload([parse_query("RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B)")], events.schema)
    cogra = make("cogra")
    executor = OneKey(cogra.operator(cogra.plan(workload, Statistics())))
    executor.process(events)
    assert executor.state().kinds["aggregates"] == 3 + 2


def test_an_event_that_is_a_match_of_a_negation_keeps_the_trends_that_it_ends() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, NOT A, B)")
    events = streams.batch(stream("A1 A2 B3 A4 B5"))
    for algorithm in ("cogra", "sase"):
        assert run(make(algorithm), query, [events])["COUNT(*)"].tolist() == [2], algorithm  # A2 B3 and A4 B5
