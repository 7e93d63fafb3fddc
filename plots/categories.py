"""Panels over a category axis (semantics, data sets, variants): grouped bars, stacked bars and heat maps.

In all of them `categories` are in the order of the axis and align panels; those that only the curves have follow.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import isfinite, log10
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Patch, Rectangle

from cepbench.metrics.figure import Axis, Panel
from cepbench.plots.axes import category, category_axis, fitting, scale_value_axis, turned
from cepbench.plots.censored import SIGNS, draw_marks
from cepbench.plots.lines import draw_spread, limits, marks, measured, row_name
from cepbench.plots.points import HIGHER_IS_BETTER, Curve, Point
from cepbench.plots.style import TEXT_WIDTH, Style, label
from cepbench.plots.units import human

GROUP_WIDTH = 0.82  # of the distance between two categories
HATCHES = ("", "////", "----", "xxxx", "\\\\\\\\")
HEADROOM = 1.22  # factor on the height of the axis, to make room for the numbers above stacked bars
WIDE_LETTERS = 90  # most letters in the labels of a heat map of the width of the text
NAMES = 1.2  # inches of it for the names of the algorithms
PALE, DEEP = 0.05, 0.75  # the range of the color map that is used, so that text is readable everywhere
_NEUTRAL = "#444444"


def draw_bars(
    axes: Axes,
    axis: Axis,
    panel: Panel,
    curves: Sequence[Curve],
    styles: Mapping[str, Style],
    series: Sequence[Any],
    categories: Sequence[Any],
) -> None:
    """One group per category, one bar per curve in it; hatches distinguish the values of a series axis."""
    places, width, place = _grouped(curves, categories)
    category_axis(axes, axis, places)
    scale_value_axis(axes, panel, measured(curves), limits(curves))
    floor = axes.get_ylim()[0]
    for curve in curves:
        style = styles[curve.algorithm]
        drawn = [(place(curve, point), point) for point in curve.points]
        tops = [(x, point.estimate.median) for x, point in drawn if point.estimate is not None and point.drawn]
        axes.bar(
            [x for x, _ in tops],
            [top - floor for _, top in tops],
            width=width,
            bottom=floor,
            facecolor="white" if style.hollow else style.color,
            edgecolor=style.color if style.hollow else "white",
            linewidth=0.8 if style.hollow else 0.3,
            zorder=2,
            gid=row_name(curve),
            hatch=HATCHES[series.index(curve.series) % len(HATCHES)] if series else "",
        )
        for x, point in drawn:
            draw_spread(axes, x, point, "#222222")
    draw_marks(axes, panel, marks(curves, styles, place))
    axes.grid(axis="y", which="major")


def draw_stacks(
    axes: Axes,
    axis: Axis,
    panel: Panel,
    parts: Sequence[Sequence[Curve]],
    totals: Sequence[Curve],
    styles: Mapping[str, Style],
    categories: Sequence[Any],
) -> None:
    """A group per category with a bar per algorithm; each part, such as a phase, has a shade of the algorithm's color.

    `parts`: the curves of each part of `panel`; `totals`: the curves of their sums, for the same algorithms and points.
    The height of a part is its median, or 0 if it was not measured. Above the bar are the interval of the sum over
    values (or single values) and the height as a number.
    """
    curves = parts[0]
    places, width, place = _grouped(curves, categories)
    tops = {
        (curve.algorithm, point.x): list(accumulate(_height(part[row].points[column]) for part in parts))
        for row, curve in enumerate(curves)
        for column, point in enumerate(curve.points)
    }
    category_axis(axes, axis, places)
    heights = [top for stack in tops.values() for top in stack]
    scale_value_axis(axes, panel, [*heights, *measured(totals)], limits(curves))
    floor, ceiling = axes.get_ylim()
    axes.set_ylim(floor, floor + (ceiling - floor) * HEADROOM)
    for row, curve in enumerate(curves):
        looks = _looks(styles[curve.algorithm].color, panel)
        for point, total in zip(curve.points, totals[row].points, strict=True):
            bottom, x = floor, place(curve, point)
            for look, top in zip(looks, tops[curve.algorithm, point.x], strict=True):
                if top > max(bottom, 0.0):
                    gid = f"{curve.algorithm} {look['label']}"
                    axes.bar(x, top - bottom, width=width, bottom=bottom, zorder=2, gid=gid, **look)
                    bottom = top
            if bottom > floor:  # a small bar is hard to read on a linear axis
                draw_spread(axes, x, total, "#222222")
                height, above = human(bottom, panel.unit, 2), max(bottom, _end(total))
                axes.text(x, above, f"  {height}", rotation=90, size=5.5, ha="center", va="bottom")
    draw_marks(axes, panel, marks(curves, styles, place))
    axes.grid(axis="y", which="major")


def part_handles(panel: Panel) -> list[Patch]:
    """The parts of a panel in gray, for the legend."""
    return [Patch(**look) for look in _looks(_NEUTRAL, panel)]


def draw_heat(
    axes: Axes,
    axis: Axis,
    panel: Panel,
    curves: Sequence[Curve],
    labels: Mapping[str, str],
    categories: Sequence[Any],
) -> None:
    """A row per algorithm, a column per category, and a number or signs of failures in each field.

    Darker is better, on a logarithmic scale; the best number of a column is bold and framed. A field that was not run
    is empty.
    """
    points = [(row, point) for row, curve in enumerate(curves) for point in curve.points]
    places = _places(curves, categories)
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


def _places(curves: Sequence[Curve], categories: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys((*categories, *(point.x for curve in curves for point in curve.points))))


def _grouped(
    curves: Sequence[Curve], categories: Sequence[Any]
) -> tuple[list[Any], float, Callable[[Curve, Point], float]]:
    """The categories, the width of a bar, and a function that returns the place of the bar of a point."""
    places, distance = _places(curves, categories), GROUP_WIDTH / max(len(curves), 1)
    order = {row_name(curve): number for number, curve in enumerate(curves)}

    def place(curve: Curve, point: Point) -> float:
        return places.index(point.x) + (order[row_name(curve)] - (len(curves) - 1) / 2) * distance

    return places, distance * 0.92, place


def _height(point: Point) -> float:
    return point.estimate.median if point.estimate is not None and point.drawn else 0.0


def _end(point: Point) -> float:
    """The upper end of the interval; without an interval, the largest value."""
    high = point.estimate.high if point.estimate is not None else None
    return high if high is not None and isfinite(high) else max(point.measured, default=0.0)


def _looks(color: str, panel: Panel) -> list[dict[str, Any]]:
    """The parts of a stacked bar in shades of a color, the lowest one the darkest."""
    if not panel.parts:
        return []
    import seaborn  # takes a second, and imports all of scipy.stats

    shades = seaborn.light_palette(color, len(panel.parts) + 1, reverse=True)
    look = {"edgecolor": "white", "linewidth": 0.3}
    return [
        {**look, "facecolor": to_hex(shade), "hatch": HATCHES[number % len(HATCHES)], "label": part.label}
        for number, (shade, part) in enumerate(zip(shades, panel.parts, strict=False))
    ]
