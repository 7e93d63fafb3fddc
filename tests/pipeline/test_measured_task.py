"""One worker's part of a measured cell, in this process."""

import gc
import os
import pickle
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Executor, NotEnoughMemory, Plan, StateSize
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.generators.registry import from_spec
from cepbench.metrics.memory import private
from cepbench.metrics.status import Status
from cepbench.pipeline import measured_task
from cepbench.pipeline.arrivals import OpenRate
from cepbench.pipeline.distributed import evaluate_portion
from cepbench.pipeline.fork import Clock
from cepbench.pipeline.generation import generate
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.measured_task import (
    MEMORY_RUNS,
    WHOLE_STREAM,
    MeasuredRun,
    MeasuredTask,
    Ready,
    Report,
    buckets,
    ready,
)
from cepbench.pipeline.repeated import MOST
from cepbench.pipeline.slicing import Portion
from cepbench.pipeline.store import Stream
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.workloads import parse_workload
from tests.pipeline.doubles import Counter, Counting, Unforeseen, UnforeseenCounter, real, unforeseen

QUERY = "RETURN COUNT(*) PATTERN A+ WITHIN 100 s"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    generator = from_spec("uniform", {"events": 300, "types": 1, "rate": 1})
    return generate(generator, tmp_path / "uniform", spark=None, buckets=1).path


class Here(Clock):
    """The clock of work in this process, without limits."""

    def __init__(self) -> None: ...

    def __enter__(self) -> "Here":
        return self

    def stop(self) -> None: ...

    def watch(self) -> None: ...

    def peak(self) -> int:
        return private(os.getpid())


def measured(prepared_run: Ready, bucket: int = 0, memory: bool = False) -> Report:
    """The report of a fork of times or memory, in this process."""
    return MeasuredTask(prepared_run, 60).reported(Portion(bucket), memory, Here())


def answer(prepared_run: Ready, report: Report) -> AnswerBuilder:
    assert report.rows is not None, report.reason
    builder = AnswerBuilder(prepared_run.prepared.workload)
    builder.merge(report.rows)
    return builder


