"""`cepbench algorithms`, `datasets` and `experiments`: lists of what is available."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cepbench.cli.options import Place, plugins
from cepbench.cli.tables import show
from cepbench.events.errors import choices

if TYPE_CHECKING:
    from cepbench.datasets.base import Dataset

FIELDS = ("id", "figure", "title", "algorithms", "paper")
"""Of an experiment, as JSON."""
TITLE, SYSTEMS = 60, 30
"""Letters of a title and of the names of systems in a line."""

as_json = click.option("--json", "as_json", is_flag=True, help="As a JSON list instead of text.")


@click.command()
@as_json
@click.option("--bibtex", is_flag=True, help="The BibTeX entries of their papers instead.")
@plugins
def algorithms(as_json: bool, bibtex: bool) -> None:
    """List the algorithms and their parameters."""
    from cepbench.algorithms.registry import list_algorithms

    systems = list_algorithms()
    if bibtex:
        from cepbench.algorithms.bibliography import bibliography

        click.echo(bibliography(system["name"] for system in systems))
        return
    rows = [{**s, "parameters": ", ".join(f"{k}={v}" for k, v in s["parameters"].items())} for s in systems]
    show(rows, as_json)


@click.command()
@click.argument("name", required=False)
@click.argument("wanted", required=False, metavar="")
@click.option("-o", "--output", type=Place(dir_okay=False), help="For `get`: the file; by default flights.parquet.")
@as_json
def datasets(name: str | None, wanted: str | None, output: Path | None, as_json: bool) -> None:
    """List streams and workload generators, or `get` a data set.

    `cepbench datasets get flights` writes the flights of 2013 from New York as a file of events, without Spark.

    With the NAME of a generated stream or workload, lists its parameters; with that of a real data set, its source,
    license, layout and schema, and the commands that import it and draw figures of it. With --json, attributes and
    parameters of all are included.
    """
    from cepbench.datasets import flights
    from cepbench.datasets.registry import DATASETS
    from cepbench.generators.registry import GENERATORS, generator_class
    from cepbench.generators.workloads.registry import WORKLOADS

    if name == "get":
        if wanted != flights.NAME:
            raise click.UsageError(f"cannot get {wanted or 'nothing'!r}; choose one of {flights.NAME}")
        file = output or Path(f"{flights.NAME}.parquet")
        count, left_out = flights.write_flights(file)
        click.echo(f"{file}: {count} events; {left_out} rows without a tail number are left out")
        return
    if wanted is not None or output is not None:
        raise click.UsageError("more than one name, or --output, goes with `datasets get` only")
    if name == flights.NAME:
        click.echo(json.dumps(flights.DESCRIBED, indent=2) if as_json else flights.page())
        return
    if name is not None:
        real = {data.name: data for data in DATASETS}
        if name in real:
            click.echo(json.dumps(_described(real[name]), indent=2) if as_json else _page(real[name]))
            return
        generated = [generator.name for generator in GENERATORS] + [workload.name for workload in WORKLOADS]
        if name not in generated:
            raise click.UsageError(
                f"no stream, data set or workload {name!r}; {choices(name, [*generated, *real, flights.NAME])}"
            )
        by_workload = {workload.name: workload.describe().parameters for workload in WORKLOADS}
        parameters = by_workload[name] if name in by_workload else generator_class(name).describe().parameters
        show([vars(parameter) for parameter in parameters], as_json)
        return
    rows: list[dict[str, object]] = []
    for generator in GENERATORS:
        data = generator.describe()
        row: dict[str, object] = {"name": data.name, "kind": "generated", "summary": data.summary}
        row["paper"] = data.paper
        if as_json:
            row |= {"types": data.types, "attributes": data.attributes}
            row |= {"parameters": [vars(parameter) for parameter in data.parameters]}
        rows.append(row)
    for actual in DATASETS:
        row = {"name": actual.name, "kind": "real", "summary": actual.summary, "paper": actual.paper}
        if as_json:
            row |= {"types": None, "attributes": [f"{a.name} ({a.kind})" for a in actual.attributes]}
            row |= {"source": actual.source, "license": actual.license, "note": actual.note}
        rows.append(row)
    rows.append(flights.DESCRIBED if as_json else {name: flights.DESCRIBED[name] for name in rows[0]})
    for workload in WORKLOADS:
        listed = workload.describe()
        row = {"name": listed.name, "kind": "workload", "summary": listed.summary, "paper": listed.paper}
        if as_json:
            row |= {"parameters": [vars(parameter) for parameter in listed.parameters]}
        rows.append(row)
    show(rows, as_json)


def _described(data: "Dataset") -> dict[str, object]:
    """A real data set as JSON values."""
    return {
        "name": data.name,
        "summary": data.summary,
        "paper": data.paper,
        "source": data.source,
        "license": data.license,
        "layouts": [layout.described() for layout in data.layouts],
        "time_unit": data.time_unit,
        "types": dict(data.types),
        "attributes": {attribute.name: attribute.kind for attribute in data.attributes},
        "stand_in": data.stand_in,
        "absent": dict(data.absent),
        "key": list(data.key),
        "figures": {way: list(figures) for way, figures in data.figures.items()},
        "commands": _commands(data),
        "note": data.note,
    }


def _page(data: "Dataset") -> str:
    """A real data set as text: its description, and the commands from its files to a figure."""
    ways = [f"{way}{' (by default)' if way == data.typing else ''}: {sql}" for way, sql in data.types.items()]
    attributes = ", ".join(f"{attribute.name} ({attribute.kind})" for attribute in data.attributes)
    stand_in = [] if data.stand_in is None else [f"generator {data.stand_in} imitates it"]
    lines = [
        f"{data.name}: {data.summary}",
        *_section("Papers", [data.paper]),
        *_section("Source", [data.source]),
        *_section("License", [data.license]),
        *_section("Raw files", [layout.described() for layout in data.layouts]),
        *_section("Events", [f"times in {data.time_unit}", f"attributes: {attributes}", *stand_in]),
        *_section("Without", [f"{name}: {reason}" for name, reason in data.absent.items()]),
        *_section("Types", ways),
        *_section("Figures", [f"typed by {way}: {', '.join(names)}" for way, names in data.figures.items()]),
        *_section("Commands", _commands(data)),
        *_section("Note", [data.note]),
    ]
    return "\n".join(lines)


def _commands(data: "Dataset") -> list[str]:
    """One import for each way to type events that figures need, and a run of each figure on it."""
    from cepbench.experiments.load import find, load
    from cepbench.experiments.store_data import fixing

    lines = []
    for way in dict.fromkeys((data.typing, *data.figures)):
        plain = way == data.typing
        store = f"streams/{data.name}" + ("" if plain else f"-{way}")
        lines.append(f"cepbench import {data.name} --from PATH -o {store}" + ("" if plain else f" --typed-by {way}"))
        for name in data.figures.get(way, ()):
            kept = "".join(f" --set '{option}'" for option in fixing(load(find(name))))
            lines.append(f"cepbench run {name} --set data={store}{kept}")
    return lines


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"{title}:", *(f"  {line}" for line in lines)] if lines else []


@click.command()
@as_json
def experiments(as_json: bool) -> None:
    """List the experiments, one per figure of a paper.

    The figures and their papers are in docs/figures.md, and --json has all fields.
    """
    from textwrap import shorten

    from cepbench.experiments.load import experiments as files
    from cepbench.experiments.load import load

    loaded = [load(path) for path in files().values()]
    if as_json:
        show([{name: getattr(experiment, name) for name in FIELDS} for experiment in loaded], as_json)
        return
    rows = []
    for experiment in loaded:
        systems = ", ".join(dict.fromkeys(name.partition("[")[0] for name in experiment.series))
        title = shorten(experiment.title, TITLE, placeholder=" …")
        rows.append({"id": experiment.id, "title": title, "systems": shorten(systems, SYSTEMS, placeholder=" …")})
    show(rows, as_json)
