"""The figure of an experiment: its panels are checked before a run, and described with all verdicts after it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cepbench.experiments.claims import Effect, holds
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.overlay import published
from cepbench.experiments.points import Cell, configuration, sweeps_of
from cepbench.experiments.points import points as points_of
from cepbench.experiments.schema import Experiment, SweptPanel
from cepbench.experiments.store_data import departure, named
from cepbench.experiments.verdicts.causes import counterfactual_series, verdict
from cepbench.experiments.verdicts.judge import declaration
from cepbench.metrics.figure import Declared, Figure, Panel
from cepbench.metrics.record import Record
from cepbench.metrics.results import brief
from cepbench.metrics.values import is_memory


def check_panels(experiment: Experiment, cells: Sequence[Cell]) -> None:
    """Raises `ExperimentError` for a panel that would draw cells of several points as one.

    An axis that is zipped with a drawn one mixes nothing. Nor does an axis of draws: the panel shows the median over
    its values, as the claim does. `cells` has no excluded cells.
    """
    plot, draws = experiment.plot, _draws(experiment)
    for number, panel in enumerate(plot.panels):
        x = (panel.x or plot.x).name
        where = {**experiment.fixed(x, panel.sweep), **panel.where}
        drawn = [x, *(axis.name for axis in (plot.facet, plot.series) if axis is not None)]
        met: dict[tuple[str, ...], Cell] = {}
        for cell in cells:
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


def _message(experiment: Experiment, number: int, x: str, mixed: list[str], first: Cell, second: Cell) -> str:
    axis = mixed[0]
    return (
        f"{experiment.id}: plot.panels.{number}: at {x} = {brief(first.point[x])} it would mix cells of "
        f"{' and '.join(mixed)} ({axis} = {brief(first.point[axis])} and {brief(second.point[axis])}) in one point; "
        f"draw a line for each (plot.series: {{name: {axis}, label: ...}}) or a row of panels (plot.facet), "
        f"or choose one (where: {{{axis}: {brief(first.point[axis])}}})"
    )


def figure(
    experiment: Experiment, profile: str, records: Sequence[Record], declared: Sequence[Declared] | None = None
) -> Figure:
    """The figure of an experiment from its `records`, of which there is at least one.

    `declared` are the claims that were stored before the first cell (by default those of the experiment).
    """
    plot = experiment.plot
    newest = max(records, key=lambda record: record.started)
    stream = configuration(experiment, next(points_of(experiment)))["stream"] if experiment.data is not None else {}
    on = f" on {named(stream)}" if stream else ""
    current = declarations(experiment)
    return Figure(
        id=experiment.figure,
        experiment=experiment.id,
        profile=profile,
        title=f"{experiment.title}{on}",
        paper=experiment.paper,
        caption=f"{plot.caption} Data: {named(stream)}.".strip() if stream else plot.caption,
        data=named(stream) if stream else "",
        x=plot.x,
        panels=tuple(_panel(experiment, panel) for panel in plot.panels),
        facet=plot.facet,
        series=plot.series,
        algorithms=tuple(experiment.series),
        labels=plot.labels,
        workload=_varied(experiment, "workload"),
        stream=_varied(experiment, "stream"),
        environment=newest.provenance,
        departures=(*experiment.departures, *([departure(experiment, stream)] if stream else [])),
        draws=_draws(experiment),
        claims=tuple(verdict(claim, records, sweeps_of(experiment), experiment.absent) for claim in experiment.claims),
        counterfactuals=counterfactual_series(experiment.claims),
        declared=current if declared is None else tuple(declared),
        current=current,
        revised=experiment.revised,
    )


def declarations(experiment: Experiment) -> tuple[Declared, ...]:
    """The claims of an experiment, as far as they are known before it is measured."""
    return tuple(map(declaration, experiment.claims))


def _draws(experiment: Experiment) -> tuple[str, ...]:
    """The axes over whose values some claim takes the median."""
    named = (claim.draws for claim in experiment.claims if isinstance(claim, Effect))
    return tuple(dict.fromkeys(axis for axis in named if axis is not None))


def _panel(experiment: Experiment, panel: SweptPanel) -> Panel:
    """The panel, restricted to the points and algorithms of its sweep, with its published curves."""
    axis = (panel.x or experiment.plot.x).name
    fields = {name: value for name, value in panel if name not in ("sweep", "overlay")}
    fixed, swept = experiment.fixed(axis, panel.sweep), experiment.swept(axis, panel.sweep)
    fields["where"], fields["algorithms"] = {**fixed, **panel.where}, panel.algorithms or swept
    fields["published"] = (*panel.published, *map(published, panel.overlay))
    return Panel(**fields)


def _varied(experiment: Experiment, part: str) -> str:
    """The workload or stream of the first point; a workload with the values of the axes there."""
    first = next(points_of(experiment))
    content = configuration(experiment, first)[part]
    text = content.strip() if isinstance(content, str) else json.dumps(content)
    at = ", ".join(f"{name} = {value}" for name, value in first.items())
    return f"{text}\n-- at {at}" if at and part == "workload" else text
