"""The number of events that a new event meets, against a count event by event."""

from random import Random

import pandas as pd
import pytest

from cepbench.events.batch import EventBatch
from cepbench.events.files import read_events
from cepbench.pipeline.occupancy import occupancy
from cepbench.queries.compile import CompiledQuery, compile_workload
from cepbench.queries.parser import parse_query


def random_stream(seed: int, window: str) -> tuple[EventBatch, CompiledQuery]:
    random, time, rows = Random(seed), 0, []
    for _ in range(60):
        time += random.choice((0, 1, 1, 2, 9))
        rows.append((time, random.choice("ABC"), random.choice("xy")))
    events = read_events(pd.DataFrame(rows, columns=["time", "type", "key"])).batch
    workload = compile_workload(
        [parse_query(f"RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE [key] {window}")], events.schema
    )
    return events, workload[0]


def counted(events: EventBatch, query: CompiledQuery, by_key: bool) -> list[float]:
    """Event by event: those of the pattern's types before it, of its key, in the oldest window that is open."""
    places_of: dict[int, list[int]] = {}
    counts = []
    types = {events.schema.type_code(name) for name in "AB"}
    for i in range(len(events)):
        key = int(events.columns["key"][i]) if by_key else 0
        if int(events.type[i]) not in types:
            counts.append(0.0)
            continue
        places = places_of.setdefault(key, [])
        at = len(places) if query.window and query.window.counts_events else int(events.time[i])
        values = list(range(len(places))) if query.window and query.window.counts_events else places
        if query.window is None:
            begin = 0
        else:
            oldest = next(k for k in range(10**6) if k * query.window.slide + query.window.within > at)
            begin = oldest * query.window.slide
        counts.append(float(sum(value >= begin for value in values)))
        places.append(int(events.time[i]))
    return counts


@pytest.mark.parametrize("by_key", [True, False])
@pytest.mark.parametrize("window", ["", "WITHIN 10 s", "WITHIN 10 s SLIDE 3 s", "WITHIN 7 EVENTS SLIDE 2 EVENTS"])
def test_events_that_a_new_one_meets(window: str, by_key: bool) -> None:
    for seed in range(5):
        events, query = random_stream(seed, window)
        assert occupancy(events, query, by_key).tolist() == counted(events, query, by_key)
