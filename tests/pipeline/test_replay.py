import numpy as np
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Executor, PerKey, Plan
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.metrics.clock import completions
from cepbench.pipeline import replay as replaying
from cepbench.pipeline.arrivals import Burst, OpenRate
from cepbench.pipeline.jobs import Job
from cepbench.pipeline.loop import into
from cepbench.pipeline.replay import Measured, replay
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.workloads import parse_workload
from tests.pipeline.doubles import Counter

SCHEMA = Schema(("A",), (Attribute("g", Kind.INT),))
QUERY = "RETURN g, COUNT(*) PATTERN A+ GROUP-BY g WITHIN 10 s"


def stream(times: list[int], groups: list[int]) -> EventBatch:
    n = len(times)
    columns = {"g": np.array(groups, np.int64)}
    return EventBatch(SCHEMA, np.array(times, np.int64), np.zeros(n, np.int32), columns, np.arange(n, dtype=np.int64))


class Clock:
    """Every call of `process` takes as many seconds as it has events, plus one; of `finish`, as many as `ending`."""

    def __init__(self) -> None:
        self.now = 0
        self.ending = 0

    def perf_counter_ns(self) -> int:
        return self.now


class Ticking(Executor):
    def __init__(self, clock: Clock, inner: Executor) -> None:
        self.clock, self.inner = clock, inner

    def process(self, events: EventBatch) -> Rows:
        self.clock.now += (len(events) + 1) * 10**9
        return self.inner.process(events)

    def finish(self) -> Rows:
        self.clock.now += self.clock.ending * 10**9
        return self.inner.finish()

    def state(self):
        return self.inner.state()


def run(batch: EventBatch, arrival, clock: Clock, query: str = QUERY, states: bool = False):
    workload: Workload = compile_workload(parse_workload(query), SCHEMA)
    answer, job = AnswerBuilder(workload), job_of(workload)
    cut = len(batch) // 2
    pieces = [batch.slice(0, cut), batch.slice(cut, len(batch))]
    operator = PerKey(lambda: Ticking(clock, Counter(Plan(workload))), workload)
    measured: Measured = replay(pieces, arrival(workload), [(job, operator)], into(answer), states)
    return measured, answer


def job_of(workload: Workload) -> Job:
    return Job(workload.queries[0].partition, workload, Plan(workload))


@pytest.fixture
def clock(monkeypatch):
    fake = Clock()
    monkeypatch.setattr(replaying, "time", fake)
    return fake


def burst(workload):
    return Burst([query.window for query in workload], "s")


def test_burst_by_hand(clock):
    # Interval [0, 10): groups 0 and 1 get two and one event. [10, 20): group 0 gets one; group 1 has nothing open.
    measured, answer = run(stream([1, 2, 9, 11], [0, 1, 0, 0]), burst, clock)
    assert measured.events == 4
    assert measured.substreams == 2
    assert answer.rows == 3
    assert answer.matches == 4
    # The batch is cut after two events: calls of 1, 1 and 1 event, and one without events that closes group 1.
    assert measured.service == [2 + 2 + 2 + 1, 2]
    # Both rows of the first window are done after 7 s, the one of the second after 2 s.
    assert measured.latency == [7.0, 7.0, 2.0]
    assert measured.last == [2, 3]


def test_a_slow_interval_delays_the_next_one(clock):
    times = list(range(20))
    measured, _ = run(stream(times, [0] * 20), burst, clock)
    assert measured.service == [11.0, 11.0]
    done = completions(np.array([10.0, 20.0]), np.array(measured.service))
    assert measured.latency == (done - [10.0, 20.0]).tolist() == [11.0, 12.0]


def test_open_rate_by_hand(clock):
    # One event per second; micro-batches of two. Windows [0, 10) and [10, 20) close with later events.
    batch = stream([1, 2, 11, 12, 21, 22], [0] * 6)
    measured, answer = run(batch, lambda workload: OpenRate(1.0, 2), clock)
    assert answer.rows == 3
    # Batches arrive at 2, 4 and 6 s; pieces are cut in the middle of the second.
    assert measured.service == [3.0, 2.0 + 2.0, 3.0]
    done = [5.0, 9.0, 12.0]
    # The first window's last event came at 2 s and its row with the second batch; the second's at 4, third batch; the
    # third is closed by the end of the stream, its last event came at 6.
    assert measured.latency == [done[1] - 2, done[2] - 4, done[2] - 6]


