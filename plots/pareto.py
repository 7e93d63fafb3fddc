"""Time against memory: at each point of an experiment, the algorithms that no other one beats in both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cepbench.metrics.figure import Figure, Panel
from cepbench.metrics.record import Record
from cepbench.metrics.values import MEMORY_METRICS
from cepbench.plots.axes import category, fix_ticks
from cepbench.plots.draw import fitted_legend, lay_out, line_handle
from cepbench.plots.points import HIGHER_IS_BETTER, curves
from cepbench.plots.style import TEXT_WIDTH, label, paper, styles
from cepbench.plots.units import human

MOST_PLACES = 12
COLUMNS = 4
HEIGHT = 1.45
"""The height of a row in inches."""
BEATEN = 0.35
"""The opacity of the points of beaten algorithms."""

Costs = tuple[float, float]
"""Time and memory; less is better."""


@dataclass(frozen=True)
class Trade:
    """The medians of two panels of the same slice, by x and algorithm, where both were measured."""

    time: Panel
    memory: Panel
    places: Mapping[Any, Mapping[str, tuple[float, float]]]

    def front(self, x: Any) -> list[str]:
        """The algorithms that no other one beats at `x`, the fastest first."""
        costs = {name: self._costs(cost) for name, cost in self.places[x].items()}
        best = [name for name, cost in costs.items() if not any(_beats(rival, cost) for rival in costs.values())]
        return sorted(best, key=costs.__getitem__)

    def _costs(self, values: tuple[float, float]) -> Costs:
        return (-values[0] if self.time.metric in HIGHER_IS_BETTER else values[0], values[1])


def trade(figure: Figure, time: Panel, memory: Panel, records: Sequence[Record]) -> Trade | None:
    """None unless the panels show the time and the memory of the same points."""
    alike = figure.series is None and (figure.x_of(time), time.where) == (figure.x_of(memory), memory.where)
    if not alike or memory.metric not in MEMORY_METRICS or time.metric in MEMORY_METRICS:
        return None
    times, sizes = _medians(figure, time, records), _medians(figure, memory, records)
    places: dict[Any, dict[str, tuple[float, float]]] = {x: {} for x, _ in times}
    for (x, name), seconds in times.items():
        if (x, name) in sizes:
            places[x][name] = (seconds, sizes[x, name])
    return Trade(time, memory, places)


def draw_trade(figure: Figure, medians: Trade) -> Drawing:
    """A small drawing per x, of at most `MOST_PLACES`: memory along x, time along y, and a line through the front."""
    places = list(medians.places)[:: max(1, -(-len(medians.places) // MOST_PLACES))]
    names = list(dict.fromkeys(name for x in places for name in medians.places[x]))
    look = styles((*figure.algorithms, *names))
    columns = min(COLUMNS, max(1, len(places)))
    rows = max(1, -(-len(places) // columns))
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH * columns / COLUMNS, HEIGHT * rows + 0.6), layout="constrained")
        grid = drawing.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for number, axes in enumerate(grid.flat):
            axes.set_visible(number < len(places))
            axes.tick_params(labelbottom=number + columns >= len(places))
            axes.tick_params(which="minor", labelbottom=False, labelleft=False)
        for axes, x in zip(grid.flat, places, strict=False):
            front = medians.front(x)
            path = [medians.places[x][name] for name in front]
            axes.plot([size for _, size in path], [time for time, _ in path], color="#888888", linewidth=0.8, zorder=1)
            for name, (time, size) in medians.places[x].items():
                alpha, zorder = (1, 3) if name in front else (BEATEN, 2)
                axes.plot([size], [time], linestyle="none", gid=name, alpha=alpha, zorder=zorder, **look[name].look)
            axis = figure.x_of(medians.time)
            title = category(x, axis.unit)
            axes.set_title(title if isinstance(x, str) else f"{axis.label}: {title}", pad=3, loc="left", y=1.0)
        for side, panel, which in ((grid[0, 0].xaxis, medians.memory, 1), (grid[0, 0].yaxis, medians.time, 0)):
            least = min((values[which] for x in places for values in medians.places[x].values()), default=0)
            if least > 0:
                side.axes.set(**{f"{side.axis_name}scale": "log"})
                side.set_major_locator(LogLocator(numticks=4))
            unit = panel.unit if panel.unit in ("s", "B") else ""
            side.set_major_formatter(FuncFormatter(lambda value, _, unit=unit: human(value, unit)))
            side.set_minor_formatter(NullFormatter())
        drawing.supxlabel(medians.memory.label, fontsize="medium")
        unit = f" ({medians.time.unit})" if medians.time.unit not in ("", "s") else ""
        drawing.supylabel(f"{medians.time.label}{unit}", fontsize="medium")
        fitted_legend(drawing, [line_handle(look[name], label(name, figure.labels), "none") for name in names])
        for side in (grid[0, 0].xaxis, grid[0, 0].yaxis):
            fix_ticks(side)
        lay_out(drawing)
    return drawing


def _medians(figure: Figure, panel: Panel, records: Sequence[Record]) -> dict[tuple[Any, str], float]:
    return {
        (point.x, curve.algorithm): point.estimate.median
        for curve in curves(figure, panel, records)
        for point in curve.points
        if point.estimate is not None and point.drawn
    }


def _beats(first: Costs, second: Costs) -> bool:
    return first != second and first[0] <= second[0] and first[1] <= second[1]
