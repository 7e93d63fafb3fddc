"""The verdict on a claim, by the same rules for all figures (docs/measurement.md, Verdicts).

The median decides: an effect *holds* if it lies in the band of the claim. Otherwise it is *stronger* or *weaker* than
claimed, or *opposite* if it lies beyond no effect. A claim is *open* if its interval reaches from no effect to the
band, a search was incomplete, its size was not measured, or its times are not those of work. Where cells reached a
limit, or the time of one of two systems is longer than its work, the number lies between two bounds, and the claim is
judged if both have the same verdict. It rests on noisy cells, and is open, if it has another verdict without the time
that they lost to other work of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite

from cepbench.experiments.claims import Claim, Effect, Limit, Quantity, holds
from cepbench.experiments.verdicts.cells import CUT, VOID, calm, incomplete, is_noisy, named
from cepbench.experiments.verdicts.numbers import Number
from cepbench.experiments.verdicts.quantities import Measured, NotMeasured, Point, measured
from cepbench.metrics.figure import EXPONENT, RATIO, SHARE, ClaimResult, Declared, Verdict
from cepbench.metrics.record import Record
from cepbench.metrics.status import Status
from cepbench.metrics.values import is_time, unit

FACTOR = 2.0
"""A factor holds from half to twice its value; half of it counts as at least its square root."""
ORDERS = 0.5
"""Orders of magnitude hold within half an order."""
POWER = 0.3
"""The exponent of a slope holds within this distance."""
SAME = 1.05
"""Times whose ratio is below this count as equal: runs of one algorithm on one input differ by as much."""


@dataclass(frozen=True)
class Band:
    """The numbers for which a claim holds. `same`: no effect is claimed, so that a number outside is opposite."""

    low: float
    high: float
    same: bool = False


def judged(
    claim: Claim,
    records: Sequence[Record],
    sweeps: Sequence[Sequence[Point]],
    absent: Mapping[str, str] | None = None,
) -> ClaimResult:
    """The verdict on a claim by the `records` of one experiment, without its cause.

    `sweeps` are the points of each sweep; a claim uses points of one sweep. A claim about an `absent` system is open,
    for the reason given there.
    """
    lacking = next((absent[name] for name in claim.algorithms if name in absent), "") if absent else ""
    if lacking:
        return _open(claim, lacking)
    return _limited(claim, records) if isinstance(claim, Limit) else _judged(claim, records, sweeps)


def expectation(claim: Effect | Limit) -> str:
    """The expectation of a claim, in words."""
    if isinstance(claim, Limit):
        fails = f"{' and '.join(claim.fails)} {'do' if len(claim.fails) > 1 else 'does'} not end" if claim.fails else ""
        ends = f"{' and '.join(claim.ends)} {'end' if len(claim.ends) > 1 else 'ends'}" if claim.ends else ""
        return ", ".join(filter(None, (fails, ends)))
    times = "" if claim.neutral is None or claim.slope else " times"
    if claim.factor is not None:
        return "no difference" if claim.factor == (1, 1) and times else f"{_range(claim.factor, '')}{times}"
    if claim.orders is not None:
        return f"{_range(claim.orders, '10^')}{times}" if any(claim.orders) else "no difference"
    if claim.power is not None:
        return f"n^{claim.power:g}" if claim.power else "constant"
    if claim.direction is not None:
        return claim.direction
    what = EXPONENT if claim.slope else ""
    words, bound = ("at least", claim.at_least) if claim.at_least is not None else ("at most", claim.at_most)
    if unit_of(claim) == SHARE and bound is not None:
        return f"{words} {100 * bound:g} %"
    return f"{words} {what}{bound:g}{times}"


def _range(ends: tuple[float, float], prefix: str) -> str:
    return " to ".join(f"{prefix}{end:g}" for end in dict.fromkeys(ends))


def declaration(claim: Claim) -> Declared:
    """The part of a claim that is known before it is measured."""
    over = f", {claim.average} over {claim.draws}" if isinstance(claim, Effect) and claim.draws is not None else ""
    what = in_words(claim) if isinstance(claim, Effect) else ""
    return Declared(text=claim.text, what=what, expected=expectation(claim), size=f"{_size(claim)}{over}")


def band(claim: Effect) -> Band:
    """The numbers for which a claim holds, by the rules for bands in docs/measurement.md, Verdicts."""
    if claim.factor is not None:
        least, most = claim.factor
        same = claim.neutral == 1 and claim.factor == (1, 1)
        low = least / FACTOR
        if claim.neutral == 1 and not same:  # half of "twice" would be no effect at all
            low = max(low, least**0.5)
        return Band(low, most * FACTOR, same)
    if claim.orders is not None:
        least, most = claim.orders
        return Band(10 ** (least - ORDERS), 10 ** (most + ORDERS), claim.orders == (0, 0))
    if claim.power is not None:
        return Band(claim.power - POWER, claim.power + POWER, claim.power == 0)
    if claim.at_least is not None:
        return Band(claim.at_least, inf)
    if claim.at_most is not None:
        return Band(-inf, claim.at_most)
    neutral = claim.neutral or 0.0
    step = 0.0 if claim.slope else _tolerance(claim.metric) - 1
    return Band(neutral + step, inf) if claim.direction == "more" else Band(-inf, neutral / (1 + step))


def graded(claim: Effect, number: float) -> Verdict:
    """The verdict on a number."""
    wanted, neutral = band(claim), claim.neutral
    on_an_edge = claim.direction is not None and number == (wanted.low if claim.direction == "more" else wanted.high)
    if wanted.low <= number <= wanted.high and not on_an_edge:
        return Verdict.HOLDS
    if wanted.same:
        return Verdict.OPPOSITE
    downward = wanted.low == -inf
    if number > wanted.high and not downward:
        return Verdict.STRONGER
    if neutral is None:
        return Verdict.WEAKER
    same = 1.0 if claim.slope else _tolerance(claim.metric)
    crossed = wanted.high <= neutral and number > neutral * same if downward else number < neutral / same
    return Verdict.OPPOSITE if crossed else Verdict.WEAKER


def verdicts(claim: Effect, number: Number) -> set[Verdict]:
    """The verdicts on both ends of a number, one if it is known; opposite only if its interval excludes no effect."""
    either = {graded(claim, end) for end in (number.low, number.high)}
    return {Verdict.WEAKER} if either == {Verdict.OPPOSITE} and no_effect(claim, number) else either


def undecided(claim: Effect, number: Number) -> str:
    """In words, that the interval reaches from no effect to the band of the claim or beyond it; otherwise empty.

    Of a claim of no difference: that it covers the whole band.
    """
    wanted, neutral = band(claim), claim.neutral
    if wanted.same and number.least < wanted.low and wanted.high < number.most:
        return "the interval covers all that counts as no difference"
    if neutral is None or not number.least <= neutral <= number.most:
        return ""
    if wanted.low <= neutral <= wanted.high and claim.direction is None:
        return ""
    if claim.direction is not None and number.least == number.most:
        return ""
    reaches = number.most >= wanted.low if wanted.low >= neutral else number.least <= wanted.high
    return "the interval reaches from no effect to the paper's number" if reaches else ""


def no_effect(claim: Effect, number: Number) -> bool:
    """Whether the interval of the number contains no effect, where the claim is one of an effect."""
    return not band(claim).same and claim.neutral is not None and number.least <= claim.neutral <= number.most


def _judged(claim: Effect, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]) -> ClaimResult:
    try:
        measurement = measured(claim, records, sweeps)
    except NotMeasured as why:
        return _open(claim, str(why))
    number = measurement.number
    verdict, reason = _decided(claim, measurement)
    noisy = sum(map(is_noisy, measurement.timed))
    quiet = _calm(claim, records, sweeps) if noisy else measurement
    quiet_verdict, quiet_reason = _decided(claim, quiet)
    if verdict not in (Verdict.OPEN, quiet_verdict):
        reason = f"without the time that noisy cells lost, {quiet_reason or 'its verdict is another one'}"
        verdict = Verdict.OPEN
    held = sum(draw.exact and graded(claim, draw.low) is Verdict.HOLDS for draw in measurement.draws)
    draws = len(measurement.draws)
    edge = verdict is not Verdict.OPEN and number.exact and _touches_an_edge(claim, number)
    result = _open(claim, reason).model_copy(
        update={
            "verdict": verdict,
            "edge": edge,
            "size": measurement.size,
            "cells": len(measurement.timed),
            "noisy": noisy,
            "calm": ends(quiet.number)["measured"] if noisy else None,
            **ends(number),
        }
    )
    return result.model_copy(update={"draws": draws, "held": held}) if draws > 1 else result


def _decided(claim: Effect, measurement: Measured) -> tuple[Verdict, str]:
    """The verdict on a number, and the reason if it is open."""
    number, reason = measurement.number, measurement.reason
    either = verdicts(claim, number)
    if len(either) > 1:
        return Verdict.OPEN, "; ".join(filter(None, (measurement.floor or _cut(measurement.cut), reason)))
    if number.exact and (wide := undecided(claim, number)):
        return Verdict.OPEN, "; ".join(filter(None, (wide, reason)))
    [verdict] = either
    return (Verdict.OPEN, reason) if reason else (verdict, "")


def _cut(systems: Sequence[str]) -> str:
    """`a and b were cut off by a limit`."""
    names = " and ".join(systems) or "its number"
    return f"{names} {'were' if len(systems) > 1 else 'was'} cut off by a limit"


def _calm(claim: Effect, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]) -> Measured:
    """The number of a claim without the time that its cells lost to other work of the machine."""
    return measured(claim, [calm(r) if r.algorithm in claim.algorithms else r for r in records], sweeps)


def _touches_an_edge(claim: Effect, number: Number) -> bool:
    """Whether the ends of the interval and the median would have different verdicts."""
    return len({graded(claim, end) for end in (number.least, number.low, number.most)}) > 1


def _limited(claim: Limit, records: Sequence[Record]) -> ClaimResult:
    """Holds if all outcomes are as claimed.

    It is opposite if a system finishes that should not, and open if a system reaches a limit that should finish.
    """
    result = _open(claim, "")
    worst: dict[str, Record] = {}
    for name in claim.algorithms:
        cells = [r for r in records if r.algorithm == name and holds(r.point, claim.where)]
        if not cells:
            return result.model_copy(update={"reason": f"{name} was not run at {named(dict(claim.where))}"})
        last = worst[name] = sorted(cells, key=lambda r: (r.status in VOID, r.status in CUT))[-1]
        if last.status in VOID:
            return result.model_copy(update={"reason": f"{name} is {last.status.value} at {named(last.point)}"})
        if name in claim.ends and (why := incomplete(cells, "plan_seconds")):
            return result.model_copy(update={"reason": why})
    cut = [name for name in claim.ends if worst[name].status in CUT]
    if cut:
        return result.model_copy(update={"reason": f"{' and '.join(cut)} did not finish within our limits, either"})
    over = [name for name in claim.fails if worst[name].status is Status.OK]
    if over:
        return result.model_copy(update={"verdict": Verdict.OPPOSITE, "reason": f"{' and '.join(over)} finished"})
    limits = {f"{worst[name].limit_seconds:g} s" for name in claim.fails if worst[name].status is Status.TIMEOUT}
    within = f"within {' and '.join(sorted(limits))}" if limits else ""
    return result.model_copy(update={"verdict": Verdict.HOLDS, "reason": within})


def _open(claim: Effect | Limit, reason: str) -> ClaimResult:
    """An open claim with this reason."""
    return ClaimResult(
        text=claim.text,
        source=claim.source,
        expected=expectation(claim),
        claimed=_claimed(claim),
        size=_size(claim),
        number="" if isinstance(claim, Limit) else in_words(claim),
        unit=unit_of(claim),
        verdict=Verdict.OPEN,
        reason=reason,
    )


def _size(claim: Effect | Limit) -> str:
    where = {**claim.where, **{a: f"{x:g} to {y:g}" for a, (x, y) in getattr(claim, "stretch", {}).items()}}
    return named(where) if where else "the only size"


def _claimed(claim: Effect | Limit) -> float | None:
    """The ratio that the paper claims, the middle of a range, for drawings; None if it claims none."""
    if isinstance(claim, Limit) or claim.neutral != 1:
        return None
    if claim.orders is not None:
        return float(10 ** (sum(claim.orders) / 2))
    factor = None if claim.factor is None else (claim.factor[0] * claim.factor[1]) ** 0.5
    return next((n for n in (factor, claim.at_least, claim.at_most) if n is not None), None)


def unit_of(claim: Quantity | Limit) -> str:
    """The unit of the number of a claim; seconds per edge are seconds."""
    if isinstance(claim, Limit):
        return ""
    if claim.slope:
        return EXPONENT
    unit_of_metric = unit(claim.metric)
    if claim.between or (claim.to is not None and claim.to_metric is None):
        return RATIO
    return SHARE if claim.to_metric is not None and unit(claim.to_metric) == unit_of_metric else unit_of_metric


def in_words(quantity: Quantity) -> str:
    """The number in words."""
    what = f"{quantity.metric} of {quantity.of}"
    if quantity.to is not None:
        best = "the best of " if len(quantity.rivals) > 1 else ""
        to = f"{quantity.to_metric} of " if quantity.to_metric else ""
        what += f" over {to}{best}{' and '.join(quantity.rivals)}"
    return f"exponent of the {what}" if quantity.slope else f"growth of the {what}" if quantity.between else what


def ends(number: Number) -> dict[str, float | None]:
    """The number and its interval; of a number that was cut off the end that is known, and None for the other."""
    if number.exact:
        return {"measured": _finite(number.low), "low": _finite(number.least), "high": _finite(number.most)}
    bound = number.low if isfinite(number.low) and number.low > 0 else number.high
    return {
        "bound": True,
        "measured": _finite(bound),
        "low": _finite(number.low) if number.low > 0 else None,
        "high": _finite(number.high),
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _tolerance(metric: str) -> float:
    """Times vary between runs; counts and bytes are exact."""
    return SAME if is_time(metric) else 1.0
