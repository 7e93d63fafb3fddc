"""The value of a metric in cells, or bounds on it.

A cell that reached a limit still bounds a metric: its service time is at least the time limit, or its planning time is
if planning did not finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import median_low
from typing import Any

from cepbench.experiments.verdicts.numbers import Number, pooled
from cepbench.metrics.details import DETAILS
from cepbench.metrics.load import NOISY, lost
from cepbench.metrics.record import Record
from cepbench.metrics.results import in_words
from cepbench.metrics.status import Status
from cepbench.metrics.values import REALISED, WORK, floor, is_time, runs_of, status_of, unit, value

RUNS = ("latency", "service", "makespan", "throughput")
"""How metrics of timed runs begin."""
CUT = (Status.TIMEOUT, Status.OUT_OF_MEMORY)
VOID = (Status.WRONG, Status.ERROR, Status.UNSUPPORTED)
INCOMPLETE = {"fell_back": "fell back to another plan", "thinned": "left plans out", "stopped_early": "stopped early"}
"""Details by which an optimizer reports that its search was not the whole one of the paper, with the words for it."""


def measuring(algorithm: str, metric: str, records: Sequence[Record]) -> list[Record]:
    """The cells of an algorithm that measure a metric."""
    return [r for r in records if r.algorithm == algorithm and status_of(r, metric) is not None]


def number(cells: Sequence[Record], metric: str, records: Sequence[Record]) -> Number:
    """The median over the cells of one point; for a single cell that was repeated, over its runs."""
    runs = runs_of(cells[0], metric) if len(cells) == 1 else []
    if runs:
        return pooled(runs, runs)
    bounds = [_bounds(cell, metric, records) for cell in cells]
    return pooled([low for low, _ in bounds], [high for _, high in bounds])


def missing(cell: Record, metric: str) -> bool:
    """Whether a cell that ended well has no such number: latencies are those of rows, and an empty answer has none."""
    return status_of(cell, metric) is Status.OK and value(cell, metric) is None


def incomplete(cells: Sequence[Record], metric: str) -> str:
    """The search behind a metric that was not the whole one of the paper, in words; empty if there is none."""
    if metric.startswith(REALISED):
        return ""
    for cell in cells:
        for name, words in INCOMPLETE.items():
            if cell.summary.details.get(name, 0) > 0:
                return f"the search of {cell.algorithm} {words}"
    return ""


def at_floor(cells: Sequence[Record], metric: str) -> str:
    """In words, that the time in the cells of one algorithm is not that of work, by their median; otherwise empty."""
    ratios = []
    for cell in cells:
        least, seconds = floor(cell, metric)
        if least is not None and seconds is not None:
            ratios.append(seconds / least if least else inf)
    if not ratios or (times := median_low(ratios)) >= WORK:
        return ""
    first = cells[0]
    return (
        f"the time of {first.algorithm} is mostly fixed costs at {named(first.point)}: "
        f"{times:.1f} times that with one event per window, of {WORK:g} that are needed"
    )


def is_noisy(cell: Record) -> bool:
    """Whether a cell lost time to other work of the machine."""
    return lost(cell.load) > NOISY


def is_timed(metric: str) -> bool:
    """Whether the load of the machine was recorded during this time: not that of plans, compilation and floors."""
    return is_time(metric) and metric.startswith(RUNS)


def calm(cell: Record) -> Record:
    """The cell without the time that it lost to other work of the machine."""
    if not is_noisy(cell):
        return cell
    kept = 1 - lost(cell.load)

    def undisturbed(metric: str, number: Any) -> Any:
        if number is None or not is_timed(metric):
            return number
        return number * kept if unit(metric) == "s" else number / kept

    summary = {name: undisturbed(name, number) for name, number in cell.summary}
    runs = {name: [undisturbed(name, number) for number in numbers] for name, numbers in cell.runs.items()}
    return cell.model_copy(update={"summary": cell.summary.model_copy(update=summary), "runs": runs})


def named(point: dict[str, Any]) -> str:
    """A point in words."""
    return in_words(point) or "the only point"


def _bounds(cell: Record, metric: str, records: Sequence[Record]) -> tuple[float, float]:
    """The lower and upper bound of a metric in one cell; equal if it was measured."""
    status = status_of(cell, metric)
    if status is Status.OK:
        measured = value(cell, metric)
        assert measured is not None  # `missing`
        return measured, measured
    if status is not Status.TIMEOUT:
        return 0.0, inf
    if cell.plan_limit_seconds is not None:  # nothing ran
        return (cell.plan_limit_seconds if metric == "plan_seconds" else 0.0), inf
    if metric == "service_total":
        return cell.limit_seconds, inf
    finished = next((r for r in records if r.group == cell.group and r.status is Status.OK), None)
    if finished is None or metric.startswith(DETAILS):
        return 0.0, inf
    realised = finished.realised
    if metric == "service_per_window" and realised is not None and realised.windows:
        return cell.limit_seconds / realised.windows, inf
    if metric == "throughput" and realised is not None:
        return 0.0, realised.events / cell.limit_seconds
    # One of the arrival batches took at least its share of the limit, and its rows waited for it.
    batches = (realised.batches if realised else None) or max(1, len(finished.samples.service))
    if metric == "latency_max" or (metric.startswith("latency") and batches == 1):
        return cell.limit_seconds / batches, inf
    return 0.0, inf
