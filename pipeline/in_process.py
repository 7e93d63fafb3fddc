"""Evaluation in this process, without Spark or Java."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.engine.kernels.compilation import mark_compiled
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError, InputError
from cepbench.events.files import InputEvents, check_needed, read_events, spelled_twice
from cepbench.events.reading import Reading, reading_of
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.pipeline.fork import memory_limit, size_of
from cepbench.pipeline.jobs import Job, parse_supported, prepare
from cepbench.pipeline.keys import whole_parts
from cepbench.pipeline.loop import Loop, into
from cepbench.pipeline.sampling import input_statistics, stream_statistics
from cepbench.pipeline.store import Stream, bucket_batches, is_store, joined, read_stream, stream_batches
from cepbench.queries.compile import Workload, attributes_of
from cepbench.queries.errors import QueryError
from cepbench.queries.model import TIME, Matches, Query

BATCH_ROWS = 1 << 20


def evaluate(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithm: str,
    arithmetic: str = "modular",
    reading: Reading | str = "s",
    notify: Callable[[str], None] = warnings.warn,
    where: str | None = None,
    memory: int | str | None = None,
) -> pd.DataFrame:
    """Evaluate queries on a stream in this process, without Spark or Java.

    Parameters
    ----------
    workload_text
        The text of one or many queries (docs/query-language.md), not the name of a file: `Path("q.sase").read_text()`.
    events
        A DataFrame with the columns `time` (whole numbers), `type` and a column per attribute; or the path of a CSV or
        Parquet file with such columns, of a folder of such files, or of an event store.
    algorithm
        A name, optionally with parameters, such as `cogra` or `cet[detect=time]`. `cepbench algorithms` lists them.
    arithmetic
        `modular` (counts modulo 2^64, with an overflow flag) or `float` (64-bit floats).
    reading
        Which columns are time and type, and how times are written (`cepbench.Reading`); or only the unit of the numbers
        in the column `time`, such as `ms`. An event store has its own.
    notify
        Called with notices of one line: changes of the input (rows sorted, columns left out) and remarks on the plan.
    where
        A condition over columns of the input, such as `"delay IS NOT NULL AND delay > 0"` (docs/data.md). Only rows
        for which it is true are events.
    memory
        Bytes, or a size such as "4 GB", that this process may use in addition to those at the start; by default 80 % of
        the machine's memory.

    Returns
    -------
    pandas.DataFrame
        A row per query, group and window with a match (docs/semantics.md, rule 7), in these columns:

        - `query`: the query's name; `q1`, `q2`, ... by default;
        - the attributes of GROUP-BY, if any;
        - `window_start`, `window_end`: in the stream's unit, or timestamps if the input has timestamps. Without WITHIN
          they are 0 and null (both null for timestamps);
        - one column per aggregate, named as in RETURN: `COUNT(*)`, `SUM(A.price)`; null if it overflowed;
        - `overflow`: whether a value of the row overflowed.

        Queries for matches have a row per match and, in place of aggregates, a column `match`: the list of the
        positions of its events in the time-ordered input, from 0.

    Raises
    ------
    CepbenchError
        If queries, algorithm or events cannot be used, before anything runs. The message has one line; for an error in
        a query it also shows the place.
    NotEnoughMemory
        A `CepbenchError`, if the answer needs more than `memory`.

    Examples
    --------
    >>> import pandas as pd
    >>> from cepbench import evaluate
    >>> events = pd.DataFrame({"time": [1, 2, 3, 6], "type": ["A", "A", "B", "B"], "price": [5, 7, 6, 9]})
    >>> evaluate("RETURN COUNT(*), MAX(A.price) PATTERN SEQ(A+, B) WITHIN 5 s", events, "cogra")
      query  window_start  window_end  COUNT(*)  MAX(A.price)  overflow
    0    q1             0           5         3             7     False
    """
    reading = reading_of(reading, where)
    with memory_limit(size_of(memory)):
        return answer_of(workload_text, events, algorithm, arithmetic, reading, notify).frame()


def answer_of(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithm: str,
    arithmetic: str = "modular",
    reading: Reading | str = "s",
    notify: Callable[[str], None] = warnings.warn,
    progress: Callable[[int, int], None] = lambda total, more: None,
) -> AnswerBuilder:
    """As `evaluate`, with the digest, before the answer becomes a table.

    `progress` gets two numbers: the events to evaluate, counted once per way to split the stream, and those evaluated
    since its last call.
    """
    queries, system = parse_supported(workload_text, algorithm)
    source, statistics, check = open_events(events, queries, reading, notify)
    try:
        prepared = prepare(queries, system, source.schema, arithmetic, statistics)
    except QueryError as error:
        raise _explained(error, source, attributes_of(queries)) from None
    check(prepared.workload.needs)
    for notice in prepared.notices:
        notify(notice)
    if explosion := _many_matches(source, queries, prepared.workload, statistics):
        notify(explosion)
    answer = AnswerBuilder(prepared.workload)
    total = len(prepared.jobs) * (len(source.batch) if isinstance(source, InputEvents) else source.events)
    for job in prepared.jobs:
        read = 0
        for batches in _parts(source, job):
            loop = Loop(job, prepared.algorithm.operator(job.plan))
            read += loop.run(batches, into(answer), progress=partial(progress, total))
        if isinstance(source, Stream):
            source.check_read(read)
    mark_compiled(system.name, arithmetic)
    return answer


def explanation_of(
    workload_text: str,
    events: str | Path,
    algorithm: str,
    arithmetic: str = "modular",
    reading: Reading | str = "s",
    notify: Callable[[str], None] = warnings.warn,
) -> str:
    """How an algorithm evaluates queries on a stream, which is not run. Raises `CepbenchError` if it has no such text.

    Parameters are those of `evaluate`.
    """
    queries, system = parse_supported(workload_text, algorithm)
    source, statistics, _ = open_events(events, queries, reading, notify)
    prepared = prepare(queries, system, source.schema, arithmetic, statistics)
    texts = [text for job in prepared.jobs if (text := system.explain(job.plan)) is not None]
    if not texts:
        raise CepbenchError(f"{algorithm} has no plan to show as text; duckdb shows its SQL")
    return "\n\n".join(texts)


def _explained(error: QueryError, source: InputEvents | Stream, attributes: frozenset[str]) -> QueryError:
    """The error with the reasons why columns that it names are text, unless notices gave them."""
    if not isinstance(source, InputEvents):
        return error
    named = {name: why for name, why in source.doubts.items() if name in attributes and name in str(error)}
    reasons = [why for why in named.values() if why not in source.notices]
    return QueryError("; ".join((str(error), *reasons))) if reasons else error


def _many_matches(
    source: InputEvents | Stream, queries: Sequence[Query], workload: Workload, statistics: Statistics
) -> str | None:
    """A warning before very many matches are listed, from the first events."""
    if not any(isinstance(query.returns, Matches) for query in queries):
        return None
    from cepbench.pipeline.trial import many_matches  # imports pyspark, which other queries do not need

    if isinstance(source, InputEvents):
        return many_matches(queries, source.batch.slice(0, BATCH_ROWS), statistics, len(source.batch))
    attributes = frozenset[str]().union(*workload.needs.values())
    first = next(iter(stream_batches(source, rows=BATCH_ROWS, attributes=attributes)), None)
    return None if first is None else many_matches(queries, first, statistics, source.events)


def check_store_reading(path: str | Path, reading: Reading | str) -> None:
    """Refuses names of columns and conditions for a store, whose columns are defined. Raises `InputError`."""
    if isinstance(reading, Reading) and reading.own_columns:
        raise InputError(
            f"{path}: an event store has its columns already; options of columns, and where, are for files"
        )


Check = Callable[[Mapping[str, frozenset[str]]], None]
"""Refuses events that lack attributes that queries need."""


def open_events(
    events: str | Path | pd.DataFrame, queries: Sequence[Query], reading: Reading | str, notify: Callable[[str], None]
) -> tuple[InputEvents | Stream, Statistics, Check]:
    """The description of a store, or the events of anything else, with their statistics and their check.

    Attributes that no query needs may be left out of the events.
    """
    if not isinstance(events, pd.DataFrame) and is_store(events):
        check_store_reading(events, reading)
        stream = read_stream(events)
        return stream, stream_statistics(stream), stream.check_needed
    source = read_events(events, reading, attributes_of(queries))
    keys = [name for query in queries for name in query.partition]
    for notice in (*source.notices, *spelled_twice(events, source.schema, reading_of(reading), keys)):
        notify(notice)
    return source, input_statistics(source), partial(check_needed, source)


def whole_stream(
    events: str | Path | pd.DataFrame,
    queries: Sequence[Query],
    reading: Reading | str,
    notify: Callable[[str], None],
) -> tuple[Schema, EventBatch, Statistics, Check]:
    """Schema, all events in memory, their statistics and their check. Only attributes that queries need are read."""
    source, statistics, check = open_events(events, queries, reading, notify)
    if isinstance(source, InputEvents):
        return source.schema, source.batch, statistics, check
    batches = list(stream_batches(source, rows=BATCH_ROWS, attributes=attributes_of(queries) - {TIME}))
    source.check_read(sum(map(len, batches)))
    return source.schema, joined(batches, source.schema), statistics, check


def _parts(source: InputEvents | Stream, job: Job) -> Iterator[Iterable[EventBatch]]:
    """The events of a job as parts that contain their keys whole, each in time order."""
    if isinstance(source, InputEvents):
        for part in whole_parts(source.batch, job.partition, BATCH_ROWS):
            yield (part.slice(start, start + BATCH_ROWS) for start in range(0, len(part), BATCH_ROWS))
    elif source.holds_whole(job.partition):
        for bucket in range(source.buckets):
            yield bucket_batches(source, bucket, BATCH_ROWS, job.attributes)
    else:
        yield stream_batches(source, rows=BATCH_ROWS, attributes=job.attributes)
