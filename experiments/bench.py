"""Compares all algorithms that can evaluate some queries on the same events, without an experiment file."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path

import pandas as pd
import yaml

from cepbench.algorithms.base import Algorithm, UnsupportedQuery
from cepbench.algorithms.plugins import is_plugin
from cepbench.algorithms.registry import chosen, make
from cepbench.events.errors import InputError
from cepbench.events.reading import Reading, reading_of
from cepbench.experiments.digests import judged
from cepbench.experiments.load import load
from cepbench.experiments.schema import FORM
from cepbench.experiments.streams import common_key
from cepbench.metrics.files import write
from cepbench.metrics.ranking import PROCESSES, Entry, Ranking, ranked
from cepbench.metrics.record import Record
from cepbench.metrics.statistics import median
from cepbench.metrics.status import Status
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.in_process import check_store_reading
from cepbench.pipeline.jobs import check_supported
from cepbench.pipeline.measured import Session, measure_cell, measuring_session
from cepbench.pipeline.measured_task import MeasuredRun
from cepbench.pipeline.outcome import Outcome
from cepbench.pipeline.plain import check_compiled
from cepbench.pipeline.store import Stream, is_store, read_stream, stream_batches
from cepbench.queries.model import Query
from cepbench.queries.workloads import parse_workload
from cepbench.verification.arbitration import MOST, Arbitration, arbitrated

SECONDS = 60.0
MEMORY = 4 * 10**9
LEAST_MEMORY = 2**28
REPEAT = 2.0
PATIENCE = 5
"""An algorithm gets no further process once its runs have taken this multiple of `repeat`."""
BUCKETS = 2
"""Buckets of keyed streams on Spark; the same default as in experiment files."""


def bench(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithms: str | Iterable[str] = "all",
    *,
    arithmetic: str = "modular",
    reading: Reading | str = "s",
    seconds: float = SECONDS,
    memory: int = MEMORY,
    repeat: float = REPEAT,
    master: SparkCluster | str | None = None,
    folder: str | Path | None = None,
    where: str | None = None,
    notify: Callable[[str], None] = warnings.warn,
    finished: Callable[[Entry], None] = lambda entry: None,
) -> Ranking:
    """Runs algorithms on the same queries and events, compares their answers, and ranks them by time.

    Each algorithm runs in its own processes, as a measured cell does (docs/measurement.md): kernels are compiled and
    the workload is planned before the clock starts. Algorithms take turns, until each has run in five processes or has
    taken five times `repeat`. An answer that differs from that of the majority is `wrong` and has no rank. Without a
    majority, all answers are wrong.

    Parameters
    ----------
    workload_text, events, arithmetic, reading, where, notify
        As in `evaluate`.
    algorithms
        Specifications, comma lists of them, or `all`.
    seconds
        The time limit of a run, after which its process is killed.
    memory
        The bytes that a process may use in addition to those at its start.
    repeat
        Seconds for which a short run is repeated, in all processes together; 0 means one run.
    master
        A Spark master URL or cluster on which everything runs; by default, local processes.
    folder
        A folder for the imported events, which all workers of `master` must see.
    finished
        Called with each entry after its first process, before answers are compared.

    Returns
    -------
    Ranking
        An entry per algorithm; its `frame()` is a table.

    Raises
    ------
    CepbenchError
        If queries, events or a name cannot be used, before anything runs.
    UnsupportedQuery
        If no algorithm can evaluate the queries, with all reasons.

    Examples
    --------
    >>> import pandas as pd
    >>> from cepbench import bench
    >>> events = pd.DataFrame({"time": [1, 2, 3], "type": ["A", "B", "B"]})
    >>> found = bench("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s", events, "cogra, greta")
    >>> sorted(found.frame()["status"].tolist())
    ['ok', 'ok']
    """
    check_compiled()
    check_seconds("seconds", seconds)
    check_seconds("repeat", repeat, least=0)
    check_memory(memory)
    reading = reading_of(reading, where)
    queries = parse_workload(workload_text)
    able, refused = divided(queries, chosen(algorithms))
    cluster = master if isinstance(master, SparkCluster) else SparkCluster(master)
    on_spark = cluster.master is not None
    outcomes: dict[str, list[Outcome]] = {name: [] for name in able}
    with (
        _session(cluster if on_spark else None, memory) as spark,
        _store(workload_text, events, reading, spark, folder, notify) as stream,
    ):
        if stream.events == 0:
            raise InputError("there are no events to run algorithms on")
        for process in range(PROCESSES):
            for name, algorithm in able.items():
                if process and not _again(outcomes[name], PATIENCE * repeat):
                    continue
                job = MeasuredRun(
                    stream.path, workload_text, algorithm, arithmetic, memory=process == 0, limit_bytes=memory,
                    repeat=repeat / PROCESSES, round=process + 1,
                )  # fmt: skip
                outcomes[name].append(measure_cell(job, seconds, spark))
                if process == 0:
                    finished(_entry(name, outcomes[name]))
        count = stream.events
        entries = [_entry(name, outcomes[name]) for name in able]
        records = [_record(name, outcome, seconds, memory) for name in able for outcome in outcomes[name]]
        arbitration = Arbitration()
        answered = {entry.algorithm: able[entry.algorithm] for entry in entries if entry.status is Status.OK}
        if any(map(is_plugin, map(type, answered.values()))) and judged(records):
            first = next(iter(stream_batches(stream, rows=MOST)))
            arbitration = arbitrated(queries, first, answered, arithmetic, memory)
    for name, status, reason in _disagreeing(records, arbitration):
        place = next(number for number, entry in enumerate(entries) if entry.algorithm == name)
        entries[place] = Entry(name, status, reason, rows=entries[place].rows)
    entries += [Entry(name, Status.UNSUPPORTED, reason) for name, reason in refused.items()]
    return Ranking(count, len(queries), seconds, ranked(entries))


def check_seconds(name: str, seconds: object, least: float = 1e-3) -> None:
    """Raises `InputError` unless `seconds` is a finite number of seconds of at least `least`."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not least <= seconds < inf:
        raise InputError(f"{name}: expected a number of seconds, at least {least:g}, not {seconds!r}")


