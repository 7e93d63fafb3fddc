"""The verdict on a claim: its points, what it needs, then the judge of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cepbench.experiments.claims import PROFILES, Claim, Factor, Order, Shape, holds, reaches
from cepbench.experiments.verdicts import factors, limits, orders, shapes
from cepbench.experiments.verdicts.curves import fallen_back, named
from cepbench.experiments.verdicts.judgement import Judgement, NotComparable
from cepbench.metrics.figure import ClaimResult, Verdict
from cepbench.metrics.record import Record, Status
from cepbench.metrics.values import measurement


def verdict(
    claim: Claim, records: Sequence[Record], x: str, profile: str, absent: Mapping[str, str] | None = None
) -> ClaimResult:
    """What `records` of one experiment say about a claim; `x` is the axis that orders points by default.

    A claim whose needs are not met is not comparable; the number that was measured is told all the same. Nor is one
    about a system of `absent`, for the reason there.
    """
    axis = claim.axis or x
    reached = [r for r in records if holds(r.point, claim.where)]
    chosen = [r for r in reached if reaches(r.point, axis, claim.since, claim.until)]
    unmet = _unmet(claim, chosen, profile)
    if records and not chosen:
        missing = _range(claim, axis) if reached else named(claim.where)
        unmet = (f"no point has {missing}", *unmet)
    lacking = [absent[name] for name in claim.algorithms if name in absent] if absent else []
    try:
        if lacking:
            raise NotComparable(lacking[0])
        judgement = _judged(claim, chosen, axis)
        if judgement.verdict is Verdict.NOT_COMPARABLE and (fell := _fallen_back(claim, chosen)):
            judgement = replace(judgement, reasons=(*judgement.reasons, fell))
    except NotComparable as why:
        reasons = filter(None, (str(why) if chosen or not records else "", _fallen_back(claim, chosen)))
        judgement = Judgement(Verdict.NOT_COMPARABLE, reasons=tuple(dict.fromkeys(reasons)))
    if unmet:
        judgement = replace(judgement, verdict=Verdict.NOT_COMPARABLE, reasons=(*unmet, *judgement.reasons))
    return ClaimResult(
        text=claim.text,
        source=claim.source,
        kind=claim.kind,
        expected=expectation(claim, axis),
        verdict=judgement.verdict,
        cause="" if judgement.verdict is Verdict.REPRODUCED else claim.cause,
        evidence="" if judgement.verdict is Verdict.REPRODUCED else claim.evidence,
        **judgement.told,
    )


def expectation(claim: Claim, axis: str) -> str:
    """What a claim expects, in words."""
    if isinstance(claim, Factor):
        low, high = factors.band(claim)
        sign = "" if claim.alone else " times"
        if claim.at_least is not None or claim.at_most is not None:
            return f"at least {low:g}{sign}" if claim.at_most is None else f"at most {high:g}{sign}"
        if claim.factor is not None:
            return f"{claim.factor:g}{sign} ({low:g} to {high:g})"
        low, high = (claim.orders or 0) - factors.ORDERS, (claim.orders or 0) + factors.ORDERS
        return f"{claim.orders:g} orders of magnitude (10^{low:g} to 10^{high:g}{sign})"
    if isinstance(claim, Shape):
        return f"{'at most ' if claim.or_less else ''}{claim.model or ''} {_way(claim)}".strip()
    if isinstance(claim, Order):
        if claim.peak is not None:
            return f"largest at {claim.peak:g}"
        if claim.crossing is not None:
            low, high = claim.crossing
            between = f"at {low:g}" if low == high else f"between {low:g} and {high:g}"
            return f"{claim.chain[0]} {claim.better} up to a crossing {between}, then {claim.chain[1]}"
        return f"{' before '.join(claim.chain)} everywhere ({claim.better} is better)"
    fails = f"{' and '.join(claim.fails)} {'do' if len(claim.fails) > 1 else 'does'} not finish" if claim.fails else ""
    ends = "finish" if len(claim.survivors) > 1 else "finishes"
    survive = f"{' and '.join(claim.survivors)} {ends}" if claim.survivors else ""
    ranged = claim.since is not None or claim.until is not None
    return " where ".join(filter(None, (fails, survive))) + (f", for {_range(claim, axis)}" if ranged else "")


def _judged(claim: Claim, records: Sequence[Record], axis: str) -> Judgement:
    if isinstance(claim, Factor):
        return factors.judge(claim, records, axis)
    if isinstance(claim, Shape):
        return shapes.judge(claim, records, axis)
    if isinstance(claim, Order):
        return orders.judge(claim, records, axis)
    return limits.judge(claim, records, axis)


def _fallen_back(claim: Claim, records: Sequence[Record]) -> str:
    found = (fallen_back(claim.algorithms, records, metric) for metric in claim.metrics)
    return next(filter(None, found), "")


def _unmet(claim: Claim, records: Sequence[Record], profile: str) -> tuple[str, ...]:
    """What the claim needs and the records do not have, in words."""
    needs, missing = claim.needs, []
    if needs.profile is not None and profile in PROFILES and PROFILES.index(profile) < PROFILES.index(needs.profile):
        missing.append(f"needs the profile {needs.profile} or a larger one")
    for bounds, words, extreme in ((needs.least, "at least", max), (needs.most, "at most", min)):
        for axis, bound in bounds.items():
            given = [at for r in records if isinstance(at := r.point.get(axis), int | float)]
            reached = extreme(given, default=None)
            if reached is None or extreme(reached, bound) != reached:
                missing.append(f"needs {axis} {words} {bound:g}" + (f", not {reached:g}" if given else ""))
    kinds = {measurement(metric) for metric in claim.metrics}
    for point in needs.points:
        ended = [r for r in records if holds(r.point, point) and r.status is Status.OK]
        ended = [r for r in ended if r.measurement in kinds or kinds <= {None}]
        absent = next((name for name in claim.algorithms if all(r.algorithm != name for r in ended)), None)
        if absent is not None:
            missing.append(f"needs {absent} measured at {named(point)}")
    return tuple(missing)


def _range(claim: Claim, axis: str) -> str:
    ends = [] if claim.since is None else [f"at least {claim.since:g}"]
    ends += [] if claim.until is None else [f"at most {claim.until:g}"]
    return f"{axis} {' and '.join(ends)}"


def _way(claim: Shape) -> str:
    if claim.model == "constant":
        return ""
    return "growth" if claim.direction == "grows" and claim.model else "fall" if claim.model else claim.direction
