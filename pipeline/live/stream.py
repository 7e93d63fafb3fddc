"""Queries on a live stream, on Spark's Structured Streaming.

Spark divides the input into numbered batches, and logs the content of each batch: its files, or the offsets of its
messages. A batch that did not finish runs again on the same content. Its state and its rows are named by its number
(`state`, `sink`), so a repeated batch replaces them. So every row is written once, even if processes are killed.
"""

import pickle
import re
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from cepbench.algorithms.base import UnsupportedQuery
from cepbench.events.errors import CepbenchError, InputError
from cepbench.events.files import FileLayout
from cepbench.events.reading import Reading, reading_of
from cepbench.events.statistics import Statistics
from cepbench.events.units import NANOSECONDS, in_units
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.jobs import Prepared, parse_supported, prepare
from cepbench.pipeline.live.broker import topic_of
from cepbench.pipeline.live.dashboard import Batch, Dashboard
from cepbench.pipeline.live.folder import FolderSource
from cepbench.pipeline.live.kafka import KafkaSource
from cepbench.pipeline.live.processor import Processor, Totals
from cepbench.pipeline.live.sink import Folder, sink_of
from cepbench.pipeline.live.source import Piece, Source, layout_from, schema_of
from cepbench.pipeline.live.state import Checkpoint, batch_name, read_description
from cepbench.pipeline.session import session
from cepbench.pipeline.tasks import default_buckets, failure
from cepbench.queries.model import Aggregates

LOG_BATCHES = 10
"""Number of batches that Spark keeps in its log."""
POLL_SECONDS = 0.1
LONGEST = 1 << 61
"""Maximum delay of the watermark, so that sums of it and a time fit into 64 bits."""


def stream(
    workload_text: str,
    algorithm: str,
    source: str,
    sink: str,
    checkpoint: str | Path,
    watermark: str = "0s",
    *,
    late: str | Path | None = None,
    until_idle: float | None = None,
    trigger: str | None = None,
    arithmetic: str = "modular",
    reading: Reading | str = "s",
    master: SparkCluster | str | None = None,
    dashboard: int | None = None,
    notify: Callable[[str], None] = warnings.warn,
    progress: Callable[[Totals], None] = lambda totals: None,
) -> Totals:
    """Evaluate queries on a live stream until it is interrupted; rows are written when their windows end.

    With the same checkpoint, it resumes where it stopped. All rows together are those that `evaluate` returns for the
    events that were not late, each written once (docs/live.md).

    Parameters
    ----------
    workload_text
        The text of one or many queries.
    algorithm
        A name, optionally with parameters, such as `cogra` or `hamlet[sharing=static]`.
    source
        `folder:PATH`, into which complete CSV or Parquet files are moved, and where they stay; or
        `kafka:BROKER/TOPIC`, whose messages are JSON objects with the columns of an event.
    sink
        `folder:PATH` for a Parquet file per batch with rows, `kafka:BROKER/TOPIC` for a JSON message per row, or
        `console` for CSV on stdout.
    checkpoint
        Folder for the state. Anyone who can write to it can run code as you.
    watermark
        How much older than the newest event an event may be when it arrives, such as `500ms` or `10 s`. Older events
        are late and left out.
    late
        Folder that lists late events; by default `late` in the checkpoint.
    until_idle
        Seconds without input after which the stream ends, with the rows of windows that are still open.
    trigger
        Minimum time between the starts of two batches, such as `1s`; by default a batch starts when there is input.
    arithmetic, reading, notify
        As in `evaluate`.
    master
        Spark master or cluster; by default all cores of this machine.
    dashboard
        A port of this machine for a page that shows the stream; 0 selects a free one.
    progress
        Called after each batch with the totals so far.

    Returns
    -------
    Totals
        Numbers of events (late ones included), late events, rows and batches, over all starts.

    Raises
    ------
    CepbenchError
        With a message of one line, if an argument cannot be used, or the checkpoint is damaged or of another stream.

    Examples
    --------
    >>> from cepbench import stream
    >>> query = "RETURN key, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 1 min"
    >>> stream(query, "cogra", "folder:in", "folder:rows", "checkpoint", "10s")  # doctest: +SKIP
    """
    queries, system = parse_supported(workload_text, algorithm)
    cluster = master if isinstance(master, SparkCluster) else SparkCluster(master)
    origin, target = source_of(source, cluster.settings), sink_of(sink, cluster.settings)
    place, reading = Path(checkpoint).resolve(), reading_of(reading)
    if reading.where is not None or reading.distinct:
        raise InputError("where, distinct: a stream has all events of its source; filter events before they reach it")
    delay = delay_of(watermark, reading.unit)
    interval = None if trigger is None else delay_of(trigger, "ms", "trigger")
    store = Checkpoint(place, {})
    with store.locked():
        kept = read_description(place)
        layout = _layout(origin, reading, until_idle) if kept is None else layout_from(kept, reading)
        prepared = prepare(queries, system, schema_of(queries, layout), arithmetic, Statistics())
        check_live(prepared)
        spark = session(cluster)
        buckets = kept["buckets"] if kept else max(default_buckets(spark, job.partition) for job in prepared.jobs)
        description = {
            "version": version("cepbench"),
            "algorithm": algorithm,
            "queries": workload_text.strip(),
            "arithmetic": arithmetic,
            "source": str(origin),
            "sink": str(target),
            "watermark": delay,
            "reading": asdict(reading),
            "attributes": {name: kind.value for name, kind in layout.kinds.items()},
            "whole times": layout.whole_times,
            "zone": layout.zone,
            "buckets": buckets,
        }
        store = Checkpoint(place, description)
        aside = Folder(Path(late) if late is not None else place / "late", "late")
        if kept is None:
            target.check_new()
            aside.check_new()
        store.begin()
        for notice in (*layout.notices, *_notices(prepared)):
            notify(notice)
        facts = {"Queries": workload_text.strip(), "Algorithm": algorithm, "Source": str(origin), "Sink": str(target)}
        page = None if dashboard is None else Dashboard(target, {**facts, "Watermark": watermark})
        processor = Processor(prepared, layout, store, page or target, aside, buckets, delay, spark)
        if store.ended:
            notify(f"{place}: this stream has ended, and nothing was read; another one needs another checkpoint")
            return processor.totals()
        if store.ending:  # it was killed at its end
            return processor.finish()
        run = _Run(processor, origin, spark, until_idle, interval, progress, page)
        if page is None or dashboard is None:
            return run.until_the_end()
        with page.served(dashboard) as address:
            notify(f"the stream is shown at {address}")
            return run.until_the_end()


