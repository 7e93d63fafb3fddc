"""`cepbench bench` and `cepbench advise`: which algorithm is best for your own queries and events."""

import json
import re
from collections.abc import Callable, Sequence
from functools import wraps
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepbench.cli.options import Bytes, Place, as_options, cluster, plugins, reading, where
from cepbench.cli.options import arithmetic as counted
from cepbench.cli.progress import compilation_shown
from cepbench.cli.query import query_file, query_text
from cepbench.cli.tables import aligned
from cepbench.events.reading import Reading
from cepbench.pipeline.cluster import SparkCluster

if TYPE_CHECKING:
    from cepbench.metrics.advice import Advice
    from cepbench.metrics.ranking import Ranking

FORMATS = (".pdf", ".svg", ".png")


class Drawing(Place):
    """A file for a drawing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if Path(value).suffix not in FORMATS:
            self.fail(f"{value}: a drawing is called FILE.pdf, FILE.svg or FILE.png", param, ctx)
        return super().convert(value, param, ctx)


class Duration(click.ParamType[float]):
    """Seconds, optionally with a unit: 30, 30s, 5min, 1h; 0 only if `zero` allows it."""

    name = "duration"

    def __init__(self, zero: bool = False) -> None:
        self._zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        duration = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h)?", str(value).strip())
        if duration is None or not (float(duration[1]) or self._zero):
            self.fail(f"expected a time such as 30s or 5min, not {value!r}", param, ctx)
        return float(duration[1]) * {"min": 60, "h": 3600}.get(duration[2], 1)


class NewExperiment(Place):
    """A file for an experiment, which is named like the experiment."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from cepbench.experiments.own import NAME

        if re.fullmatch(rf"{NAME}\.yaml", Path(value).name) is None:
            self.fail(f"{value}: call it NAME.yaml, with small letters, digits, - and . in NAME", param, ctx)
        return super().convert(value, param, ctx)


