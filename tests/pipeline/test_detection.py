"""Queries with `WITHIN ... PER MATCH` in the loop and on the clock: calls of sub-streams, and when rows were due."""

from collections import Counter as Counts

import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import IdleExecutor, PerKey
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.pipeline import replay as replaying
from cepbench.pipeline.arrivals import Burst, OpenRate
from cepbench.pipeline.jobs import Job, prepare
from cepbench.pipeline.loop import Loop, into
from cepbench.pipeline.measured_task import burst_of
from cepbench.pipeline.replay import replay
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.contract.streams import batch
from tests.streams import stream

PROMPT = "PATTERN SEQ(A, B) GROUP-BY g WITHIN 3 s PER MATCH"
WAITING = "PATTERN SEQ(A, B, NOT N) GROUP-BY g WITHIN 3 s PER MATCH"


def job_of(text: str, events: EventBatch, *, summarised: bool = False) -> Job:
    [job] = prepare(
        [parse_query(text)], make("sase"), events.schema, "modular", Statistics(), summarised=summarised
    ).jobs
    return job


def calls(text: str, events: EventBatch) -> dict[str, int]:
    """How often the executor of each sub-stream is called with every event as a batch, and the answer's rows."""
    job, counted = job_of(text, events), Counts[str]()
    answer = AnswerBuilder(job.workload)
    names = list(dict.fromkeys(events.schema.strings[code] for code in events.columns["g"].tolist()))
    created: list[str] = []

    class Counting(IdleExecutor):
        """The executor of the next sub-stream, whose calls are counted."""

        def __init__(self) -> None:
            self.name, self.inner = names[len(created)], OneKey(make("sase").operator(job.plan))
            created.append(self.name)

        def process(self, events: EventBatch) -> Rows:
            counted[self.name] += 1
            rows = self.inner.process(events)
            counted["rows"] += sum(map(len, rows.values()))
            return rows

    loop = Loop(job, PerKey(Counting, job.workload))
    for n in range(len(events)):
        until = int(events.time[n + 1]) if n + 1 < len(events) else None
        loop.process(events.slice(n, n + 1, until), into(answer))
    assert answer.rows == counted["rows"]
    return dict(counted)


def test_idle_substreams_are_called_only_where_matches_wait() -> None:
    events = batch(stream("A1@u B2@u A3@v A4@v A5@v A6@v A9@v"))
    assert calls(PROMPT, events) == {"u": 2, "v": 5, "rows": 1}
    # While a span from its last event may be open, that is up to 5, u hears of the time: that it is 4, 5, and 6.
    assert calls(WAITING, events) == {"u": 2 + 3, "v": 5, "rows": 1}


class Clock:
    """Every call takes half a second."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter_ns(self) -> int:
        self.now += 5 * 10**8
        return self.now


@pytest.mark.parametrize("summarised", [False, True])
@pytest.mark.parametrize(
    ("text", "latency"),
    [
        (PROMPT, [0.5, 0.5]),
        # Spans end at 4 and at 6, and are known to have ended with the events at 6 and at 7, one arrival later.
        (WAITING, [1.5, 1.5]),
    ],
)
def test_a_match_is_due_when_it_can_be_decided(
    monkeypatch: pytest.MonkeyPatch, text: str, latency: list[float], summarised: bool
) -> None:
    """One event arrives per second."""
    events = batch(stream("A1@u B2@u A3@u B6@u A7@u A8@u"))
    monkeypatch.setattr(replaying, "time", Clock())
    job = job_of(text, events, summarised=summarised)
    measured = replay([events], OpenRate(1.0, 1), [(job, make("sase").operator(job.plan))], lambda *_: None)
    assert measured.latency == latency


def test_bursts_are_as_long_as_the_span() -> None:
    events = batch(stream("A1@u B2@u B9@u"))
    job = job_of(PROMPT, events)
    assert job.workload.queries[0].window == Window(4, 1)
    arrival = burst_of(job.workload)
    assert isinstance(arrival, Burst)
    assert [int(step.events.watermark or -1) for step in arrival.steps([events])] == [4, 8, 12, 16]
