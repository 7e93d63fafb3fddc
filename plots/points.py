"""The values of a panel: a curve per algorithm, and a median or the failures per x.

In the median over workers, a timeout or exhausted memory counts as worse than every measured value, so that slow
workers cannot improve a curve by failing (docs/measurement.md, Statuses). The numbers of wrong answers, unsupported
queries and errors are not used.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from cepbench.metrics.figure import Axis, Figure, Panel
from cepbench.metrics.record import Record
from cepbench.metrics.results import value_key
from cepbench.metrics.statistics import WORKERS, Estimate, estimate, over_workers
from cepbench.metrics.status import Status
from cepbench.metrics.values import floor, runs_of, status_of, unit, value

HIGHER_IS_BETTER = frozenset(
    {"throughput", "throughput_per_core", "throughput_per_slot", "sustainable", "sustainable_low", "sustainable_high"}
)
METRICS = {
    "throughput": "Throughput",
    "latency_p50": "Latency (median)",
    "latency_p99": "Latency (p99)",
    "service_total": "Service time",
    "plan_seconds": "Planning time",
    "state_peak": "Peak state",
    "process_peak": "Peak memory of the process",
}
"""Metrics that a figure may show beside those of its panels, with their labels."""
EXCEEDED = frozenset({Status.TIMEOUT, Status.OUT_OF_MEMORY})


@dataclass(frozen=True)
class Failure:
    """Workers of one point with the same failure; `limit`, in the unit of the metric, is set if it bounds it."""

    status: Status
    count: int
    limit: float | None = None


@dataclass(frozen=True)
class Point:
    """The values of one algorithm at one x, of its workers or of the runs of a single one.

    `estimate` is None if there is neither a value nor a bound. `floor` is the shortest time of an algorithm on one
    event per window. `run` is False if the experiment runs other algorithms at this x, but not this one.
    """

    x: Any
    estimate: Estimate | None
    failures: tuple[Failure, ...] = ()
    floor: float | None = None
    run: bool = True

    @property
    def drawn(self) -> bool:
        """Whether the median is a measured number."""
        return self.estimate is not None and isfinite(self.estimate.median)

    @property
    def measured(self) -> tuple[float, ...]:
        """The finite values, sorted."""
        return () if self.estimate is None else tuple(v for v in self.estimate.values if isfinite(v))


@dataclass(frozen=True)
class Curve:
    """One line of a panel; `series` is the value of the figure's series axis, if it has one."""

    algorithm: str
    series: Any
    points: tuple[Point, ...]

    @property
    def left_out(self) -> tuple[Point, ...]:
        """The points that were not run; empty if the curve has neither a number nor a failure."""
        shows = any(point.drawn or point.failures for point in self.points)
        return tuple(point for point in self.points if shows and not point.run)


def curves(figure: Figure, panel: Panel, records: Iterable[Record], facet: Any = None) -> tuple[Curve, ...]:
    """The curves of a panel in the order of the figure's algorithms, then of the series axis; points ordered by x.

    A curve has a point at each x at which its series has a cell, of the draws that it has at every x. In a panel `over`
    an algorithm, points at which that algorithm has no number are omitted. In a panel with `parts`, the value of a
    worker is the sum of its parts.
    """
    everything = list(records)
    chosen = [record for record in everything if shown(figure, panel, record, facet)]
    bases: dict[str, float] | None = None
    if panel.over is not None:
        bases = _bases(figure, panel.model_copy(update={"algorithms": (panel.over,)}), everything, facet)
        chosen = [record for record in chosen if _place(record) in bases]
    names = dict.fromkeys((*figure.algorithms, *(record.algorithm for record in chosen)))
    values = coordinates(chosen, figure.series) if figure.series else (None,)
    axis = figure.x_of(panel)
    metrics = tuple(part.metric for part in panel.parts) or (panel.metric,)
    result = []
    for name in names:
        for series in values:
            members = [r for r in chosen if figure.series is None or r.point.get(figure.series.name) == series]
            mine = of_common_draws([record for record in members if record.algorithm == name], axis)
            if mine:
                points = tuple(
                    _point(x, [r for r in mine if r.point.get(axis.name) == x], metrics, bases)
                    for x in coordinates(members, axis)
                )
                result.append(Curve(name, series, points))
    return tuple(result)


def of_common_draws(records: Sequence[Record], axis: Axis) -> list[Record]:
    """The records of the draws that occur at every x, so that a curve compares the same draws; all if none does.

    A draw is a combination of values of the axes that vary at an x.
    """
    places: dict[tuple[bool, float, str], list[Record]] = {}
    for record in records:
        places.setdefault(value_key(record.point[axis.name]), []).append(record)
    names = dict.fromkeys(name for record in records for name in record.point)
    varied = [name for name in names if any(len({_at(r, name) for r in place}) > 1 for place in places.values())]

    def draw(record: Record) -> tuple[tuple[bool, float, str], ...]:
        return tuple(_at(record, name) for name in varied)

    common = set.intersection(*(set(map(draw, place)) for place in places.values())) if places else set()
    return [record for record in records if draw(record) in common] or list(records)


