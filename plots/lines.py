"""A panel of lines over a numeric axis: the median with its interval, or single values if they are few."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite, nan
from typing import Any

from matplotlib import rcParams
from matplotlib.axes import Axes

from cepbench.metrics.figure import Axis, Panel
from cepbench.plots.axes import scale_sweep_axis, scale_value_axis
from cepbench.plots.censored import Mark, draw_marks
from cepbench.plots.points import Curve, Point
from cepbench.plots.published import draw_published, published_within
from cepbench.plots.style import Style, series_dashes

CLOSE = 0.03  # curves that differ by at most this share look like one
FLOOR = "floor"
"""The name of the line of the shortest time on one event per window, also in SVG files."""
WIDER = 1.5  # points by which a line is wider for each line drawn over it


def draw_lines(
    axes: Axes,
    axis: Axis,
    panel: Panel,
    curves: Sequence[Curve],
    styles: Mapping[str, Style],
    series: Sequence[Any] = (),
) -> None:
    """Draws `curves`; `styles` by algorithm. Line styles distinguish the values of a series axis (`series`)."""
    xs = [float(point.x) for curve in curves for point in curve.points]
    printed = published_within(panel, xs)
    scale_sweep_axis(axes, axis, xs)
    scale_value_axis(axes, panel, [*measured(curves), *(y for _, points in printed for _, y in points)], limits(curves))
    draw_published(axes, printed, styles)
    for number, curve in enumerate(curves):
        style = styles[curve.algorithm]
        line = (0, series_dashes(series.index(curve.series))) if series else style.line
        above = sum(coincide(curve, later, axes.get_yscale() == "linear") for later in curves[number + 1 :])
        draw_curve(axes, curve, style, line, above)
    _draw_floor(axes, curves)
    draw_marks(axes, panel, marks(curves, styles, lambda curve, point: float(point.x)))
    axes.grid(axis="y", which="major")


def coincide(first: Curve, second: Curve, linear: bool) -> bool:
    """Whether two curves coincide at all points where both are drawn, of which there are at least two."""
    tops = {point.x: point.estimate.median for point in second.points if point.estimate and point.drawn}
    pairs = [
        (point.estimate.median, tops[point.x])
        for point in first.points
        if point.estimate and point.drawn and point.x in tops
    ]
    largest = max((abs(value) for pair in pairs for value in pair), default=0.0)
    near = [abs(a - b) <= CLOSE * (largest if linear else max(abs(a), abs(b))) for a, b in pairs]
    return len(near) > 1 and all(near)


def floor_points(curves: Sequence[Curve]) -> list[tuple[float, float]]:
    """The shortest time of any algorithm on one event per window, at each x."""
    xs: dict[float, list[float]] = {}
    for curve in curves:
        for point in curve.points:
            if point.floor is not None:
                xs.setdefault(float(point.x), []).append(point.floor)
    return [(x, min(xs[x])) for x in sorted(xs)]


def _draw_floor(axes: Axes, curves: Sequence[Curve]) -> None:
    """Draws the shortest time on one event per window as a thin line, where the axis reaches it."""
    points = floor_points(curves)
    low, high = axes.get_ylim()
    if any(min(left, right) <= high and max(left, right) >= low for (_, left), (_, right) in pairwise(points)):
        axes.plot(*zip(*points, strict=True), color="#999999", linewidth=0.6, linestyle=":", zorder=1, gid=FLOOR)


def measured(curves: Sequence[Curve]) -> list[float]:
    """All measured numbers of a panel."""
    return [value for curve in curves for point in curve.points for value in point.measured]


def limits(curves: Sequence[Curve]) -> list[float]:
    """The limits that failed runs reached, each once."""
    return sorted({f.limit for c in curves for p in c.points for f in p.failures if f.limit is not None})


def marks(curves: Sequence[Curve], styles: Mapping[str, Style], place: Any) -> list[Mark]:
    """A sign for each failure, and for points that were not run; `place(curve, point)` returns its x."""
    failed = [(curve, point, (f.status, f.limit)) for curve in curves for point in curve.points for f in point.failures]
    left_out = [(curve, point, (None, None)) for curve in curves for point in curve.left_out]
    return [
        Mark(place(curve, point), status, row_name(curve), styles[curve.algorithm], limit)
        for curve, point, (status, limit) in (*failed, *left_out)
    ]


def row_name(curve: Curve) -> str:
    """The algorithm and the series value of a curve."""
    return curve.algorithm if curve.series is None else f"{curve.algorithm} {curve.series}"


def draw_curve(axes: Axes, curve: Curve, style: Style, line: Any, above: int) -> None:
    """Draws a curve; it is wider the more curves are drawn over it (`above`), so that it stays visible."""
    points = curve.points
    width = rcParams["lines.linewidth"] + WIDER * above
    size = rcParams["lines.markersize"] + 1.6 * WIDER * above
    # A point without a number breaks the line: joining its neighbors would suggest a value between them.
    medians = [point.estimate.median if point.estimate and point.drawn else nan for point in points]
    # A line between only two measurements would suggest a trend.
    shown = line if sum(point.run for point in points) > 2 else "none"
    # A covered line is solid, so that it is visible in the gaps of the dashed lines over it.
    shown = "solid" if above and shown != "none" else shown
    xs, name = [float(point.x) for point in points], row_name(curve)
    axes.plot(xs, medians, linestyle=shown, linewidth=width, markersize=size, zorder=3, gid=name, **style.look)
    for point in points:
        draw_spread(axes, float(point.x), point, style.color)


def draw_spread(axes: Axes, x: float, point: Point, color: str) -> None:
    """Draws the interval of the median as a bar, or each value as a dot if they are too few for an interval."""
    if point.estimate is None:
        return
    low, high = point.estimate.low, point.estimate.high
    if low is not None and high is not None and isfinite(point.estimate.median):
        ends = axes.get_ylim()
        below, above = (end if isfinite(end) else ends[int(end > 0)] for end in (low, high))
        middle = point.estimate.median
        axes.errorbar(
            [x],
            [middle],
            yerr=[[middle - below], [above - middle]],
            color=color,
            capsize=1.8,
            elinewidth=0.8,
            capthick=0.8,
            linestyle="none",
            zorder=3.5,
        )
    elif len(point.estimate.values) > 1 or not point.drawn:
        axes.plot(
            [x] * len(point.measured),
            point.measured,
            linestyle="none",
            marker=".",
            markersize=3,
            markeredgewidth=0,
            color=color,
            alpha=0.6,
            zorder=4,
        )
