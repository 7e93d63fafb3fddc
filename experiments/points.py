"""The cells of an experiment: the points of its axes, and the configuration of each algorithm at each point."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from cepbench.experiments.claims import Effect, Quantity, holds
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.own import RUN
from cepbench.experiments.schema import Experiment, Open
from cepbench.experiments.store_data import stream_of
from cepbench.experiments.templates import axes_in, series_name, substituted, values_at, whole_axis
from cepbench.experiments.verdicts.quantities import NotMeasured, sized
from cepbench.experiments.workload import combined, workload_at, workload_axes
from cepbench.metrics.record import FORMAT
from cepbench.metrics.results import cell_name, value_key
from cepbench.metrics.values import is_time

PLAN = "${plan}"
_IDENTIFYING = (
    "group", "experiment", "profile", "algorithm", "point", "round", "configuration",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One algorithm at one point, in one round.

    `configuration` is the whole input of the run: stream, workload, arithmetic, arrival, limits, `memory: false` if
    only times are measured, and the specification of the algorithm if it contains axes. Cells of one `group` run on the
    same input and must give the same answer.
    """

    id: str
    group: str
    experiment: str
    profile: str
    algorithm: str
    point: dict[str, Any]
    round: int
    configuration: dict[str, Any]

    @property
    def memory(self) -> bool:
        """Whether its memory is measured, too: in the first round only, because it hardly varies."""
        return self.round == 1 and bool(self.configuration.get("memory", True))

    @property
    def specification(self) -> str:
        """The full specification of the algorithm, with the values of its axes."""
        return str(self.configuration.get("algorithm", self.algorithm))

    @property
    def name(self) -> str:
        """For messages: `greta at events 1000`."""
        return cell_name(self.algorithm, self.point)


