"""A panel of stacked bars: at each x a bar per algorithm, divided into parts, such as the phases of an optimizer."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import isfinite
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Patch

from cepbench.metrics.figure import Axis, Panel
from cepbench.plots.axes import category_axis, scale_value_axis
from cepbench.plots.bars import GROUP_WIDTH, HATCHES
from cepbench.plots.censored import draw_marks
from cepbench.plots.lines import draw_spread, limits, marks, measured
from cepbench.plots.points import Curve, Point
from cepbench.plots.style import Style
from cepbench.plots.units import human

HEADROOM = 1.22  # factor on the height of the axis, to make room for the numbers above the bars
_NEUTRAL = "#444444"


def draw_stacks(
    axes: Axes,
    axis: Axis,
    panel: Panel,
    parts: Sequence[Sequence[Curve]],
    totals: Sequence[Curve],
    styles: Mapping[str, Style],
    categories: Sequence[Any] = (),
) -> None:
    """Draws a group per category with a bar per algorithm; each part has a shade of the color of the algorithm.

    `parts`: the curves of each part of `panel`; `totals`: the curves of their sums, for the same algorithms and points.
    The height of a part is its median, or 0 if it was not measured. Above the bar are the interval of the sum over
    values (or single values) and the height as a number. `categories` as in `draw_bars`.
    """
    curves = parts[0]
    places = list(dict.fromkeys((*categories, *(point.x for curve in curves for point in curve.points))))
    tops = {
        (curve.algorithm, point.x): list(accumulate(_height(part[row].points[column]) for part in parts))
        for row, curve in enumerate(curves)
        for column, point in enumerate(curve.points)
    }
    category_axis(axes, axis, places)
    # A logarithmic axis begins below the lowest part that is not empty.
    heights = [top for stack in tops.values() for top in stack if top > 0]
    scale_value_axis(axes, panel, [*heights, *(top for top in measured(totals) if top > 0)], limits(curves))
    floor, ceiling = axes.get_ylim()
    axes.set_ylim(floor, floor + (ceiling - floor) * HEADROOM)
    width = GROUP_WIDTH / max(len(curves), 1)
    order = {curve.algorithm: number for number, curve in enumerate(curves)}

    def place(curve: Curve, point: Point) -> float:
        return places.index(point.x) + (order[curve.algorithm] - (len(curves) - 1) / 2) * width

    for row, curve in enumerate(curves):
        colors = _shades(styles[curve.algorithm].color, len(parts))
        for point, total in zip(curve.points, totals[row].points, strict=True):
            bottom = floor
            for number, top in enumerate(tops[curve.algorithm, point.x]):
                if top > max(bottom, 0.0):
                    axes.bar(
                        place(curve, point),
                        top - bottom,
                        width=width * 0.92,
                        bottom=bottom,
                        facecolor=colors[number],
                        edgecolor="white",
                        linewidth=0.3,
                        hatch=HATCHES[number % len(HATCHES)],
                        zorder=2,
                        gid=f"{curve.algorithm} {panel.parts[number].label}",
                    )
                    bottom = top
            if bottom > floor:  # a small bar is hard to read on a linear axis
                draw_spread(axes, place(curve, point), total, "#222222")
                height, above = human(bottom, panel.unit, 2), max(bottom, _end(total))
                axes.text(place(curve, point), above, f"  {height}", rotation=90, size=5.5, ha="center", va="bottom")
    draw_marks(axes, panel, marks(curves, styles, place))
    axes.grid(axis="y", which="major")


def part_handles(panel: Panel) -> list[Patch]:
    """The parts of a panel in gray, for the legend."""
    colors = _shades(_NEUTRAL, len(panel.parts))
    return [
        Patch(
            facecolor=colors[number],
            edgecolor="white",
            linewidth=0.3,
            hatch=HATCHES[number % len(HATCHES)],
            label=part.label,
        )
        for number, part in enumerate(panel.parts)
    ]


def _height(point: Point) -> float:
    return point.estimate.median if point.estimate is not None and point.drawn else 0.0


def _end(point: Point) -> float:
    """The upper end of the interval; without an interval, the largest value."""
    high = point.estimate.high if point.estimate is not None else None
    return high if high is not None and isfinite(high) else max(point.measured, default=0.0)


def _shades(color: str, parts: int) -> list[str]:
    """The color and lighter shades of it; the lowest part is the darkest."""
    if not parts:
        return []
    import seaborn  # takes a second, and imports all of scipy.stats

    return [to_hex(shade) for shade in seaborn.light_palette(color, parts + 1, reverse=True)[:parts]]
