"""The cells that a sweep would run: all input is checked, and cells get their order, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cepbench.algorithms.base import Algorithm, UnsupportedQuery
from cepbench.algorithms.registry import UnknownAlgorithm, make
from cepbench.datasets.flights import NotInstalled
from cepbench.events.errors import CepbenchError, choices
from cepbench.experiments.cell_files import CellFiles
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.estimate import bound, total_bound, words
from cepbench.experiments.figure import check_panels
from cepbench.experiments.load import belonging, find, load
from cepbench.experiments.points import Cell, cells, unused_axes
from cepbench.experiments.provenance import changed_plugins
from cepbench.experiments.schema import Experiment
from cepbench.experiments.store_data import check_axes
from cepbench.experiments.streams import check_stream
from cepbench.metrics.notices import Notice, of_record
from cepbench.metrics.record import Record
from cepbench.pipeline.jobs import check_supported
from cepbench.queries.workloads import parse_workload

MakeAlgorithm = Callable[[str], Algorithm]


@dataclass(frozen=True)
class Planned:
    """An experiment under a profile, with its cells in the order in which they run.

    If its data are `missing`, that is the reason, and there are no cells.
    """

    experiment: Experiment
    profile: str
    cells: tuple[Cell, ...]
    missing: str | None = None


def plan(
    names: Sequence[str] = (),
    profile: str = "quick",
    overrides: Sequence[str] = (),
    make_algorithm: MakeAlgorithm = make,
    include: Sequence[str] = (),
) -> list[Planned]:
    """Experiments (ids or files; all if none, in the order of `first_look`) with their cells.

    Among all, those whose data set is not installed are without cells; an experiment that is named is refused.

    All input is checked here, before anything runs. Engines to `include`, such as flink, are measured where the files
    list them. Raises `CepbenchError` if one of them is not installed, for an unknown experiment, profile, field or
    algorithm, for a malformed query, and for a stream that cannot be prepared.
    """
    for name in include:
        reason = make_algorithm(name).missing()
        if reason is not None:
            raise CepbenchError(reason)
    planned = []
    for name in dict.fromkeys(names or belonging(profile)):
        experiment = load(find(name), profile, overrides, include)
        check_axes(experiment)
        planned_cells, missing = tuple(cells(experiment, profile)), None
        check_panels(experiment, planned_cells)
        whole = [specification for specification in experiment.algorithms if "${" not in specification]
        plans = [plan for cell in planned_cells for plan in cell.configuration.get("plans", ())]
        for specification in dict.fromkeys((*whole, *(cell.specification for cell in planned_cells), *plans)):
            make_algorithm(specification)
        for configuration in {cell.group: cell.configuration for cell in planned_cells}.values():
            parse_workload(configuration["workload"])
            try:
                check_stream(configuration)
            except NotInstalled as error:
                if names:
                    raise
                missing = str(error)
        _check_used(experiment, name, profile, overrides)
        planned.append(Planned(experiment, profile, () if missing else planned_cells, missing))
    return planned if names else [planned[place] for place in first_look([entry.cells for entry in planned])]


def _check_used(experiment: Experiment, name: str, profile: str, overrides: Sequence[str]) -> None:
    """Raises `ExperimentError` for an axis that nothing names, unless it lost its use by `overrides`."""
    unused = unused_axes(experiment)
    if unused and overrides:
        file = load(find(name), profile)
        unused = [axis for axis in unused if axis not in file.axis_names or axis in unused_axes(file)]
    if unused:
        axis, used = unused[0], [name for name in experiment.axis_names if name not in unused]
        raise ExperimentError(
            f"{experiment.id}: axis {axis} is used nowhere: no text has ${{{axis}}}"
            + (f"; {choices(axis, used)}" if used else "")
        )


def not_measured(entry: Planned) -> str:
    """A line on an experiment whose data are missing."""
    return f"{entry.experiment.id}: not measured: {entry.missing}"


def listing(planned: Sequence[Planned], results: Path, again_noisy: bool = False) -> list[str]:
    """A line per cell that `run_planned` would run, cells that it would move, and an upper bound on its time."""
    lines, missing, aside = [], list[Cell](), []
    for entry in planned:
        if entry.missing is not None:
            aside.append(not_measured(entry))
            continue
        files, wanted = CellFiles(results, entry.experiment.id, entry.profile), [cell.id for cell in entry.cells]
        if others := files.others(wanted):
            aside.append(f"{entry.experiment.id}: on a run, {files.superseding(others)}")
        finished, notices = without_changed_plugins(entry, files.read(wanted))
        aside += [f"{entry.experiment.id}: {notice}" for notice in notices]
        if again_noisy:
            finished = without_noisy(finished)
        for cell in entry.cells:
            refused = _refusal(cell.specification, cell.configuration["workload"])
            if cell.id in finished:
                state = "finished"
            elif refused is not None:
                state = f"unsupported: {refused}"
            else:
                state = f"at most {words(bound(cell))}"
                missing.append(cell)
            lines.append(f"{cell.experiment} {cell.name}, round {cell.round}: {state}")
    total = f"{len(missing)} of {len(lines)} cells to run, at most {words(total_bound(missing))}, plus the streams"
    return [*lines, *aside, total]


@lru_cache(maxsize=1024)
def _refusal(specification: str, workload: str) -> str | None:
    """The reason why an algorithm cannot evaluate the queries of a cell; None if it can."""
    try:
        check_supported(parse_workload(workload), make(specification))
    except UnsupportedQuery as error:
        return str(error)
    except UnknownAlgorithm:  # `plan` may have been given another `make_algorithm`
        pass
    return None


def without_changed_plugins(entry: Planned, records: Mapping[str, Record]) -> tuple[dict[str, Record], list[str]]:
    """The records without those of plug-ins that have changed since, and a notice per plug-in that has."""
    kinds = {specification: _kind(specification) for specification in {cell.specification for cell in entry.cells}}
    changed = changed_plugins(records, {cell.id: kinds[cell.specification] for cell in entry.cells})
    stale = {cell for cells in changed.values() for cell in cells}
    notices = [
        f"{file} changed since {len(cells)} {'cell was' if len(cells) == 1 else 'cells were'} measured, to be run again"
        for file, cells in changed.items()
    ]
    return {cell: record for cell, record in records.items() if cell not in stale}, notices


def _kind(specification: str) -> type[Algorithm] | None:
    try:
        return type(make(specification))
    except UnknownAlgorithm:  # `plan` may have been given another `make_algorithm`
        return None


def without_noisy(records: Mapping[str, Record]) -> dict[str, Record]:
    """The records that are not noisy."""
    return {name: record for name, record in records.items() if Notice.NOISY not in of_record(record)}


def first_look(experiments: Sequence[Sequence[Cell]]) -> list[int]:
    """The order, as indexes into `experiments`, where each experiment is given by its cells.

    A greedy set cover comes first: always the experiment that measures most of the systems not measured so far; of
    equals, the one with the lowest upper bound on its time. The other experiments keep their order.
    """
    systems = [_systems(cells) for cells in experiments]
    unseen = set().union(*systems)
    first: list[int] = []
    while unseen:
        chosen = max(
            range(len(experiments)),
            key=lambda place: (len(systems[place] & unseen), -total_bound(experiments[place])),
        )
        first.append(chosen)
        unseen -= systems[chosen]
    return [*first, *(place for place in range(len(experiments)) if place not in first)]


def _systems(cells: Iterable[Cell]) -> set[str]:
    """The systems of these cells: `cet` for `cet[detect=time]`."""
    return {cell.specification.partition("[")[0].strip() for cell in cells}
