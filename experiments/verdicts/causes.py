"""The verdict on a claim with its cause: the evidence, and the counterfactual that demonstrates it.

A counterfactual is judged by the band of its claim, so that the page says whether the paper's number appears in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, isnan, log, log10
from typing import Any

from cepbench.experiments.claims import Arithmetic, Claim, Effect, Law, Limit, Quantity, holds
from cepbench.experiments.formulas import evaluated
from cepbench.experiments.verdicts.cells import at_floor, measuring, named
from cepbench.experiments.verdicts.judge import ends, graded, in_words, judged, unit_of
from cepbench.experiments.verdicts.numbers import Number, best
from cepbench.experiments.verdicts.quantities import NotMeasured, Point, measured
from cepbench.metrics.figure import ClaimResult, Counterfactual, Evidence, Verdict
from cepbench.metrics.record import Record

SIZES = 5
"""The fewest sizes of a law."""
DECADES = 2
"""A law is extrapolated by at most so many decades beyond its largest size."""
CONFIDENCE = 0.95


def verdict(
    claim: Claim,
    records: Sequence[Record],
    sweeps: Sequence[Sequence[Point]] | None = None,
    absent: Mapping[str, str] | None = None,
) -> ClaimResult:
    """Judges a claim by the `records` of one experiment (`judge.judged`), and adds its cause if it does not hold.

    By default there is one sweep with all points. An open claim has a cause only with a counterfactual.
    """
    points = [[record.point for record in records]] if sweeps is None else sweeps
    result, cause = judged(claim, records, points, absent), claim.cause
    if cause is None or result.verdict is Verdict.HOLDS:
        return result
    if result.verdict is Verdict.OPEN and not cause.counterfactuals:
        return result
    return result.model_copy(
        update={
            "cause": cause.by,
            "why": cause.why,
            "evidence": tuple(_evidence(quantity, records, points) for quantity in cause.evidence),
            "counterfactual": _counterfactual(claim, records, points),
        }
    )


def counterfactual_series(claims: Sequence[Claim]) -> tuple[str, ...]:
    """The series that are counterfactuals of some claims and are compared by none."""
    compared = {name for claim in claims for name in claim.algorithms}
    modes = [claim.counterfactual for claim in claims if isinstance(claim, Effect)]
    names = (name for mode in modes if mode is not None for name in mode.algorithms)
    return tuple(dict.fromkeys(name for name in names if name not in compared))


def _evidence(quantity: Quantity, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]) -> Evidence:
    what = in_words(quantity)
    try:
        result = measured(quantity, records, sweeps)
    except NotMeasured as why:
        return Evidence(what=f"{what}: {why}")
    reason = f" ({result.reason})" if result.reason else ""
    return Evidence(what=f"{what} at {result.size}{reason}", unit=unit_of(quantity), **ends(result.number))


def _counterfactual(
    claim: Claim, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]
) -> Counterfactual | None:
    cause = claim.cause
    assert cause is not None
    if cause.arithmetic is not None:
        return _of_arithmetic(claim, cause.arithmetic, records, sweeps)
    if isinstance(claim, Limit):
        return None
    if claim.counterfactual is not None:
        return _of_mode(claim, claim.counterfactual, records, sweeps)
    if cause.grid:
        return _of_grid(claim, cause.grid, records, sweeps)
    return None if cause.law is None else _of_law(claim, cause.law, records, sweeps)


def _of_mode(
    claim: Effect, mode: Effect, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]
) -> Counterfactual:
    """The claim on another series."""
    result, what = judged(mode, records, sweeps), _changed(claim, mode)
    return Counterfactual(
        kind="mode",
        what=f"{what}: {result.reason}" if result.reason else what,
        verdict=result.verdict,
        **result.model_dump(include={"measured", "low", "high", "bound", "unit"}),
    )


def _changed(claim: Effect, mode: Effect) -> str:
    """`with search=enumerate, in details.paths`: the parameters that change, and the metric if it does.

    Without such parameters, with other systems, or if several parameters go, its number in words. Values of axes that
    change follow: ` at n 5`.
    """
    pairs = list(zip(claim.algorithms, mode.algorithms, strict=False))
    same = [name.partition("[")[0] for name in claim.algorithms] == [n.partition("[")[0] for n in mode.algorithms]
    new = {part for before, after in pairs for part in _parameters(after) - _parameters(before)}
    gone = {part for before, after in pairs for part in _parameters(before) - _parameters(after)}
    moved = {axis: place for axis, place in mode.where.items() if claim.where.get(axis) != place}
    size = f" at {named(moved)}" if moved else ""
    if not same or not new | gone or len(gone) > 1:
        return f"in {in_words(mode)}{size}"
    changes = [f"{word} {' and '.join(sorted(parts))}" for word, parts in (("with", new), ("without", gone)) if parts]
    return f"{', '.join(changes)}{f', in {mode.metric}' if mode.metric != claim.metric else ''}{size}"


def _parameters(specification: str) -> set[str]:
    parameters = specification.partition("[")[2].rstrip().removesuffix("]").split(",")
    return {parameter.strip() for parameter in parameters if parameter.strip()}


def _of_grid(
    claim: Effect, axes: Sequence[str], records: Sequence[Record], sweeps: Sequence[Sequence[Point]]
) -> Counterfactual:
    """The share of the grid in which the claim holds, and where; and the least and the largest number."""
    fixed = {axis: value for axis, value in claim.where.items() if axis not in axes}
    places: dict[str, dict[str, Any]] = {}
    for record in records:
        if holds(record.point, fixed) and all(axis in record.point for axis in axes):
            place = {axis: record.point[axis] for axis in axes}
            places.setdefault(repr(place), place)
    results = []
    for place in places.values():
        there = judged(claim.model_copy(update={"where": {**fixed, **place}, "cause": None}), records, sweeps)
        if there.verdict is not Verdict.OPEN:
            results.append((place, there))
    held = [place for place, there in results if there.verdict is Verdict.HOLDS]
    numbers = [there.measured for _, there in results if there.measured is not None]
    what = f"on the grid of {' and '.join(axes)}"
    undecided = f"its {len(places)} points decide nothing" if places else "no point was measured"
    return Counterfactual(
        kind="grid",
        what=what if results else f"{what}: {undecided}",
        points=len(results),
        held=len(held),
        region=_region(held),
        low=min(numbers, default=None),
        high=max(numbers, default=None),
        unit=unit_of(claim),
    )


def _region(places: Sequence[Mapping[str, Any]]) -> str:
    """`n 5 to 10` on one axis; on several axes all places."""
    if any(len(place) > 1 for place in places):
        return "; ".join(named(dict(place)) for place in places)
    return "".join(f"{axis} {_range([place[axis] for place in places])}" for place in places[:1] for axis in place)


def _range(values: Sequence[Any]) -> str:
    distinct = list(dict.fromkeys(values))
    if len(distinct) > 1 and all(isinstance(value, int | float) for value in distinct):
        return f"{min(distinct)} to {max(distinct)}"
    return ", ".join(map(str, distinct))


def _of_law(claim: Effect, law: Law, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]) -> Counterfactual:
    """The claim's number at another size, by the growth of each system that it compares."""
    what = f"by the law over {law.over}, at {law.at:g}"
    laws = {}
    try:
        for name, metric in claim.parts:
            side = claim.model_copy(update={"of": name, "metric": metric, "to": None, "to_metric": None})
            laws[name] = _extrapolated(side, law, records, sweeps)
    except NotMeasured as why:
        return Counterfactual(kind="law", what=f"{what}: {why}", verdict=Verdict.OPEN)
    first, *others = (side for _, side in laws.values())
    number = first / best(others, most=claim.metric == "throughput") if others else first
    ranges = [f"{name} from {min(sizes):g} to {max(sizes):g} ({len(sizes)} sizes)" for name, (sizes, _) in laws.items()]
    what = f"by the law over {law.over} of {' and of '.join(ranges)}, at {law.at:g}"
    return Counterfactual(kind="law", what=what, unit=unit_of(claim), verdict=graded(claim, number.low), **ends(number))