def own_work(command: Callable[..., None]) -> Callable[..., None]:
    """Options of commands that compare algorithms on your own queries and events."""

    @click.option("-q", "--query", "workload", required=True, type=query_file, help="File with one or many queries.")
    @click.option(
        "-e", "--events", required=True, type=Place(exists=True), help="Event store, CSV or Parquet file, or folder."
    )
    @click.option(
        "-a",
        "--algorithm",
        "algorithms",
        multiple=True,
        metavar="SPEC[,SPEC]",
        help="Algorithms to compare; by default all.",
    )
    @click.option("--memory", type=Bytes(), default="4 GB", show_default=True, help="Limit of memory of each process.")
    @click.option("--plot", "drawing", type=Drawing(dir_okay=False), help="Also draw the result: .pdf, .svg or .png.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
    @where
    @reading
    @plugins
    @wraps(command)
    def wrapped(*arguments: Any, workload: Path, **others: Any) -> None:
        command(*arguments, workload=query_text(workload), **others)

    return wrapped


@click.command()
@own_work
@click.option(
    "--limit", type=Duration(), default="60s", show_default=True, help="A run that takes longer is killed.",
)  # fmt: skip
@click.option(
    "--repeat", type=Duration(zero=True), default="2s", show_default=True,
    help="How long short runs of an algorithm are repeated; 0 is once.",
)  # fmt: skip
@counted
@click.option(
    "--save",
    type=NewExperiment(dir_okay=False),
    metavar="FILE.yaml",
    help="Write an experiment file for `cepbench run`.",
)
@click.option(
    "--folder",
    type=Place(exists=True, file_okay=False),
    help="Folder for the store of the events; on a cluster, one that all machines share.",
)
@cluster
@click.pass_context
def bench(
    context: click.Context,
    workload: str,
    events: Path,
    algorithms: tuple[str, ...],
    memory: int,
    drawing: Path | None,
    as_json: bool,
    reading: Reading,
    limit: float,
    repeat: float,
    arithmetic: str,
    save: Path | None,
    folder: Path | None,
    cluster: SparkCluster,
) -> None:
    """Run algorithms on the same queries and events, and rank them.

    Each algorithm that can evaluate the queries runs in processes of its own, five if they are short; the answers are
    compared. Algorithms that their times do not distinguish share a rank. Without --master it needs no Java. The
    status is 1 if an answer is wrong, an algorithm failed, or none ended within the limits.
    """
    from cepbench.experiments import bench as benches
    from cepbench.metrics.status import Status

    with compilation_shown():
        ranking = benches.bench(
            workload, events, algorithms, arithmetic=arithmetic, reading=reading, seconds=limit, memory=memory,
            repeat=repeat, master=cluster, folder=folder, notify=_notice,
            finished=lambda entry: click.echo(f"cepbench: {entry.algorithm}: {entry.status.value}", err=True),
        )  # fmt: skip
    if save is not None:
        benches.save_experiment(
            save, workload, events, ranking, reading, arithmetic=arithmetic, memory=memory, repeat=repeat
        )
    _show(ranking, _ranking(ranking), as_json, drawing)
    ended = {entry.status for entry in ranking.entries}
    if ended & {Status.WRONG, Status.ERROR} or Status.OK not in ended:
        context.exit(1)


@click.command()
@own_work
@click.option(
    "--budget", type=Duration(), default="60s", show_default=True, help="For all trials, such as 30s or 5min."
)
@click.pass_context
def advise(
    context: click.Context,
    workload: str,
    events: Path,
    algorithms: tuple[str, ...],
    memory: int,
    drawing: Path | None,
    as_json: bool,
    reading: Reading,
    budget: float,
) -> None:
    """Recommend an algorithm for queries and events.

    Tries each that can evaluate the queries on the first events, and predicts time, memory and matches of the whole
    stream. Kernels that have to be compiled first do not count to the budget. The status is 1 if an answer is wrong, an
    algorithm failed, or none can be recommended.
    """
    from cepbench.experiments import advise as advice
    from cepbench.metrics.status import Status

    with compilation_shown():
        advised = advice.advise(
            workload, events, algorithms, budget=budget, memory=memory, reading=reading, notify=_notice,
            finished=lambda c: click.echo(f"cepbench: {c.algorithm}: {_events(c.tried)}", err=True),
        )  # fmt: skip
    _show(advised, _advice(advised), as_json, drawing)
    if advised.recommended is None or {c.status for c in advised.candidates} & {Status.WRONG, Status.ERROR}:
        context.exit(1)


def _show(result: "Ranking | Advice", text: str, as_json: bool, drawing: Path | None) -> None:
    if drawing is not None:
        from cepbench.plots.plot import write_ranking

        write_ranking(result, drawing)
    click.echo(json.dumps(result.as_dict(), indent=2, ensure_ascii=False) if as_json else text)


def _ranking(ranking: "Ranking") -> str:
    from cepbench.metrics.ranking import floor_line
    from cepbench.plots.units import human

    header = ["", "algorithm", "time", "range", "runs", "events/s", "state", "process", "rows", "compiled"]
    shown = [entry for entry in ranking.entries if entry.seconds is not None]
    rows = [
        [
            str(entry.rank or ""),
            entry.algorithm,
            human(entry.seconds, "s"),
            _interval(entry.low, entry.high, "s"),
            f"{entry.runs} in {entry.processes}",
            human(entry.throughput),
            human(entry.state, "B"),
            human(entry.process or None, "B"),
            str(entry.rows),
            human(entry.compile_seconds, "s"),
        ]
        for entry in shown
    ]
    remarks = [[e.algorithm, e.status.value, e.reason] for e in ranking.entries if e.seconds is None or e.reason]
    text = _parts(f"{_events(ranking.events)}, {_many(ranking.queries, 'query', 'queries')}", header, rows, remarks)
    floor = floor_line((entry.algorithm, entry.floor) for entry in ranking.entries)
    lines = [
        *(f"Not distinguishable: {', '.join(names)}." for names in _equal(ranking)),
        *([floor] if floor else ()),
    ]
    return "\n\n".join([text, *lines])


def _equal(ranking: "Ranking") -> list[list[str]]:
    """The algorithms of each rank that several have."""
    ranks: dict[int, list[str]] = {}
    for entry in ranking.entries:
        if entry.rank is not None:
            ranks.setdefault(entry.rank, []).append(entry.algorithm)
    return [names for names in ranks.values() if len(names) > 1]


def _advice(advised: "Advice") -> str:
    from cepbench.metrics.ranking import floor_line
    from cepbench.plots.units import human

    header = ["algorithm", "time", "interval", "state", "interval", "tried", "set-up"]
    rows = [
        [
            candidate.algorithm,
            human(candidate.seconds, "s") + ("" if candidate.measured else " *"),
            "" if candidate.measured else _interval(candidate.seconds_low, candidate.seconds_high, "s"),
            human(candidate.state, "B"),
            "" if candidate.measured else _interval(candidate.state_low, candidate.state_high, "B"),
            _events(candidate.tried),
            human(candidate.setup_seconds, "s"),
        ]
        for candidate in advised.candidates
        if candidate.ended == "ok"
    ]
    shown = [n for n, name in enumerate(header) if name != "interval" or any(row[n] for row in rows)]
    header, rows = [header[n] for n in shown], [[row[n] for n in shown] for row in rows]
    remarks = [[e.algorithm, e.ended, e.reason] for e in advised.candidates if e.ended != "ok" or e.reason]
    matches = ""
    if advised.matches is not None:
        matches = f", {'more than 10^19' if advised.matches == inf else human(advised.matches)} matches"
        if advised.matches_low != advised.matches:
            matches += f" ({_interval(advised.matches_low, advised.matches_high, '')})"
    text = _parts(
        f"{_events(advised.events)}, {_many(advised.queries, 'query', 'queries')}{matches}",
        header,
        rows,
        remarks,
    )
    starred = (
        ["* predicted from the first events"] if any(c.tried and not c.measured for c in advised.candidates) else []
    )
    warned = [f"Warning: {line}." for line in advised.warnings]
    if floor := floor_line((candidate.algorithm, candidate.floor) for candidate in advised.candidates):
        warned.append(floor)
    advice = "No recommendation" if advised.recommended is None else f"Use {advised.recommended}"
    return "\n\n".join([text, *starred, *warned, f"{advice}: {advised.because}."])


def _interval(low: float | None, high: float | None, unit: str) -> str:
    from cepbench.plots.units import human

    return "" if low is None or high is None else f"{human(low, unit)} to {human(high, unit)}"


def _many(count: int, single: str, several: str) -> str:
    return f"{count} {single if count == 1 else several}"


def _events(count: int) -> str:
    return _many(count, "event", "events")


def _parts(head: str, header: Sequence[str], rows: Sequence[Sequence[str]], remarks: Sequence[Sequence[str]]) -> str:
    parts = [head, aligned(header, rows) if rows else "", aligned(["not ranked", "", ""], remarks) if remarks else ""]
    return "\n\n".join(part for part in parts if part)


def _notice(text: str) -> None:
    click.echo(f"cepbench: {as_options(text)}", err=True)
