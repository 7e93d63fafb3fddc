"""Shapes: the model that a curve follows, against the one that is claimed (`fits`).

Reproduced if the claimed model fits best; contradicted if another one does, or if the curve runs the other way; weaker
if it only runs in the claimed direction, as no model fits. Where nothing but the direction is claimed, times that
change by so little that it may be chance are weaker, and constant ones have no direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cepbench.experiments import claims
from cepbench.experiments.verdicts.curves import along, curve
from cepbench.experiments.verdicts.fits import FLAT_CHANGE, LEAST_POINTS, POWERS, Shape, shape
from cepbench.experiments.verdicts.judgement import Judgement, NotComparable
from cepbench.experiments.verdicts.numbers import Number, tolerance
from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Record

LEAST_FOR_DIRECTION = 3
DIRECTION = 1.1  # less change than this over the whole axis is none


def judge(claim: claims.Shape, records: Sequence[Record], axis: str) -> Judgement:
    """The shape of a curve, from the points that were measured within the limits."""
    # A point at 0 has no logarithm; the others show the shape.
    known = [entry for entry in along(curve(claim.of, claim.metric, records, axis), axis) if entry[0] != 0]
    measured = [(_positive(x, axis), _above_zero(number, claim)) for x, number in known if number.exact]
    bounds = [(_positive(x, axis), number) for x, number in known if not number.exact]
    least = LEAST_FOR_DIRECTION if claim.model is None else LEAST_POINTS
    if len(measured) < least:
        raise NotComparable(f"a shape needs {least} points of {axis} within the limits, not {len(measured)}")
    found = shape(measured)
    verdict, reason = _verdict(claim, found)
    hidden = _contradicting(claim, found, bounds)
    if verdict is Verdict.REPRODUCED and hidden is not None:
        verdict, reason = hidden
    if claim.model is None and found.name == "constant" and _runs_on(claim, found, measured, bounds):
        verdict, reason = Verdict.WEAKER, "but it leaves that curve where it was cut off"
    computation = (
        f"{claim.metric} of {claim.of} over {len(measured)} points of {axis}: error {found.power.error:.2g} as a "
        f"power of {found.power.slope:.2f}, {found.exponential.error:.2g} as an exponential (natural logarithms)"
    )
    return Judgement(verdict, None, "", tuple(filter(None, (f"the curve is {_running(found)}", reason))), computation)


def _verdict(claim: claims.Shape, found: Shape) -> tuple[Verdict, str]:
    moves = max(found.change, 1 / found.change) > DIRECTION
    forward = (found.change > 1) == (claim.direction == "grows")
    if claim.model is None:
        scatters = tolerance(claim.metric) > 1
        if not moves or not forward or (scatters and found.name == "constant"):
            return Verdict.CONTRADICTED, ""
        if scatters and max(found.change, 1 / found.change) <= FLAT_CHANGE:
            return Verdict.WEAKER, "it changes by no more than cells of one machine differ"
        return Verdict.REPRODUCED, ""
    if claim.or_less:
        return _at_most(claim.model, found)
    if claim.model == "constant":
        return (Verdict.REPRODUCED if found.name == "constant" else Verdict.CONTRADICTED), ""
    if found.name == "constant" or not moves or not forward:
        return Verdict.CONTRADICTED, ""
    if claim.model in (found.name, found.undecided) and found.undecided:
        return Verdict.NOT_COMPARABLE, f"{found.undecided} fits about as well"
    if found.name == claim.model:
        return Verdict.REPRODUCED, ""
    other = found.name in claims.MODELS or (found.name == "power" and claim.model == "exponential")
    return (Verdict.CONTRADICTED if other else Verdict.WEAKER), ""


def _at_most(model: str, found: Shape) -> tuple[Verdict, str]:
    """Whether a curve grows by at most this model: on every stretch, or by the model that fits."""
    if model == "exponential" or found.name in ("constant", "logarithmic"):
        return Verdict.REPRODUCED, ""
    if model != "logarithmic" and found.steepest <= POWERS[model][1]:
        return Verdict.REPRODUCED, f"nowhere steeper than a power of {found.steepest:.2g}"
    if not found.name:
        return Verdict.NOT_COMPARABLE, ""
    power = found.name != "exponential" and model != "logarithmic" and found.power.slope <= POWERS[model][1]
    return (Verdict.REPRODUCED if power else Verdict.CONTRADICTED), ""


def _contradicting(
    claim: claims.Shape, found: Shape, bounds: Sequence[tuple[float, Number]]
) -> tuple[Verdict, str] | None:
    """What a point says that was cut off, if it lies off the curve through the others: more than twice beyond."""
    fitted = found.exponential if found.name == "exponential" else found.power
    for x, number in bounds:
        at = fitted.at(x)
        if number.low > FLAT_CHANGE * at or number.high < at / FLAT_CHANGE:
            verdict = Verdict.CONTRADICTED if claim.model == "constant" or claim.or_less else Verdict.WEAKER
            return verdict, f"at {x:g}, where it was cut off, it leaves that curve"
    return None


def _runs_on(
    claim: claims.Shape,
    found: Shape,
    measured: Sequence[tuple[float, float]],
    bounds: Sequence[tuple[float, Number]],
) -> bool:
    """Whether points that were cut off, beyond those that were measured, lie in the claimed direction."""
    places = [x for x, _ in measured]
    for x, number in bounds:
        at = found.power.at(x)
        up, down = number.low > FLAT_CHANGE * at, number.high < at / FLAT_CHANGE
        before, after = (down, up) if claim.direction == "grows" else (up, down)
        if (x > max(places) and after) or (x < min(places) and before):
            return True
    return False


def _running(found: Shape) -> str:
    way = "grows" if found.change > 1 else "falls"
    times = max(found.change, 1 / found.change)
    if found.name == "constant":
        return f"constant: it {way} {times:.3g} times over the whole axis" if times > DIRECTION else "constant"
    return f"{found.words}, and {way} {times:.3g} times" if found.name else f"like {found.words}, and {way}"


def _positive(x: Any, axis: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float) or x <= 0:
        raise NotComparable(f"the {axis} {x!r} has no logarithm")
    return float(x)


def _above_zero(number: Number, claim: claims.Shape) -> float:
    if number.low <= 0:
        raise NotComparable(f"{claim.metric} of {claim.of} is 0 somewhere, which has no logarithm")
    return number.low