def source_of(text: str, settings: Mapping[str, str]) -> Source:
    """The source of `folder:PATH` or `kafka:BROKER/TOPIC`; `settings` are those of Spark. Raises `CepbenchError`."""
    kind, colon, place = text.partition(":")
    if kind == "folder" and colon and place:
        return FolderSource(place)
    if kind == "kafka" and colon and place:
        return KafkaSource(topic_of(text, settings), settings)
    raise InputError(f"unknown source {text!r}; choose folder:PATH or kafka:BROKER/TOPIC")


def delay_of(text: str, unit: str, option: str = "watermark") -> int:
    """A length of time, such as `10s`, in `unit`. Raises `InputError`, which names the `option`."""
    duration = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,9})?)\s*([a-z]+)\s*", text)
    if duration is None or duration[2] not in NANOSECONDS:
        raise InputError(f"{option} {text!r}: expected a length such as 10s, in {', '.join(NANOSECONDS)}")
    delay = in_units(Fraction(duration[1]), duration[2], unit, option)
    if delay > LONGEST:
        raise InputError(f"{option} {text!r}: at most {LONGEST} of {unit!r}")
    return delay


def check_live(prepared: Prepared) -> None:
    """Raises `UnsupportedQuery` with the reason if queries or algorithm cannot run on a live stream."""
    for job in prepared.jobs:
        for query in job.workload:
            counts = query.window is not None and query.window.counts_events and not query.detects
            if (
                counts
                and isinstance(query.query.returns, Aggregates)
                and len(query.query.group_by) < len(query.partition)
            ):
                raise UnsupportedQuery(
                    f"query {query.query.name} cannot run on a live stream: its windows end for each key apart, so "
                    "that the rows of a group of keys are never complete; group by all of "
                    f"{', '.join(query.partition)}, or use windows of time"
                )
        try:
            pickle.dumps(prepared.algorithm.operator(job.plan))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UnsupportedQuery(
                f"{prepared.algorithm.name} cannot run on a live stream: its state cannot be kept between batches "
                f"({error})"
            ) from None


