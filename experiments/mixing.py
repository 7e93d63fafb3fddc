"""Refuses panels that would draw different workloads as if they were workers of one point."""

from __future__ import annotations

from collections.abc import Iterable

from cepbench.experiments.claims import Effect, holds
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.points import Cell
from cepbench.experiments.schema import Experiment
from cepbench.metrics.results import brief
from cepbench.metrics.values import is_memory


def drawn_over(experiment: Experiment) -> tuple[str, ...]:
    """The axes over whose values some claim takes the median."""
    named = (claim.draws for claim in experiment.claims if isinstance(claim, Effect))
    return tuple(dict.fromkeys(axis for axis in named if axis is not None))


def check_panels(experiment: Experiment, cells: Iterable[Cell]) -> None:
    """Raises `ExperimentError` for a panel that would draw cells of several points as one.

    An axis that is zipped with a drawn one mixes nothing. Nor does an axis of draws: the panel shows the median over
    its values, as the claim does. `cells` has no excluded cells.
    """
    plot, known = experiment.plot, list(cells)
    draws = drawn_over(experiment)
    for number, panel in enumerate(plot.panels):
        x = (panel.x or plot.x).name
        where = {**experiment.fixed(x, panel.sweep), **panel.where}
        drawn = [x, *(axis.name for axis in (plot.facet, plot.series) if axis is not None)]
        met: dict[tuple[str, ...], Cell] = {}
        for cell in known:
            if not holds(cell.point, where) or (is_memory(panel.metric) and not cell.memory):
                continue
            first = met.setdefault((cell.algorithm, *(repr(cell.point[axis]) for axis in drawn)), cell)
            mixed = [
                axis
                for axis, value in cell.point.items()
                if axis not in draws and repr(value) != repr(first.point[axis])
            ]
            if mixed:
                raise ExperimentError(_message(experiment, number, x, mixed, first, cell))


def _message(experiment: Experiment, number: int, x: str, mixed: list[str], one: Cell, other: Cell) -> str:
    axis = mixed[0]
    return (
        f"{experiment.id}: plot.panels.{number}: at {x} = {brief(one.point[x])} it would mix cells of "
        f"{' and '.join(mixed)} ({axis} = {brief(one.point[axis])} and {brief(other.point[axis])}) in one point; "
        f"draw a line for each (plot.series: {{name: {axis}, label: ...}}) or a row of panels (plot.facet), "
        f"or choose one (where: {{{axis}: {brief(one.point[axis])}}})"
    )
