"""One worker's part of a measured cell, in this process."""

from dataclasses import replace
from pathlib import Path

import pytest

from cepbench.algorithms.base import Executor, NotEnoughMemory, Plan, StateSize
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.generators.registry import from_spec
from cepbench.metrics.record import Status
from cepbench.pipeline.generation import generate
from cepbench.pipeline.measured_task import WHOLE_STREAM, MeasuredRun, MeasuredTask, OpenArrival, buckets, ready
from cepbench.pipeline.store import Stream
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.workloads import parse_workload
from tests.pipeline.doubles import Counter, Counting, Unforeseen, UnforeseenCounter, unforeseen

QUERY = "RETURN COUNT(*) PATTERN A+ WITHIN 100 s"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    generator = from_spec("uniform", {"events": 300, "types": 1, "rate": 1})
    return generate(generator, tmp_path / "uniform", spark=None, buckets=1).path


def test_a_run_that_loads_a_kernel_is_done_again(store: Path) -> None:
    expected = MeasuredTask(ready(MeasuredRun(store, QUERY, Counting())))(0)
    assert not unforeseen.signatures  # type: ignore[attr-defined]
    report = MeasuredTask(ready(MeasuredRun(store, QUERY, Unforeseen())))(0)
    assert UnforeseenCounter.runs == 2
    assert report.status is Status.OK, report.reason
    assert report.answer is not None
    assert expected.answer is not None
    assert report.answer.digest() == expected.answer.digest()
    assert len(report.measured.service) == len(expected.measured.service) == 3


def compiled(stream: Stream, *queries: str) -> Workload:
    return compile_workload(parse_workload("\n\n".join(queries)), stream.schema)


KEYED = "RETURN key, COUNT(*) PATTERN A+ GROUP-BY key WITHIN 100 s"
SUMMED = "RETURN COUNT(*) PATTERN A+ WHERE [key] WITHIN 100 s"
BOTH = "RETURN key, COUNT(*) PATTERN A+ WHERE [value] GROUP-BY key WITHIN 100 s"


def test_a_worker_takes_a_bucket_only_if_it_holds_the_substreams_of_every_query(tmp_path: Path) -> None:
    generator = from_spec("uniform", {"events": 300, "types": 1, "groups": 2, "rate": 1})
    stream = generate(generator, tmp_path / "keyed", spark=None, key=("key",), buckets=8)
    filled = [bucket for bucket, events in enumerate(stream.bucket_events) if events]
    assert 1 <= len(filled) <= 2
    largest_first = sorted(filled, key=lambda bucket: -stream.bucket_events[bucket])
    assert buckets(stream, compiled(stream, KEYED, BOTH)) == largest_first
    assert buckets(stream, compiled(stream, KEYED, QUERY)) == [WHOLE_STREAM]
    assert buckets(stream, compiled(stream, QUERY)) == [WHOLE_STREAM]
    finer = generate(generator, tmp_path / "finer", spark=None, key=("key", "value"), buckets=8)
    assert buckets(finer, compiled(finer, KEYED)) == [WHOLE_STREAM]


def test_queries_that_split_alike_are_run_together_whatever_they_group_by(store: Path) -> None:
    made = ready(MeasuredRun(store, "\n\n".join((KEYED, SUMMED, QUERY, KEYED)), Counting()))
    assert [(job.partition, [query.index for query in job.workload]) for job in made.prepared.jobs] == [
        (("key",), [0, 1, 3]),
        ((), [2]),
    ]


class Several(Executor):
    """A counter per query."""

    def __init__(self, plan: Plan) -> None:
        workload = plan.workload
        self.counters = [Counter(Plan(replace(workload, queries=(query,)))) for query in workload]

    def process(self, events: EventBatch) -> Rows:
        return {number: rows for counter in self.counters for number, rows in counter.process(events).items()}

    def finish(self) -> Rows:
        return {number: rows for counter in self.counters for number, rows in counter.finish().items()}

    def state(self) -> StateSize:
        return StateSize()


class CountingTogether(Counting):
    def executor(self, plan: Plan) -> Executor:
        return Several(plan)


def test_rows_of_a_window_are_those_of_each_query_and_group(tmp_path: Path) -> None:
    generator = from_spec("uniform", {"events": 300, "types": 1, "groups": 2, "rate": 1})
    stream = generate(generator, tmp_path / "keyed", spark=None, key=("key",), buckets=2)
    report = MeasuredTask(ready(MeasuredRun(stream.path, f"{KEYED}\n\n{SUMMED}\n\n{QUERY}", CountingTogether())))(
        WHOLE_STREAM
    )
    assert report.answer is not None, report.reason
    found = report.answer.frame()
    # Three windows: a row per key, one that sums them up, and one of the query that does not split the stream.
    assert found["query"].value_counts().to_dict() == {"q1": 6, "q2": 3, "q3": 3}
    assert len(report.measured.latency) == 12


def test_every_query_gets_its_own_answer(tmp_path: Path) -> None:
    generator = from_spec("uniform", {"events": 300, "types": 1, "groups": 2, "rate": 1})
    stream = generate(generator, tmp_path / "keyed", spark=None, key=("key",), buckets=2)
    report = MeasuredTask(ready(MeasuredRun(stream.path, f"{KEYED}\n\n{QUERY}", Counting())))(WHOLE_STREAM)
    assert report.answer is not None, report.reason
    found = report.answer.frame()
    # The double counts events: one a second, so 100 in each window, and the same in both groups together.
    assert found[found["query"] == "q2"]["COUNT(*)"].tolist() == [100, 100, 100]
    assert found[found["query"] == "q1"].groupby("window_start")["COUNT(*)"].agg(["size", "sum"]).values.tolist() == [
        [2, 100], [2, 100], [2, 100],
    ]  # fmt: skip
    assert len(report.measured.latency) == len(found)


def test_events_arrive_at_the_rate_of_the_job(store: Path) -> None:
    report = MeasuredTask(ready(MeasuredRun(store, QUERY, Counting(), arrival=OpenArrival(rate=1000, batch=75))))(0)
    assert report.measured.last == [74, 149, 224, 299]


class Failing(Counting):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def executor(self, plan: Plan) -> Executor:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (MemoryError(), Status.OUT_OF_MEMORY, "the worker's memory limit"),
        (MemoryError("80 GB\nare too much"), Status.OUT_OF_MEMORY, "80 GB"),
        (NotEnoughMemory("it would need 5 MB"), Status.OUT_OF_MEMORY, "it would need 5 MB"),
        (CepbenchError("no such thing"), Status.ERROR, "no such thing"),
        (ZeroDivisionError("one by nothing"), Status.ERROR, "ZeroDivisionError: one by nothing"),
        (KeyError(), Status.ERROR, "KeyError"),
    ],
)
def test_what_goes_wrong_is_told(store: Path, error: BaseException, status: Status, reason: str) -> None:
    report = MeasuredTask(ready(MeasuredRun(store, QUERY, Failing(error))))(0)
    assert (report.status, report.reason, report.answer) == (status, reason, None)


def test_memory_is_that_above_what_the_worker_has_anyway(store: Path) -> None:
    report = MeasuredTask(ready(MeasuredRun(store, QUERY, Counting(), memory=True)))(0)
    assert report.status is Status.OK, report.reason
    # A window has 100 events of 8 bytes; the process itself has a hundred megabytes and more.
    assert report.measured.peak.bytes == max(report.measured.state_bytes) == 800
    assert report.process_peak is not None
    assert report.process_peak < 30 * 10**6
    assert MeasuredTask(ready(MeasuredRun(store, QUERY, Counting())))(0).process_peak is None
