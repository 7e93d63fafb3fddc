"""Factors: how many times a number is another one, graded by a band around the paper's factor.

Reproduced from half to twice the claimed factor, or within half an order of magnitude where orders are claimed;
stronger above; weaker below, as long as the effect has the claimed direction; contradicted otherwise. The median
decides, and the interval of repetitions decides only whether there is an effect at all (`_noise`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, sqrt
from typing import Any

from cepbench.experiments.claims import Factor
from cepbench.experiments.verdicts.curves import along, curve
from cepbench.experiments.verdicts.judgement import Judgement, NotComparable, cut_off
from cepbench.experiments.verdicts.numbers import ANYTHING, Number, tolerance
from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Record
from cepbench.metrics.values import unit

BAND = 2.0  # around a factor
ORDERS = 0.5  # around a number of orders of magnitude


def judge(claim: Factor, records: Sequence[Record], axis: str) -> Judgement:
    """The number that the claim is about, and its grade."""
    number, computation = measured(claim, records, axis)
    verdict, reasons = graded(claim, number)
    said = unit(claim.metric) if claim.to is None and claim.change is None else "" if claim.alone else "x"
    return Judgement(verdict, number, said, reasons, computation)


def measured(claim: Factor, records: Sequence[Record], axis: str) -> tuple[Number, str]:
    """The number, and how it was computed. Raises `NotComparable` if there is none."""
    found = curve(claim.of, claim.metric, records, axis)
    what, missing = f"{claim.metric} of {claim.of}", f"{claim.of} has no measured point"
    if claim.to is not None:
        divisor = claim.to_metric or claim.metric
        to = curve(claim.to, divisor, records, axis)
        shared = [key for key in found if key in to and _told(found[key][1], to[key][1])]
        found = {key: (found[key][0], found[key][1] / to[key][1]) for key in shared}
        what += f" / {claim.to if divisor == claim.metric else f'{divisor} of {claim.to}'}"
        missing = f"{claim.of} and {claim.to} have no point at which both were measured"
    if claim.change is not None:
        return _changed(claim, along(found, axis), axis, what)
    points = [entry for entry in found.values() if entry[1] != ANYTHING]
    if not points:
        raise NotComparable(missing)
    place, number = _at(claim.at, points)
    return number, f"{what}, {claim.at} over {axis} (at {place}), medians"


def band(claim: Factor) -> tuple[float, float]:
    """Between what a number reproduces the claim, both ends included."""
    if claim.factor is not None:
        return claim.factor / BAND, claim.factor * BAND
    if claim.orders is not None:
        return 10 ** (claim.orders - ORDERS), 10 ** (claim.orders + ORDERS)
    return (-inf if claim.at_least is None else claim.at_least), (inf if claim.at_most is None else claim.at_most)


def graded(claim: Factor, number: Number) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict on a number, and what must be said with it."""
    if not number.exact:
        return _bounded(claim, number), (cut_off(number),)
    verdict, noise = grade(claim, number.low), _noise(claim, number)
    if noise is not None:
        return noise
    ends = list(dict.fromkeys((grade(claim, number.least), verdict, grade(claim, number.most))))
    if len(ends) == 1:
        return verdict, ()
    return verdict, (f"the median decides: the interval of repetitions reaches from {ends[0]} to {ends[-1]}",)


def grade(claim: Factor, x: float) -> Verdict:
    """The verdict on an exact number."""
    low, high = band(claim)
    inside = low <= x <= high
    if claim.alone:
        if inside:
            return Verdict.REPRODUCED
        if x > high and claim.at_most is None:
            return Verdict.STRONGER
        return Verdict.WEAKER if x > 0 else Verdict.CONTRADICTED
    effect = _effect(claim)
    if effect == 1:
        return Verdict.REPRODUCED if inside else Verdict.CONTRADICTED
    same = min(tolerance(claim.metric), sqrt(effect))
    if (1 / x if x else inf) <= same if claim.at_most is not None else x <= same:
        return Verdict.CONTRADICTED
    if inside:
        return Verdict.REPRODUCED
    return Verdict.STRONGER if x > high and claim.at_most is None else Verdict.WEAKER


def _effect(claim: Factor) -> float:
    """The factor that is claimed of a ratio, in the direction in which it is more than 1; 1 where none is claimed."""
    if claim.factor is not None:
        return claim.factor
    if claim.orders is not None:
        return float(10**claim.orders)
    if claim.at_least is not None:
        return max(1.0, claim.at_least)
    return max(1.0, 1 / (claim.at_most or 1.0))


def _bounded(claim: Factor, number: Number) -> Verdict:
    """The verdict of all values between two bounds; `reproduced` where they are that or stronger."""
    low, high = band(claim)
    grades = {grade(claim, number.low), grade(claim, number.high)}
    if number.low <= high and number.high >= low and _effect(claim) == 1:
        grades.add(Verdict.REPRODUCED)  # inside of the band, between two ends that may both be outside
    if grades == {Verdict.REPRODUCED, Verdict.STRONGER}:
        return Verdict.REPRODUCED
    return grades.pop() if len(grades) == 1 else Verdict.NOT_COMPARABLE


def _noise(claim: Factor, number: Number) -> tuple[Verdict, tuple[str, ...]] | None:
    """No effect, where the interval of repetitions holds 1; nothing at all, where it reaches far towards the claim.

    Far is the geometric mean of 1 and the claimed factor.
    """
    effect = 1.0 if claim.alone else _effect(claim)
    if effect == 1 or number.least == number.most or not number.least <= 1 <= number.most:
        return None
    reach = (1 / number.least if number.least else inf) if claim.at_most is not None else number.most
    if reach >= sqrt(effect):
        return Verdict.NOT_COMPARABLE, ("the repetitions scatter from no effect to the claimed one",)
    return Verdict.CONTRADICTED, ("no effect beyond the interval of the repetitions",)


# --- numbers ----------------------------------------------------------------------------------------------------------


def _told(of: Number, to: Number) -> bool:
    """Whether something is known of a ratio."""
    return of / to != ANYTHING


def _at(at: str, points: Sequence[tuple[Any, Number]]) -> tuple[Any, Number]:
    """The number that `at` asks for, and where it was found. An extreme of bounds is a bound."""
    if at == "first":
        return points[0]
    if at == "last":
        return points[-1]
    if at == "max":
        place, number = max(points, key=lambda entry: (entry[1].low, entry[1].high))
        high = max(other.high for _, other in points)
        return place, replace(number, high=high, most=max(number.most, high))
    place, number = min(points, key=lambda entry: (entry[1].high, entry[1].low))
    low = min(other.low for _, other in points)
    return place, replace(number, low=low, least=min(number.least, low))


def _changed(claim: Factor, points: Sequence[tuple[Any, Number]], axis: str, what: str) -> tuple[Number, str]:
    if len(points) < 2:
        raise NotComparable(f"{claim.of} was measured at fewer than two points of {axis}")
    numbers = [number for _, number in points]
    told = f"{claim.change} of {what} over {axis}, medians"
    if claim.change == "last/first":
        return numbers[-1] / numbers[0], told
    if claim.change == "first/last":
        return numbers[0] / numbers[-1], told
    largest, smallest = _at("max", points)[1], _at("min", points)[1]
    spread = largest / smallest
    return replace(spread, low=max(spread.low, 1.0), least=max(spread.least, 1.0)), told
