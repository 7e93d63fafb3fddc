"""Orders: who wins at every point, where two curves cross, where one has its peak.

One wins at a point where the intervals of the repetitions do not meet, and times differ by more than `SAME`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from cepbench.experiments.claims import Order
from cepbench.experiments.verdicts.curves import along, curve
from cepbench.experiments.verdicts.judgement import Judgement, NotComparable
from cepbench.experiments.verdicts.numbers import ANYTHING, Number, exactly, tolerance
from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Record

HELD, TIED, TURNED, OPEN = "held", "tied", "turned", "open"


def judge(claim: Order, records: Sequence[Record], axis: str) -> Judgement:
    """The verdict on an order, a crossing or a peak."""
    if claim.peak is not None:
        return _peak(claim, records, axis)
    if claim.crossing is not None:
        return _crossing(claim, records, axis)
    return _chain(claim, records, axis)


def _chain(claim: Order, records: Sequence[Record], axis: str) -> Judgement:
    """Held at every point: reproduced. Turned or tied at fewer than half: weaker. Else contradicted."""
    found = _duels(claim, records, axis)
    decided = [entry for entry in found if entry[1] is not OPEN]
    if not decided:
        raise NotComparable(_nobody(claim))
    failed = [entry for entry in decided if entry[1] is not HELD]
    computation = f"{claim.metric}: {' before '.join(claim.chain)} at every point of {axis}"
    if not failed:
        undecided = len(found) - len(decided)
        reasons = (f"at {undecided} of {len(found)} points nothing is known",) if undecided else ()
        return Judgement(Verdict.REPRODUCED, reasons=reasons, computation=computation)
    told = ", ".join(f"{'no winner' if how is TIED else 'the other wins'} at {x}" for x, how in failed[:3])
    more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
    verdict = Verdict.WEAKER if 2 * len(failed) < len(decided) else Verdict.CONTRADICTED
    reason = f"holds at {len(decided) - len(failed)} of {len(decided)} points: {told}{more}"
    return Judgement(verdict, reasons=(reason,), computation=computation)


def _crossing(claim: Order, records: Sequence[Record], axis: str) -> Judgement:
    """The first wins up to somewhere in the claimed range, the second from there on."""
    assert claim.crossing is not None
    found = [entry for entry in _duels(claim, records, axis) if entry[1] in (HELD, TURNED)]
    computation = f"{claim.metric}: {claim.chain[0]} wins below, {claim.chain[1]} above, over {axis}"
    if len(found) < 2:
        raise NotComparable(_nobody(claim) if not found else f"a winner is known at one point of {axis}")
    turns = [(a, b) for a, b in itertools.pairwise(found) if a[1] is not b[1]]
    if len(turns) != 1 or found[0][1] is not HELD:
        always = f"{claim.chain[0] if found[0][1] is HELD else claim.chain[1]} wins at every point"
        reason = always if not turns else "they cross the other way round, or more than once"
        least, most = claim.crossing
        inside = found[0][0] <= most and found[-1][0] >= least
        if not turns and not inside:
            raise NotComparable(f"no point of {axis} lies on both sides of the claimed crossing; {always}")
        return Judgement(Verdict.CONTRADICTED, reasons=(reason,), computation=computation)
    [((below, _), (above, _))] = turns
    place = Number(float(below), float(above), float(below), float(above))
    inside = below <= claim.crossing[1] and above >= claim.crossing[0]
    verdict = Verdict.REPRODUCED if inside else Verdict.WEAKER
    reason = f"they cross between {below} and {above}"
    return Judgement(verdict, place, reasons=(reason,), computation=computation)


def _peak(claim: Order, records: Sequence[Record], axis: str) -> Judgement:
    """Reproduced if only the claimed point can be the largest; weaker if others tie with it, up to half of them."""
    [name] = claim.chain
    points = along(curve(name, claim.metric, records, axis), axis)
    if len(points) < 3 or claim.peak not in [x for x, _ in points]:
        raise NotComparable(f"a peak at {claim.peak:g} needs a point there and two more of {axis}")
    same = tolerance(claim.metric)
    surely = max(number.least for _, number in points)
    places = [(x, number) for x, number in points if number.most * same >= surely]
    computation = f"the {axis} at which {claim.metric} of {name} is largest"
    reason = f"largest at {' or '.join(f'{x}' for x, _ in places)}"
    number = exactly(float(places[0][0])) if len(places) == 1 else None
    if claim.peak not in [x for x, _ in places]:
        return Judgement(Verdict.CONTRADICTED, number, reasons=(reason,), computation=computation)
    if not all(number.exact for _, number in places) and len(places) > 1:
        return Judgement(Verdict.NOT_COMPARABLE, reasons=(f"{reason}: cut off by a limit",), computation=computation)
    if len(places) == 1:
        return Judgement(Verdict.REPRODUCED, number, computation=computation)
    verdict = Verdict.WEAKER if 2 * len(places) <= len(points) else Verdict.CONTRADICTED
    return Judgement(verdict, reasons=(reason,), computation=computation)


def _duels(claim: Order, records: Sequence[Record], axis: str) -> list[tuple[Any, str]]:
    """At each point of two or more of the chain, in the order of the axis: how neighbours stand, the worst of all."""
    curves = [curve(name, claim.metric, records, axis) for name in claim.chain]
    same = tolerance(claim.metric)
    found = []
    for key, (x, _) in curves[0].items():
        numbers = [other.get(key, (x, ANYTHING))[1] for other in curves]
        duels = [_duel(*pair, claim.better, same) for pair in itertools.pairwise(numbers)]
        found.append((x, next((how for how in (TURNED, TIED, OPEN) if how in duels), HELD)))
    return found


def _duel(first: Number, second: Number, better: str, same: float) -> str:
    """Whether the first wins; open where it may only have been cut off too early."""
    small, large = (first, second) if better == "lower" else (second, first)
    if small.most * same < large.least:
        return HELD
    if large.most * same < small.least:
        return TURNED
    return TIED if first.exact and second.exact else OPEN


def _nobody(claim: Order) -> str:
    return f"{' and '.join(claim.chain)} have no point at which their order is known"
