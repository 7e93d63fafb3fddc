"""Computes the number of a quantity from the records, at its size or at the nearest size that was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, nan
from typing import Any

from cepbench.experiments.claims import Quantity, holds
from cepbench.experiments.verdicts.cells import (
    CUT,
    VOID,
    at_floor,
    incomplete,
    is_timed,
    measuring,
    missing,
    named,
    number,
)
from cepbench.experiments.verdicts.numbers import Number, best, mean, pooled
from cepbench.metrics.record import Record
from cepbench.metrics.results import point_key
from cepbench.metrics.values import status_of, unit

Point = dict[str, Any]


class NotMeasured(Exception):
    """The records do not give the number; the message is the reason."""


@dataclass(frozen=True)
class Measured:
    """A number with the size at which it was measured.

    `draws` has the number of each draw; one entry if nothing is drawn. `timed` are the cells whose times it reads.
    `reason` says why the number does not decide a claim: another size was measured, or a search was incomplete.
    Otherwise it is empty. `floor` names the system whose time bounds the number, since not all of it is that of work,
    and `cut` the systems that a limit stopped.
    """

    number: Number
    draws: tuple[Number, ...]
    size: str
    timed: tuple[Record, ...]
    reason: str = ""
    floor: str = ""
    cut: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sized:
    """The points of a size, and the size in words. `reason` is set if it is not the requested size."""

    points: tuple[Point, ...]
    size: str
    reason: str = ""
    distance: float = 0.0  # from the requested size


def measured(quantity: Quantity, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]) -> Measured:
    """Computes the number from points of one of the `sweeps`.

    Raises `NotMeasured` if an algorithm has no valid cell, or if several points have the size.
    """
    for name, metric in quantity.parts:
        _check(name, metric, measuring(name, metric, records))
    points = _points(quantity, records)
    chosen = sized(quantity, [[point for point in points if point in sweep] for sweep in sweeps])
    by_draw: dict[Any, list[Point]] = {}
    for point in chosen.points:
        by_draw.setdefault(point.get(quantity.draws) if quantity.draws else None, []).append(point)
    reasons, searches = [chosen.reason], Counter[str]()
    numbers, bounding, voiding = [], [], []
    for drawn in by_draw.values():
        value, why = _of_draw(quantity, drawn, records)
        of, to = _floors(quantity, drawn, records)
        if bool(of) != bool(to) and not quantity.stretch:
            value = _bounded(value, above=bool(to) == (unit(quantity.metric) == "s"))
            bounding.append(of or to)
        elif of or to:
            voiding.append(of or to)
        numbers.append(value)
        searches[why] += 1
    for why, draws in searches.items():
        reasons.append(f"{why} in {draws} of {len(by_draw)} draws" if why and len(by_draw) > 1 else why)
    # A mean takes in every draw, a median that of the middle.
    if voiding and (quantity.average == "mean" or 2 * len(voiding) >= len(by_draw)):
        reasons.append(voiding[0])
    whole, size = numbers[0], chosen.size
    if len(numbers) > 1:
        whole = median = pooled([value.low for value in numbers], [value.high for value in numbers])
        if quantity.average == "mean":
            whole = mean(numbers)
            size += f", their mean; their median is {median.low:.3g}"
    timed = [
        cell
        for name, metric in quantity.parts
        if is_timed(metric)
        for cell in measuring(name, metric, records)
        if cell.point in chosen.points
    ]
    cut = dict.fromkeys(
        name
        for name, metric in quantity.parts
        for cell in measuring(name, metric, records)
        if cell.point in chosen.points and status_of(cell, metric) in CUT
    )
    reason = "; ".join(dict.fromkeys(filter(None, reasons)))
    return Measured(whole, tuple(numbers), size, tuple(timed), reason, next(iter(bounding), ""), tuple(cut))


def _check(algorithm: str, metric: str, cells: Sequence[Record]) -> None:
    if not cells:
        raise NotMeasured(f"{algorithm} was not run")
    for cell in cells:
        status = status_of(cell, metric)
        if status in VOID:
            raise NotMeasured(f"{algorithm} is {status.value} at {named(cell.point)}")


def _points(quantity: Quantity, records: Sequence[Record]) -> list[Point]:
    """The points at which all algorithms of the quantity were run."""
    first, *others = (
        {point_key(cell.point): cell.point for cell in measuring(name, metric, records)}
        for name, metric in quantity.parts
    )
    shared = [point for key, point in first.items() if all(key in cells for cells in others)]
    if not shared:
        raise NotMeasured(f"{' and '.join(quantity.algorithms)} were not run at the same point")
    return shared


def sized(quantity: Quantity, sweeps: Sequence[Sequence[Point]]) -> Sized:
    """The points of the size, or of the nearest one.

    They belong to one sweep, or, if that gives more points of the size, to several sweeps and differ only along the
    stretch and in the draws. Raises `NotMeasured` if there are none, or if several choices are possible.
    """
    candidates: list[tuple[tuple[bool, float, int, bool], Sized]] = []
    reasons: list[str] = []
    for place, points in enumerate((*sweeps, *_lines(quantity, sweeps))):
        try:
            chosen = _sized_in(quantity, points)
            rank = (not chosen.reason, -chosen.distance, len(chosen.points), place < len(sweeps))
            candidates.append((rank, chosen))
        except NotMeasured as why:
            reasons.append(str(why))
    if not candidates:
        raise NotMeasured(min(reasons, key=len, default="no point was measured"))
    best_rank = max(rank for rank, _ in candidates)
    best = [chosen for rank, chosen in candidates if rank == best_rank]
    different = next((point for chosen in best for point in chosen.points if point not in best[0].points), None)
    if different is not None:
        raise NotMeasured(f"several points have this size, such as {named(different)}; name more axes in where")
    return best[0]


def _lines(quantity: Quantity, sweeps: Sequence[Sequence[Point]]) -> list[list[Point]]:
    """All points, in groups that differ only along the stretch and in the draws."""
    free = (*quantity.stretch, quantity.draws)
    lines: dict[str, list[Point]] = {}
    for point in (point for points in sweeps for point in points):
        line = lines.setdefault(repr({axis: at for axis, at in point.items() if axis not in free}), [])
        if point not in line:
            line.append(point)
    return list(lines.values())


def _sized_in(quantity: Quantity, points: Sequence[Point]) -> Sized:
    """The points of one sweep that have the size: one for each value along the stretch and each draw."""
    chosen = [point for point in points if holds(point, quantity.where)]
    reason, distance = "", 0.0
    if not chosen:
        chosen, distance = _nearest(quantity, points)
        reason = f"{named(dict(quantity.where))} was not measured"
    for axis, ends in quantity.stretch.items():
        first, last = sorted(ends)
        inside = sorted({x for point in chosen if first <= (x := _size_along(point, axis)) <= last})
        if len(inside) < 2:
            raise NotMeasured(f"fewer than two sizes of {axis} between {first:g} and {last:g} were measured")
        if (first, last) != (inside[0], inside[-1]):
            reason = reason or f"{axis} {first:g} to {last:g} was not measured"
        chosen = [point for point in chosen if first <= _size_along(point, axis) <= last]
    free = [*quantity.stretch, *(() if quantity.draws is None else (quantity.draws,))]
    places: dict[str, Point] = {}
    for point in chosen:
        if places.setdefault(repr([point.get(axis) for axis in free]), point) != point:
            raise NotMeasured(f"several points have this size, such as {named(point)}; name more axes in where")
    return Sized(tuple(places.values()), _size(quantity, chosen), reason, distance)


def _nearest(quantity: Quantity, points: Sequence[Point]) -> tuple[list[Point], float]:
    """The nearest points, which differ from the size in numbers only, and their distance in logarithms."""
    candidates = []
    for point in points:
        distance = 0.0
        for axis, wanted in quantity.where.items():
            size, asked = _size_along(point, axis), _size_along(quantity.where, axis)
            if point.get(axis) == wanted:
                continue
            if not (size > 0 and asked > 0):
                break
            distance += abs(log(size / asked))
        else:
            candidates.append((distance, point))
    if not candidates:
        raise NotMeasured(f"no point has {named(dict(quantity.where))}")
    least = min(distance for distance, _ in candidates)
    return [point for distance, point in candidates if distance == least], least


def _size(quantity: Quantity, chosen: Sequence[Point]) -> str:
    parts = [f"{axis} {chosen[0][axis]}" for axis in quantity.where]
    for axis in quantity.stretch:
        at = [point[axis] for point in chosen]
        parts.append(f"{axis} {min(at)} to {max(at)}")
    draws = len({repr(point.get(quantity.draws)) for point in chosen}) if quantity.draws else 1
    of = "" if quantity.draws == "draw" else f" of {quantity.draws}"
    return ", ".join([*parts, *([f"{draws} draws{of}"] if draws > 1 else [])]) or "the only size"


def _of_draw(quantity: Quantity, points: Sequence[Point], records: Sequence[Record]) -> tuple[Number, str]:
    numbers, why = [], ""
    for point in points:
        at, reason = _at(quantity, point, records)
        numbers.append(at)
        why = why or reason
    if not quantity.stretch:
        return numbers[0], why
    [axis] = quantity.stretch
    curve = sorted(zip([float(point[axis]) for point in points], numbers, strict=True), key=lambda entry: entry[0])
    if len(curve) < 2:
        raise NotMeasured(f"fewer than two sizes of {axis} were measured")
    if quantity.slope:
        return _slope(curve), why
    first, last = quantity.between[axis]
    return (curve[-1][1] / curve[0][1] if first < last else curve[0][1] / curve[-1][1]), why


def _at(quantity: Quantity, point: Point, records: Sequence[Record]) -> tuple[Number, str]:
    """The number at one point, and the incomplete search for which it decides nothing, in words."""
    numbers, why = [], ""
    for name, metric in quantity.parts:
        cells = [cell for cell in measuring(name, metric, records) if cell.point == point]
        if any(missing(cell, metric) for cell in cells):
            empty = ": no window has a match" if metric.startswith("latency") else ""
            raise NotMeasured(f"{name} has no {metric} at {named(point)}{empty}")
        why = why or incomplete(cells, metric)
        numbers.append(number(cells, metric, records))
    if not quantity.rivals:
        return numbers[0], why
    return numbers[0] / best(numbers[1:], most=quantity.parts[1][1] == "throughput"), why


def _floors(quantity: Quantity, points: Sequence[Point], records: Sequence[Record]) -> tuple[str, str]:
    """The systems whose time is not that of work at one of the points, in words: `of`, and one of its rivals."""
    if quantity.neutral is None:
        return "", ""
    (name, metric), *rivals = quantity.parts

    def floored(name: str, metric: str) -> str:
        cells = ([r for r in measuring(name, metric, records) if r.point == point] for point in points)
        return next(filter(None, (at_floor(there, metric) for there in cells)), "")

    return floored(name, metric), next(filter(None, (floored(*rival) for rival in rivals)), "")


def _bounded(value: Number, above: bool) -> Number:
    """A ratio of times of which one is longer than its work: the ratio of work lies above, or below."""
    return Number(value.low, inf, value.least, inf) if above else Number(0.0, value.high, 0.0, value.most)


def _slope(curve: Sequence[tuple[float, Number]]) -> Number:
    """The median of the slopes between all pairs of points on logarithmic axes (Theil 1950, Sen 1968)."""
    if not all(at.exact for _, at in curve):
        return Number(-inf, inf, -inf, inf)
    if any(at.low <= 0 for _, at in curve):
        raise NotMeasured("a number is 0 and has no logarithm")
    if len(curve) == 2:
        (x, first), (y, last) = curve
        grown = last / first
        ends = (grown.low, grown.least, grown.most)
        middle, least, most = (log(end) / log(y / x) if end > 0 else -inf for end in ends)
    else:
        from scipy.stats import theilslopes  # takes as long to import as all of our experiments

        middle, _, least, most = theilslopes([log(at.low) for _, at in curve], [log(x) for x, _ in curve], 0.95)
    return Number(float(middle), float(middle), float(least), float(most))


def _size_along(point: Point, axis: str) -> float:
    """The size of a point along an axis; NaN if its value is not a number."""
    value = point.get(axis)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else nan