@dataclass
class _Run:
    """Spark's query over a source; Spark calls `_batch` for each batch, from its own thread."""

    processor: Processor
    source: Source
    spark: SparkSession
    until_idle: float | None
    interval: int | None
    progress: Callable[[Totals], None]
    page: Dashboard | None
    error: BaseException | None = None
    closed: bool = False

    def __post_init__(self) -> None:
        self.totals = self.processor.totals()
        self.active, self.shown = time.monotonic(), time.time()
        self.lock = threading.Lock()

    def until_the_end(self) -> Totals:
        query = self._start()
        self.active = time.monotonic()
        try:
            while not self._is_idle(query):
                time.sleep(POLL_SECONDS)
                if not query.isActive:
                    raise self._reason(query)
        finally:
            query.stop()
        return self.processor.finish()

    def _start(self) -> StreamingQuery:
        self.spark.conf.set("spark.sql.streaming.minBatchesToRetain", str(LOG_BATCHES))
        try:
            return (
                self.source.stream(self.spark)
                .writeStream.foreachBatch(self._batch)
                .option("checkpointLocation", self.processor.checkpoint.spark.as_uri())
                .trigger(processingTime=f"{self.interval or 0} milliseconds")
                .start()
            )
        except (Py4JError, PySparkException) as error:
            raise CepbenchError(f"Spark cannot start the stream: {failure(error)}") from None

    def _batch(self, frame: DataFrame, number: int) -> None:
        with self.lock:
            if self.closed:
                raise CepbenchError("the stream has ended")
            try:
                began, before = time.time(), self.totals
                pieces = self.source.pieces(frame, number, self.processor.checkpoint.spark)
                self.totals = self.processor.run(number, pieces)
                if self.page is not None:
                    self._show(self.page, pieces, before, began)
                self.progress(self.totals)
            except BaseException as error:
                self.error = error
                raise
            finally:
                self.active = time.monotonic()

    def _show(self, page: Dashboard, pieces: Sequence[Piece], before: Totals, began: float) -> None:
        now, events = time.time(), self.totals.events - before.events
        since = min((piece.since for piece in pieces), default=began)
        batch = Batch(
            ended=now,
            events=events,
            late=self.totals.late - before.late,
            rows=self.totals.rows - before.rows,
            rate=events / max(now - self.shown, 1e-3),
            lag=max(0.0, began - since),
            latency=max(0.0, now - since),
            waiting=self.processor.waiting,
            state=self.processor.checkpoint.size(batch_name(self.totals.batches - 1)),
        )
        self.shown = now
        page.note(batch, asdict(self.totals))

    def _is_idle(self, query: StreamingQuery) -> bool:
        """Whether no batch ran for `until_idle` seconds and none is due; if so, later batches are refused."""
        if self.until_idle is None or time.monotonic() - self.active < self.until_idle:
            return False
        status = query.status
        if status["isTriggerActive"] or status["isDataAvailable"] or not status["message"].startswith("Waiting"):
            return False
        with self.lock:
            self.closed = time.monotonic() - self.active >= self.until_idle
            return self.closed

    def _reason(self, query: StreamingQuery) -> BaseException:
        if isinstance(self.error, CepbenchError):
            return self.error
        error = self.error or query.exception()
        return CepbenchError(f"the stream failed: {failure(error) if isinstance(error, Exception) else error}")


def _layout(source: Source, reading: Reading, until_idle: float | None) -> FileLayout:
    """Waits for the first events; returns their layout. Raises `InputError` if none arrive for `until_idle` seconds."""
    began = time.monotonic()
    while (layout := source.first_layout(reading)) is None:
        if until_idle is not None and time.monotonic() - began > until_idle:
            raise InputError(f"{source}: {source.nothing} within {until_idle:g} s")
        time.sleep(POLL_SECONDS)
    return layout


def _notices(prepared: Prepared) -> list[str]:
    endless = [query.query.name for query in prepared.workload if query.row_window is None]
    late = [f"query {name}: its rows come at the end of the stream" for name in endless]
    return [*prepared.notices, *late]
