"""Signs for cells without a number: a distinct sign per cause, in the color of the algorithm.

A timeout is drawn at its time limit in a latency panel, and exhausted memory at its limit in a panel of process memory:
the true value is beyond. If the limit does not bound the metric, and for unsupported, wrong and error, the sign is
drawn on a gray rail at the bad end of the panel, with a row per algorithm, where it cannot be read as a value. A cell
that the experiment does not run, while others are run at its point, has its sign there, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from matplotlib.transforms import ScaledTranslation

from cepbench.metrics.figure import Panel
from cepbench.metrics.status import Status
from cepbench.plots.axes import fix_ticks
from cepbench.plots.points import HIGHER_IS_BETTER
from cepbench.plots.style import Style
from cepbench.plots.units import human

_ALIGN = {0.0: "left", 0.5: "center", 1.0: "right"}

ROW = 0.085  # height of a row of the rail, as a fraction of the panel
DODGE = 6.0  # points between signs at the same place


def _strokes(*lines: Sequence[tuple[float, float]]) -> Path:
    vertices = [point for line in lines for point in line]
    codes = [code for line in lines for code in (Path.MOVETO, *[Path.LINETO] * (len(line) - 1))]
    return Path(np.array(vertices, dtype=float), codes)


def _ring() -> list[tuple[float, float]]:
    angles = np.linspace(0, 2 * np.pi, 25)
    return [(float(np.cos(a)), float(np.sin(a))) for a in angles]


SIGNS: dict[Status, Path] = {
    Status.TIMEOUT: _strokes([(0, -1), (0, 1)], [(-0.7, 0.25), (0, 1), (0.7, 0.25)]),
    Status.OUT_OF_MEMORY: _strokes(
        [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (-0.9, -0.9)],
        [(-0.9, 0.1), (0.9, 0.1)],
        [(-0.9, -0.4), (0.9, -0.4)],
    ),
    Status.UNSUPPORTED: _strokes(_ring(), [(-0.7, -0.7), (0.7, 0.7)]),
    Status.WRONG: _strokes([(-1, 0.4), (1, 0.4)], [(-1, -0.4), (1, -0.4)], [(-0.5, -1), (0.5, 1)]),
    Status.ERROR: _strokes([(0.45, 1), (-0.55, 0.05), (0.55, 0.05), (-0.45, -1)]),
}
_DOWN = _strokes([(0, 1), (0, -1)], [(-0.7, -0.25), (0, -1), (0.7, -0.25)])

_NOT_RUN = _strokes([(-0.8, 0), (0.8, 0)])
NOT_RUN = "not run"

LABELS: dict[Status, str] = {
    Status.TIMEOUT: "timeout",
    Status.OUT_OF_MEMORY: "out of memory",
    Status.UNSUPPORTED: "unsupported",
    Status.WRONG: "wrong answer",
    Status.ERROR: "error",
}


@dataclass(frozen=True)
class Mark:
    """One sign: its place on the x axis, its cause (None: not run), its row, and its limit (None: on the rail)."""

    x: float
    status: Status | None
    row: str  # the algorithm (and series value): its row of the rail
    style: Style
    limit: float | None = None


def draw_marks(axes: Axes, panel: Panel, marks: Sequence[Mark]) -> None:
    """Draws all signs of a panel. The limits of its axes must be final, except for the rail."""
    _draw_at_limits(axes, panel.unit, [mark for mark in marks if mark.limit is not None])
    railed = [mark for mark in marks if mark.limit is None]
    rows = {name: number for number, name in enumerate(dict.fromkeys(mark.row for mark in railed))}
    if not rows:
        return
    height = min(0.5, ROW * len(rows) + 0.01)
    top = panel.metric not in HIGHER_IS_BETTER
    _make_room(axes, height, top)
    axes.add_patch(
        Rectangle(
            (0, 1 - height if top else 0),
            1,
            height,
            transform=axes.transAxes,
            facecolor="#eeeeee",
            edgecolor="none",
            zorder=0.5,
        )
    )
    for mark in railed:
        inside = (rows[mark.row] + 0.5) * height / len(rows)
        together = [neighbor for neighbor in railed if neighbor.row == mark.row and neighbor.x == mark.x]
        y = 1 - inside if top else inside
        line = _sign(axes, mark, y, axes.get_xaxis_transform(), together.index(mark), len(together))
        if mark.status is Status.TIMEOUT and not top:
            line.set_marker(_DOWN)  # the true throughput is lower


def legend_handle(status: Status | None) -> Line2D:
    """The sign of a status, or of a cell that is not run, in gray, for the legend."""
    return Line2D([], [], **_look(status, "#444444"), label=_name(status))


def _draw_at_limits(axes: Axes, unit: str, marks: Sequence[Mark]) -> None:
    for limit in sorted({mark.limit for mark in marks if mark.limit is not None}):
        axes.axhline(limit, color="#777777", linewidth=0.6, dashes=(3, 2), zorder=1)
        place = _free_place(axes, [mark.x for mark in marks if mark.limit == limit])
        axes.annotate(
            f"limit {human(limit, unit)}",
            (place, limit),
            xycoords=axes.get_yaxis_transform(),
            xytext=(3 - 6 * place, 1),
            textcoords="offset points",
            ha=_ALIGN[place],
            va="bottom",
            fontsize=6.5,
            color="#555555",
        )
    for mark in marks:
        together = [neighbor for neighbor in marks if (neighbor.x, neighbor.limit) == (mark.x, mark.limit)]
        _sign(axes, mark, mark.limit or 0.0, axes.transData, together.index(mark), len(together))


def _free_place(axes: Axes, xs: Sequence[float]) -> float:
    """The place of the label of a limit where it covers the fewest signs: left, middle or right."""
    to_panel = axes.transData + axes.transAxes.inverted()
    taken = [float(to_panel.transform((x, axes.get_ylim()[0]))[0]) for x in xs]
    return min(_ALIGN, key=lambda place: sum(abs(place + 0.12 * (1 - 2 * place) - x) < 0.17 for x in taken))


def _sign(axes: Axes, mark: Mark, y: float, transform: Any, place: int, of: int) -> Line2D:
    figure = axes.figure
    shift = ScaledTranslation(DODGE * (place - (of - 1) / 2) / 72, 0, figure.dpi_scale_trans)
    line = Line2D(
        [mark.x],
        [y],
        transform=transform + shift,
        clip_on=False,
        zorder=5,
        gid=f"{mark.row} {mark.status or NOT_RUN}",
        **_look(mark.status, mark.style.color),
    )
    axes.add_line(line)
    return line


def _name(status: Status | None) -> str:
    return NOT_RUN if status is None else LABELS[status]


def _look(status: Status | None, color: str) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": _NOT_RUN if status is None else SIGNS[status],
        "markersize": 5.0,
        "markeredgewidth": 1.1,
        "markerfacecolor": "none",
        "markeredgecolor": color,
    }


def _make_room(axes: Axes, height: float, top: bool) -> None:
    """Moves the axis limit at the bad end, so that the rail contains neither data nor ticks."""
    low, high = axes.get_ylim()
    fix_ticks(axes.yaxis)
    share = height / (1 - height)
    if axes.get_yscale() == "linear":
        axes.set_ylim(low if top else low - (high - low) * share, high + (high - low) * share if top else high)
    elif axes.get_yscale() == "log":
        factor = 10 ** (log10(high / low) * share)
        axes.set_ylim(low if top else low / factor, high * factor if top else high)
    else:  # symmetric logarithmic: the transform gives distances on the page
        transform = axes.yaxis.get_transform()
        start, stop = transform.transform([low, high])
        extra = (stop - start) * share
        ends = transform.inverted().transform([start if top else start - extra, stop + extra if top else stop])
        axes.set_ylim(float(ends[0]), float(ends[1]))
