"""What an experiment file says. One YAML file per figure of a paper; unknown fields and wrong values are errors.

Any text of `stream` and `workload` may name an axis as `${axis}`; a parameter that is nothing but `${axis}` takes the
axis value with its type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from experiments.claims import Claim
from metrics.figure import Axis, Panel
from metrics.record import Strict
from metrics.values import known

PROFILES = ("smoke", "quick", "laptop", "paper")

_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}

Scalar = str | int | float | bool
AxisValues = Annotated[list[Scalar], Field(min_length=1)]
Values = dict[str, AxisValues]


def _bytes(value: Any) -> Any:
    """A size such as `4 GB` in bytes; whole numbers are bytes already."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", value)
    if match is None or match[2].upper() not in _BYTES:
        raise ValueError(f"a size is a number of bytes or like '4 GB', not {value!r}")
    return int(float(match[1]) * _BYTES[match[2].upper()])


def _monotone(value: Any) -> Any:
    return {True: "increasing", False: "no"}.get(value, value) if isinstance(value, bool) else value


class Stream(Strict):
    """Where events come from: a generator, a data set, or a file. Exactly one of the three."""

    generator: str | None = None
    dataset: str | None = None
    path: str | None = None
    parameters: dict[str, Scalar | list[Scalar] | None] = Field(default_factory=dict)
    time_unit: str = "s"  # of a CSV or Parquet file

    @model_validator(mode="after")
    def _one_source(self) -> Stream:
        given = [name for name in ("generator", "dataset", "path") if getattr(self, name) is not None]
        if len(given) == 0 or given not in (["generator"], ["dataset"], ["path"], ["dataset", "path"]):
            raise ValueError("give one of generator, dataset (with the path of its files) or path")
        return self


class Open(Strict):
    """Events arrive at `rate` per second on a schedule that does not wait, handed over in micro-batches of `batch`."""

    rate: float = Field(gt=0)
    batch: int = Field(default=1000, ge=1)


class Limits(Strict):
    """What one worker may use for the measured part of a cell."""

    seconds: float = Field(gt=0)
    memory: Annotated[int, BeforeValidator(_bytes)] = Field(default=4 * 10**9, ge=2**28)


class Exclude(Strict):
    """Cells that the experiment leaves out: of this algorithm, at points with these values (all if none)."""

    algorithm: str
    where: dict[str, Scalar] = Field(default_factory=dict)


class Plot(Strict):
    """How the figure is drawn (`metrics.figure`)."""

    caption: str = ""
    x: Axis
    panels: tuple[Panel, ...] = Field(min_length=1)
    facet: Axis | None = None
    series: Axis | None = None


class Experiment(Strict):
    """One figure of a paper with all that its sweep needs, after a profile was applied."""

    id: str = Field(pattern=r"^[a-z][a-z0-9.-]*$")
    figure: str
    paper: str
    title: str
    description: str = ""
    stream: Stream
    workload: str | None = None
    workload_file: str | None = None
    axes: Values = Field(default_factory=dict)
    zip: Values = Field(default_factory=dict)
    algorithms: Annotated[list[str], Field(min_length=1)]
    exclude: tuple[Exclude, ...] = ()
    measurements: list[Literal["time", "memory"]] = Field(default=["time", "memory"], min_length=1)
    arithmetic: Literal["modular", "float"] = "modular"
    arrival: Literal["burst"] | Open = "burst"
    repetitions: int = Field(default=1, ge=1)
    limits: Limits
    monotone: Annotated[Literal["no", "increasing", "decreasing"], BeforeValidator(_monotone)] = "no"
    plot: Plot
    claims: tuple[Claim, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Experiment:
        if (self.workload is None) == (self.workload_file is None):
            raise ValueError("give either workload (text) or workload_file")
        lengths = {name: len(values) for name, values in self.zip.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"zip: axes go together value by value and must be equally long, but {told}")
        for name in self.axes.keys() & self.zip.keys():
            raise ValueError(f"zip: axis {name!r} is also in axes")
        self._check_names()
        return self

    @property
    def axis_names(self) -> tuple[str, ...]:
        """All axes, zipped ones last."""
        return (*self.axes, *self.zip)

    def _check_names(self) -> None:
        """Whatever names an axis or a metric names one that exists."""

        def axis(name: str, place: str) -> None:
            if name not in self.axis_names:
                raise ValueError(f"{place}: unknown axis {name!r}; there are {', '.join(self.axis_names) or 'none'}")

        def metric(name: str, place: str) -> None:
            if not known(name):
                raise ValueError(f"{place}: unknown metric {name!r}")

        for drawn, place in (
            (self.plot.x, "plot.x"),
            (self.plot.facet, "plot.facet"),
            (self.plot.series, "plot.series"),
        ):
            if drawn is not None:
                axis(drawn.name, place)
        for number, panel in enumerate(self.plot.panels):
            metric(panel.metric, f"plot.panels.{number}")
            for name in panel.where:
                axis(name, f"plot.panels.{number}.where")
        for number, exclude in enumerate(self.exclude):
            for name in exclude.where:
                axis(name, f"exclude.{number}.where")
        for number, claim in enumerate(self.claims):
            if claim.metric is not None:
                metric(claim.metric, f"claims.{number}.metric")
            for name in claim.axes:
                axis(name, f"claims.{number}")

    def check_algorithms(self) -> None:
        """Claims and exclusions name algorithms of the experiment; a sweep of fewer algorithms may leave some out."""
        named = [(f"exclude.{number}", exclude.algorithm) for number, exclude in enumerate(self.exclude)]
        named += [(f"claims.{number}", name) for number, claim in enumerate(self.claims) for name in claim.algorithms]
        for place, name in named:
            if name not in self.algorithms:
                raise ValueError(f"{place}: {name!r} is not among the algorithms {', '.join(self.algorithms)}")


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes`: mappings are merged at every depth, everything else is replaced."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
