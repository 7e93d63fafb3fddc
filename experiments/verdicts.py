"""Verdicts on claims: the number computed from the records, as an interval where cells were cut off by a limit.

A cell that timed out still says something: its service time is at least the limit. Every value is therefore an
interval [low, high], equal ends when it was measured. A claim is reproduced if the whole interval meets it, not
reproduced if none of it does, and not comparable in between.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log
from typing import Any

from cepbench.experiments.claims import Claim, Fails, Ratio, Trend, Value, holds, reaches
from cepbench.metrics.figure import ClaimResult, Verdict
from cepbench.metrics.record import Record, Status
from cepbench.metrics.results import point_key, value_key
from cepbench.metrics.statistics import median
from cepbench.metrics.values import measurement, value
from cepbench.metrics.values import unit as unit_of

Point = tuple[tuple[str, bool, float, str], ...]


@dataclass(frozen=True)
class Interval:
    """Where a number lies; not negative."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.low == self.high

    def __truediv__(self, other: Interval) -> Interval:
        low = 0.0 if other.high == inf or other.high == 0 else self.low / other.high
        return Interval(low, inf if other.low == 0 else self.high / other.low)


ANYTHING = Interval(0.0, inf)


class NotComparable(Exception):
    """A claim that the records cannot decide; the message is the reason."""


def verdict(claim: Claim, records: Sequence[Record], x: str) -> ClaimResult:
    """What `records` of one experiment say about a claim; `x` is the axis that orders points by default."""
    axis = claim.axis or x
    chosen = [r for r in records if holds(r.point, claim.where) and reaches(r.point, axis, claim.since)]
    told = {"text": claim.text, "source": claim.source}
    try:
        if isinstance(claim, Fails):
            return _fails(claim, chosen, axis)
        if isinstance(claim, Ratio):
            number, computation, unit = *_ratio(claim, chosen, axis), "x"
        elif isinstance(claim, Trend):
            number, computation = _trend(claim, chosen, axis)
            unit = "" if claim.measure in ("slope", "steepest", "peak") else "x"
        else:
            number, computation = _value(claim, chosen, axis)
            unit = unit_of(claim.metric)
    except NotComparable as why:
        return ClaimResult(**told, expected=expectation(claim), verdict=Verdict.NOT_COMPARABLE, reason=str(why))
    decision, reason = _decide(number, claim)
    measured = number.low if number.low > 0 or number.exact else number.high
    return ClaimResult(
        **told,
        expected=expectation(claim),
        measured=measured if isfinite(measured) else None,
        unit=unit,
        verdict=decision,
        reason=reason,
        computation=computation,
    )


def expectation(claim: Claim) -> str:
    """What a claim expects, in words."""
    if isinstance(claim, Fails):
        survivors = f" where {' and '.join(claim.survivors)} finish" if claim.survivors else ""
        return f"{claim.algorithm} does not finish{survivors}"
    bounds = [
        f"{words} {bound:g}"
        for words, bound in (("at least", claim.at_least), ("at most", claim.at_most))
        if bound is not None
    ]
    return " and ".join(bounds)


def _decide(number: Interval, claim: Ratio | Trend | Value) -> tuple[Verdict, str]:
    low = -inf if claim.at_least is None else claim.at_least
    high = inf if claim.at_most is None else claim.at_most
    reason = "" if number.exact else f"cut off by a limit: the number lies in [{number.low:.3g}, {number.high:.3g}]"
    if low <= number.low and number.high <= high:
        return Verdict.REPRODUCED, reason
    if number.high < low or number.low > high:
        return Verdict.NOT_REPRODUCED, reason
    return Verdict.NOT_COMPARABLE, reason


# --- numbers ----------------------------------------------------------------------------------------------------------


def _ratio(claim: Ratio, records: Sequence[Record], axis: str) -> tuple[Interval, str]:
    divisor = claim.to_metric or claim.metric
    of, to = _curve(claim.of, claim.metric, records, axis), _curve(claim.to, divisor, records, axis)
    both = [(key, of[key][0], of[key][1] / to[key][1]) for key in of if key in to]
    both = [entry for entry in both if entry[2] != ANYTHING]
    if not both:
        raise NotComparable(f"{claim.of} and {claim.to} have no point at which both were measured")
    where, number = _at(claim.at, [(point, ratio) for _, point, ratio in both])
    below = claim.to if divisor == claim.metric else f"{divisor} of {claim.to}"
    return number, f"{claim.metric} of {claim.of} / {below}, {claim.at} over {axis}{where}, medians"