def test_a_run_that_loads_a_kernel_is_done_again(store: Path) -> None:
    prepared_run = ready(MeasuredRun(store, QUERY, Counting()))
    expected = measured(prepared_run)
    assert not unforeseen.signatures  # type: ignore[attr-defined]
    report = measured(ready(MeasuredRun(store, QUERY, Unforeseen())))
    assert UnforeseenCounter.runs == 2
    assert report.status is Status.OK, report.reason
    assert answer(prepared_run, report).digest() == answer(prepared_run, expected).digest()
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
    prepared_run = ready(MeasuredRun(store, "\n\n".join((KEYED, SUMMED, QUERY, KEYED)), Counting()))
    assert [(job.partition, [query.index for query in job.workload]) for job in prepared_run.prepared.jobs] == [
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
    prepared_run = ready(MeasuredRun(stream.path, f"{KEYED}\n\n{SUMMED}\n\n{QUERY}", CountingTogether()))
    report = measured(prepared_run, WHOLE_STREAM)
    frame = answer(prepared_run, report).frame()
    # Three windows: a row per key, one that sums them up, and one of the query that does not split the stream.
    assert frame["query"].value_counts().to_dict() == {"q1": 6, "q2": 3, "q3": 3}
    assert len(report.measured.latency) == 12


def test_every_query_gets_its_own_answer(tmp_path: Path) -> None:
    generator = from_spec("uniform", {"events": 300, "types": 1, "groups": 2, "rate": 1})
    stream = generate(generator, tmp_path / "keyed", spark=None, key=("key",), buckets=2)
    prepared_run = ready(MeasuredRun(stream.path, f"{KEYED}\n\n{QUERY}", Counting()))
    report = measured(prepared_run, WHOLE_STREAM)
    frame = answer(prepared_run, report).frame()
    # The double counts events: one a second, so 100 in each window, and the same in both groups together.
    assert frame[frame["query"] == "q2"]["COUNT(*)"].tolist() == [100, 100, 100]
    assert frame[frame["query"] == "q1"].groupby("window_start")["COUNT(*)"].agg(["size", "sum"]).values.tolist() == [
        [2, 100], [2, 100], [2, 100],
    ]  # fmt: skip
    assert len(report.measured.latency) == len(frame)


def test_events_arrive_at_the_rate_of_the_job(store: Path) -> None:
    prepared_run = ready(MeasuredRun(store, QUERY, Counting(), arrival=OpenRate(rate=1000, batch=75)))
    report = measured(prepared_run)
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
def test_what_goes_wrong_is_reported(store: Path, error: BaseException, status: Status, reason: str) -> None:
    report = measured(ready(MeasuredRun(store, QUERY, Failing(error))))
    assert (report.status, report.reason, report.rows) == (status, reason, None)


def test_memory_is_that_above_what_the_worker_has_anyway(store: Path) -> None:
    report = measured(ready(MeasuredRun(store, QUERY, Counting())), memory=True)
    assert report.status is Status.OK, report.reason
    # A window has 100 events of 8 bytes; the process itself has a hundred megabytes and more.
    assert report.measured.peak.bytes == max(report.measured.state_bytes) == 800
    [peak] = report.process_peaks
    assert 0 <= peak < 30 * 10**6
    assert measured(ready(MeasuredRun(store, QUERY, Counting()))).process_peaks == []


def test_memory_in_a_fork_knows_nothing_of_timed_runs(store: Path) -> None:
    report = MeasuredTask(ready(MeasuredRun(store, QUERY, Leaking())), 60, memory=True)(Portion(0))
    assert (report.status, report.reason) == (Status.OK, "")
    assert report.memory is not None
    assert (report.memory.status, report.memory.reason) == (Status.OK, "")
    # Nothing but the first run of a process takes 200 MB, and that of the timed fork does not count for this one.
    assert not Leaking.held
    [peak] = report.memory.process_peaks
    assert 180 * 10**6 < peak < 230 * 10**6
    assert report.memory.measured.peak.bytes == 800
    assert report.process_peaks == report.measured.state_bytes == []
    assert report.began <= report.ended <= report.memory.began


def test_memory_of_short_runs_is_looked_at_again_and_again(store: Path) -> None:
    job = MeasuredRun(store, QUERY, Counting(), repeat=30.0)
    report = measured(ready(job), memory=True)
    assert report.status is Status.OK, report.reason
    assert len(report.runs) == len(report.process_peaks) == MEMORY_RUNS
    assert {run.peak.bytes for run in report.runs} == {800}
    assert answer(ready(job), report).rows == 3  # the answer of one run
    assert len(measured(ready(replace(job, repeat=1e-9)), memory=True).process_peaks) == 1


def test_memory_of_runs_that_differ_is_wrong(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Changing, "created", 0)
    job = MeasuredRun(store, QUERY, Changing(), repeat=30.0)
    assert measured(ready(job), memory=True).status is Status.WRONG


def test_runs_that_are_timed_share_one_read_of_a_small_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    read = measured_task.portion_batches

    def counted(stream: Stream, portion: Portion, attributes: frozenset[str]) -> Iterator[EventBatch]:
        reads.append(portion.bucket)
        return read(stream, portion, attributes=attributes)

    monkeypatch.setattr(measured_task, "portion_batches", counted)
    prepared_run = ready(MeasuredRun(store, QUERY, Counting(), repeat=0.5))
    once = measured(prepared_run)
    assert (len(reads), len(once.runs) >= 5, once.measured.events) == (1, True, 300)
    monkeypatch.setattr(measured_task, "KEPT_EVENTS", 299)
    again = measured(prepared_run)
    assert len(reads) > len(again.runs)
    assert answer(prepared_run, again).digest() == answer(prepared_run, once).digest()


class _LeakingCounter(Counter):
    def process(self, events: EventBatch) -> Rows:
        if real(events) and not Leaking.held:
            Leaking.held.append(np.ones(25_000_000))
        return super().process(events)


class Leaking(Counting):
    """Takes 200 MB in the first run of a process, and keeps it."""

    held: ClassVar[list[NDArray[np.float64]]] = []

    def executor(self, plan: Plan) -> Executor:
        return _LeakingCounter(plan)


class Changing(Counting):
    """Counts one more in every executor after the first of the cell."""

    name: ClassVar[str] = "changing"
    created: ClassVar[int] = 0

    def executor(self, plan: Plan) -> Executor:
        type(self).created += 1
        return Counter(plan, type(self).created // 4)


def test_short_runs_are_repeated_on_fresh_executors(store: Path) -> None:
    job = MeasuredRun(store, QUERY, Counting(), repeat=0.5)
    prepared_run = ready(job)
    report = measured(prepared_run)
    assert report.status is Status.OK, report.reason
    assert 5 <= len(report.runs) <= MOST
    assert {len(run.service) for run in report.runs} == {3}
    assert {run.events for run in report.runs} == {300}
    assert answer(prepared_run, report).rows == 3  # the answer of one run
    assert [len(run.latency) for run in report.runs] == [3] * len(report.runs)
    assert len(measured(ready(replace(job, repeat=0))).runs) == 1


def test_nothing_is_collected_while_a_plan_is_timed(store: Path) -> None:
    collecting: list[bool] = []

    class Watching(Counting):
        def plan(self, workload: Workload, statistics: Statistics) -> Plan:
            collecting.append(gc.isenabled())
            return super().plan(workload, statistics)

    ready(MeasuredRun(store, QUERY, Watching(), repeat=1))
    assert len(collecting) > 1
    assert not any(collecting)
    assert gc.isenabled()


def test_repeated_runs_must_agree(store: Path) -> None:
    report = measured(ready(MeasuredRun(store, QUERY, Changing(), repeat=0.5)))
    assert (report.status, report.rows) == (Status.WRONG, None)
    assert report.reason == "two runs on the same events gave different answers"


class Lazy(Counting):
    """A tenth of a second per executor."""

    name: ClassVar[str] = "lazy"

    def executor(self, plan: Plan) -> Executor:
        return LazyCounter(plan)


class LazyCounter(Counter):
    def finish(self) -> Rows:
        time.sleep(0.1)
        return super().finish()


def test_the_floor_is_the_time_of_the_algorithm_on_one_event_per_window(store: Path) -> None:
    report = measured(ready(MeasuredRun(store, QUERY, Lazy())))
    assert report.floor is not None
    assert 0.1 < report.floor <= 1.1 * sum(report.measured.service)  # as many executors
    assert report.load is not None
    assert measured(ready(MeasuredRun(store, QUERY, Counting())), memory=True).floor is None


def test_strings_travel_neither_with_tasks_nor_with_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame({"time": range(2000), "type": "A", "s": [f"only-once-{i}" for i in range(2000)]})
    stream, _ = import_events(frame, tmp_path / "store", spark=None)
    prepared_run = ready(MeasuredRun(stream.path, QUERY, Counting()))
    assert b"only-once" in pickle.dumps(MeasuredTask(prepared_run, 60))
    assert b"only-once" not in pickle.dumps(measured(prepared_run))
    task = partial(evaluate_portion, prepared_run.prepared, (stream,))
    assert b"only-once" in pickle.dumps(task)
    assert b"only-once" not in pickle.dumps(task((0, Portion(0))))
