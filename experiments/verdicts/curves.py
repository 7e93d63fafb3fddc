"""Curves of an algorithm along an axis, from the records of its cells.

A cell that was cut off still says something: its service time is at least the limit, or the time of its planning if
that is what did not end. So does a search that fell back: the time and the memory of the whole search are at least
those that it took.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from cepbench.experiments.verdicts.judgement import NotComparable
from cepbench.experiments.verdicts.numbers import ANYTHING, Number, pooled
from cepbench.metrics.details import DETAILS
from cepbench.metrics.record import Record, Status
from cepbench.metrics.results import point_key, value_key
from cepbench.metrics.values import REALISED, measurement, repetitions, value

Point = tuple[tuple[str, bool, float, str], ...]
Curve = dict[Point, tuple[Any, Number]]  # the axis value and the number at a point, in the order of the axis

FELL_BACK = "fell_back"  # the detail by which an optimiser tells that its search ended at a limit
VOID = (Status.WRONG, Status.ERROR, Status.UNSUPPORTED)


def curve(algorithm: str, metric: str, records: Sequence[Record], axis: str) -> Curve:
    """The axis value and the metric of an algorithm at each point, in the order of the axis.

    A point of which nothing is known has the number `ANYTHING`. Raises `NotComparable` if the algorithm answered
    wrongly or was never run.
    """
    kind = measurement(metric)
    own = [r for r in records if r.algorithm == algorithm and (kind is None or r.measurement == kind)]
    if not own:
        raise NotComparable(f"{algorithm} was not run")
    for record in own:
        if record.status in VOID:
            raise NotComparable(f"{algorithm} is {record.status.value} at {named(record.point)}")
    if any(axis not in record.point for record in own):
        raise NotComparable(f"the points have no axis {axis!r}")
    points: dict[Point, list[Record]] = {}
    for record in sorted(own, key=lambda r: (value_key(r.point[axis]), point_key(r.point))):
        points.setdefault(point_key(record.point), []).append(record)
    return {key: (cells[0].point[axis], _number(cells, metric, records)) for key, cells in points.items()}


def fallen_back(algorithms: Sequence[str], records: Sequence[Record], metric: str) -> str | None:
    """Where the search of one of these fell back, so that the metric is unknown or a bound; None if nowhere."""
    kind = measurement(metric)
    for record in records:
        own = record.algorithm in algorithms and (kind is None or record.measurement == kind)
        if own and not metric.startswith(REALISED) and fell_back(record):
            return f"the search of {record.algorithm} fell back at {named(record.point)}"
    return None


def fell_back(record: Record) -> bool:
    """Whether the plan of a cell is not the one that its search would have found."""
    return record.summary.details.get(FELL_BACK, 0) > 0


def along(curve: Curve, axis: str) -> list[tuple[Any, Number]]:
    """The points of which something is known. Raises `NotComparable` if two have the same axis value."""
    points = [entry for entry in curve.values() if entry[1] != ANYTHING]
    for (x, _), (other, _) in itertools.pairwise(points):
        if x == other:
            raise NotComparable(f"several points have the {axis} {x}; a `where` must choose")
    return points


def named(point: dict[str, Any]) -> str:
    """A point in words."""
    return ", ".join(f"{name} {given}" for name, given in point.items()) or "the only point"


def _number(cells: Sequence[Record], metric: str, records: Iterable[Record]) -> Number:
    """The median over cells; of one cell over its runs, where it was repeated."""
    runs = repetitions(cells[0], metric) if len(cells) == 1 and not fell_back(cells[0]) else []
    if runs:
        return pooled(runs, runs)
    ends = [_ends(cell, metric, records) for cell in cells]
    return pooled([low for low, _ in ends], [high for _, high in ends])


def _ends(cell: Record, metric: str, records: Iterable[Record]) -> tuple[float, float]:
    """What one cell says about a metric: its value twice, or between what it lies."""
    if cell.status is Status.OK:
        number = value(cell, metric)
        if number is None:
            return 0.0, inf
        if fell_back(cell) and not metric.startswith(REALISED):
            return (number if _of_search(metric) else 0.0), inf
        return number, number
    if cell.status is not Status.TIMEOUT:
        return 0.0, inf
    if cell.plan_limit_seconds is not None:  # nothing ran
        return (cell.plan_limit_seconds if metric == "plan_seconds" else 0.0), inf
    finished = next((r for r in records if r.group == cell.group and r.status is Status.OK), None)
    if metric == "service_total":
        return cell.limit_seconds, inf
    if finished is None:
        return 0.0, inf
    if metric == "service_per_window" and finished.realised is not None and finished.realised.windows:
        return cell.limit_seconds / finished.realised.windows, inf
    if metric == "throughput" and finished.realised is not None:
        return 0.0, finished.realised.events / cell.limit_seconds
    # One of the arrival batches took at least its share of the limit, and its rows waited for it.
    batches = (finished.realised.batches if finished.realised else None) or max(1, len(finished.samples.service))
    if metric == "latency_max" or (metric.startswith("latency") and batches == 1):
        return cell.limit_seconds / batches, inf
    return 0.0, inf


def _of_search(metric: str) -> bool:
    """Whether a metric of a plan grows with the search, so that one that was ended early is a lower bound."""
    name = metric.removeprefix(DETAILS)
    return metric == "plan_seconds" or name in ("plan_bytes_peak", "plans_visited") or name.startswith("search_")