def _value(claim: Value, records: Sequence[Record], axis: str) -> tuple[Interval, str]:
    curve = [entry for entry in _curve(claim.algorithm, claim.metric, records, axis).values() if entry[1] != ANYTHING]
    if not curve:
        raise NotComparable(f"{claim.algorithm} has no measured point")
    where, number = _at(claim.at, curve)
    return number, f"{claim.metric} of {claim.algorithm}, {claim.at} over {axis}{where}, median"


def _at(at: str, curve: Sequence[tuple[Any, Interval]]) -> tuple[str, Interval]:
    """The number that `at` asks for, and where it was found. An extreme of intervals is an interval."""
    if at == "first":
        found = curve[0]
    elif at == "last":
        found = curve[-1]
    elif at == "max":
        found = max(curve, key=lambda entry: (entry[1].low, entry[1].high))
        found = (found[0], Interval(found[1].low, max(number.high for _, number in curve)))
    else:
        found = min(curve, key=lambda entry: (entry[1].high, entry[1].low))
        found = (found[0], Interval(min(number.low for _, number in curve), found[1].high))
    return f" (at {found[0]})", found[1]


def _trend(claim: Trend, records: Sequence[Record], axis: str) -> tuple[Interval, str]:
    curve = [entry for entry in _curve(claim.algorithm, claim.metric, records, axis).values() if entry[1] != ANYTHING]
    if len(curve) < 2:
        raise NotComparable(f"{claim.algorithm} was measured at fewer than two points of {axis}")
    number = _MEASURES[claim.measure](curve)
    return number, f"{claim.measure} of {claim.metric} of {claim.algorithm} over {axis}, medians"


def _slope(curve: Sequence[tuple[Any, Interval]]) -> Interval:
    known = [(log(_positive(x)), log(number.low)) for x, number in curve if number.exact and number.low > 0]
    if len(known) < 2:
        raise NotComparable("fewer than two points were measured within the limits")
    mean_x = sum(x for x, _ in known) / len(known)
    mean_y = sum(y for _, y in known) / len(known)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in known) / sum((x - mean_x) ** 2 for x, _ in known)
    return Interval(slope, slope)


def _steepest(curve: Sequence[tuple[Any, Interval]]) -> Interval:
    slopes = []
    for (x, before), (next_x, after) in itertools.pairwise(curve):
        if x == next_x:
            raise NotComparable(f"several points have the axis value {x}; a `where` must choose")
        growth, width = after / before, log(_positive(next_x) / _positive(x))
        low = log(growth.low) / width if growth.low > 0 else -inf
        slopes.append((low, log(growth.high) / width if growth.high < inf else inf))
    if all(low == -inf for low, _ in slopes):
        raise NotComparable("no two neighbouring points were measured within the limits")
    return Interval(max(low for low, _ in slopes), max(high for _, high in slopes))


def _last_to_first(curve: Sequence[tuple[Any, Interval]]) -> Interval:
    return curve[-1][1] / curve[0][1]


def _spread(curve: Sequence[tuple[Any, Interval]]) -> Interval:
    numbers = [number for _, number in curve]
    largest = Interval(max(n.low for n in numbers), max(n.high for n in numbers))
    smallest = Interval(min(n.low for n in numbers), min(n.high for n in numbers))
    spread = largest / smallest
    return Interval(max(spread.low, 1.0), spread.high)


def _peak(curve: Sequence[tuple[Any, Interval]]) -> Interval:
    """Among the points that may be the largest, the least and the greatest axis value."""
    surely = max(number.low for _, number in curve)
    places = [_positive(x) for x, number in curve if number.high >= surely]
    return Interval(min(places), max(places))


_MEASURES: dict[str, Callable[[Sequence[tuple[Any, Interval]]], Interval]] = {
    "slope": _slope,
    "steepest": _steepest,
    "last/first": _last_to_first,
    "spread": _spread,
    "peak": _peak,
}


def _positive(x: Any) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float) or x <= 0:
        raise NotComparable(f"the axis value {x!r} has no logarithm")
    return float(x)


# --- records ----------------------------------------------------------------------------------------------------------