def pairs(workload: Workload) -> OpenRate:
    """One event per second; micro-batches of two."""
    return OpenRate(1.0, 2)


def test_the_end_of_the_stream_belongs_to_the_last_arrival_batch(clock: Clock) -> None:
    clock.ending = 5
    measured, answer = run(stream([1, 2, 11, 12], [0, 1, 0, 1]), pairs, clock)
    assert answer.rows == 4
    # Two sub-streams with an event each take 2 s in every batch, and 5 s each at the end.
    assert measured.service == [4.0, 4.0 + 10.0]
    # Batches arrive at 2 and 4 s and are done at 6 and 20 s. The first windows are closed by the second batch, the
    # others by the end of the stream; their last events came at 2 and at 4 s.
    assert measured.latency == [18.0, 18.0, 16.0, 16.0]


def test_an_idle_substream_closes_its_window_as_soon_as_it_ends(clock: Clock) -> None:
    query = "RETURN g, COUNT(*) PATTERN A+ GROUP-BY g WITHIN 2 s SLIDE 1 s"
    measured, answer = run(stream([0, 1, 9], [1, 0, 0]), burst, clock, query)
    assert answer.rows == 5
    # At 2 s group 1 has no event, but its window [0, 2) ends: one call more. So for group 0 at 3 and at 11 s.
    assert measured.service == [2.0, 2.0 + 1.0, 1.0, 2.0, 1.0]
    # Intervals end at 1, 2, 3, 10 and 11 s and are done at 3, 6, 7, 12 and 13 s.
    assert measured.latency == [6.0 - 2, 6.0 - 2, 7.0 - 3, 12.0 - 10, 13.0 - 11]


def test_an_idle_substream_is_left_alone_while_no_window_ends(clock: Clock) -> None:
    measured, _ = run(stream([11, 12, 13, 14], [0, 1, 0, 0]), pairs, clock)
    assert measured.service == [2.0 + 2.0, 3.0]


def test_substreams_of_a_group_share_the_row_of_a_window(clock: Clock) -> None:
    query = "RETURN COUNT(*) PATTERN A+ WHERE [g] WITHIN 10 s"
    measured, answer = run(stream([1, 2, 12], [0, 1, 1]), burst, clock, query)
    assert (measured.substreams, answer.rows) == (2, 2)
    # Done at 15 s after 2 + 2 + 1 calls, and at 22 s.
    assert measured.service == [5.0, 2.0]
    assert measured.latency == [5.0, 2.0]


def test_states_are_seen_before_windows_close(clock):
    measured, answer = run(stream([1, 2, 3, 11], [0, 0, 1, 0]), burst, clock, states=True)
    assert answer.rows == 3
    assert measured.peak.kinds == {"events": 3}
    assert measured.peak.bytes == 24 == max(measured.state_bytes)
    assert measured.state_bytes[-1] == 0


def test_states_are_seen_at_the_end_of_the_stream():
    """T-CET stores the trends of a whole stream when it ends, and not before."""
    batch = stream([time for time in range(6) for _ in range(3)], [0] * 18)
    workload = compile_workload(parse_workload("RETURN COMPLETE MATCHES PATTERN A+"), SCHEMA)
    job = job_of(workload)
    measured = replay([batch], burst(workload), [(job, Cet(detect="time").operator(job.plan))], lambda *_: None, True)
    assert measured.peak.kinds["trends"] == 3**6
    assert measured.peak.bytes == max(measured.state_bytes) > 3**6 * (12 + 4 * 6)


@pytest.mark.parametrize("states", [False, True])
def test_sliding_windows_all_close(clock, states):
    query = "RETURN g, COUNT(*) PATTERN A+ GROUP-BY g WITHIN 10 s SLIDE 5 s"
    measured, answer = run(stream([1, 7, 30], [0, 1, 0]), burst, clock, query, states)
    # The events at 1, 7 and 30 lie in one, two and two windows.
    assert answer.rows == 5
    assert len(measured.latency) == 5


def test_nothing_to_replay(clock):
    measured, answer = run(stream([], []), burst, clock)
    assert (measured.events, measured.service, measured.latency, answer.rows) == (0, [], [], 0)
