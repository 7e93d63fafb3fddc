"""Runs the cells of experiments. A finished cell is not run again, also after an interrupted sweep."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cepbench.algorithms.registry import make
from cepbench.events.errors import CepbenchError
from cepbench.experiments.cell_files import CellFiles, locked
from cepbench.experiments.digests import judged
from cepbench.experiments.early_stop import EarlyStop
from cepbench.experiments.estimate import Estimate, total_bound, words
from cepbench.experiments.figure import declarations, figure
from cepbench.experiments.planning import (
    MakeAlgorithm,
    Planned,
    not_measured,
    plan,
    without_changed_plugins,
    without_noisy,
)
from cepbench.experiments.points import Cell, identified
from cepbench.experiments.provenance import environment
from cepbench.experiments.streams import STREAMS_FOLDER, prepare_stream
from cepbench.metrics.figure import Declared
from cepbench.metrics.notices import Notice, counted, noise, noisiest, notices_of
from cepbench.metrics.record import Load, Record
from cepbench.metrics.results import cell_name
from cepbench.metrics.status import Status
from cepbench.pipeline.arrivals import OpenRate
from cepbench.pipeline.cluster import SparkCluster, TooFewExecutors
from cepbench.pipeline.measured import (
    ATTEMPTS,
    ContextStopped,
    Session,
    SparkGone,
    compiled_anew,
    configuration_of,
    measure_cell,
    measuring_session,
)
from cepbench.pipeline.measured_task import MeasuredRun
from cepbench.pipeline.outcome import Outcome
from cepbench.pipeline.parts import DamagedStore
from cepbench.pipeline.plain import check_compiled
from cepbench.pipeline.probe import check_workers, described
from cepbench.pipeline.session import slot_count, wait_for_slots


@dataclass(frozen=True)
class Swept:
    """The result of a sweep: the folders of its experiments, and how many of their cells have each status."""

    folders: tuple[Path, ...]
    statuses: Mapping[Status, int]
    run: int  # cells that this sweep ran; the others were finished before


def run(
    names: Sequence[str] = (),
    profile: str = "quick",
    overrides: Sequence[str] = (),
    *,
    results: str | Path = "results",
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    notify: Callable[[str], None] = print,
) -> Swept:
    """Runs experiments on Spark, like `cepbench run`. Finished cells are not run again.

    Parameters
    ----------
    names
        Ids of experiments (`cepbench experiments` lists them) or your own files (docs/experiments.md); by default, all
        experiments.
    profile
        The size: `smoke`, `quick`, `headline` or `paper`.
    overrides
        Fields to change, such as `limits.seconds=5` or `algorithms=[cogra, greta]`.
    results
        The folder of records and figures, which `load_results` reads.
    master
        A Spark master URL; by default, this machine.
    settings
        Settings of Spark by name.
    notify
        Called with one line per experiment, and with another one if cells of another configuration are moved.

    Returns
    -------
    Swept
        The folders of the experiments, and how many cells have each status.

    Raises
    ------
    CepbenchError
        If an experiment cannot be used, before anything runs; later only if Spark stops.

    Examples
    --------
    >>> from cepbench import load_results, run
    >>> run(["greta-13.1"], "smoke", results="results")
    >>> [found] = load_results("results/greta-13.1")
    """
    cluster = SparkCluster(master, settings or {})
    return run_planned(plan(names, profile, overrides), Path(results), cluster, notify=notify)


def run_planned(
    planned: Sequence[Planned],
    results: Path,
    cluster: SparkCluster | str | None = None,
    *,
    make_algorithm: MakeAlgorithm = make,
    notify: Callable[[str], None] = lambda line: None,
    finished: Callable[[str], None] = lambda line: None,
    measured: Callable[[Path], None] = lambda folder: None,
    again_noisy: bool = False,
) -> Swept:
    """Runs all cells that are not finished, and writes records and figures under `results`.

    `notify` receives one line per experiment, one if cells of another configuration are moved, and one for each lost
    worker; `finished` receives one line per cell, and `measured` the folder of each experiment that is done. With
    `again_noisy`, noisy cells are run again. Raises `CepbenchError` if the folder cannot be used or Spark does not run.
    """
    check_compiled()
    for entry in planned:
        if entry.missing is not None:
            notify(not_measured(entry))
    planned = [entry for entry in planned if entry.missing is None]
    statuses: Counter[Status] = Counter()
    count = 0
    with locked(results):
        cluster = cluster if isinstance(cluster, SparkCluster) else SparkCluster(cluster)
        sweep = _Sweep(results, cluster, make_algorithm, notify, finished)
        with closing(sweep):
            sweep.open(planned, again_noisy)
            for entry in planned:
                try:
                    records, ran = sweep.run(entry)
                finally:
                    measured(sweep.files[entry.experiment.id].folder)
                count += ran
                statuses.update(record.cell_status for record in records.values())
    return Swept(tuple(sweep.files[entry.experiment.id].folder for entry in planned), statuses, count)


class _SlotsLost(Exception):
    """Fewer slots are left than the experiment asks for, so that a cell cannot run now."""


class _Sweep:
    def __init__(
        self,
        results: Path,
        cluster: SparkCluster,
        make_algorithm: MakeAlgorithm,
        notify: Callable[[str], None],
        finished: Callable[[str], None],
    ) -> None:
        self._results, self._cluster, self._notify = results, cluster, notify
        self._make = cache(make_algorithm)
        self._finished = finished
        self._estimate = Estimate()
        self._paces: dict[tuple[str, ...], float] = {}  # the shortest `metrics.load` so far, by hosts of the workers
        self._slots: dict[tuple[str, int | None], int] = {}  # by master, and by the slots that were asked for
        self._stores: dict[str, Path] = {}  # the prepared stream of each group of cells
        self._bar: tqdm[Any] | None = None
        self.files: dict[str, CellFiles] = {}
        self._records: dict[str, dict[str, Record]] = {}
        self._declared: dict[str, tuple[Declared, ...]] = {}  # claims as they were before the first cell
        self._waiting: list[Cell] = []
        self._environment: dict[str, Any] | None = None
        self._checked: tuple[dict[str, str], list[Path]] | None = None  # the configuration and inputs of `_environment`

    def open(self, planned: Sequence[Planned], again_noisy: bool) -> None:
        """Reads the finished cells."""
        for entry in planned:
            files = CellFiles(self._results, entry.experiment.id, entry.profile)
            wanted = {cell.id for cell in entry.cells}
            if others := files.others(wanted):
                self._notify(f"{entry.experiment.id}: {files.superseding(others)}")
            records, notices = without_changed_plugins(entry, files.open(wanted))
            for notice in notices:
                self._notify(f"{entry.experiment.id}: {notice}")
            self._declared[entry.experiment.id] = files.declared() if records else declarations(entry.experiment)
            for record in records.values():
                self._slowed(record.load, record.hosts)
            if again_noisy:
                records = without_noisy(records)
            self.files[entry.experiment.id], self._records[entry.experiment.id] = files, records
            self._waiting += [cell for cell in entry.cells if cell.id not in records]
        total = sum(len(entry.cells) for entry in planned)
        self._bar = tqdm(
            total=total,
            initial=total - len(self._waiting),
            unit="cell",
            disable=None,
            bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} cells, {elapsed} so far{postfix}",
            dynamic_ncols=True,
        )

    def close(self) -> None:
        """Closes the progress bar."""
        if self._bar is not None:
            self._bar.close()

    def run(self, entry: Planned) -> tuple[dict[str, Record], int]:
        """Runs all cells of one experiment; returns records by cell, and how many cells were missing."""
        experiment, records = entry.experiment, self._records[entry.experiment.id]
        missing = [cell for cell in entry.cells if cell.id not in records]
        stop = EarlyStop(experiment, records.values())
        started = time.monotonic()
        try:
            for cell in missing:
                self._show(cell)
                self._finish(cell, stop.skipped(cell) or self._measured(cell, stop.memory_skipped(cell)), stop)
        finally:
            self._write_figure(entry)
        self._notify(_summary(entry, records, len(missing), time.monotonic() - started))
        return records, len(missing)

    def _finish(self, cell: Cell, record: Record, stop: EarlyStop) -> None:
        """Stores a record, and updates the statuses of its group."""
        records, files = self._records[cell.experiment], self.files[cell.experiment]
        if not records:
            files.declare(self._declared[cell.experiment])
        files.write(record)
        records[cell.id] = record
        stop.add(record)
        self._agree(cell.experiment, cell.group)
        self._waiting.remove(cell)
        outcome = f"{cell.name}, round {cell.round}: {record.cell_status.value}"
        left = f"{len(self._waiting)} cells left"
        self._finished(f"{cell.experiment} {outcome} in {words(record.seconds)}, {left}")
        if self._bar is not None:
            self._bar.update()

    def _measured(self, cell: Cell, without_memory: tuple[Status, str] | None) -> Record:
        """Runs a cell, perhaps without its memory, with the status and reason of that.

        Raises `CepbenchError` only if no cell could run; any other failure becomes a status.
        """
        began, started = datetime.now(UTC), time.monotonic()
        lost: list[str] = []
        say = partial(self._say, cell)
        outcome: Outcome | None = None
        while outcome is None:
            try:
                spark = self._session(cell)
            except TooFewExecutors as error:
                if "slots" not in cell.configuration:
                    raise
                outcome = Outcome(Status.UNSUPPORTED, str(error))
                break
            except _SlotsLost as error:
                outcome = Outcome(Status.ERROR, str(error))
                break
            try:
                job = self._job(cell, spark, memory=cell.memory and without_memory is None)
                started = time.monotonic()
                outcome = measure_cell(job, cell.configuration["limits"]["seconds"], spark, say)
                if cell.configuration.get("compile") == "anew" and outcome.status is Status.OK:
                    summary = outcome.summary.model_copy(update={"compile_seconds": compiled_anew(job)})
                    outcome = replace(outcome, summary=summary)
            except ContextStopped as error:
                lost.append(str(error))
                outcome = Outcome(Status.ERROR, str(error)) if len(lost) == ATTEMPTS else None
                if outcome is None:
                    say(f"measuring again ({len(lost) + 1} of {ATTEMPTS}): {error}")
            except (SparkGone, DamagedStore):
                raise
            except CepbenchError as error:
                outcome = Outcome(Status.ERROR, " ".join(str(error).split()))
        if cell.memory and outcome.memory_status is None:  # it was not run
            status, reason = outcome.status, outcome.reason
            if without_memory is not None and status is Status.OK:
                status, reason = without_memory
            outcome = replace(outcome, memory_status=status, memory_reason=reason)
        load, losses = self._slowed(outcome.load, outcome.hosts), (*lost, *outcome.lost)
        record = Record(
            **identified(cell),
            **{**vars(outcome), "lost": losses, "load": load},
            notices=tuple(notices_of(load, outcome.realised, outcome.unanswered, losses).values()),
            provenance=self._environment or environment(),
            started=began.isoformat(timespec="seconds"),
            seconds=time.monotonic() - started,
        )
        self._estimate.finished(cell, record.seconds)
        return record

    def _slowed(self, load: Load | None, hosts: tuple[str, ...]) -> Load | None:
        """The load, with the slowdown of the machines relative to their best pace so far."""
        if load is None or load.pace is None:
            return load
        best = self._paces[hosts] = min(load.pace, self._paces.get(hosts, load.pace))
        return load.model_copy(update={"slowed": load.pace / best})

    def _say(self, cell: Cell, line: str) -> None:
        self._notify(f"{cell.experiment} {cell.name}: {line}")

    def _check_slots(self, cell: Cell, spark: Session) -> None:
        """Waits once for slots that were lost, and says so.

        Raises `_SlotsLost` if fewer are left than the experiment asks for; other cells continue with those.
        """
        key, slots = (self._cluster.url, cell.configuration.get("slots")), slot_count(spark)
        before = self._slots.setdefault(key, slots)
        if slots < before:
            self._say(cell, f"a worker is gone: waiting for {before} of {before} slots, {slots} now")
            slots = wait_for_slots(spark, before)
            if slots < before and key[1] is not None:
                raise _SlotsLost(f"{slots} of {before} slots are left, since a worker was lost")
            self._say(cell, f"continuing with {slots} of {before} slots")
        self._slots[key] = slots

    def _session(self, cell: Cell) -> Session:
        """The session of a cell; executors of a new configuration must pass the checks."""
        configuration = cell.configuration
        spark = measuring_session(self._cluster, configuration["limits"]["memory"], configuration.get("slots"))
        self._check_slots(cell, spark)
        inputs = [Path(configuration["stream"]["path"])] if "path" in configuration["stream"] else []
        checked = (configuration_of(spark), inputs)
        if self._environment is None or checked != self._checked:
            streams = self._results / STREAMS_FOLDER
            streams.mkdir(exist_ok=True)
            workers = check_workers(spark, [streams], inputs)
            self._environment = {**environment(configuration_of(spark)), "workers": described(workers)}
            self._checked = checked
        return spark

    def _job(self, cell: Cell, spark: Session, memory: bool) -> MeasuredRun:
        configuration = cell.configuration
        if cell.group not in self._stores:
            stream = prepare_stream(configuration, self._results / STREAMS_FOLDER, spark)
            self._stores[cell.group] = stream.path.resolve()
        arrival = configuration["arrival"]
        return MeasuredRun(
            store=self._stores[cell.group],
            workload=configuration["workload"],
            algorithm=self._make(cell.specification),
            arithmetic=configuration["arithmetic"],
            arrival=OpenRate(arrival["rate"], arrival["batch"]) if arrival["model"] == "open" else None,
            memory=memory,
            limit_bytes=configuration["limits"]["memory"],
            repeat=configuration["repeat"],
            round=cell.round,
            plans=tuple(map(self._make, configuration.get("plans", ()))),
        )

    def _agree(self, experiment: str, group: str) -> None:
        """Compares the answers of the finished cells of a group."""
        records = self._records[experiment]
        for changed in judged(record for record in records.values() if record.group == group):
            records[changed.cell] = changed
            self.files[experiment].write(changed)

    def _write_figure(self, entry: Planned) -> None:
        """Writes the figure of the finished cells, also after an interruption."""
        records = self._records[entry.experiment.id]
        for group in {cell.group for cell in entry.cells}:
            self._agree(entry.experiment.id, group)
        if records:
            declared = self._declared[entry.experiment.id]
            self.files[entry.experiment.id].write_figure(
                figure(entry.experiment, entry.profile, list(records.values()), declared)
            )

    def _show(self, cell: Cell) -> None:
        if self._bar is not None:
            left = words(self._estimate.remaining(self._waiting))
            self._bar.set_description_str(f"{cell.experiment} {cell.algorithm}", refresh=False)
            self._bar.set_postfix_str(f"about {left} left, at most {words(total_bound(self._waiting))}")


def _summary(entry: Planned, records: Mapping[str, Record], ran: int, seconds: float) -> str:
    """`greta-13.1: 24 cells: 22 ok, 2 timeout (3 run in 40 s)`, and a line per kind of notice."""
    counts = Counter(record.cell_status.value for record in records.values())
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    lines = [f"{entry.experiment.id}: {len(records)} cells: {statuses} ({ran} run in {words(seconds)})"]
    for kind, count in counted(records.values()).items():
        lines.append(f"  {count} of {len(records)} {kind}{_example(kind, records.values())}")
    return "\n".join(lines)


def _example(kind: Notice, records: Iterable[Record]) -> str:
    """`, sase at events 1000 most: it lost 23 % of its time to other work`."""
    noisy = noisiest(records)
    if kind is not Notice.NOISY or noisy is None:
        return ""
    return f", {cell_name(noisy.algorithm, noisy.point)} most: {noise(noisy.load)}"