def _curve(algorithm: str, metric: str, records: Sequence[Record], axis: str) -> dict[Point, tuple[Any, Interval]]:
    """The axis value and the metric of an algorithm at each point, in the order of the axis.

    Raises `NotComparable` if the algorithm answered wrongly or was never run.
    """
    kind = measurement(metric)
    own = [r for r in records if r.algorithm == algorithm and (kind is None or r.measurement == kind)]
    if not own:
        raise NotComparable(f"{algorithm} was not run")
    for record in own:
        if record.status in (Status.WRONG, Status.ERROR, Status.UNSUPPORTED):
            raise NotComparable(f"{algorithm} is {record.status.value} at {_named(record.point)}")
    if any(axis not in record.point for record in own):
        raise NotComparable(f"the points have no axis {axis!r}")
    points: dict[Point, list[Record]] = {}
    for record in sorted(own, key=lambda r: (value_key(r.point[axis]), point_key(r.point))):
        points.setdefault(point_key(record.point), []).append(record)
    return {key: (cells[0].point[axis], _median(cells, metric, records)) for key, cells in points.items()}


def _median(cells: Sequence[Record], metric: str, records: Iterable[Record]) -> Interval:
    numbers = [_number(cell, metric, records) for cell in cells]
    return Interval(median([n.low for n in numbers]), median([n.high for n in numbers]))


def _number(cell: Record, metric: str, records: Iterable[Record]) -> Interval:
    if cell.status is Status.OK:
        number = value(cell, metric)
        return ANYTHING if number is None else Interval(number, number)
    if cell.status is not Status.TIMEOUT:
        return ANYTHING
    finished = next((r for r in records if r.group == cell.group and r.status is Status.OK), None)
    if metric == "service_total":
        return Interval(cell.limit_seconds, inf)
    if finished is None:
        return ANYTHING
    if metric == "throughput" and finished.realised is not None:
        return Interval(0.0, finished.realised.events / cell.limit_seconds)
    # One of the arrival batches took at least its share of the limit, and its rows waited for it.
    batches = (finished.realised.batches if finished.realised else None) or max(1, len(finished.samples.service))
    if metric == "latency_max" or (metric.startswith("latency") and batches == 1):
        return Interval(cell.limit_seconds / batches, inf)
    return ANYTHING


def _fails(claim: Fails, records: Sequence[Record], axis: str) -> ClaimResult:
    cut = (Status.TIMEOUT, Status.OUT_OF_MEMORY)
    result = {"text": claim.text, "source": claim.source, "expected": expectation(claim)}
    for name in claim.algorithms:
        own = [r for r in records if r.algorithm == name]
        bad = next((r for r in own if r.status in (Status.WRONG, Status.ERROR, Status.UNSUPPORTED)), None)
        if not own or bad is not None:
            reason = f"{name} was not run" if bad is None else f"{name} is {bad.status.value} at {_named(bad.point)}"
            return ClaimResult(**result, verdict=Verdict.NOT_COMPARABLE, reason=reason)
    failed = [r for r in records if r.algorithm == claim.algorithm and r.status in cut]
    # Points that were not run because an easier one was cut off say less than that one.
    failed.sort(key=lambda r: (r.seconds == 0, value_key(r.point.get(axis))))
    others = f" and {', '.join(claim.survivors)} finished" if claim.survivors else ""
    computation = f"the first point of {axis} at which {claim.algorithm} ran and was cut off by a limit{others}"
    if not failed:
        reason = f"{claim.algorithm} finished everywhere; larger points or shorter limits may show it"
        return ClaimResult(**result, verdict=Verdict.NOT_REPRODUCED, reason=reason, computation=computation)
    survived = [
        {point_key(r.point) for r in records if r.algorithm == name and r.status is Status.OK}
        for name in claim.survivors
    ]
    shown = [r for r in failed if all(point_key(r.point) in points for points in survived)]
    if shown:
        first = shown[0].point.get(axis)
        measured = float(first) if isinstance(first, int | float) else None
        return ClaimResult(**result, measured=measured, unit="", verdict=Verdict.REPRODUCED, computation=computation)
    places = {point_key(r.point) for r in failed}
    also = [r for r in records if r.algorithm in claim.survivors and r.status in cut and point_key(r.point) in places]
    if also:
        reason = f"{also[0].algorithm} did not finish at {_named(also[0].point)} either"
        return ClaimResult(**result, verdict=Verdict.NOT_REPRODUCED, reason=reason, computation=computation)
    reason = f"nobody else was run at {_named(failed[0].point)}"
    return ClaimResult(**result, verdict=Verdict.NOT_COMPARABLE, reason=reason, computation=computation)


def _named(point: dict[str, Any]) -> str:
    return ", ".join(f"{name} {given}" for name, given in point.items()) or "the only point"
