"""Limits: who ends and who does not, at the points between `since` and `until` where the paper names a size."""

from __future__ import annotations

from collections.abc import Sequence

from cepbench.experiments.claims import Limit
from cepbench.experiments.verdicts.curves import VOID, Point, named
from cepbench.experiments.verdicts.judgement import Judgement, NotComparable
from cepbench.experiments.verdicts.numbers import exactly
from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Record, Status
from cepbench.metrics.results import point_key, value_key

CUT = (Status.TIMEOUT, Status.OUT_OF_MEMORY)


def judge(claim: Limit, records: Sequence[Record], axis: str) -> Judgement:
    """Reproduced if all who should fail do, and all who should survive do.

    With a range (`since`, `until`): at every point at which all were run; where that holds at some of them only, it is
    weaker. Without: at one point, since larger ones would only repeat it.
    """
    points = _points(claim, records, axis)
    both = {point: ends for point, ends in points.items() if len(ends) == len(claim.algorithms)}
    if not both:
        raise NotComparable(f"{' and '.join(claim.algorithms)} were not run at the same point")
    shown = [point for point, ends in both.items() if _shown(claim, ends)]
    ranged = claim.since is not None or claim.until is not None
    computation = f"the first point of {axis} at which {_words(claim)}"
    if not shown:
        alone = [ends for point, ends in points.items() if point not in both and _failing(claim, ends)]
        if alone and not any(_failing(claim, ends) for ends in both.values()):
            raise NotComparable(f"nobody else was run at {named(next(iter(alone[0].values())).point)}")
        return _refuted(claim, both, computation, ranged)
    tried = [point for point in shown if both[point][claim.algorithms[0]].seconds > 0] or shown
    first = both[tried[0]][claim.algorithms[0]].point.get(axis)
    number = exactly(float(first)) if isinstance(first, int | float) else None
    if (ranged or not claim.fails) and len(shown) < len(both):
        other = next(ends for point, ends in both.items() if point not in shown)
        reason = f"at {len(shown)} of {len(both)} points: {_told(claim, other)}"
        return Judgement(Verdict.WEAKER, number, reasons=(reason,), computation=computation)
    return Judgement(Verdict.REPRODUCED, number, computation=computation)


def _words(claim: Limit) -> str:
    fails = f"{' and '.join(claim.fails)} ran and was cut off by a limit" if claim.fails else ""
    return " and ".join(filter(None, (fails, f"{', '.join(claim.survivors)} finished" if claim.survivors else "")))


def _points(claim: Limit, records: Sequence[Record], axis: str) -> dict[Point, dict[str, Record]]:
    """By point and algorithm the cell that ended worst, in the order of the axis."""
    points: dict[Point, dict[str, Record]] = {}
    for name in claim.algorithms:
        own = [record for record in records if record.algorithm == name]
        if not own:
            raise NotComparable(f"{name} was not run")
        bad = next((record for record in own if record.status in VOID), None)
        if bad is not None:
            raise NotComparable(f"{name} is {bad.status.value} at {named(bad.point)}")
        for record in sorted(own, key=lambda r: (r.status in CUT, r.seconds > 0)):
            points.setdefault(point_key(record.point), {})[name] = record
    order = {point: value_key(next(iter(ends.values())).point.get(axis)) for point, ends in points.items()}
    return dict(sorted(points.items(), key=lambda entry: (order[entry[0]], entry[0])))


def _shown(claim: Limit, ends: dict[str, Record]) -> bool:
    return _failing(claim, ends) and all(ends[name].status is Status.OK for name in claim.survivors)


def _failing(claim: Limit, ends: dict[str, Record]) -> bool:
    return all(name in ends and ends[name].status in CUT for name in claim.fails)


def _refuted(claim: Limit, both: dict[Point, dict[str, Record]], computation: str, ranged: bool) -> Judgement:
    last = list(both.values())[-1]
    failing = [ends for ends in both.values() if _failing(claim, ends)]
    if failing or not claim.fails:
        return Judgement(Verdict.CONTRADICTED, reasons=(_told(claim, (failing or [last])[0]),), computation=computation)
    reason = f"{' and '.join(claim.fails)} finished everywhere"
    if ranged:
        return Judgement(Verdict.CONTRADICTED, reasons=(reason,), computation=computation)
    reason = f"{reason}, and the claim names no size: larger points or shorter limits may show it"
    return Judgement(Verdict.NOT_COMPARABLE, reasons=(reason,), computation=computation)


def _told(claim: Limit, ends: dict[str, Record]) -> str:
    """Who did not do at a point what is claimed."""
    finished = [name for name in claim.fails if ends[name].status is Status.OK]
    failed = [name for name in claim.survivors if ends[name].status is not Status.OK]
    where = named(next(iter(ends.values())).point)
    if failed:
        return f"{failed[0]} did not finish at {where}{' either' if claim.fails and not finished else ''}"
    return f"{finished[0]} finished at {where}"
