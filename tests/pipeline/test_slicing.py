"""Slices of time: the cuts of a bucket, the events that each slice reads, and answers that do not depend on slices."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import cepbench
from cepbench.algorithms.registry import make
from cepbench.events.windows import END
from cepbench.generators.registry import from_spec
from cepbench.metrics.status import Status
from cepbench.pipeline.distributed import evaluate_on_spark
from cepbench.pipeline.generation import generate
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.measured_task import MeasuredRun, MeasuredTask, Report, portions_of, ready
from cepbench.pipeline.outcome import Outcome, outcome_of
from cepbench.pipeline.slicing import Portion, portion_batches, time_slices
from cepbench.pipeline.store import Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BY_TIME = "cogra[parallel=time, slices=5]"
WORKLOAD = """
long: RETURN COUNT(*), SUM(A.value), AVG(B.score) PATTERN SEQ(A+, B) WHERE A.value > 95 WITHIN 900 s SLIDE 100 s

short: RETURN key, COUNT(*), MAX(A.value) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 20 s SLIDE 7 s

both: RETURN COUNT(*) PATTERN SEQ(A, B) AND SEQ(A, C) WITHIN 300 s
"""


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Stream:
    generator = from_spec("uniform", {"events": 3000, "groups": 3, "tie_probability": 0.5})
    return generate(generator, tmp_path_factory.mktemp("stores") / "keyed", spark=None, key=("key",), buckets=2)


def test_slices_have_equal_shares_and_whole_time_stamps(keyed: Stream) -> None:
    slices = time_slices(keyed, 0, 4)
    assert [part.begin for part in slices[1:]] == [part.end for part in slices[:-1]]
    assert (slices[0].begin, slices[-1].end) == (0, END)
    read = [list(portion_batches(keyed, Portion(0, part), rows=100)) for part in slices]
    sizes = [sum(map(len, batches)) for batches in read]
    assert sum(sizes) == keyed.bucket_events[0]
    assert max(sizes) - min(sizes) < 20
    times = [np.concatenate([batch.time for batch in batches]) for batches in read]
    assert all(left[-1] < right[0] for left, right in pairwise(times))
    everything = np.concatenate([batch.position for batches in read for batch in batches])
    whole = [batch.position for batch in portion_batches(keyed, Portion(0))]
    assert everything.tolist() == np.concatenate(whole).tolist()


@pytest.mark.parametrize("times", [[], [5, 5, 5, 5], [0, 0, 0, 7], [3]])
def test_time_stamps_are_not_cut(tmp_path: Path, times: Sequence[int]) -> None:
    frame = pd.DataFrame({"time": pd.Series(times, dtype="int64"), "type": ["A"] * len(times)})
    stream, _ = import_events(frame, tmp_path / "store", spark=None)
    slices = time_slices(stream, 0, 8)
    assert [part.begin for part in slices] == sorted({0, *(time for time in times if time > min(times))})


def reported(store: Path, workload: str, algorithm: str, **settings: object) -> tuple[list[Report], Outcome]:
    prepared_run = ready(MeasuredRun(store, workload, make(algorithm), **settings))  # type: ignore[arg-type]
    reports = [
        MeasuredTask(prepared_run, 60, memory=prepared_run.job.memory)(portion) for portion in portions_of(prepared_run)
    ]
    assert {report.status for report in reports} == {Status.OK}, [report.reason for report in reports]
    return reports, outcome_of(prepared_run, reports, 2)


def test_measured_slices_give_the_answer_and_report_what_joining_took(keyed: Stream) -> None:
    workload = "q: RETURN key, COUNT(*), SUM(A.value) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 900 s SLIDE 300 s"
    _, whole = reported(keyed.path, workload, "cogra")
    reports, outcome = reported(keyed.path, workload, BY_TIME, repeat=0.2)
    assert len(reports) == 10
    assert outcome.digest == whole.digest
    assert outcome.realised.substreams == whole.realised.substreams == 3
    summary = outcome.summary
    seconds = summary.details["join_seconds"]
    assert 0 < seconds < summary.makespan <= summary.service_total * 1.0001
    assert summary.throughput == pytest.approx(3000 / summary.makespan, rel=0.5)
    assert summary.latency_max is None
    assert not outcome.samples.latency
    assert whole.summary.latency_max > 0


@pytest.mark.full
def test_memory_of_slices(keyed: Stream) -> None:
    workload = "q: RETURN key, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 900 s SLIDE 300 s"
    _, outcome = reported(keyed.path, workload, BY_TIME, memory=True)
    assert outcome.summary.state_peak > 0


@pytest.mark.spark
@pytest.mark.parametrize("algorithm", [BY_TIME, "cogra[parallel=time, slices=1]"])
def test_slices_on_spark_and_one_process_agree(keyed: Stream, spark: "SparkSession", algorithm: str) -> None:
    local = cepbench.evaluate(WORKLOAD, keyed.path, "cogra")
    assert set(local["query"]) == {"long", "short", "both"}
    distributed = evaluate_on_spark(WORKLOAD, keyed.path, algorithm, master="local[2]")
    pd.testing.assert_frame_equal(distributed, local, rtol=1e-9)
    pd.testing.assert_frame_equal(cepbench.evaluate(WORKLOAD, keyed.path, algorithm), local, rtol=1e-9)


def test_joining_is_part_of_the_makespan(keyed: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes on by a second at each look at it."""
    workload = "q: RETURN key, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 900 s SLIDE 300 s"
    prepared_run = ready(MeasuredRun(keyed.path, workload, make(BY_TIME)))
    reports = [MeasuredTask(prepared_run, 60)(portion) for portion in portions_of(prepared_run)]
    with monkeypatch.context() as patched:
        patched.setattr("cepbench.pipeline.outcome.time.perf_counter", iter(range(100)).__next__)
        summary = outcome_of(prepared_run, reports, len(reports)).summary
    longest = max(sum(report.measured.service) for report in reports)
    assert summary.details["join_seconds"] == 1
    assert summary.makespan == pytest.approx(1 + longest)
