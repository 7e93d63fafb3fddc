"""The figure sidecar: what a drawing needs besides the records, written by a sweep next to its cells.

Layout: `results/<experiment>/<profile>/figure.json` holds one `Figure`, `.../cells/*.json` one `Record` each. With
both, plots and report need neither the experiment definition nor the algorithms.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cepbench.metrics.record import Strict
from cepbench.metrics.statistics import sign_test
from cepbench.metrics.values import METRICS, is_memory, is_metric

FIGURE_FILE = "figure.json"
CELLS_FOLDER = "cells"
SUPERSEDED = "superseded"  # beside the cells: those of other configurations, in the same layout
COMMITS_FOLDER = "commits"  # of a results folder: one results folder per commit
FIGURE_FORMAT: Literal[3] = 3  # claims at a named size
EXPONENT = "n^"
"""The unit of a slope, which is the exponent e of a growth n^e."""
RATIO = "x"
"""The unit of a ratio of the same number of two systems or sizes."""
SHARE = "%"
"""The unit of a ratio of two numbers of one system: a share if it is at most 1."""


class Scale(StrEnum):
    """The scale of an axis; CATEGORY has neither order nor distance and is drawn as grouped bars."""

    LINEAR = "linear"
    LOG = "log"
    CATEGORY = "category"


class Verdict(StrEnum):
    """The verdict of the measurements on a claim of a paper (docs/measurement.md, Verdicts)."""

    HOLDS = "holds"
    STRONGER = "stronger"
    WEAKER = "weaker"
    OPPOSITE = "opposite"
    OPEN = "open"


class Axis(Strict):
    """A dimension of the sweep: `name` is a key of `Record.point`."""

    name: str
    label: str  # for readers, without the unit: "Events per window"
    unit: str = ""
    scale: Scale = Scale.LINEAR
    values: tuple[Any, ...] = ()  # the order of categories; values that are not listed follow, sorted


class PanelPart(Strict):
    """A part of a stacked bar."""

    metric: str
    label: str  # "graph construction"


class PublishedCurve(Strict):
    """Numbers that authors published, in the unit of the panel that shows them; they are not records."""

    label: str  # in the legend: "published"
    of: str | None = None  # the algorithm whose color the curve has
    source: str  # where the numbers come from
    points: tuple[tuple[float, float], ...]


class Panel(Strict):
    """A panel: one metric over the x axis, as lines or bars, or bars stacked from the metrics of `parts`.

    `metric` is a name that `metrics.values.value` accepts: a field of `Summary` ("latency_p50", "throughput",
    "state_peak", ...), "state_kinds.<kind>", "realised.<field>", or "sustainable". `where` keeps only the records whose
    point has these values, so that panels may show different slices of one sweep, and `algorithms` only theirs, if
    there are any. `x` replaces the figure's x axis. Lines become bars where x values have no order; `kind` asks for
    bars in any case, or for a heat map with a row per algorithm. `published` curves are thin lines, drawn only where
    the axis has been measured.

    With `over`, the metric is divided by that algorithm's median at the same point: a gain.

    With `parts`, `metric` is by default that of the first one, and the scale is linear. All or none are of memory.
    """

    metric: str
    label: str  # without the unit: "Latency"
    unit: str = ""  # of the stored value: "s", "B", "events/s"; drawings choose the prefix
    scale: Literal["linear", "log"] = "log"
    letter: str = ""  # "(a)"
    title: str = ""  # what `where` means, in words: "with negation"
    x: Axis | None = None
    kind: Literal["lines", "bars", "heat"] = "lines"
    parts: tuple[PanelPart, ...] = ()
    where: dict[str, Any] = Field(default_factory=dict)
    algorithms: tuple[str, ...] = ()
    over: str | None = None
    published: tuple[PublishedCurve, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _with_defaults_of_parts(cls, fields: Any) -> Any:
        parts = fields.get("parts") if isinstance(fields, dict) else None
        if not parts:
            return fields
        metric = parts[0].get("metric") if isinstance(parts[0], dict) else getattr(parts[0], "metric", None)
        return {"metric": metric, "scale": "linear", **fields}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for metric in (self.metric, *(part.metric for part in self.parts)):
            if not is_metric(metric):
                raise ValueError(f"unknown metric {metric!r}: expected {METRICS}")
            if is_memory(metric) != is_memory(self.metric):
                raise ValueError(f"parts: {metric} and {self.metric} are measured in different runs")
        if self.parts and self.over is not None:
            raise ValueError("over: parts are stacked as they are")
        if self.parts and self.kind != "bars":
            raise ValueError("parts: only bars have parts; give kind: bars")
        if self.parts and self.scale == "log":
            raise ValueError("parts: on a logarithmic axis the height of a part means nothing; leave out scale: log")
        return self


class Departure(Strict):
    """A difference between a figure's workload and that of the paper."""

    what: str  # "windows tumble; the paper's slide"
    reason: str  # "a window's latency is that of its events alone"


class Evidence(Strict):
    """A number from the records that shows a cause."""

    what: str  # "state_peak of greta over cogra at events 50000"
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    bound: bool = False
    unit: str = ""  # as in `ClaimResult`


