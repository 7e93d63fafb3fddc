"""The number of a record that a panel or a claim reads, by the metric's name."""

from cepbench.metrics.details import DETAILS
from cepbench.metrics.record import Realised, Record, Summary
from cepbench.metrics.status import Status

MEMORY_METRICS = frozenset({"state_peak", "process_peak"})
STATE_KINDS = "state_kinds."
REALISED = "realised."
SUSTAINABLE = "sustainable"
WORK = 10
"""A time is that of work from so many times on that the algorithm takes with one event per window."""

_PLAIN = frozenset(Summary.model_fields) - {"state_kinds", "details"}
METRICS = f"{', '.join(sorted(_PLAIN | {SUSTAINABLE}))}, {STATE_KINDS}<kind>, {DETAILS}<name> or {REALISED}<field>"


def is_metric(metric: str) -> bool:
    """Whether `value` accepts this metric."""
    if metric.startswith(REALISED):
        return metric.removeprefix(REALISED) in Realised.model_fields
    prefixed = any(metric.startswith(prefix) and metric != prefix for prefix in (STATE_KINDS, DETAILS))
    return metric in _PLAIN or metric == SUSTAINABLE or prefixed


def is_memory(metric: str) -> bool:
    """Whether the memory run measures it, and not the timed one (docs/measurement.md, Metrics)."""
    detail = metric.startswith(DETAILS) and metric.endswith("_bytes_peak")
    return detail or metric in MEMORY_METRICS or metric.startswith(STATE_KINDS)


def status_of(record: Record, metric: str) -> Status | None:
    """The status that decides whether a cell has this metric: that of its run; None if memory was not measured.

    A cell whose timed run did not end ok, or whose answer is wrong, has no memory, either. What is unsupported is so
    without any run.
    """
    if not is_memory(metric) or record.status is Status.UNSUPPORTED:
        return record.status
    return record.memory_status if record.memory_status is None or record.status is Status.OK else record.status


def unit(metric: str) -> str:
    """The unit of `value`: "s", "B", "events/s", or "" for counts and ratios."""
    if metric.startswith(("latency", "service", "makespan", "elapsed", "floor")) or metric.endswith("_seconds"):
        return "s"
    if metric.startswith(("throughput", SUSTAINABLE)):
        return "events/s"
    return "B" if metric in MEMORY_METRICS or metric.endswith(("_bytes", "_bytes_peak")) else ""


def is_time(metric: str) -> bool:
    """Whether the metric is a time or a rate, which varies between runs."""
    return unit(metric) in ("s", "events/s")


def value(record: Record, metric: str) -> float | None:
    """The metric of one cell in seconds, bytes, events per second or a count; None if it was not measured.

    "sustainable" is the lower end of the bracket: the highest rate that was sustained. Unknown metrics raise KeyError.
    """
    if not is_metric(metric):
        raise KeyError(f"unknown metric {metric!r}: expected {METRICS}")
    number: float | None
    if metric == SUSTAINABLE:
        number = record.summary.sustainable_low
    elif metric.startswith(STATE_KINDS):
        number = record.summary.state_kinds.get(metric.removeprefix(STATE_KINDS))
    elif metric.startswith(DETAILS):
        number = record.summary.details.get(metric.removeprefix(DETAILS))
    elif metric.startswith(REALISED):
        number = None if record.realised is None else getattr(record.realised, metric.removeprefix(REALISED))
    else:
        number = getattr(record.summary, metric)
    return None if number is None else float(number)


def floor(record: Record, metric: str) -> tuple[float | None, float | None]:
    """The time of the algorithm on one event per window, and the time behind the metric, in seconds.

    Both are of the whole stream, of a window or of an arrival batch. None if it was not measured, and for metrics
    that are no such times.
    """
    summary = record.summary
    if metric == "service_per_window":
        windows = record.realised.windows if record.realised else 0
        least = summary.floor_total / windows if windows and summary.floor_total is not None else None
        return least, summary.service_per_window
    if metric.startswith(("service", "throughput", "makespan")):
        return summary.floor_total, summary.service_total
    return (summary.floor_batch, value(record, metric)) if metric.startswith("latency_") else (None, None)


def runs_of(record: Record, metric: str) -> list[float]:
    """The metric in each run of a cell that was repeated; empty if it does not vary between runs."""
    return record.runs.get("sustainable_low" if metric == SUSTAINABLE else metric, [])
