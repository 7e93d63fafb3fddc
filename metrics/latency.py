"""Latency of result rows, pooled over workers and runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.metrics.clock import Seconds, completions, open_arrivals


@dataclass(frozen=True)
class Latency:
    """Percentiles of pooled samples, in the unit of the samples."""

    p50: float
    p95: float
    p99: float
    max: float
    mean: float


def row_latency(completion: NDArray[np.float64], last_arrival: NDArray[np.float64]) -> NDArray[np.float64]:
    """Completion of each row minus the scheduled arrival of the last event of its window, in seconds.

    A row of a window that was closed before its last event was due (later events are not part of the window) is not
    early: the virtual clock never completes a batch before its arrival, so differences are not negative beyond
    rounding.
    """
    return np.maximum(completion - last_arrival, 0.0)


def at_rate(
    last: NDArray[np.int64], service: Seconds, answers: NDArray[np.int64], due: Seconds, slower: float, rate: float
) -> Seconds:
    """The latency of each row for an open `rate` of arrivals, with the measured service times.

    `last` is the position of the last event of each of n batches, int64[n], `service` its seconds, and `answers` the
    number of rows that it returned. `due` is the due time of each row at the measured rate, `slower` that rate over
    `rate`. So the latency at another rate, as for sustainable throughput, needs no further run.
    """
    done = completions(open_arrivals(last, rate), service)
    return row_latency(np.repeat(done, answers), due * slower)


def of_rows(latency: NDArray[np.float64], rows: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The latency of rows with parts on several workers: that of the last part.

    `rows` identifies the row of each sample.
    """
    order = np.lexsort((latency, rows))
    last = np.append(rows[order][1:] != rows[order][:-1], True) if len(rows) else np.empty(0, np.bool_)
    latest: NDArray[np.float64] = latency[order][last]
    return latest


def pooled(samples: Iterable[Sequence[float]]) -> Latency | None:
    """Percentiles over all samples together, None if there are none; percentiles are never averaged."""
    everything = np.concatenate([np.zeros(0), *(np.asarray(part, dtype=np.float64) for part in samples)])
    if not len(everything):
        return None
    p50, p95, p99 = np.percentile(everything, (50, 95, 99))
    return Latency(float(p50), float(p95), float(p99), float(everything.max()), float(everything.mean()))
