"""The description of a figure that plots read, with the verdicts on the claims of the paper."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cepbench.experiments.mixing import drawn_over
from cepbench.experiments.overlay import published
from cepbench.experiments.points import configuration, sweeps_of
from cepbench.experiments.points import points as points_of
from cepbench.experiments.schema import Experiment, SweptPanel
from cepbench.experiments.store_data import departure, named
from cepbench.experiments.verdicts.judge import declaration, verdict
from cepbench.metrics.figure import Declared, Figure, Panel
from cepbench.metrics.record import Record


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
        draws=drawn_over(experiment),
        claims=tuple(verdict(claim, records, sweeps_of(experiment), experiment.absent) for claim in experiment.claims),
        declared=current if declared is None else tuple(declared),
        current=current,
        revised=experiment.revised,
    )


def declarations(experiment: Experiment) -> tuple[Declared, ...]:
    """The claims of an experiment, as far as they are known before it is measured."""
    return tuple(map(declaration, experiment.claims))


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
    given = configuration(experiment, first)[part]
    text = given.strip() if isinstance(given, str) else json.dumps(given)
    at = ", ".join(f"{name} = {value}" for name, value in first.items())
    return f"{text}\n-- at {at}" if at and part == "workload" else text
