"""The fields of an experiment file, such as that of a figure of a paper; unknown fields and wrong values are errors.

Any text of `stream`, `workload` and `algorithms`, and any value of an axis, may name an axis as `${axis}`; a parameter
that is only `${axis}` takes the axis value with its type. Values of an axis may have labels (`axes: {query: {short:
..., long: ...}}`): points have the labels, and `values` has what they stand for. An algorithm has one name at all
points: its specification without the parameters that contain an axis (`cet[detect=hybrid]` for `cet[detect=hybrid,
memory=${memory}]`). Claims, exclusions and sweeps use that name.

`buckets` is the number of parts of the stream of a keyed workload, one per worker. It does not depend on the machine,
so that equal cells ran on equal parts. `slots` (a number, or an axis) is the number of workers that run in parallel;
the default is the number of cores.

With `plans`, the runs of a cell are those of these specifications, one of each, in one process. One that names
`${plan}` stands for `random_plans` of them, with 1, 2, and so on in its place. All must give the same answer; the
record has their numbers in `runs`, in this order.

Each of the `workers` is a round over the whole figure, in fresh processes; a round of a point is a cell of its own. A
short run is repeated for up to `repeat` seconds in all workers together (docs/measurement.md, Repeated runs); 0 means
one run in each.

A figure has one sweep (`axes`, `zip`) or several; the points of several sweeps are united:

    defaults: {rate: 3500, window: 10}            # of every axis, where a sweep does not vary it
    sweeps:
      rate: {axes: {rate: [1000, 3500, 10000]}}
      window: {axes: {window: [5, 10, 20]}, algorithms: [cet]}      # only these algorithms
    monotone: {rate: increasing, window: increasing}                # by axis; a single word is for plot.x

A panel with its own `x` shows the sweep that varies it; the defaults of the axes that this sweep does not vary complete
its `where`. If several sweeps vary `x`, `sweep` names one. A claim names its size; axes that it does not name have
their defaults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from cepbench.datasets import flights
from cepbench.events.conditions import check_condition
from cepbench.events.errors import InputError, choices
from cepbench.events.units import in_bytes
from cepbench.experiments.claims import Cause, Claim, Scalar
from cepbench.experiments.formulas import names_of
from cepbench.experiments.overlay import Overlay, published
from cepbench.experiments.own import NAME
from cepbench.experiments.templates import series_name, whole_axis
from cepbench.experiments.workload import Values, Workload, check_zip
from cepbench.metrics.figure import Axis, Departure, Panel, Scale
from cepbench.metrics.record import Strict


def _bytes(value: Any) -> Any:
    """A size such as `4 GB` in bytes; numbers are bytes already."""
    if not isinstance(value, str):
        return value
    try:
        return in_bytes(value)
    except ValueError as error:
        raise ValueError(f"expected {error}, not {value!r}") from None


def _with_time(measurements: list[str]) -> list[str]:
    if "time" not in measurements:
        raise ValueError("time is always measured; give [time], or [time, memory]")
    return measurements


def _monotone(value: Any) -> str | dict[str, str]:
    if isinstance(value, Mapping):
        return {str(axis): str(_monotone(direction)) for axis, direction in value.items()}
    direction = {True: "increasing", False: "no"}[value] if isinstance(value, bool) else value
    if direction not in ("no", "increasing", "decreasing"):
        raise ValueError(f"give no, increasing or decreasing, or one of them for each axis, not {value!r}")
    return str(direction)


NOT_REQUESTED = "an engine that others wrote, which is measured on request (--engines)"
"""Why an engine that was not requested is absent."""

FORM = ("distinct", "text", "null", "separator", "names", "encoding")
"""Fields of `Reading` that a stream has by the same names."""


class Stream(Strict):
    """The source of events: a generator, a data set with the `path` of its raw files, or the `path` of a file.

    The data set `flights` needs no path, and has the fields of files.
    """

    generator: str | None = None
    dataset: str | None = None
    path: str | None = None
    parameters: dict[str, Scalar | list[Scalar] | None] = Field(default_factory=dict)
    time_unit: str = "s"  # of a CSV or Parquet file
    time_column: str = "time"
    type_column: str = "type"
    type: str | None = None  # of all events of a file without a type column
    time_format: str = "auto"
    where: str | None = None  # a condition on the rows of a file
    distinct: bool | None = None  # whether equal rows of a file count once
    text: list[str] | None = None  # columns of numbers that are names
    null: list[str] | None = None  # values of a CSV file that mean null
    separator: str | None = None
    names: list[str] | None = None  # of the columns of a CSV file without a heading
    encoding: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Stream:
        sources = [name for name in ("generator", "dataset", "path") if getattr(self, name) is not None]
        if len(sources) == 0 or sources not in (["generator"], ["dataset"], ["path"], ["dataset", "path"]):
            raise ValueError("give one of generator, dataset (with the path of its files) or path")
        for name in ("where", *FORM):
            if sources != ["path"] and self.dataset != flights.NAME and getattr(self, name) is not None:
                raise ValueError(f"{name}: is for files; give the path of one")
        if self.where is not None:
            try:
                check_condition(self.where)
            except InputError as error:
                raise ValueError(str(error)) from None
        return self


class Open(Strict):
    """Events arrive at `rate` per second on a fixed schedule, in micro-batches of `batch` events.

    The rate is a number, or an axis (`${rate}`).
    """

    rate: Annotated[float, Field(gt=0)] | str
    batch: int = Field(default=1000, ge=1)


class Limits(Strict):
    """Limits of one worker in the measured part of a cell."""

    seconds: float = Field(gt=0)
    memory: Annotated[int, BeforeValidator(_bytes)] = Field(default=4 * 10**9, ge=2**28)


class Exclude(Strict):
    """Cells of an algorithm that the experiment does not run: at points with these values, or at all points."""

    algorithm: str
    where: dict[str, Scalar] = Field(default_factory=dict)


class Sweep(Strict):
    """Points: the product of `axes` and the value tuples of `zip`, for all algorithms or for the named ones."""

    axes: Values = Field(default_factory=dict)
    zip: Values = Field(default_factory=dict)
    algorithms: list[str] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Sweep:
        check_zip(self.axes, self.zip)
        return self

    @property
    def varied(self) -> tuple[str, ...]:
        """Its axes, zipped ones last."""
        return (*self.axes, *self.zip)


class SweptPanel(Panel):
    """A panel of one of several sweeps, perhaps with published curves (`experiments.overlay`)."""

    sweep: str | None = None
    overlay: tuple[Overlay, ...] = ()

    @model_validator(mode="after")
    def _lines(self) -> SweptPanel:
        if self.overlay and self.kind != "lines":
            raise ValueError("overlay: published curves are drawn in panels of lines")
        return self


class Plot(Strict):
    """The drawing of the figure; `metrics.figure` documents axes and panels."""

    caption: str = ""
    x: Axis
    panels: tuple[SweptPanel, ...] = Field(min_length=1)
    facet: Axis | None = None
    series: Axis | None = None
    labels: dict[str, str] = Field(default_factory=dict)


class Experiment(Strict):
    """One experiment with everything that its sweep needs, after a profile was applied."""

    id: str = Field(pattern=f"^{NAME}$")
    figure: str
    paper: str
    title: str
    description: str = ""
    departures: tuple[Departure, ...]  # of the workload from that of the paper
    stream: Stream
    data: str | None = None  # an event store that replaces `stream`
    workload: Workload
    axes: Values = Field(default_factory=dict)
    zip: Values = Field(default_factory=dict)
    sweeps: dict[str, Sweep] = Field(default_factory=dict)
    defaults: dict[str, Scalar] = Field(default_factory=dict)
    values: dict[str, dict[str, Scalar | list[Scalar]]] = Field(default_factory=dict)  # of labels, by axis
    algorithms: Annotated[list[str], Field(min_length=1)]
    plans: list[str] = Field(default_factory=list)  # measured one after another in each cell
    random_plans: int = Field(default=0, ge=0)  # how often each of the `plans` occurs that names ${plan}
    engines: list[str] = Field(default_factory=list)  # of others, measured only on request
    absent: dict[str, str] = Field(default_factory=dict)  # why systems that the paper measures are not measured here
    exclude: tuple[Exclude, ...] = ()
    measurements: Annotated[list[Literal["time", "memory"]], AfterValidator(_with_time)] = Field(
        default=["time", "memory"]
    )
    arithmetic: Literal["modular", "float"] = "modular"
    arrival: Literal["burst"] | Open = "burst"
    workers: int = Field(default=1, ge=1)
    repeat: float = Field(default=2, ge=0)
    compile: Literal["once", "anew"] = "once"  # anew: each cell also compiles all its kernels into an empty folder
    limits: Limits
    buckets: int = Field(default=2, ge=1, le=9999)
    slots: int | str | None = None
    monotone: Annotated[str | dict[str, str], PlainValidator(_monotone)] = "no"
    plot: Plot
    claims: tuple[Claim, ...] = ()
    revised: tuple[str, ...] = ()  # reasons for changes of claims after cells were measured; shown by the report

    @model_validator(mode="after")
    def _consistent(self) -> Experiment:
        check_zip(self.axes, self.zip)
        if self.sweeps and (self.axes or self.zip):
            raise ValueError("sweeps: put axes and zip inside the sweeps")
        for name, sweep in self.sweeps.items():
            for axis in self.axis_names:
                if axis not in sweep.varied and axis not in self.defaults:
                    raise ValueError(f"sweeps.{name}: axis {axis!r} is neither varied here nor in defaults")
        for axis, labels in self.values.items():
            for label in self.values_of(axis):
                if label not in labels:
                    raise ValueError(f"axis {axis}: unknown label {label!r}; {choices(str(label), labels)}")
        for name in self.algorithms:
            if (whole := whole_axis(name)) is not None:
                raise ValueError(f"algorithms: {name!r} is a whole specification; list its values in axes.{whole}")
        twice = [name for name, count in Counter(self.series).items() if count > 1]
        if twice:
            raise ValueError(f"algorithms: {twice[0]!r} occurs twice; parameters with an axis do not distinguish it")
        self._check_names()
        return self

    def measuring(self, engines: Collection[str]) -> Experiment:
        """The experiment with these of its engines among the algorithms, also of each sweep that lists its own.

        Its other engines are absent.
        """
        added = [name for name in self.engines if name in engines and name not in self.series]
        absent = {name: NOT_REQUESTED for name in self.engines if name not in (*self.series, *added)}
        sweeps = {
            name: sweep.model_copy(update={"algorithms": sweep.algorithms and [*sweep.algorithms, *added]})
            for name, sweep in self.sweeps.items()
        }
        changes = {"algorithms": [*self.algorithms, *added], "absent": {**self.absent, **absent}, "sweeps": sweeps}
        return self.model_copy(update=changes)

    @property
    def all_sweeps(self) -> tuple[Sweep, ...]:
        """The sweeps whose points are united."""
        return tuple(self.sweeps.values()) or (Sweep(axes=self.axes, zip=self.zip),)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """All axes: those with a default first, then the varied ones."""
        varied = [name for sweep in self.all_sweeps for name in sweep.varied]
        return tuple(dict.fromkeys((*self.defaults, *varied)))

    def values_of(self, axis: str) -> list[Scalar]:
        """All values, or labels, of an axis: its default, and those of all sweeps."""
        listed = [value for sweep in self.all_sweeps for value in (*sweep.axes.get(axis, ()), *sweep.zip.get(axis, ()))]
        return [*([self.defaults[axis]] if axis in self.defaults else []), *listed]

    @property
    def series(self) -> list[str]:
        """The names of the algorithms in records, claims and drawings."""
        return [series_name(specification) for specification in self.algorithms]

    @property
    def monotone_axes(self) -> dict[str, str]:
        """`increasing` or `decreasing` by axis: the direction in which cells become harder."""
        directions = self.monotone if isinstance(self.monotone, dict) else {self.plot.x.name: self.monotone}
        return {axis: direction for axis, direction in directions.items() if direction != "no"}

    def fixed(self, axis: str, sweep: str | None = None) -> dict[str, Scalar]:
        """The values that select the points of the sweep that varies `axis` (or the named one); none for one sweep."""
        if not self.sweeps:
            return {}
        varied = self._sweep(axis, sweep).varied
        return {name: self.defaults[name] for name in self.axis_names if name not in varied}

    def swept(self, axis: str, sweep: str | None = None) -> tuple[str, ...]:
        """The algorithms of the sweep that varies `axis` (or the named one); empty if it has all."""
        return tuple((self._sweep(axis, sweep).algorithms or ()) if self.sweeps else ())

    def _sweep(self, axis: str, sweep: str | None) -> Sweep:
        if sweep is not None and sweep not in self.sweeps:
            raise ValueError(f"unknown sweep {sweep!r}; there are {', '.join(self.sweeps)}")
        names = [name for name in self.sweeps if axis in self.sweeps[name].varied] if sweep is None else [sweep]
        if len(names) != 1:
            subject = f"sweeps {', '.join(names)} vary" if names else "no sweep varies"
            raise ValueError(f"{subject} axis {axis!r}; name one sweep")
        return self.sweeps[names[0]]

    def _check_names(self) -> None:
        """Every axis that is named exists."""

        def axis(name: str, place: str) -> None:
            if name not in self.axis_names:
                raise ValueError(f"{place}: unknown axis {name!r}; there are {', '.join(self.axis_names) or 'none'}")

        for part in ("x", "facet", "series"):
            drawn: Axis | None = getattr(self.plot, part)
            if drawn is not None:
                axis(drawn.name, f"plot.{part}")
        for name in self.monotone_axes:
            axis(name, "monotone")
        for number, panel in enumerate(self.plot.panels):
            place = f"plot.panels.{number}"
            if panel.parts and self.plot.series is not None:
                raise ValueError(f"{place}.parts: stacked bars have no series axis")
            x = panel.x or self.plot.x
            for name in (x.name, *panel.where):
                axis(name, place)
            try:
                self.fixed(x.name, panel.sweep)
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from None
            if panel.overlay and x.scale is Scale.CATEGORY:
                raise ValueError(f"{place}.overlay: published curves need an axis of numbers, not of categories")
        for number, exclude in enumerate(self.exclude):
            for name in exclude.where:
                axis(name, f"exclude.{number}.where")
        for number, claim in enumerate(self.claims):
            place = f"claims.{number}"
            for name in claim.axes:
                axis(name, place)
            for name in (axis for quantity in claim.quantities for axis in quantity.axes):
                axis(name, f"{place}.cause")
            for name in _axes_of(claim.cause, claim.where):
                axis(name, f"{place}.cause")

    def check_algorithms(self) -> None:
        """All algorithms that are named are known; those of exclusions and claims may also be engines or absent."""
        for place, names in (("engines", self.engines), ("absent", self.absent)):
            for name in names:
                if name in self.series:
                    raise ValueError(f"{place}: {name!r} is among the algorithms")
        named = [(f"exclude.{number}", exclude.algorithm) for number, exclude in enumerate(self.exclude)]
        for number, claim in enumerate(self.claims):
            compared = (claim, *claim.quantities)
            named += [(f"claims.{number}", name) for quantity in compared for name in quantity.algorithms]
        named = [(place, name) for place, name in named if name not in (*self.engines, *self.absent)]
        named += [(f"sweeps.{key}", name) for key, sweep in self.sweeps.items() for name in sweep.algorithms or ()]
        named += [("plot.labels", name) for name in self.plot.labels]
        for number, panel in enumerate(self.plot.panels):
            named += [(f"plot.panels.{number}.over", panel.over)] if panel.over is not None else []
            named += [(f"plot.panels.{number}.algorithms", name) for name in panel.algorithms]
            named += [(f"plot.panels.{number}", overlay.of) for overlay in panel.overlay if overlay.of is not None]
            for overlay in panel.overlay:
                published(overlay)
        for place, name in named:
            if name not in self.series:
                raise ValueError(f"{place}: {name!r} is not among the algorithms {', '.join(self.series)}")


def _axes_of(cause: Cause | None, where: Mapping[str, Any]) -> tuple[str, ...]:
    """The axes that the counterfactual of a cause names besides those of its numbers."""
    if cause is None:
        return ()
    law, arithmetic = cause.law, cause.arithmetic
    free = () if arithmetic is None else sorted(names_of(arithmetic.formula) - arithmetic.numbers.keys())
    if missing := [name for name in free if name not in where]:
        raise ValueError(f"formula: {missing[0]!r} is neither among the numbers nor in where")
    return (*cause.grid, *(() if law is None else (law.axis,)), *free)


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes`: mappings are merged at every depth, other values are replaced."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
