"""Running a function over items as Spark tasks, or in this process; how many tasks there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cepbench.events.errors import CepbenchError

if TYPE_CHECKING:  # evaluation in this process starts faster without
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_tasks(spark: SparkSession | None, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`function(item)` of every item, in order: one Spark task each, or here if `spark` is None.

    Items, results and the function must be picklable. A `CepbenchError` of a task is raised here; any other failure of
    a task (for example, a worker that died) becomes a `CepbenchError` of one line.
    """
    if spark is None:
        return [function(item) for item in items]
    if not items:
        return []
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        outcomes = spark.sparkContext.parallelize(list(items), len(items)).map(partial(_guarded, function)).collect()
    except (Py4JError, PySparkException) as error:
        raise CepbenchError(f"a Spark task failed: {failure(error)}") from None
    for outcome in outcomes:
        if isinstance(outcome, CepbenchError):
            raise outcome
    return outcomes


def stretches(items: int, parts: int) -> list[range]:
    """Items 0..items-1 in at most `parts` consecutive stretches of nearly equal length; a single empty one for none."""
    parts = max(1, min(items, parts))
    return [range(items * part // parts, items * (part + 1) // parts) for part in range(parts)]


def default_buckets(spark: SparkSession | None, key: Sequence[str]) -> int:
    """A bucket for every core; one without a key."""
    return 1 if not key or spark is None else max(1, spark.sparkContext.defaultParallelism)


def default_partitions(spark: SparkSession | None) -> int:
    """Tasks for a stream: several for every core, to balance their load."""
    return 1 if spark is None else 4 * spark.sparkContext.defaultParallelism


def failure(error: Exception) -> str:
    """The essential line of a Spark failure: that of the Python exception, otherwise Spark's reason."""
    text = str(error)
    _, traceback, rest = text.rpartition("Traceback (most recent call last):\n")
    if traceback:
        lines = [line for line in rest.splitlines() if line.strip() and not line.startswith(" ")]
        if lines:
            return lines[0]
    reason = re.search(r"most recent failure: .*?\(TID \d+\)[^:]*: (?:[\w.]+: )?(.+)", text)
    return (reason[1] if reason else text.strip() or type(error).__name__).splitlines()[0]


def _guarded(function: Callable[[Any], Any], item: Any) -> Any:
    """Returns a `CepbenchError` as a value, because Spark would hide it in a traceback."""
    try:
        return function(item)
    except CepbenchError as error:
        return error
