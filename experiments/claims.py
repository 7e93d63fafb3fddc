"""The claims of a paper about a figure, as data: an effect with its expected size, or which algorithms finish.

How claims are judged is in `experiments/verdicts/` (docs/measurement.md, Verdicts).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, NonNegativeFloat, PositiveFloat, Tag, model_validator

from cepbench.experiments.formulas import parse
from cepbench.metrics.record import Strict
from cepbench.metrics.values import is_metric

PROFILES = ("smoke", "quick", "headline", "paper", "atlas")

Scalar = str | int | float | bool

_ENDS = BeforeValidator(lambda ends: (ends, ends) if isinstance(ends, int | float) else ends)
Factors = Annotated[tuple[PositiveFloat, PositiveFloat], _ENDS]
Orders = Annotated[tuple[NonNegativeFloat, NonNegativeFloat], _ENDS]
"""The ends of a range; a single number is both."""
Stretch = Annotated[dict[str, tuple[float, float]], Field(max_length=1)]


class Quantity(Strict):
    """A number that is computed from the records, at a named size.

    - `metric` of the algorithm `of`. With `to`, this divided by the same metric of the algorithm `to`, or by its
      `to_metric`; of several algorithms `to`, by the best one's in each draw: the highest throughput, or the least of
      another metric.
    - `where`: the size, as values of axes. An axis that is not named has its default, or a single value.
    - `between: {n: [10, 1000]}`: the value at n = 1000 divided by the value at n = 10; `[1000, 10]` is the inverse.
    - `slope: {n: [10, 1000]}`: the exponent e of the growth n^e between these sizes.
    - `draws`: an axis whose values the paper leaves open, such as a seed. The number is the median over them, or, with
      `average: mean`, their mean.
    """

    metric: str
    of: str
    to: str | tuple[str, ...] | None = None
    to_metric: str | None = None
    where: dict[str, Scalar] = Field(default_factory=dict)
    between: Stretch = Field(default_factory=dict)
    slope: Stretch = Field(default_factory=dict)
    draws: str | None = None
    average: Literal["median", "mean"] = "median"

    @model_validator(mode="after")
    def _one_number(self) -> Quantity:
        if self.average == "mean" and self.draws is None:
            raise ValueError("average: name the draws whose mean it is")
        if self.between and self.slope:
            raise ValueError("give either between or slope")
        if self.to_metric is not None and self.to is None:
            raise ValueError("to_metric needs to")
        for _, metric in self.parts:
            if not is_metric(metric):
                raise ValueError(f"unknown metric {metric!r}")
        for axis, (first, last) in self.slope.items():
            if not 0 < first < last:
                raise ValueError(f"{axis}: give two sizes above 0, the smaller one first, not {first:g} and {last:g}")
        return self

    @property
    def stretch(self) -> dict[str, tuple[float, float]]:
        """The axis and the two sizes of `between` or `slope`; empty without either."""
        return self.between or self.slope

    @property
    def neutral(self) -> float | None:
        """The value that means no effect; None for an absolute number, which has no such value."""
        if self.slope:
            return 0.0
        return 1.0 if self.between or (self.to is not None and self.to_metric is None) else None

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of algorithm and metric: one, which is divided by the second, or by the best of the others."""
        return ((self.of, self.metric), *((name, self.to_metric or self.metric) for name in self.rivals))

    @property
    def rivals(self) -> tuple[str, ...]:
        """The algorithms to which `of` is compared."""
        return () if self.to is None else (self.to,) if isinstance(self.to, str) else self.to

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that it compares."""
        return tuple(algorithm for algorithm, _ in self.parts)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it names."""
        return (*self.where, *self.stretch, *(() if self.draws is None else (self.draws,)))