def _extrapolated(
    side: Effect, law: Law, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]
) -> tuple[list[float], Number]:
    """The sizes at which a system took times of work, and its number at `law.at` by least squares on logarithmic axes.

    The interval is that of the fitted line there (Student's t). Raises `NotMeasured`.
    """
    fixed = {axis: value for axis, value in side.where.items() if axis != law.axis}
    sizes, values = [], []
    for place in sorted({record.point[law.axis] for record in records if holds(record.point, fixed)}):
        where = {**fixed, law.axis: place}
        cells = [cell for cell in measuring(side.of, side.metric, records) if holds(cell.point, where)]
        try:
            result = measured(side.model_copy(update={"where": where}), records, sweeps)
            size = float(place) if law.along is None else _size_by(law.over, side, where, records, sweeps)
        except NotMeasured:
            continue
        decides = result.number.exact and not result.reason and not at_floor(cells, side.metric)
        if decides and result.number.low > 0 and size > 0:
            sizes.append(size)
            values.append(result.number.low)
    if len(sizes) < SIZES:
        raise NotMeasured(f"{len(sizes)} sizes of {side.of} are too few")
    beyond = log10(law.at / max(sizes))
    if beyond > DECADES:
        raise NotMeasured(f"it lies {beyond:.1f} decades beyond the largest size of {side.of}")
    from scipy.stats import linregress, t  # takes as long to import as all of our experiments

    line = linregress([log(size / law.at) for size in sizes], [log(value) for value in values])
    error = 0.0 if isnan(line.intercept_stderr) else line.intercept_stderr  # NaN where all values are the same
    reach = t.ppf((1 + CONFIDENCE) / 2, len(sizes) - 2) * error
    middle, least, most = (exp(line.intercept + step) for step in (0.0, -reach, reach))
    return sizes, Number(middle, middle, least, most)


def _size_by(
    metric: str,
    side: Effect,
    where: Mapping[str, Any],
    records: Sequence[Record],
    sweeps: Sequence[Sequence[Point]],
) -> float:
    """The size of a point by a metric."""
    return measured(side.model_copy(update={"metric": metric, "where": dict(where)}), records, sweeps).number.low


def _of_arithmetic(
    claim: Claim, arithmetic: Arithmetic, records: Sequence[Record], sweeps: Sequence[Sequence[Point]]
) -> Counterfactual:
    """The value of the paper's formula."""
    what = f"by arithmetic, {arithmetic.formula}"
    values = {name: float(value) for name, value in claim.where.items() if isinstance(value, int | float)}
    try:
        for name, quantity in arithmetic.numbers.items():
            number = measured(quantity, records, sweeps).number
            if not number.exact:
                raise NotMeasured(f"{name} was cut off by a limit")
            values[name] = number.low
        value = evaluated(arithmetic.formula, values)
    except (NotMeasured, ArithmeticError) as why:
        return Counterfactual(kind="arithmetic", what=f"{what}: {why}", verdict=Verdict.OPEN)
    if arithmetic.numbers:
        what += f" with {', '.join(f'{name} = {values[name]:g}' for name in arithmetic.numbers)}"
    number = Number(value, value, value, value)
    outcome = None if isinstance(claim, Limit) else graded(claim, value)
    return Counterfactual(kind="arithmetic", what=what, unit=unit_of(claim), verdict=outcome, **ends(number))