def check_memory(memory: object) -> None:
    """Raises `InputError` unless `memory` is a number of bytes that suffices for loading the kernels."""
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < LEAST_MEMORY:
        raise InputError(f"memory: expected a number of bytes, at least {LEAST_MEMORY} (256 MiB), not {memory!r}")


def divided(queries: Sequence[Query], names: Iterable[str]) -> tuple[dict[str, Algorithm], dict[str, str]]:
    """The algorithms that can evaluate the queries, and the reasons of those that cannot.

    Raises `UnsupportedQuery` with all reasons if no algorithm can.
    """
    able: dict[str, Algorithm] = {}
    refused: dict[str, str] = {}
    for name in names:
        algorithm = make(name)
        try:
            check_supported(queries, algorithm, name)
        except UnsupportedQuery as error:
            refused[name] = str(error).partition(f"{name} cannot evaluate ")[2] or str(error)
            continue
        if (missing := algorithm.missing()) is not None:
            refused[name] = missing
        else:
            able[name] = algorithm
    if not able:
        reasons = "".join(f"\n  {name}: {reason}" for name, reason in refused.items())
        raise UnsupportedQuery(f"no algorithm can evaluate the queries:{reasons}")
    return able, refused


def save_experiment(
    file: Path, workload_text: str, events: Path, ranking: Ranking, reading: Reading | str, *,
    arithmetic: str, memory: int, repeat: float,
) -> None:  # fmt: skip
    """Writes the comparison as an experiment file for `cepbench run`, without the algorithms that refused.

    Raises `ExperimentError`, and writes nothing, if `cepbench run` would refuse it.
    """
    read = reading_of(reading)
    columns = {
        "time_column": read.time,
        "type_column": read.type,
        "type": read.constant,
        "time_format": read.format,
        "where": read.where,
        **{name: list(value) if isinstance(value := getattr(read, name), tuple) else value for name in FORM},
    }
    name = events.resolve().name
    stream = {"path": "${data}", "time_unit": read.unit}
    document = {
        "title": f"{name}, {ranking.queries} {'query' if ranking.queries == 1 else 'queries'}",
        "stream": stream | ({} if is_store(events) else {key: value for key, value in columns.items() if value}),
        "workload": workload_text,
        "axes": {"data": {name: str(events.resolve())}},
        "algorithms": [entry.algorithm for entry in ranking.entries if entry.status is not Status.UNSUPPORTED],
        "arithmetic": arithmetic,
        "repeat": repeat,
        "limits": {"seconds": ranking.limit_seconds, "memory": memory},
        "plot": {
            "x": {"name": "data", "label": "Events", "scale": "category"},
            "panels": [
                {"letter": "(a)", "metric": "service_total", "label": "Time", "unit": "s", "kind": "bars"},
                {"letter": "(b)", "metric": "state_peak", "label": "State", "unit": "B", "kind": "bars"},
            ],
        },
    }
    content = yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()
    with tempfile.TemporaryDirectory() as scratch:
        load(write(Path(scratch, file.name), content))
    write(file, content)


