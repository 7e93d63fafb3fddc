"""Changes of measurements over commits: a line per algorithm of a figure, as ratios to the first commit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from cepbench.metrics.commits import CommitResults
from cepbench.metrics.figure import Axis, Figure, Scale
from cepbench.metrics.record import Record
from cepbench.metrics.statistics import Estimate
from cepbench.plots.axes import category_axis
from cepbench.plots.compare import COMPARED, Key, cells_of, median_ratio, ratio_interval, side_by_side, with_enough
from cepbench.plots.draw import MAX_COLUMNS, all_styles, fitted_legend, grid_of, joined, line_handle
from cepbench.plots.lines import coincide, draw_curve
from cepbench.plots.points import Curve, Point
from cepbench.plots.style import PAGE, Style, label, paper
from cepbench.plots.units import plain

USUAL = "service_total"
NEAR = 1.25  # an axis shows at least 1 / NEAR to NEAR, so that noise does not look like a trend
BESIDE = 0.09  # horizontal distance between lines, relative to that of commits, so that intervals are visible
TICKS = (
    (1.3, (0.8, 0.9, 1.0, 1.1, 1.25)),
    (1.7, (0.6, 0.8, 1.0, 1.25, 1.6)),
    (2.3, (0.5, 0.7, 1.0, 1.4, 2.0)),
    (5.5, (0.2, 0.5, 1.0, 2.0, 5.0)),
)


@dataclass(frozen=True)
class Change:
    """The metric of an algorithm in a figure at one commit, relative to the first commit.

    `ratios` are sorted, one per cell that is ok at both commits; `lost` cells were ok at the first commit only.
    """

    figure: Figure
    algorithm: str
    metric: str
    place: int  # index of the commit
    ratios: tuple[float, ...]
    low: float | None
    high: float | None
    lost: int

    @property
    def ratio(self) -> float | None:
        """The median over cells."""
        return median_ratio(self.ratios) if self.ratios else None


def changes(commits: Sequence[CommitResults], metric: str | None = None) -> list[Change]:
    """The changes of all figures, in the order of figures, algorithms and commits.

    The first commit is, for each algorithm of a figure, the first one with numbers. `metric` is one of `COMPARED`; the
    default is the first such metric of a panel of the figure, otherwise the service time. Quantiles of cells with too
    few latencies are omitted, as by `cepbench compare`.
    """
    changed = []
    figures: dict[tuple[str, str], Figure] = {}
    for results in (results for entry in commits for results in entry.results):
        figures.setdefault(results.figure.key, results.figure)
    for figure in figures.values():
        wanted = metric or next((panel.metric for panel in figure.panels if panel.metric in COMPARED), USUAL)
        changed += _of_figure(commits, figure, wanted)
    return changed


def table(commits: Sequence[CommitResults], changed: Iterable[Change]) -> pd.DataFrame:
    """One row per change: experiment, profile, algorithm, metric, commit, ratio, low, high, cells, lost."""
    columns = ("experiment", "profile", "algorithm", "metric", "commit", "ratio", "low", "high", "cells", "lost")
    rows = []
    for change in changed:
        cell = (*change.figure.key, change.algorithm, change.metric, commits[change.place].name)
        rows.append((*cell, change.ratio, change.low, change.high, len(change.ratios), change.lost))
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(("ratio", "low", "high"), "Float64"))


def describe_trend(commits: Sequence[CommitResults], changed: Sequence[Change]) -> str:
    """A line per algorithm of a figure, with the ratio at each commit."""
    lines = ["commits: " + ", ".join(entry.name for entry in commits)]
    for row in _rows(changed):
        first = row[0]
        name = f"{first.figure.experiment} {first.figure.profile} {first.algorithm} {first.metric}"
        lines.append(f"{name}: " + ", ".join(_ratio_text(commits, change, change is first) for change in row))
    return "\n".join(lines)


def draw_trend(commits: Sequence[CommitResults], changed: Sequence[Change]) -> Drawing:
    """A panel per figure: ratios to the first commit over commits, a line per algorithm."""
    with paper():
        return _draw(commits, changed, all_styles([results for entry in commits for results in entry.results]))


def _of_figure(commits: Sequence[CommitResults], figure: Figure, metric: str) -> list[Change]:
    mine = [
        [record for results in entry.results if results.figure.key == figure.key for record in results.records]
        for entry in commits
    ]
    names = dict.fromkeys((*figure.algorithms, *(record.algorithm for records in mine for record in records)))
    return [change for name in names for change in _of_algorithm(mine, figure, name, metric)]


def _of_algorithm(records: Sequence[Sequence[Record]], figure: Figure, algorithm: str, metric: str) -> list[Change]:
    """The changes of an algorithm since the first commit at which it has numbers."""
    cells = [cells_of(record for record in members if record.algorithm == algorithm) for members in records]
    first: dict[Key, Record] | None = None
    changed = []
    for place, now in enumerate(cells):
        compared = with_enough(side_by_side(now if first is None else first, now), metric)
        valid = compared[(compared[f"{metric}_a"].fillna(0) > 0) & compared["differs"].isna()]
        if first is None and valid.empty:
            continue
        rated = valid[valid[f"{metric}_ratio"].fillna(0) > 0]
        ratios = tuple(sorted(float(ratio) for ratio in rated[f"{metric}_ratio"]))
        interval = ratio_interval(rated, metric, ratios) if ratios and first is not None else None
        low, high = interval or (None, None)
        changed.append(Change(figure, algorithm, metric, place, ratios, low, high, len(valid) - len(rated)))
        first = now if first is None else first
    return changed


def _rows(changed: Iterable[Change]) -> list[list[Change]]:
    rows: dict[tuple[str, str, str], list[Change]] = {}
    for change in changed:
        rows.setdefault((*change.figure.key, change.algorithm), []).append(change)
    return list(rows.values())


def _ratio_text(commits: Sequence[CommitResults], change: Change, first: bool) -> str:
    lost = f"; {change.lost} cells lost" if change.lost else ""
    name = commits[change.place].name
    if change.ratio is None or first:
        return f"{name} {'1' if first else 'none'}{lost}"
    interval = "no interval" if change.low is None else f"{change.low:.3g} to {change.high:.3g}"
    return f"{name} x{change.ratio:.3g} ({interval}{lost})"


def _draw(commits: Sequence[CommitResults], changed: Sequence[Change], look: Mapping[str, Style]) -> Drawing:
    panels: dict[tuple[str, str], list[Change]] = {}
    for change in changed:
        panels.setdefault(change.figure.key, []).append(change)
    columns = max(1, min(MAX_COLUMNS, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    drawing, grid = grid_of(rows, columns, PAGE.width, PAGE.height)
    for axes, members in zip(grid, panels.values(), strict=False):
        axes.set_visible(True)
        _panel(axes, commits, members, look)
    names = dict.fromkeys(change.algorithm for change in changed)
    labels = {name: text for change in changed for name, text in change.figure.labels.items()}
    lined = joined(drawing)
    handles = [
        line_handle(look[name], label(name, labels), look[name].line if name in lined else "none") for name in names
    ]
    if any(change.lost for change in changed):
        handles.append(Line2D([], [], linestyle="none", label="some cells lost", **_LOST))
    fitted_legend(drawing, handles)
    return drawing


_LOST: dict[str, Any] = {"color": "#111111", "marker": "x", "markersize": 6.5, "markeredgewidth": 0.9}


def _panel(axes: Axes, commits: Sequence[CommitResults], changed: Sequence[Change], look: Mapping[str, Style]) -> None:
    figure, metric = changed[0].figure, changed[0].metric
    category_axis(axes, Axis(name="commit", label="Commit", scale=Scale.CATEGORY), [entry.name for entry in commits])
    _ratio_axis(axes, [bound for change in changed for bound in (*change.ratios, change.low, change.high) if bound])
    axes.axhline(1.0, color="#999999", linewidth=0.6, zorder=1)
    title = next((panel.label for panel in figure.panels if panel.metric == metric), metric.replace("_", " "))
    axes.set_ylabel("Ratio to first")
    axes.set_title(f"{figure.experiment}, {figure.profile}: {title[:1].lower()}{title[1:]}", pad=4, loc="left")
    rows = _rows(changed)
    shifts = [(number - (len(rows) - 1) / 2) * BESIDE for number in range(len(rows))]
    curves = [_curve(row, 0.0) for row in rows]
    for number, (row, shift) in enumerate(zip(rows, shifts, strict=True)):
        above = sum(coincide(curves[number], later, linear=False) for later in curves[number + 1 :])
        style = look[row[0].algorithm]
        draw_curve(axes, _curve(row, shift), style, style.line, above)
    lost = [
        (change.place + shift, change.ratio or 1.0)
        for row, shift in zip(rows, shifts, strict=True)
        for change in row
        if change.lost
    ]
    if lost:
        axes.plot(*zip(*lost, strict=True), linestyle="none", zorder=5, gid="lost", **_LOST)
    axes.grid(axis="y", which="major")


def _curve(row: Sequence[Change], shift: float) -> Curve:
    points = [
        Point(
            change.place + shift,
            None if change.ratio is None else Estimate(change.ratios, change.ratio, change.low, change.high),
        )
        for change in row
    ]
    return Curve(row[0].algorithm, None, tuple(points))


def _ratio_axis(axes: Axes, values: Sequence[float]) -> None:
    """A logarithmic axis that is symmetric around 1: twice as slow is as far from 1 as twice as fast."""
    farthest = max((max(value, 1 / value) for value in values), default=1.0)
    end = max(farthest * 1.06, NEAR * 1.02)
    axes.set_yscale("log")
    axes.set_ylim(1 / end, end)
    ticks = next((ticks for until, ticks in TICKS if end <= until), None)
    if ticks is None:
        many = log(end, 10) > 2
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0,) if many else (1.0, 3.0), numticks=9))
    else:
        axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value, 3)))
