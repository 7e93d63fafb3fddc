"""Which model a curve follows: power laws by their slope on log-log axes, exponentials by that on log-linear ones.

Slopes are medians of those between all pairs of points (Theil 1950, Sen 1968), intercepts medians of what is left, and
a model is compared by its mean absolute error without the worst point: one noisy point moves none of these far.
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

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Model:
    """A curve through points: `slope` on its axes, `error` in natural logarithms of the value."""

    slope: float
    error: float
    at: Callable[[float], float]  # the value that it predicts


@dataclass(frozen=True)
class Shape:
    """How a curve runs.

    - `name`: one of the models that claims name; `power` for another exponent; "" if nothing fits.
    - `power`, `exponential`: what they are by slope: of log y over log x, and of log y over x.
    - `change`: the value at the end over that at the beginning, by the model that fits best.
    - `undecided`: another name that fits as well; "" if none.
    """

    name: str
    power: Model
    exponential: Model
    change: float
    undecided: str = ""

    @property
    def words(self) -> str:
        """The shape for people."""
        power = f"a power of {self.power.slope:.2g}"
        return {"": "none of the models", "power": power}.get(self.name, self.name)


def shape(points: Points) -> Shape:
    """The model that fits best. All values are positive, and axis values different and positive."""
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    power = _fitted(points, log, log)
    exponential = _fitted(points, float, log)
    logarithmic = _fitted(points, log, float)

    def change(model: Model) -> float:
        before, after = model.at(first), model.at(last)
        return after / before if before > 0 else inf

    if abs(power.slope) <= FLAT_SLOPE and max(change(power), 1 / change(power)) <= FLAT_CHANGE:
        return Shape("constant", power, exponential, change(power))
    named = next((name for name, (low, high) in POWERS.items() if low <= power.slope <= high), "power")
    candidates = {named: power, "exponential": exponential, "logarithmic": logarithmic}
    if logarithmic.slope <= 0 or named != "power" or power.slope > 1:
        del candidates["logarithmic"]  # a straight line has its name; what falls is no logarithm
    ranked = sorted(candidates.items(), key=lambda entry: entry[1].error)
    (name, best), (other, second) = ranked[:2]
    if best.error > SLACK + SLACK_OF_CHANGE * abs(log(change(best))):
        return Shape("", power, exponential, change(best))
    undecided = other if best.error > CLEARLY * second.error else ""
    return Shape(name, power, exponential, change(best), undecided)


def _fitted(points: Points, of_x: Callable[[float], float], of_y: Callable[[float], float]) -> Model:
    moved = [(of_x(x), of_y(y)) for x, y in points]
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in itertools.combinations(moved, 2)]
    slope = median(slopes)
    intercept = median([y - slope * x for x, y in moved])

    def at(x: float) -> float:
        line = intercept + slope * of_x(x)
        return exp(line) if of_y is log else line

    errors = sorted(abs(log(y / at(x))) if at(x) > 0 else inf for x, y in points)[:-1]
    return Model(slope, sum(errors) / len(errors), at)
