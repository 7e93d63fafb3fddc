"""The description that plots read, with the verdicts on the paper's claims."""

from __future__ import annotations

import json
from collections.abc import Sequence

from experiments.points import configuration
from experiments.points import points as points_of
from experiments.schema import Experiment
from experiments.verdicts import verdict
from metrics.figure import Figure
from metrics.record import Record


def figure(experiment: Experiment, profile: str, records: Sequence[Record]) -> Figure:
    """The figure of an experiment as it was swept; `records` are its cells, at least one."""
    plot = experiment.plot
    newest = max(records, key=lambda record: record.started)
    return Figure(
        id=experiment.figure,
        experiment=experiment.id,
        profile=profile,
        title=experiment.title,
        paper=experiment.paper,
        caption=plot.caption,
        x=plot.x,
        panels=plot.panels,
        facet=plot.facet,
        series=plot.series,
        algorithms=tuple(experiment.algorithms),
        workload=_varied(experiment, "workload"),
        stream=_varied(experiment, "stream"),
        environment=newest.provenance,
        claims=tuple(verdict(claim, records, plot.x.name) for claim in experiment.claims),
    )


def _varied(experiment: Experiment, part: str) -> str:
    """The workload or stream of the first point; the axes that change it are named."""
    first = next(points_of(experiment))
    given = configuration(experiment, first)[part]
    text = given.strip() if isinstance(given, str) else json.dumps(given)
    told = ", ".join(f"{name} = {value}" for name, value in first.items())
    return f"{text}\n-- at {told}" if told and part == "workload" else text
