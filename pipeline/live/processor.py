"""Processes a batch of files or messages: orders its events, divides them over buckets, and writes rows to the sink.

The state and the rows after a batch depend only on the state before it and on the content of the batch. A batch that
was interrupted runs again on the same content. Nothing is undone: the second run overwrites the files of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from cepbench.algorithms.answers.builder import AnswerBuilder, Parts
from cepbench.events.batch import EventBatch
from cepbench.events.files import FileLayout
from cepbench.events.schema import Schema
from cepbench.pipeline.hashing import bucket_of
from cepbench.pipeline.jobs import Prepared
from cepbench.pipeline.live.sink import Sink
from cepbench.pipeline.live.source import Piece, no_events, read
from cepbench.pipeline.live.state import END, Checkpoint, UnusableCheckpoint, batch_name
from cepbench.pipeline.loop import Keys
from cepbench.pipeline.store import joined
from cepbench.pipeline.tasks import run_tasks

INTAKE = "intake"


@dataclass(frozen=True)
class Totals:
    """Counts of a stream so far: events that arrived (late ones included), late events, rows, and batches."""

    events: int = 0
    late: int = 0
    rows: int = 0
    batches: int = 0


@dataclass(frozen=True, eq=False)
class Intake:
    """Turns events in the order of arrival into a stream in the order of time.

    It is the state after the events so far: the strings that occurred, and the events that wait for the watermark.

    The watermark is the largest time so far, less `delay`. An event that is older than the watermark was when it
    arrived is late, and left out. All others leave in the order of time (of arrival for equal times), as soon
    as the watermark reaches them. So the events that leave depend only on the order of arrival, not on batches.

    - `waiting`: events in the order in which they leave.
    - `largest`: the largest time, 0 before the first event.
    - `arrived`, `late`, `left`: numbers of events.
    """

    delay: int
    waiting: EventBatch
    largest: int = 0
    arrived: int = 0
    late: int = 0
    left: int = 0

    @property
    def schema(self) -> Schema:
        """The schema, with all strings so far."""
        return self.waiting.schema

    @property
    def watermark(self) -> int:
        """The watermark, at least 0: no event that leaves later is older."""
        return max(0, self.largest - self.delay)

    def take(self, events: EventBatch) -> tuple[Intake, EventBatch, NDArray[np.int64]]:
        """Takes events in the order of arrival; returns the new state, the leaving events, and indices of late ones."""
        before = np.maximum.accumulate(np.append(self.largest, events.time))
        late = events.time < before[:-1] - self.delay
        kept = events.take(np.flatnonzero(~late)) if late.any() else events
        pool = joined([self.waiting, kept], events.schema)
        pool = pool.take(np.argsort(pool.time, kind="stable"))
        largest = int(before[-1])
        leaving = int(np.searchsorted(pool.time, largest - self.delay, side="right"))
        after = replace(
            self,
            waiting=pool.slice(leaving, len(pool)),
            largest=largest,
            arrived=self.arrived + len(events),
            late=self.late + int(late.sum()),
            left=self.left + leaving,
        )
        return after, self._numbered(pool.slice(0, leaving, after.watermark)), np.flatnonzero(late)

    def close(self) -> tuple[Intake, EventBatch]:
        """Ends the stream: returns the new state, and the events that waited."""
        nothing = self.waiting.slice(0, 0)
        return replace(self, waiting=nothing, left=self.left + len(self.waiting)), self._numbered(self.waiting)

    def _numbered(self, events: EventBatch) -> EventBatch:
        """Leaving events with their positions in the stream."""
        return replace(events, position=np.arange(self.left, self.left + len(events), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class _Share:
    """The events of a batch whose keys are in bucket `bucket` of job number `job`. With `last`, the stream ends."""

    job: int
    bucket: int
    events: EventBatch
    last: bool


@dataclass
class Processor:
    """Runs batches in order, and the end of the stream. All rows of a window of a group are written in one batch.

    - `buckets`: the number of buckets of each job that splits the stream by keys; other jobs have one.
    - `delay`: the difference of the largest time and the watermark, in the stream's unit.
    - `late`: the sink for the list of late events.
    - `spark`: if None, tasks run in this process.
    """

    prepared: Prepared
    layout: FileLayout
    checkpoint: Checkpoint
    sink: Sink
    late: Sink
    buckets: int
    delay: int
    spark: SparkSession | None = None
    _known: tuple[int, Intake, Totals] | None = None

    def run(self, batch: int, pieces: Sequence[Piece]) -> Totals:
        """Runs batch number `batch` (from 0), with `pieces` in the order of arrival. Raises `CepbenchError`."""
        before, intake, totals = self._before(batch)
        arrived = read(pieces, self.layout, self.prepared.workload, intake.schema)
        intake, leaving, late = intake.take(
            joined(arrived, arrived[0].schema) if arrived else intake.waiting.slice(0, 0)
        )
        name = batch_name(batch)
        rows = self._rows(before, name, leaving)
        if len(late):
            self.late.put(name, late_rows(pieces, arrived, late))
        totals = Totals(intake.arrived, intake.late, totals.rows + rows, batch + 1)
        self.checkpoint.save(name, INTAKE, (intake, totals))
        self.checkpoint.forget(batch)
        self._known = batch, intake, totals
        return totals

    def finish(self) -> Totals:
        """Ends the stream after its last finished batch: all open windows get their rows."""
        self.checkpoint.begin_end()
        latest = self.checkpoint.latest()
        before, intake, totals = self._before(0 if latest is None else latest + 1)
        intake, leaving = intake.close()
        rows = self._rows(before, END, leaving, last=True)
        totals = Totals(intake.arrived, intake.late, totals.rows + rows, totals.batches)
        self.checkpoint.save(END, INTAKE, (intake, totals))
        return totals

    @property
    def waiting(self) -> int:
        """Events that wait for the watermark, after the last batch of this process."""
        return 0 if self._known is None else len(self._known[1].waiting)

    def totals(self) -> Totals:
        """The counts up to the last finished batch, or to the end of the stream."""
        if self.checkpoint.ended:
            totals: Totals = self.checkpoint.load(END, INTAKE)[1]
            return totals
        latest = self.checkpoint.latest()
        return self._before(0 if latest is None else latest + 1)[2]

    def _before(self, batch: int) -> tuple[str | None, Intake, Totals]:
        """The state before a batch: its name (None before the first batch), the intake and the totals."""
        if self._known is not None and self._known[0] == batch - 1:
            return batch_name(batch - 1), *self._known[1:]
        latest = self.checkpoint.latest()
        if batch not in ((0,) if latest is None else (latest, latest + 1)):
            raise UnusableCheckpoint(
                f"{self.checkpoint.path}: Spark is at batch {batch}, but the state is that after batch {latest}; "
                "the checkpoint is damaged"
            )
        if batch == 0:
            return None, Intake(self.delay, no_events(self.prepared.workload)), Totals()
        name = batch_name(batch - 1)
        return name, *self.checkpoint.load(name, INTAKE)

    def _rows(self, before: str | None, batch: str, events: EventBatch, last: bool = False) -> int:
        """Runs the tasks of all buckets on `events` and writes their rows; returns the number of rows."""
        task = partial(_evaluate, self.prepared, self.checkpoint, before, batch)
        answer = AnswerBuilder(self.prepared.workload)
        for parts in run_tasks(self.spark, task, list(self._shares(events, last))):
            answer.merge(parts)
        rows: pa.Table = answer.table()
        if rows.num_rows:
            self.sink.put(batch, rows)
        return int(rows.num_rows)

    def _shares(self, events: EventBatch, last: bool) -> Iterator[_Share]:
        """A share of every bucket, even without events: the watermark closes the windows of idle keys."""
        for number, job in enumerate(self.prepared.jobs):
            wanted = job.attributes
            columns = {name: column for name, column in events.columns.items() if name in wanted}
            narrow = EventBatch(events.schema, events.time, events.type, columns, events.position, events.watermark)
            buckets = self.buckets if job.partition else 1
            place = bucket_of(narrow, job.partition, buckets)
            for bucket in range(buckets):
                mine = narrow.take(np.flatnonzero(place == bucket)) if buckets > 1 else narrow
                yield _Share(number, bucket, mine, last)


def _evaluate(prepared: Prepared, checkpoint: Checkpoint, before: str | None, batch: str, share: _Share) -> Parts:
    """Evaluates a share of `batch`, from the state after batch `before` (None: a new stream); returns the rows.

    Repeated calls, in any process, give the same state and the same rows.
    """
    job, name = prepared.jobs[share.job], f"{share.job}-{share.bucket}"
    operator, keys = (
        (prepared.algorithm.operator(job.plan), Keys(job.partition))
        if before is None
        else checkpoint.load(before, name)
    )
    answer = AnswerBuilder(prepared.workload)
    if len(share.events) or not share.last:
        answer.add_rows(keys.decoded, operator.process(keys.batch(share.events)))
    if share.last:
        answer.add_rows(keys.decoded, operator.finish())
    else:
        checkpoint.save(batch, name, (operator, keys))
    return answer.packed()


def late_rows(pieces: Sequence[Piece], arrived: Sequence[EventBatch], late: NDArray[np.int64]) -> pa.Table:
    """Late events as a table of `file`, `row`, `time` and `type`; `late` has their indices in `arrived` together."""
    piece = np.searchsorted(np.cumsum([0, *map(len, arrived)]), late, side="right") - 1
    rows = np.concatenate([batch.position for batch in arrived])[late]
    places = [pieces[number].place(row) for number, row in zip(piece.tolist(), rows.tolist(), strict=True)]
    time = np.concatenate([batch.time for batch in arrived])[late]
    types = np.concatenate([batch.type for batch in arrived])[late]
    return pa.table(
        {
            "file": [file for file, _ in places],
            "row": [row for _, row in places],
            "time": time,
            "type": [arrived[0].schema.types[code] for code in types.tolist()],
        }
    )
