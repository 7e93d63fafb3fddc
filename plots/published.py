"""Published curves of the authors beside the measured ones: thin dotted lines with small crosses."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from cepbench.metrics.figure import Figure, Panel, PublishedCurve
from cepbench.plots.style import Style

GRAY = "#555555"
DOTS = (0, (1.0, 2.2))
WIDTH = 0.7
MARKER = "x"
MARKER_SIZE = 2.6

Points = list[tuple[float, float]]


def published_within(panel: Panel, xs: Sequence[float]) -> list[tuple[PublishedCurve, Points]]:
    """The published curves of a panel in the range of the measured `xs`; on a logarithmic axis, positive values."""
    if not xs:
        return []
    low, high = min(xs), max(xs)
    return [
        (curve, [(x, y) for x, y in curve.points if low <= x <= high and (y > 0 or panel.scale == "linear")])
        for curve in panel.published
    ]


def draw_published(axes: Axes, curves: Sequence[tuple[PublishedCurve, Points]], styles: Mapping[str, Style]) -> None:
    """Draws `curves` behind the measured ones, each in the color of its algorithm."""
    for curve, points in curves:
        color = styles[curve.of].color if curve.of is not None and curve.of in styles else GRAY
        xs, ys = [x for x, _ in points], [y for _, y in points]
        axes.plot(xs, ys, **_look(color), zorder=2, gid=f"published {curve.of or curve.label}")


def published_handles(figure: Figure) -> list[Line2D]:
    """A legend entry for each label of published curves, in gray."""
    labels = dict.fromkeys(curve.label for curve in _all(figure))
    return [Line2D([], [], **_look(GRAY), label=text) for text in labels]


def published_notes(figure: Figure) -> list[str]:
    """The sources of the published numbers; empty without any."""
    sources = dict.fromkeys(curve.source for curve in _all(figure))
    if not sources:
        return []
    return [
        "Thin dotted lines with crosses were not measured here: the authors published them, measured on their own "
        f"machine ({'; '.join(sources)})."
    ]


def _all(figure: Figure) -> list[PublishedCurve]:
    return list(chain.from_iterable(panel.published for panel in figure.panels))


def _look(color: str) -> dict[str, Any]:
    return {
        "color": color,
        "linestyle": DOTS,
        "linewidth": WIDTH,
        "marker": MARKER,
        "markersize": MARKER_SIZE,
        "markeredgewidth": 0.6,
    }
