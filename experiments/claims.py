"""What a paper claims about a figure, as data: its kind, the paper's number, and what it needs to be decidable.

Four kinds (docs/measurement.md, Verdicts): `factor`, `shape`, `order`, `limit`. How each is decided is in
`experiments/verdicts/`, a file each.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from cepbench.metrics.record import Strict

PROFILES = ("smoke", "quick", "laptop", "paper")  # from small to large
MODELS = ("constant", "logarithmic", "linear", "quadratic", "cubic", "exponential")

Scalar = str | int | float | bool
At = Literal["first", "last", "max", "min"]


class Needs(Strict):
    """Without this, a claim is not comparable, whatever the numbers say.

    - `least`, `most`: by axis; some point of the claim lies at this value or beyond.
    - `points`: each of these was measured within the limits, by every algorithm of the claim.
    - `profile`: this one or a larger one.
    """

    least: dict[str, float] = Field(default_factory=dict)
    most: dict[str, float] = Field(default_factory=dict)
    points: tuple[dict[str, Scalar], ...] = ()
    profile: Literal["smoke", "quick", "laptop", "paper"] | None = None

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it names."""
        return (*self.least, *self.most, *(name for point in self.points for name in point))


class _Claim(Strict):
    text: str  # the claim in our words
    source: str  # "Section 13.2, Figure 13.1"
    where: dict[str, Scalar] = Field(default_factory=dict)  # only points with these values
    axis: str | None = None  # the axis that orders the points; the figure's x axis by default
    since: float | None = None  # only points with at least this value of that axis
    until: float | None = None  # only points with at most this value of that axis
    sweep: str | None = None  # only the points of this sweep; by default of the one that varies the axis
    needs: Needs = Needs()
    cause: str = ""  # why it is not reproduced, in one sentence, where that is known
    evidence: str = ""  # for the cause: a measurement, a count or a formula

    @model_validator(mode="after")
    def _cause_with_evidence(self) -> _Claim:
        if bool(self.cause) != bool(self.evidence):
            raise ValueError("a cause stands with its evidence: a measurement, a count or a formula")
        return self

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it names."""
        return (*self.where, *(() if self.axis is None else (self.axis,)), *self.needs.axes)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that it names."""
        return ()


class Factor(_Claim):
    """How many times one number is another one.

    The number is, of the metric `metric`:

    - with `to`: that of the algorithm `of` over that of `to` at the same point, or over `to_metric` of it (a part of
      the whole); at the `first` or `last` point of the axis, or where this ratio is largest or smallest (`at`);
    - with `change`: how the metric of `of` changes along the axis: `last/first`, `first/last`, `max/min`; with `to`,
      how that ratio does, such as a gain over another algorithm;
    - with neither: the metric of `of` itself, at a point likewise.

    What is claimed of it, one of: `factor: 18` (18 times), `orders: 4` (four orders of magnitude), `at_least`,
    `at_most` (where the paper says so). A ratio or change of 1 is no effect, so a factor is told in the direction in
    which it is at least 1; `factor: 1` and `orders: 0` claim that there is none.
    """

    kind: Literal["factor"]
    metric: str
    of: str
    to: str | None = None
    to_metric: str | None = None
    change: Literal["last/first", "first/last", "max/min"] | None = None
    at: At = "max"
    factor: float | None = Field(default=None, gt=0)
    orders: float | None = Field(default=None, ge=0)
    at_least: float | None = Field(default=None, gt=0)
    at_most: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _consistent(self) -> Factor:
        given = [name for name in ("factor", "orders", "at_least", "at_most") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("give one of factor, orders, at_least, at_most")
        if self.to_metric is not None and self.change is not None:
            raise ValueError("give either to_metric or change")
        if self.to_metric is not None and self.to is None:
            raise ValueError("to_metric needs to")
        if not self.alone and self.to_metric is None and self.factor is not None and self.factor < 1:
            raise ValueError(f"factor {self.factor:g} is below 1: give it the other way round")
        return self

    @property
    def alone(self) -> bool:
        """Whether it is about a number itself, of which no value means that there is no effect."""
        return self.change is None and (self.to is None or self.to_metric is not None)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that it compares."""
        return (self.of,) if self.to is None else (self.of, self.to)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that it names."""
        return (self.metric,) if self.to_metric is None else (self.metric, self.to_metric)


class Shape(_Claim):
    """How the metric of one algorithm follows the axis: the model that fits best among `MODELS`.

    `direction: falls` turns an exponential (or a claim without a model) around. Without `model` only the direction is
    claimed. `or_less`: the model is the most that it grows by ("at most quadratic").
    """

    kind: Literal["shape"]
    metric: str
    of: str
    model: Literal["constant", "logarithmic", "linear", "quadratic", "cubic", "exponential"] | None = None
    direction: Literal["grows", "falls"] = "grows"
    or_less: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Shape:
        if self.direction == "falls" and self.model not in (None, "exponential"):
            raise ValueError(f"direction: what falls is exponential or has no model, not {self.model}")
        if self.or_less and self.model in (None, "constant"):
            raise ValueError("or_less needs a model that grows")
        return self

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithm that it is about."""
        return (self.of,)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metric that it names."""
        return (self.metric,)


class Order(_Claim):
    """Who wins at every point, where two curves cross, or where one has its peak.

    `chain`: algorithms, the winner first; with `crossing: [low, high]` the first of two wins below a point of the axis
    in that range, and the second above; with `peak: value` the metric of a single one is largest at that value.
    """

    kind: Literal["order"]
    metric: str
    chain: tuple[str, ...] = Field(min_length=1)
    better: Literal["lower", "higher"] = "lower"
    crossing: tuple[float, float] | None = None
    peak: float | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Order:
        if self.crossing is not None and self.peak is not None:
            raise ValueError("give either crossing or peak")
        expected = "two" if self.crossing is not None else "one" if self.peak is not None else "two or more"
        if (len(self.chain) == 1) != (self.peak is not None) or (self.crossing is not None and len(self.chain) != 2):
            raise ValueError(f"chain: expected {expected} algorithms, not {len(self.chain)}")
        return self

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that it compares."""
        return self.chain

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metric that it names."""
        return (self.metric,)


class Limit(_Claim):
    """Who ends and who does not (time or memory), from `since` on and up to `until` where the paper names a size."""

    kind: Literal["limit"]
    fails: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _somebody(self) -> Limit:
        if not self.algorithms:
            raise ValueError("give fails, survivors or both")
        return self

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that it is about."""
        return (*self.fails, *self.survivors)


Claim = Annotated[Factor | Shape | Order | Limit, Field(discriminator="kind")]


def reaches(point: dict[str, Any], axis: str, since: float | None, until: float | None = None) -> bool:
    """Whether a point lies between `since` and `until` on an axis, both included."""
    if since is None and until is None:
        return True
    at = point.get(axis)
    if isinstance(at, bool) or not isinstance(at, int | float):
        return False
    return (since is None or at >= since) and (until is None or at <= until)


def holds(point: dict[str, Any], where: dict[str, Scalar]) -> bool:
    """Whether a point has all these values."""
    return all(name in point and point[name] == value for name, value in where.items())