class Counterfactual(Evidence):
    """The number in which that of the paper appears, or does not, if the cause of a claim is right.

    `verdict`: that of the claim on this number; of a grid, the number of its `points` at which the claim is `held`, and
    the region of these.
    """

    kind: Literal["mode", "grid", "law", "arithmetic"]
    verdict: Verdict | None = None
    points: int = 0
    held: int = 0
    region: str = ""  # "limit 19000 to 20300"


class ClaimResult(Strict):
    """A claim of the paper, the expected and the measured number.

    `low` and `high` are the interval of `measured` over its workers, runs or draws; if a limit stopped cells,
    the bounds of `measured`, None where it is unbounded.
    """

    text: str  # the claim in our words
    source: str  # "Section 13.2, Figure 13.1(a)"
    expected: str  # in words: "18 times", "n^2"
    claimed: float | None = None  # the paper's number, if it is a ratio
    size: str  # the size as text: "events 40000"
    number: str = ""  # what is measured: "latency_max of sase over greta"
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    bound: bool = False  # whether a limit stopped it, so that `measured` is a known bound
    unit: str = ""  # of `measured`: "x", "s", `EXPONENT`, ...
    verdict: Verdict
    reason: str = ""  # the reason of an open verdict
    edge: bool = False  # whether the interval touches an edge of the band, so that a repetition may differ
    draws: int = 1  # number of values of what the paper leaves free
    held: int | None = None  # number of those in which the claim holds
    cells: int = 0  # those whose times it reads
    noisy: int = 0  # of these, those that lost time to other work
    calm: float | None = None  # `measured` without the time that these lost
    cause: Literal["", "paper", "text silent", "size", "ours", "unexplained"] = ""  # of a verdict other than holds
    why: str = ""  # the cause in a sentence
    evidence: tuple[Evidence, ...] = ()
    counterfactual: Counterfactual | None = None  # without it the cause is presumed

    @property
    def share(self) -> str:
        """The share of draws in which the claim holds, with its sign test, in words; empty without draws."""
        if self.held is None:
            return ""
        return f"holds in {self.held} of {self.draws} draws (sign test: p = {sign_test(self.held, self.draws):.2g})"


class Declared(Strict):
    """The expectation of a claim, without its measured number: `Figure.declared` keeps it from before the run."""

    text: str
    what: str = ""  # the number: "plan_seconds of greta over cogra"
    expected: str  # in words, as in `ClaimResult`
    size: str  # in words, with the axis of the draws


class Figure(Strict):
    """One figure of a paper, as measured."""

    format: Literal[3] = FIGURE_FORMAT
    id: str  # "13.1"
    experiment: str  # "greta-13.1", equals `Record.experiment`
    profile: str  # smoke, quick, headline, paper
    title: str
    paper: str  # short citation
    caption: str = ""
    data: str = ""  # the store that replaced the figure's stream, as text
    x: Axis
    panels: tuple[Panel, ...]  # drawn side by side
    facet: Axis | None = None  # one row of panels per value
    series: Axis | None = None  # one line per algorithm and value
    algorithms: tuple[str, ...]  # specifications, in the order of the legend
    labels: dict[str, str] = Field(default_factory=dict)  # display names of algorithms, by specification
    workload: str = ""  # the queries as text
    stream: str = ""  # the stream in words: generator, parameters, seed
    environment: dict[str, Any] = Field(default_factory=dict)  # commit, versions, CPU, memory, Spark configuration
    departures: tuple[Departure, ...] = ()  # of the workload, from the paper's
    claims: tuple[ClaimResult, ...] = ()
    counterfactuals: tuple[str, ...] = ()  # algorithms that only demonstrate causes, drawn with long dashes
    declared: tuple[Declared, ...] = ()  # the claims before the first of the cells was measured
    current: tuple[Declared, ...] = ()  # the claims when they were judged
    revised: tuple[str, ...] = ()  # reasons why `current` differs from `declared`
    draws: tuple[str, ...] = ()  # axes over which claims, and points of the drawing, are medians

    @property
    def key(self) -> tuple[str, str]:
        """The experiment and the profile, which results have once."""
        return self.experiment, self.profile

    @property
    def published(self) -> bool:
        """Whether it is a figure of a paper."""
        return bool(self.paper) and not self.paper.startswith("none")

    @property
    def dropped(self) -> tuple[Declared, ...]:
        """Claims that were declared and are not judged now. Texts may change: number, expectation and size count."""
        return _without(self.declared, self.current)

    @property
    def added(self) -> tuple[Declared, ...]:
        """Claims that are judged and were not declared."""
        return _without(self.current, self.declared)

    def x_of(self, panel: Panel) -> Axis:
        """The x axis of a panel."""
        return panel.x or self.x


def _without(claims: Sequence[Declared], others: Sequence[Declared]) -> tuple[Declared, ...]:
    left = Counter((excluded.what, excluded.expected, excluded.size) for excluded in others)
    missing = []
    for claim in claims:
        key = claim.what, claim.expected, claim.size
        if left[key] <= 0:
            missing.append(claim)
        left[key] -= 1
    return tuple(missing)
