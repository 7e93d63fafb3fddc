"""The answer to a question: sentences that are computed from records, and drawings with the one that each supports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log
from textwrap import fill

from matplotlib.figure import Figure as Drawing

from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.metrics.values import value
from cepbench.plots.draw import render
from cepbench.plots.units import plain

WIDTH = 119
"""Letters in a line of a page."""
TIME = ("service_total",)
"""The metrics whose sum is the time of a record."""
SAME = 1.05
"""Times that differ by less count as equal."""


@dataclass(frozen=True)
class Drawn:
    """A drawing, the sentence that it supports, and a text for readers that do not see it."""

    name: str
    drawing: Drawing
    sentence: str
    alternative: str


@dataclass(frozen=True)
class Answer:
    """The page of a question: the short answer, the drawings, the rows of a table, and how it was measured."""

    name: str
    question: str
    short: str
    drawn: tuple[Drawn, ...]
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    measured: str = ""

    def page(self, images: str) -> str:
        """The page in Markdown; `images` is the folder of the drawings, relative to it."""
        paragraphs = [fill(paragraph, WIDTH) for paragraph in self.short.split("\n\n")]
        parts = [f"# {self.question}\n", "\n\n".join(paragraphs) + "\n"]
        for drawn in self.drawn:
            parts.append(f"![{drawn.alternative}]({images}/{drawn.name}.svg)\n")
            parts.append(fill(f"*{drawn.sentence}*", WIDTH) + "\n")
        if self.rows:
            lines = [self.heads, ["---"] * len(self.heads), *self.rows]
            table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
            parts.append(f'<details markdown="1"><summary>All numbers</summary>\n\n{table}\n</details>\n')
        if self.measured:
            parts.append(fill(self.measured, WIDTH) + "\n")
        return "\n".join(parts)

    def pictures(self) -> dict[str, bytes]:
        """The drawings as SVG, by name."""
        return {drawn.name: render(drawn.drawing, "svg") for drawn in self.drawn}


def of_question(everything: Sequence[Results], prefix: str) -> list[Results]:
    """The results of the experiments whose names begin so, in their order."""
    return [results for results in everything if results.figure.experiment.startswith(prefix)]


def valid(results: Results) -> list[Record]:
    """The records with valid times."""
    return [record for record in results.records if record.status is Status.OK]


def ends(record: Record, metrics: Sequence[str]) -> tuple[float, float] | None:
    """Both ends of the sum of metrics of a record; of a time that was cut off, its limit and infinity.

    None without any of the metrics.
    """
    if record.status is Status.OK:
        parts = [number for metric in metrics if (number := value(record, metric)) is not None]
        return (sum(parts), sum(parts)) if parts else None
    return (record.limit_seconds, inf) if record.status is Status.TIMEOUT and metrics == TIME else None


def mean_of_ratios(pairs: Sequence[tuple[float, float]]) -> float:
    """The geometric mean of ratios: 0 or infinite if one of them is, NaN if one is 0 and another one infinite."""
    return exp(sum(_log(a) - _log(b) if a != b else 0.0 for a, b in pairs) / len(pairs))


def _log(number: float) -> float:
    return log(number) if number else -inf


def quantile(numbers: Sequence[float], share: float) -> float:
    """The least of the numbers that at least this share of them does not exceed."""
    ordered = sorted(numbers)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def span(numbers: Sequence[float], show: Callable[[float], str] = lambda number: plain(number, 3)) -> str:
    """`1.2 to 12`, or one number if both ends look the same."""
    ends = list(dict.fromkeys(show(end) for end in (min(numbers), max(numbers))))
    return " to ".join(ends)