def points(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """The points of all sweeps, each once; the axes have the same order at every point."""
    for point, _ in _chosen(experiment):
        yield point


def sweeps_of(experiment: Experiment) -> list[list[dict[str, Any]]]:
    """The points of each sweep."""
    return [
        [_point(experiment, varied) for varied in combined(sweep.axes, sweep.zip)] for sweep in experiment.all_sweeps
    ]


def cells(experiment: Experiment, profile: str) -> list[Cell]:
    """All cells in the order in which they run.

    Round by round; in each, points from easy to hard along the monotone axes. At each point the algorithms run in a
    random order that depends on the point, so that a drift of the machine affects all of them equally. If claims read
    times, only the cells of these times run in later rounds.
    """
    ordered = [(point, names, configuration(experiment, point)) for point, names in _chosen(experiment)]
    for axis, direction in reversed(experiment.monotone_axes.items()):
        ordered.sort(key=partial(_coordinate, axis), reverse=direction == "decreasing")
    timed = _timed(experiment)
    result = []
    for number in range(1, experiment.workers + 1):
        for point, specifications, inputs in ordered:
            names = [
                name for name in specifications if number == 1 or not timed or (series_name(name), repr(point)) in timed
            ]
            random.Random(f"{experiment.id} {number} {point}").shuffle(names)
            result += [_cell(experiment, profile, name, point, number, inputs) for name in names]
    return result


def _timed(experiment: Experiment) -> set[tuple[str, str]]:
    """The series and points whose times some claim, its evidence or its counterfactual reads.

    Engines of others do not change them, so that cells stay the same where an engine is measured, too.
    """
    others = {*experiment.engines, *experiment.absent}
    series_at = {repr(point): {*map(series_name, names), *others} for point, names in _chosen(experiment)}
    sweeps = sweeps_of(experiment)
    timed: set[tuple[str, str]] = set()
    for quantity in (quantity for claim in experiment.claims for quantity in claim.quantities):
        names = [name for name, metric in quantity.parts if is_time(metric)]
        for point in _points_of(quantity, sweeps, series_at):
            timed |= {(name, repr(point)) for name in names}
    return timed


def _points_of(
    quantity: Quantity, sweeps: Sequence[Sequence[dict[str, Any]]], series_at: Mapping[str, set[str]]
) -> Iterable[dict[str, Any]]:
    """The points at which a number is read: those of its size at which all of its systems run.

    A grid or a law reads it at all sizes that it varies, each system of a law by itself.
    """
    cause = quantity.cause if isinstance(quantity, Effect) else None
    varied = () if cause is None else (*cause.grid, *(() if cause.law is None else (cause.law.axis,)))
    if varied:
        fixed = {axis: value for axis, value in quantity.where.items() if axis not in varied}
        return [point for points in sweeps for point in points if holds(point, fixed)]
    shared = [[point for point in points if {*quantity.algorithms} <= series_at[repr(point)]] for points in sweeps]
    try:
        return sized(quantity, shared).points
    except NotMeasured:
        return []


def configuration(experiment: Experiment, point: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a run at `point`, with every `${axis}` replaced."""
    point = values_at(point, experiment.values)
    stream = experiment.stream.model_dump(exclude_none=True)
    for name in ("time_column", "type_column", "time_format"):
        if name not in experiment.stream.model_fields_set:
            del stream[name]  # cells measured before the field existed keep their identity
    stream["parameters"] = {k: v for k, v in experiment.stream.parameters.items() if v is not None}
    if experiment.data is None:
        stream = {name: substituted(value, point, f"stream.{name}") for name, value in stream.items()}
    else:
        stream = stream_of(experiment.data)
    return {
        "stream": stream,
        "workload": workload_at(experiment, point),
        "arithmetic": experiment.arithmetic,
        "arrival": _arrival(experiment, point),
        "limits": experiment.limits.model_dump(),
        "buckets": experiment.buckets,
        "repeat": experiment.repeat / experiment.workers,
        **_slots(experiment, point),
        **({} if experiment.compile == "once" else {"compile": experiment.compile}),
        **({} if "memory" in experiment.measurements else {"memory": False}),
        **({"plans": _plans(experiment, point)} if experiment.plans else {}),
    }


def _plans(experiment: Experiment, point: Mapping[str, Any]) -> list[str]:
    """The specifications of the plans of a cell."""
    numbered = [(text, range(1, experiment.random_plans + 1) if PLAN in text else [0]) for text in experiment.plans]
    texts = [text.replace(PLAN, str(number)) for text, numbers in numbered for number in numbers]
    return [str(text) for text in substituted(texts, point, "plans")]


def _arrival(experiment: Experiment, point: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(experiment.arrival, Open):
        return {"model": "burst"}
    arrival = substituted(experiment.arrival.model_dump(), point, "arrival")
    if not isinstance(arrival["rate"], int | float) or arrival["rate"] <= 0:
        raise ExperimentError(f"{experiment.id}: arrival.rate: expected a number above 0, not {arrival['rate']!r}")
    return {"model": "open", **arrival, "rate": float(arrival["rate"])}


def _slots(experiment: Experiment, point: Mapping[str, Any]) -> dict[str, int]:
    if experiment.slots is None:
        return {}
    slots = substituted(experiment.slots, point, "slots")
    if not isinstance(slots, int) or slots < 1:
        raise ExperimentError(f"{experiment.id}: slots: expected a whole number above 0, not {slots!r}")
    return {"slots": slots}


def unused_axes(experiment: Experiment) -> list[str]:
    """The axes that are named nowhere, so that all of their values are the same work.

    An axis that is zipped with a named one names its values. The axis `run` may count runs.
    """
    named = axes_in(
        experiment.stream.model_dump(),
        experiment.arrival if isinstance(experiment.arrival, str) else experiment.arrival.model_dump(),
        experiment.algorithms,
        experiment.plans,
        experiment.slots,
        experiment.values,
        [experiment.values_of(axis) for axis in experiment.axis_names],
    )
    named |= workload_axes(experiment) | {RUN}
    for sweep in experiment.all_sweeps:
        named |= {*sweep.zip} if named & {*sweep.zip} else set()
    return [axis for axis in experiment.axis_names if axis not in named]


def identified(cell: Cell) -> dict[str, Any]:
    """The fields of a record that identify its cell, by name."""
    limits = cell.configuration["limits"]
    fields = {name: getattr(cell, name) for name in _IDENTIFYING}
    return {**fields, "cell": cell.id, "limit_seconds": limits["seconds"], "limit_bytes": limits["memory"]}


def identity(*parts: Any) -> str:
    """A short hash of JSON values, independent of the order of keys."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]


def _chosen(experiment: Experiment) -> list[tuple[dict[str, Any], list[str]]]:
    """Every point once, with the specifications of the algorithms that some sweep runs there."""
    chosen: dict[str, tuple[dict[str, Any], set[str]]] = {}
    for sweep in experiment.all_sweeps:
        for varied in combined(sweep.axes, sweep.zip):
            point = _point(experiment, varied)
            names = chosen.setdefault(json.dumps(point), (point, set()))[1]
            names.update(experiment.series if sweep.algorithms is None else sweep.algorithms)
    return [
        (
            point,
            [
                specification
                for specification in experiment.algorithms
                if (name := series_name(specification)) in names and not _excluded(experiment, name, point)
            ],
        )
        for point, names in chosen.values()
    ]


def _point(experiment: Experiment, varied: Mapping[str, Any]) -> dict[str, Any]:
    """The values, or labels, of all axes; an axis that is only another one (`slide: "${within}"`) has its value."""
    values = {**experiment.defaults, **varied}
    return {name: values.get(whole_axis(values[name]) or name, values[name]) for name in experiment.axis_names}


def _coordinate(axis: str, chosen: tuple[dict[str, Any], list[str], dict[str, Any]]) -> tuple[bool, float, str]:
    return value_key(chosen[0][axis])


def _excluded(experiment: Experiment, algorithm: str, point: Mapping[str, Any]) -> bool:
    return any(e.algorithm == algorithm and holds(dict(point), e.where) for e in experiment.exclude)


def _cell(
    experiment: Experiment,
    profile: str,
    template: str,
    point: dict[str, Any],
    number: int,
    inputs: dict[str, Any],
) -> Cell:
    values = values_at(point, experiment.values)
    algorithm, specification = series_name(template), str(substituted(template, values, "algorithms"))
    if specification != algorithm:
        inputs = {**inputs, "algorithm": specification}
    same = [inputs[name] for name in ("stream", "workload", "arithmetic", "buckets")]
    group = identity(experiment.id, profile, point, *same)
    cell = identity(FORMAT, experiment.id, profile, point, algorithm, number, inputs)
    return Cell(cell, group, experiment.id, profile, algorithm, point, number, inputs)