class Mode(Strict):
    """The fields of a claim's number that its counterfactual replaces: the same cells with one thing changed."""

    metric: str | None = None
    of: str | None = None
    to: str | tuple[str, ...] | None = None
    to_metric: str | None = None
    where: dict[str, Scalar] | None = None
    average: Literal["median", "mean"] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that are replaced."""
        return self.model_dump(exclude_none=True)


class Law(Strict):
    """The size `at`, to which the growth of a claim's number over `over` is extrapolated.

    `over` is an axis, or a metric such as `realised.matches_per_window` that grows `along` an axis. Each of the two
    systems that a ratio compares has a law of its own, over the sizes at which it was measured.
    """

    over: str
    at: float = Field(gt=0)
    along: str | None = None

    @model_validator(mode="after")
    def _of_an_axis(self) -> Law:
        if self.along is not None and not is_metric(self.over):
            raise ValueError(f"along: {self.over!r} is no metric")
        return self

    @property
    def axis(self) -> str:
        """The axis along which sizes differ."""
        return self.along or self.over


class Arithmetic(Strict):
    """A `formula` of the paper on the realised workload.

    It has numbers, `+ - * / **`, the names of `numbers`, which are computed from the records, and the axes of the
    claim's `where`.
    """

    formula: str
    numbers: dict[str, Quantity] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_arithmetic(self) -> Arithmetic:
        parse(self.formula)
        return self


class Cause(Strict):
    """The cause for which a claim does not hold.

    `by`: the `paper` (it contradicts itself, its code or its arithmetic), `text silent` (the result depends on a choice
    that the text leaves open), the `size`, `ours`, or `unexplained`, where `why` says what was tried. `evidence` are
    numbers that are computed from the records of each run. A cause is demonstrated by its counterfactual, one of:

    - `mode`: another series of the run, in which the paper's number appears.
    - `grid`: axes that the text leaves free. The claim is judged at each combination of their values.
    - `law`: the growth of the claim's number over a size, extrapolated to the paper's.
    - `arithmetic`: the paper's own formula on the realised workload.

    A cause without counterfactual is shown as presumed, and its claim as unexplained.
    """

    by: Literal["paper", "text silent", "size", "ours", "unexplained"]
    why: str
    evidence: tuple[Quantity, ...] = ()
    mode: Mode | None = None
    grid: tuple[str, ...] = ()
    law: Law | None = None
    arithmetic: Arithmetic | None = None

    @model_validator(mode="after")
    def _has_evidence(self) -> Cause:
        if len(self.counterfactuals) > 1:
            raise ValueError(f"give one counterfactual, not {' and '.join(self.counterfactuals)}")
        if self.by == "unexplained" and self.counterfactuals:
            raise ValueError("a counterfactual explains the claim: name its cause")
        if self.by not in ("paper", "unexplained") and not (self.evidence or self.counterfactuals):
            raise ValueError("evidence: give at least one number of the records")
        return self

    @property
    def counterfactuals(self) -> tuple[str, ...]:
        """The kind of the counterfactual, if there is one."""
        return tuple(kind for kind in ("mode", "grid", "law", "arithmetic") if getattr(self, kind))


class Effect(Quantity):
    """A quantity and what the paper claims about it. One of:

    - `factor: 18`: 18 times; holds from half the factor, but at least its square root, to twice the factor. `factor: 1`
      claims that there is no effect.
    - `orders: 4`: four orders of magnitude; holds within half an order.
    - `factor: [7, 76]`, `orders: [3, 5]`: a range; holds from the lower end of the first band to the upper end of the
      second.
    - `at_least`, `at_most`: a bound that the paper states.
    - `power: 2`: the exponent of a slope; holds within 0.3.
    - `direction: more` or `less`: only the direction.
    """

    text: str  # the claim in our words
    source: str  # "Section 13.2, Figure 13.1"
    factor: Factors | None = None
    orders: Orders | None = None
    at_least: float | None = None
    at_most: float | None = None
    power: float | None = None
    direction: Literal["more", "less"] | None = None
    cause: Cause | None = None

    @model_validator(mode="after")
    def _one_expectation(self) -> Effect:
        names = ("factor", "orders", "at_least", "at_most", "power", "direction")
        if sum(getattr(self, name) is not None for name in names) != 1:
            raise ValueError(f"give one of {', '.join(names)}")
        if (self.power is not None) > bool(self.slope):
            raise ValueError("power needs slope")
        if self.slope and (self.factor is not None or self.orders is not None):
            raise ValueError("slope: give power, at_least, at_most or direction")
        for name, ends in (("factor", self.factor), ("orders", self.orders)):
            if ends is not None and ends[0] > ends[1]:
                raise ValueError(f"{name}: give the lower end of the range first")
        if self.neutral == 1 and self.factor is not None and self.factor[0] < 1:
            raise ValueError(f"factor {self.factor[0]:g} is below 1: invert the ratio")
        if self.direction is not None and self.neutral is None:
            raise ValueError("direction: an absolute number has none; give to, between or slope")
        if self.cause is not None and self.cause.law is not None and self.stretch:
            raise ValueError("law: its number has a single size, neither between nor slope")
        return self

    @property
    def counterfactual(self) -> Effect | None:
        """The claim on the series of its counterfactual; None without a mode."""
        mode = self.cause.mode if self.cause is not None else None
        return None if mode is None else Effect.model_validate({**self.model_dump(exclude={"cause"}), **mode.fields})

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All numbers that its verdict and its cause read."""
        return (self, *_of_cause(self.cause), *(() if self.counterfactual is None else (self.counterfactual,)))


class Limit(Strict):
    """The algorithms that finish within the limits of time and memory, and those that do not, at a named size."""

    text: str
    source: str
    fails: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    where: dict[str, Scalar] = Field(default_factory=dict)
    cause: Cause | None = None

    @model_validator(mode="after")
    def _has_algorithms(self) -> Limit:
        if not self.algorithms:
            raise ValueError("give fails, ends or both")
        if self.cause is not None and not set(self.cause.counterfactuals) <= {"arithmetic"}:
            raise ValueError(f"{self.cause.counterfactuals[0]}: a claim about who finishes has no number")
        return self

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All numbers that its cause reads."""
        return _of_cause(self.cause)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that it names."""
        return (*self.fails, *self.ends)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it names."""
        return tuple(self.where)


def _of_cause(cause: Cause | None) -> tuple[Quantity, ...]:
    if cause is None:
        return ()
    return (*cause.evidence, *(() if cause.arithmetic is None else cause.arithmetic.numbers.values()))


def _kind(claim: Any) -> str:
    if isinstance(claim, Limit) or (isinstance(claim, dict) and claim.keys() & {"fails", "ends"}):
        return "limit"
    return "effect"


Claim = Annotated[Annotated[Effect, Tag("effect")] | Annotated[Limit, Tag("limit")], Discriminator(_kind)]


def holds(point: dict[str, Any], where: dict[str, Scalar]) -> bool:
    """Whether a point has all these values."""
    return all(name in point and point[name] == value for name, value in where.items())
