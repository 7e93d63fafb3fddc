"""A heat map: a row per algorithm, a column per category, and a number or a sign of failure in each field."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from cepbench.metrics.figure import Axis, Panel
from cepbench.plots.axes import category, fitting, turned
from cepbench.plots.censored import SIGNS
from cepbench.plots.points import HIGHER_IS_BETTER, Curve
from cepbench.plots.style import TEXT_WIDTH, label
from cepbench.plots.units import human

WIDE_LETTERS = 90  # most letters in the labels of a drawing of the width of the text
NAMES = 1.2  # inches of it for the names of the algorithms
PALE, DEEP = 0.05, 0.75  # the range of the color map that is used, so that text is readable everywhere


def draw_heat(
    axes: Axes,
    axis: Axis,
    panel: Panel,
    curves: Sequence[Curve],
    labels: Mapping[str, str],
    categories: Sequence[Any] = (),
) -> None:
    """Draws the map. Darker is better, on a logarithmic scale; the best number of a column is bold and framed.

    A field without a number has the signs of all its failures; a field that was not run is empty.
    """
    points = [(row, point) for row, curve in enumerate(curves) for point in curve.points]
    places = list(dict.fromkeys((*categories, *(point.x for _, point in points))))
    numbers = {(row, places.index(p.x)): p.estimate.median for row, p in points if p.estimate is not None and p.drawn}
    better = max if panel.metric in HIGHER_IS_BETTER else min
    best = {column: better(v for (_, c), v in numbers.items() if c == column) for _, column in numbers}
    logs = [log10(value) for value in numbers.values() if value > 0]
    low, high = (min(logs), max(logs)) if logs else (0.0, 0.0)
    colors = matplotlib.colormaps["YlGnBu"]
    for (row, column), value in numbers.items():
        share = (log10(value) - low) / (high - low) if value > 0 and high > low else 0.0
        share = share if better is max else 1 - share
        is_best = value == best[column]
        color = colors(PALE + (DEEP - PALE) * share)
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=color, edgecolor="white", linewidth=0.8))
        if is_best:
            frame = Rectangle((column - 0.46, row - 0.44), 0.92, 0.88, fill=False, edgecolor="#222222", linewidth=0.9)
            axes.add_patch(frame)
        axes.text(
            column,
            row,
            human(value, panel.unit if panel.unit in ("s", "B") else "", digits=2),
            ha="center",
            va="center",
            color="white" if share > 0.75 else "#111111",
            fontsize="small",
            fontweight="bold" if is_best else "normal",
        )
    for row, point in points:
        if point.drawn:
            continue
        for number, failure in enumerate(point.failures):
            x = places.index(point.x) + (number - (len(point.failures) - 1) / 2) * 0.25
            sign: dict[str, Any] = {"marker": SIGNS[failure.status], "markersize": 6, "markerfacecolor": "none"}
            axes.plot([x], [row], linestyle="none", color="#444444", markeredgewidth=0.9, **sign)
    axes.set_xlim(-0.5, max(len(places), 1) - 0.5)
    axes.set_ylim(max(len(curves), 1) - 0.5, -0.5)
    printed = [category(place, axis.unit) for place in places]
    axes.set_xticks(range(len(places)), printed)
    turned(axes, printed, fitting(axes, WIDE_LETTERS, TEXT_WIDTH, NAMES))
    axes.set_yticks(range(len(curves)), [label(curve.algorithm, labels) for curve in curves])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.set_xlabel(axis.label)
