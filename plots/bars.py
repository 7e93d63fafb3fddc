"""A panel of grouped bars over a category axis: semantics, data sets, variants."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from cepbench.metrics.figure import Axis, Panel
from cepbench.plots.axes import category_axis, scale_value_axis
from cepbench.plots.censored import draw_marks
from cepbench.plots.lines import draw_spread, limits, marks, measured, row_name
from cepbench.plots.points import Curve, Point
from cepbench.plots.style import Style

GROUP_WIDTH = 0.82  # of the distance between two categories
HATCHES = ("", "////", "----", "xxxx", "\\\\\\\\")


def draw_bars(
    axes: Axes,
    axis: Axis,
    panel: Panel,
    curves: Sequence[Curve],
    styles: Mapping[str, Style],
    series: Sequence[Any] = (),
    categories: Sequence[Any] = (),
) -> None:
    """One group per category, one bar per curve in it; hatches distinguish the values of a series axis.

    `categories` fixes the order and aligns panels; the default is the order of appearance in the curves.
    """
    places = list(dict.fromkeys((*categories, *(point.x for curve in curves for point in curve.points))))
    category_axis(axes, axis, places)
    scale_value_axis(axes, panel, measured(curves), limits(curves))
    width = GROUP_WIDTH / max(len(curves), 1)
    order = {row_name(curve): number for number, curve in enumerate(curves)}

    def place(curve: Curve, point: Point) -> float:
        return places.index(point.x) + (order[row_name(curve)] - (len(curves) - 1) / 2) * width

    floor = axes.get_ylim()[0]
    for curve in curves:
        style = styles[curve.algorithm]
        drawn = [(place(curve, point), point) for point in curve.points]
        tops = [(x, point.estimate.median) for x, point in drawn if point.estimate is not None and point.drawn]
        axes.bar(
            [x for x, _ in tops],
            [top - floor for _, top in tops],
            width=width * 0.92,
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
