"""What a paper claims about a figure, as data: how a number follows from the records, and what is expected of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from cepbench.metrics.record import Strict

Scalar = str | int | float | bool


class _Claim(Strict):
    text: str  # the claim in our words
    source: str  # "Section 13.2, Figure 13.1"
    where: dict[str, Scalar] = Field(default_factory=dict)  # only points with these values
    axis: str | None = None  # the axis that orders the points; the figure's x axis by default
    since: float | None = None  # only points with at least this value of that axis
    sweep: str | None = None  # only the points of this sweep; by default of the one that varies the axis

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it names."""
        return (*self.where, *(() if self.axis is None else (self.axis,)))


class _Bounded(_Claim):
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _some_bound(self) -> _Bounded:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give at_least, at_most or both")
        return self


class Ratio(_Bounded):
    """The metric of one algorithm divided by that of another at the same point, or by `to_metric` of it.

    `at`: the point: `max` or `min` of the ratio over all points, or the `first` or `last` point of the axis.
    """

    kind: Literal["ratio"]
    metric: str
    of: str
    to: str
    to_metric: str | None = None  # of the divisor, if it is another one: a part of the whole
    at: Literal["max", "min", "first", "last"] = "max"

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that it compares."""
        return (self.of, self.to)


class Trend(_Bounded):
    """How the metric of one algorithm changes along the axis.

    `measure`:

    - `slope`: exponent of the power law that fits best (least squares on log-log axes); 1 is linear, 2 quadratic.
    - `steepest`: the largest exponent between neighbouring points; beyond any polynomial for exponential growth.
    - `last/first`: the value at the last point over that at the first.
    - `spread`: the largest value over the smallest; "flat within this factor".
    - `peak`: the axis value at which the metric is largest.
    """

    kind: Literal["trend"]
    metric: str
    algorithm: str
    measure: Literal["slope", "steepest", "last/first", "spread", "peak"]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithm that it is about."""
        return (self.algorithm,)


class Value(_Bounded):
    """The metric of one algorithm itself: `max` or `min` over all points, or at the `first` or `last`."""

    kind: Literal["value"]
    metric: str
    algorithm: str
    at: Literal["max", "min", "first", "last"] = "max"

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithm that it is about."""
        return (self.algorithm,)


class Fails(_Claim):
    """The algorithm does not finish (time or memory) at some point at which the `survivors` do."""

    kind: Literal["fails"]
    algorithm: str
    survivors: tuple[str, ...] = ()
    metric: None = None

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that it is about."""
        return (self.algorithm, *self.survivors)


Claim = Annotated[Ratio | Trend | Value | Fails, Field(discriminator="kind")]


def reaches(point: dict[str, Any], axis: str, since: float | None) -> bool:
    """Whether a point lies at `since` on an axis or beyond."""
    return since is None or (isinstance(at := point.get(axis), int | float) and at >= since)


def holds(point: dict[str, Any], where: dict[str, Scalar]) -> bool:
    """Whether a point has all these values."""
    return all(name in point and point[name] == value for name, value in where.items())
