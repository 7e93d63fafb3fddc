"""The workload as it really was, by hand: four events, of which the first two are simultaneous."""

from pathlib import Path

import numpy as np
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.rows import AggregateRows
from cepbench.metrics.record import Realised
from cepbench.pipeline.realised import realised
from cepbench.pipeline.replay import Measured
from cepbench.pipeline.store import Stream, read_stream
from cepbench.pipeline.writing import BucketWriter, describe
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = "A0/1@u A0/2@v A500/3@u A999/0@u"
RISING = "A.x < NEXT(A).x"


@pytest.fixture
def store(tmp_path: Path) -> Stream:
    events = batch(stream(EVENTS), "ms")
    writer = BucketWriter(tmp_path, events.schema, (), 1, 0)
    with writer:
        writer.write(events)
    describe(tmp_path, events.schema, (), [writer.written], {})
    return read_stream(tmp_path)


def reported(store: Stream, query: str, counts: dict[str, dict[int, int]], workers: list[Measured]) -> Realised:
    """`counts`: of each group, matches by window."""
    workload = compile_workload(parse_workload(query), store.schema)
    answer = AnswerBuilder(workload)
    for group, windows in counts.items():
        n, nothing = len(windows), np.empty((len(windows), 0))
        ring = np.array([[count] for count in windows.values()], np.uint64)
        rows = AggregateRows(np.array(list(windows)), ring, np.zeros(n, np.uint64), nothing, nothing.astype(np.int64))
        answer.add(0, (group,), rows)
    return realised(store, workload, answer, workers)


def test_rates_windows_and_matches(store: Stream) -> None:
    query = "RETURN g, COUNT(*) PATTERN A+ GROUP-BY g WITHIN 500 ms"
    workers = [Measured(service=[1.0, 1.0], substreams=1), Measured(service=[1.0], substreams=2)]
    totals = reported(store, query, {"u": {0: 1, 1: 3}, "v": {0: 1}}, workers)
    assert (totals.events, totals.windows, totals.rows) == (4, 2, 3)
    assert (totals.substreams, totals.batches) == (3, 2)
    # Four events in 1000 ms, of which a window is half; five matches in two windows.
    assert (totals.rate, totals.events_per_window, totals.matches_per_window) == (4.0, 2.0, 2.5)
    assert totals.selectivity is None


@pytest.mark.parametrize(
    ("window", "events"), [("", 4.0), ("WITHIN 3 EVENTS", 3.0), ("WITHIN 9 EVENTS", 4.0), ("WITHIN 1 min", 4.0)]
)
def test_a_window_holds_no_more_than_the_stream(store: Stream, window: str, events: float) -> None:
    assert reported(store, f"RETURN COUNT(*) PATTERN A+ {window}", {}, [Measured()]).events_per_window == events


@pytest.mark.parametrize(
    ("where", "share"),
    [
        # Five pairs of events follow one another: 1-3 and 2-3 rise, 1-0, 2-0 and 3-0 fall.
        (RISING, 2 / 5),
        (f"{RISING} AND A.x != NEXT(A).x", 2 / 5),
        ("2 * A.x < NEXT(A).x", 1 / 5),
        ("A.x >= NEXT(A).x", 3 / 5),
        ("A.x + 1 < NEXT(A).x", 1 / 5),
        ("A.x + 0.5 < NEXT(A).x", 2 / 5),
        # The two at 0 are 500 ms before the third, which is 499 ms before the last one.
        ("NEXT(A).time - A.time <= 0.5 s", 3 / 5),
        ("NEXT(A).time - A.time < 500", 1 / 5),
        # In group u, 1-3 rises, 1-0 and 3-0 fall; v has one event.
        (f"[g] AND {RISING}", 1 / 3),
    ],
)
def test_selectivity_is_the_share_of_pairs_that_pass(store: Stream, where: str, share: float) -> None:
    totals = reported(store, f"RETURN COUNT(*) PATTERN A+ WHERE {where}", {}, [Measured()])
    assert totals.selectivity == pytest.approx(share, abs=0.01)