@contextmanager
def _session(cluster: SparkCluster | None, memory: int) -> Iterator[Session | None]:
    if cluster is None:
        yield None
        return
    from cepbench.pipeline.session import stop

    try:
        yield measuring_session(cluster, memory)
    finally:
        stop()


@contextmanager
def _store(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    reading: Reading | str,
    spark: Session | None,
    folder: str | Path | None,
    notify: Callable[[str], None],
) -> Iterator[Stream]:
    """The events as a store: their own if they are one, a temporary one otherwise."""
    if not isinstance(events, pd.DataFrame) and is_store(events):
        check_store_reading(events, reading)
        yield read_stream(events)
        return
    key = common_key(workload_text)
    with tempfile.TemporaryDirectory(prefix=".cepbench-bench-", dir=folder) as scratch:
        path = Path(scratch) / "stream"
        buckets = BUCKETS if key and spark is not None else 1
        stream, notices = import_events(events, path, spark=spark, reading=reading, key=key, buckets=buckets)
        for notice in notices:
            notify(notice)
        yield stream


def _disagreeing(records: Sequence[Record], arbitration: Arbitration) -> Iterator[tuple[str, Status, str]]:
    """Algorithms that are not right, with status and reason. The oracle has the first word, if it was asked."""
    events, wrong = arbitration.events, arbitration.wrong
    for name, reason in wrong.items():
        yield name, Status.WRONG, f"on the first {events} events its answer differs from the oracle's: {reason}"
    for record in judged([record for record in records if record.algorithm not in wrong]):
        reason = record.reason
        if events:
            reason += f"; on the first {events} events it agrees with the oracle"
            reason += f"; `cepbench verify -a {record.algorithm}` looks for a small case"
        yield record.algorithm, record.status, reason


def _again(outcomes: Sequence[Outcome], seconds: float) -> bool:
    """Whether an algorithm runs in another process: all runs so far succeeded, and took less than `seconds`."""
    spent = sum((outcome.summary.runs or 1) * (outcome.summary.service_total or 0.0) for outcome in outcomes)
    return all(outcome.status is Status.OK for outcome in outcomes) and spent < seconds


def _entry(name: str, outcomes: Sequence[Outcome]) -> Entry:
    """The entry of an algorithm from the outcomes of its processes, the last of which may have failed.

    The first one also measured memory.
    """
    last = outcomes[-1]
    if last.status is not Status.OK:
        return Entry(name, last.status, last.reason)
    seconds = [outcome.summary.service_total for outcome in outcomes if outcome.summary.service_total is not None]
    rates = [outcome.summary.throughput for outcome in outcomes if outcome.summary.throughput is not None]
    totals = [(outcome.summary.floor_total, outcome.summary.service_total) for outcome in outcomes]
    shares = [floor / total for floor, total in totals if floor is not None and total]
    several = len(seconds) > 1
    first, realised = outcomes[0], last.realised
    summary, memory = first.summary, first.memory_status
    reason = "" if memory is None or memory is Status.OK else f"memory: {memory.value}, {first.memory_reason}"
    return Entry(
        name,
        Status.OK,
        reason,
        seconds=median(seconds) if seconds else None,
        low=min(seconds) if several else None,
        high=max(seconds) if several else None,
        runs=sum(outcome.summary.runs or 1 for outcome in outcomes),
        processes=len(outcomes),
        throughput=median(rates) if rates else None,
        state=summary.state_peak,
        process=summary.process_peak,
        rows=None if realised is None else realised.rows,
        plan_seconds=summary.plan_seconds,
        compile_seconds=summary.compile_seconds,
        floor=median(shares) if shares else None,
    )


def _record(name: str, outcome: Outcome, seconds: float, memory: int) -> Record:
    """A record with the fields that the comparison of answers reads."""
    return Record(
        cell=name, group="", experiment="bench", profile="", algorithm=name, point={}, round=1,
        configuration={}, status=outcome.status, reason=outcome.reason, digest=outcome.digest,
        limit_seconds=seconds, limit_bytes=memory,
    )  # fmt: skip