def of_metric(panel: Panel, metric: str, text: str = "") -> Panel:
    """The panel with another metric, by default one of `METRICS`, as plain lines."""
    plain = {"over": None, "parts": (), "published": (), "kind": "lines", "scale": "log", "letter": ""}
    label = text or METRICS[metric]
    return panel.model_copy(update={**plain, "metric": metric, "label": label, "unit": unit(metric)})


def shown(figure: Figure, panel: Panel, record: Record, facet: Any = None) -> bool:
    """Whether a record belongs to this panel of this facet."""
    return (
        status_of(record, panel.metric) is not None
        and in_slice(figure, panel, record)
        and (figure.facet is None or record.point.get(figure.facet.name) == facet)
    )


def coordinates(records: Iterable[Record], axis: Axis) -> tuple[Any, ...]:
    """The distinct values of an axis in the records: in the order of the axis, then numbers by size, then text."""
    values = {value_key(r.point[axis.name]): r.point[axis.name] for r in records if axis.name in r.point}
    listed = [key for key in dict.fromkeys(map(value_key, axis.values)) if key in values]
    return tuple(values[key] for key in (*listed, *sorted(values.keys() - set(listed))))


def in_slice(figure: Figure, panel: Panel, record: Record) -> bool:
    """Whether a record belongs to the panel, in any facet."""
    return (
        figure.x_of(panel).name in record.point
        and all(record.point.get(name) == wanted for name, wanted in panel.where.items())
        and (not panel.algorithms or record.algorithm in panel.algorithms)
    )


def _bases(figure: Figure, panel: Panel, records: Iterable[Record], facet: Any) -> dict[str, float]:
    """The median of the only algorithm of a panel at each point, by `_place`, without points where it has none."""
    places: dict[str, list[Record]] = {}
    for record in records:
        if shown(figure, panel, record, facet):
            places.setdefault(_place(record), []).append(record)
    points = {place: _point(None, cells, (panel.metric,)) for place, cells in places.items()}
    return {
        place: point.estimate.median
        for place, point in points.items()
        if point.estimate is not None and point.drawn and point.estimate.median > 0
    }


def _at(record: Record, axis: str) -> tuple[bool, float, str]:
    return value_key(record.point.get(axis))


def _place(record: Record) -> str:
    """A point as a key."""
    return repr(sorted(record.point.items()))


def _point(x: Any, records: Sequence[Record], metrics: Sequence[str], bases: dict[str, float] | None = None) -> Point:
    if not records:
        return Point(x, None, run=False)
    metric = metrics[0]
    beyond = -inf if metric in HIGHER_IS_BETTER else inf
    values: list[float] = []
    for record in records:
        status = status_of(record, metric)
        number = _sum([value(record, name) for name in metrics]) if status is Status.OK else None
        if status in EXCEEDED:
            values.append(beyond)
        elif number is not None and isfinite(number):
            runs = _runs(record, metrics) if len(records) == 1 else []
            base = 1.0 if bases is None else bases[_place(record)]
            values += [run / base for run in runs or [number]]
    failures = []
    for status in Status:
        failed = [record for record in records if status_of(record, metric) is status]
        if failed and status is not Status.OK:
            failures.append(Failure(status, len(failed), _limit(failed, status, metric) if bases is None else None))
    floors = [least for record in records if bases is None and (least := floor(record, metric)[0]) is not None]
    spread = over_workers if len({record.round for record in records}) >= WORKERS else estimate
    return Point(x, spread(values) if values else None, tuple(failures), min(floors, default=None))


def _runs(record: Record, metrics: Sequence[str]) -> list[float]:
    """The metric in each run of a cell; of several metrics the sum of those that were measured.

    Empty if some metric was recorded only once, since the runs of the others do not give the spread of the sum.
    """
    runs = [runs_of(record, metric) for metric in metrics if value(record, metric) is not None]
    same = len({len(run) for run in runs}) == 1
    return [sum(run) for run in zip(*runs, strict=True)] if same else []


def _sum(parts: Sequence[float | None]) -> float | None:
    measured = [part for part in parts if part is not None]
    return sum(measured) if measured else None


def _limit(records: Sequence[Record], status: Status, metric: str) -> float | None:
    """The value that a failed run reached at least; None if the limit does not bound this metric."""
    if status is Status.TIMEOUT and metric == "plan_seconds":
        return max(record.plan_limit_seconds or 0.0 for record in records) or None
    if status is Status.TIMEOUT and (metric.startswith("latency_") or metric == "service_total"):
        return max((r.limit_seconds for r in records if r.plan_limit_seconds is None), default=0.0) or None
    if status is Status.OUT_OF_MEMORY and metric == "process_peak":
        return float(max(record.limit_bytes for record in records)) or None
    return None
