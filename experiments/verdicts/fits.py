"""Which model a curve follows: power laws by their slope on log-log axes, exponentials by that on log-linear ones.

Slopes are medians of those between all pairs of points (Theil 1950, Sen 1968), intercepts medians of what is left, and
a model is compared by its mean absolute error without the worst point: one noisy point moves none of these far. But
where one end of the axis lies farther from all others than these lie apart, a model has to be right: what is close
together would else speak for a model that is nowhere near what is far away. And no noise makes a point twenty times
what it is: a model that misses one by more is no fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, log

from cepbench.metrics.statistics import median

LEAST_POINTS = 5
FLAT_SLOPE = 0.25  # a power of at most this is constant, if it moves the curve at most twice over the whole axis
FLAT_CHANGE = 2.0
POWERS = {"linear": (0.8, 1.2), "quadratic": (1.75, 2.25), "cubic": (2.7, 3.3)}
CLEARLY = 0.8  # a model fits better if its error is at most this part of the other's
SLACK = 0.05  # an error up to this, plus a tenth of the change, is a fit: in natural logarithms, 5 %
SLACK_OF_CHANGE = 0.1
STRETCH = 2.0  # three or more neighbours are a stretch if the last one is at least so many times the first
ASTRAY = 2.0  # a model that is off by more than this factor at a point far from all others is no fit
BEYOND_NOISE = 20.0  # nor is one that is off by more than this factor at any point

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Model:
    """A curve through points: `slope` on its axes, `error` in natural logarithms of the value.

    `astray`: whether it misses an end of the axis that lies far from all other points. `worst`: the error at the point
    that it misses most.
    """

    slope: float
    error: float
    astray: bool
    worst: float
    at: Callable[[float], float]  # the value that it predicts


@dataclass(frozen=True)
class Shape:
    """How a curve runs.

    - `name`: one of the models that claims name; `power` for another exponent; "" if nothing fits.
    - `power`, `exponential`: what they are by slope: of log y over log x, and of log y over x.
    - `change`: the value at the end over that at the beginning, by the model that fits best, or as measured.
    - `steepest`: the largest power of any stretch (`STRETCH`), by its ends.
    - `undecided`: another name that fits as well; "" if none.
    """

    name: str
    power: Model
    exponential: Model
    change: float
    steepest: float
    undecided: str = ""

    @property
    def words(self) -> str:
        """The shape for people."""
        power = f"a power of {self.power.slope:.2g}"
        return {"": "none of the models", "power": power}.get(self.name, self.name)


def shape(points: Points) -> Shape:
    """The model that fits best. All values are positive, and axis values different and positive."""
    ordered = sorted(points)
    (first, at_first), (last, at_last) = ordered[0], ordered[-1]
    power = _fitted(points, log, log)
    exponential = _fitted(points, float, log)
    logarithmic = _fitted(points, log, float)
    steepest = max(log(d / b) / log(c / a) for (a, b), (c, d) in _stretches(ordered))

    def change(model: Model) -> float:
        before, after = model.at(first), model.at(last)
        return after / before if before > 0 else inf

    def named_shape(name: str, moved: float, undecided: str = "") -> Shape:
        return Shape(name, power, exponential, moved, steepest, undecided)

    flat = abs(power.slope) <= FLAT_SLOPE and max(change(power), 1 / change(power)) <= FLAT_CHANGE
    if flat and power.worst > log(BEYOND_NOISE):
        return named_shape("", at_last / at_first)
    if flat and not power.astray:
        return named_shape("constant", change(power))
    named = next((name for name, (low, high) in POWERS.items() if low <= power.slope <= high), "power")
    candidates = {named: power, "exponential": exponential, "logarithmic": logarithmic}
    if logarithmic.slope <= 0 or named != "power" or power.slope > 1:
        del candidates["logarithmic"]  # a straight line has its name; what falls is no logarithm
    right = {name: model for name, model in candidates.items() if not (model.astray or model.worst > log(BEYOND_NOISE))}
    ranked = sorted(right.items(), key=_error)
    if not ranked:
        return named_shape("", at_last / at_first)
    name, best = ranked[0]
    if best.error > SLACK + SLACK_OF_CHANGE * abs(log(change(best))):
        return named_shape("", at_last / at_first)
    undecided = next((other for other, second in ranked[1:] if best.error > CLEARLY * second.error), "")
    return named_shape(name, change(best), undecided)


def _stretches(ordered: Points) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The ends of all stretches; the whole curve, if it is too short for one.

    Noise in points that lie close together would make any curve steep.
    """
    pairs = [(first, last) for i, first in enumerate(ordered) for last in ordered[i + 2 :]]
    return [(first, last) for first, last in pairs if last[0] >= STRETCH * first[0]] or [(ordered[0], ordered[-1])]


def _error(entry: tuple[str, Model]) -> float:
    return entry[1].error


def _fitted(points: Points, of_x: Callable[[float], float], of_y: Callable[[float], float]) -> Model:
    moved = [(of_x(x), of_y(y)) for x, y in points]
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in itertools.combinations(moved, 2)]
    slope = median(slopes)
    intercept = median([y - slope * x for x, y in moved])

    def at(x: float) -> float:
        line = intercept + slope * of_x(x)
        return exp(line) if of_y is log else line

    off = {x: abs(log(y / at(x))) if at(x) > 0 else inf for x, y in points}
    errors = sorted(off.values())[:-1]
    astray = any(off[x] > log(ASTRAY) for x in _far(list(off), of_x))
    return Model(slope, sum(errors) / len(errors), astray, max(off.values()), at)


def _far(axis: Sequence[float], of_x: Callable[[float], float]) -> list[float]:
    """The ends of an axis that lie farther from all other points than these lie apart."""
    low, *inner, high = sorted(axis)
    ends = [(low, inner[0], high), (high, inner[-1], low)]
    return [
        end for end, neighbour, other in ends if abs(of_x(end) - of_x(neighbour)) > abs(of_x(neighbour) - of_x(other))
    ]
