"""`cepbench plot`, `report`, `export` and `compare`: drawings, reports and tables of measured results."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cepbench.cli.options import Place, measured, plugins
from cepbench.cli.tables import answer_text
from cepbench.events.errors import choices

folder = Place(exists=True)
MANY = 8
"""Figures from which on a report is drawn by several processes."""


@click.command()
@click.argument("experiments", metavar="[EXPERIMENT]...", nargs=-1)
@measured
@click.option("-o", "--output", type=Place(), help="Folder for the drawings, or FILE.pdf, .svg or .png for one.")
@click.option(
    "-a", "--algorithms", multiple=True, metavar="SPEC[,SPEC]", help="Draw these only, by their names in the results."
)
@click.option(
    "--panel", "panels", multiple=True, metavar="LETTER", help="Draw this panel only: its letter, or its metric."
)
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="Draw this metric only, of those in the cells."
)
@click.option("--xlabel", metavar="TEXT", help="Label of the x axis, without the unit.")
@click.option("--ylabel", metavar="TEXT", help="Label of the value axis of one metric, without the unit.")
@click.option(
    "--width",
    type=click.FloatRange(0.5, 50),
    metavar="INCHES",
    help="Width of a figure, by default that of a column or text; panels that do not fit side by side wrap.",
)
@click.option(
    "--height",
    type=click.FloatRange(0.3, 50),
    default=1.75,
    show_default=True,
    metavar="INCHES",
    help="Height of a panel.",
)
@click.option("--style", "sheet", type=Place(exists=True, dir_okay=False), help="A matplotlib style file.")
@click.option("--font", metavar="NAME", help="Font family.")
@click.option("--format", "formats", type=click.Choice(["pdf", "svg", "png"]), multiple=True, help="By default all.")
def plot(
    experiments: tuple[str, ...],
    results: Path,
    output: Path | None,
    algorithms: tuple[str, ...],
    panels: tuple[str, ...],
    metrics: tuple[str, ...],
    xlabel: str | None,
    ylabel: str | None,
    width: float | None,
    height: float,
    sheet: Path | None,
    font: str | None,
    formats: tuple[str, ...],
) -> None:
    """Draw the measured figures.

    Writes all figures, or those of the EXPERIMENTs, as PDF, SVG and PNG files, by default beside their cells. A part of
    a figure (--algorithms, --panel, --metric), or one with other labels, is written to the current folder instead. No
    cell changes, and an algorithm keeps its color.
    """
    from cepbench.algorithms.registry import listed
    from cepbench.metrics.results import load_results
    from cepbench.plots.draw import FORMATS, Selection, all_styles, write_drawings
    from cepbench.plots.style import Page, fonts

    if font is not None and font not in fonts():
        raise click.UsageError(f"--font {font!r}: no such font on this machine; {choices(font, fonts())}")
    selection = Selection(tuple(listed(algorithms)), (*panels, *metrics), xlabel, ylabel)
    everything = load_results(results)
    look, page = all_styles(everything), Page(width, height, font, sheet)
    names = [swept.figure.experiment for swept in everything]
    for name in experiments:
        if name not in names:
            there = choices(name, dict.fromkeys(names)) if names else "there are none"
            raise click.UsageError(f"{results} has no cells of experiment {name!r}; {there}")
    drawn = [swept for swept in everything if not experiments or swept.figure.experiment in experiments]
    file = None
    if output is not None and output.suffix.lstrip(".") in FORMATS and not output.is_dir():
        if len(drawn) != 1 or formats:
            raise click.UsageError(f"--output {output} is one file: give one EXPERIMENT, and no --format")
        file, output, formats = output.stem, output.parent, (output.suffix.lstrip("."),)
    if selection != Selection():
        drawn, output = [selection.of(swept) for swept in drawn], output or Path()
    for swept in drawn:
        name = swept.figure.experiment
        if output is not None and names.count(name) > 1:
            name = f"{name}-{swept.figure.profile}"  # several profiles in one folder
        for path in write_drawings(swept, output, look, page, formats or FORMATS, file or name).values():
            click.echo(path)


@click.command()
@click.argument("sources", type=folder, metavar="[RESULTS]...", nargs=-1)
@measured
@click.option("-o", "--output", type=Place(dir_okay=False), help="The page; for the default see above.")
@click.option(
    "--format",
    "formats",
    type=click.Choice(["pdf", "png"]),
    multiple=True,
    help="Also write the figures in this format, with links on the page.",
)
@plugins
def report(sources: tuple[Path, ...], results: Path, output: Path | None, formats: tuple[str, ...]) -> None:
    """Write all measured figures to one page.

    The page shows --results, or all RESULTS, which are folders or packs, in the same figures. It is report.html in the
    folder; for a pack it has the name of the pack and is beside it; for several it is report.html in the current
    folder. It needs no network. It also shows what the algorithms can evaluate, those of plug-ins included.
    """
    results_given = click.get_current_context().get_parameter_source("results") is not ParameterSource.DEFAULT
    if sources and results_given:
        raise click.UsageError(f"give --results {results} or {' '.join(map(str, sources))}, not both")
    from cepbench.experiments.load import experiments
    from cepbench.plots.report import page_of, write_report
    from cepbench.verification.capabilities import measured_capabilities

    shown = tuple(dict.fromkeys(sources)) or (results,)
    page = output or page_of(shown)
    click.echo(write_report(shown, page, measured_capabilities, _side_by_side, formats, experiments()))


def _side_by_side(function: Callable[[Any], Any], figures: Sequence[Any]) -> Iterator[Any]:
    """The results of a function for all figures, with progress; of many figures by a process per core."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from tqdm import tqdm

    progress = partial(tqdm, total=len(figures), desc="drawing", unit="figure", disable=None)
    processes = min(os.cpu_count() or 1, len(figures))
    if len(figures) < MANY or processes == 1:
        yield from progress(map(function, figures))
        return
    if not sys.stderr.isatty():
        click.echo(f"drawing {len(figures)} figures", err=True)
    # Forks have matplotlib and the figures, which take seconds to load and to send.
    with ProcessPoolExecutor(processes, get_context("fork"), _hold, (function, figures)) as pool:
        try:
            yield from progress(pool.map(_of_held, range(len(figures))))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_held: tuple[Callable[[Any], Any], Sequence[Any]]
"""In a fork: the function, and the figures of which it gets the numbers."""


def _hold(function: Callable[[Any], Any], figures: Sequence[Any]) -> None:
    global _held
    _held = function, figures


def _of_held(number: int) -> Any:
    function, figures = _held
    return function(figures[number])


@click.command()
@click.argument("sources", type=folder, metavar="[RESULTS]...", nargs=-1)
@click.option("-o", "--output", required=True, type=Place(dir_okay=False), help="The table: FILE.csv or FILE.parquet.")
def export(sources: tuple[Path, ...], output: Path) -> None:
    """Write all measured cells as one table.

    One row per cell of all RESULTS, which are folders or packs (by default the folder results);
    docs/measurement.md, Export, documents the columns.
    """
    from cepbench.metrics.files import write
    from cepbench.metrics.table import load_frame

    if output.suffix not in (".csv", ".parquet"):
        raise click.UsageError(f"{output}: a table is named FILE.csv or FILE.parquet")
    cells = load_frame(dict.fromkeys(sources) or "results")
    if output.suffix == ".csv":
        content = cells.to_csv(index=False, lineterminator="\n").encode()
    else:
        # An axis may hold numbers in one figure and names in another.
        mixed = [str(name) for name in cells.columns if str(name).startswith("point.")]
        content = cells.astype(dict.fromkeys(mixed, "string")).to_parquet(index=False)
    write(output, content)
    click.echo(f"{output}: {len(cells)} cells, {len(cells.columns)} columns")


@click.command()
@click.argument("folders", type=folder, metavar="FOLDER [FOLDER]...", nargs=-1, required=True)
@click.option("--of", metavar="SPEC", help="With --to: compare the cells of this algorithm.")
@click.option("--to", metavar="SPEC", help="With --of: the algorithm to compare with, by its name in the results.")
@click.option(
    "--format", "form", type=click.Choice(["text", "table", "csv", "json"]), default="text", show_default=True
)
@click.option(
    "--trend", type=Place(dir_okay=False), metavar="FILE", help="Draw the ratios over commits: .pdf, .svg or .png."
)
@click.option("--metric", help="Metric of the trend, such as service_total; by default that of a figure's first panel.")
def compare(
    folders: tuple[Path, ...], of: str | None, to: str | None, form: str, trend: Path | None, metric: str | None
) -> None:
    """Compare results folders or packs, or two algorithms.

    Reports how times, memory, statuses and answers of the same cells changed from the first FOLDER to the second, as
    ratios with their intervals. A ratio whose interval contains 1 is inconclusive; one without an interval has no
    verdict. For several cells, ratio and values are those of the median cell. Cells whose query, stream or limits
    changed are named and not compared. With --of and --to, the ratios are those of one algorithm to another. csv and
    json have a row per cell.

    Further folders, or a folder of them as `cepbench run --by-commit` creates it, are compared with the first: one
    ratio per algorithm of a figure and commit.
    """
    from cepbench.metrics.results import has_results
    from cepbench.plots.compare import COMPARED, describe
    from cepbench.plots.compare import compare as table_of

    if (of is None) != (to is None):
        raise click.UsageError("--of and --to go together: two algorithms are compared")
    if of is not None and (len(folders) > 2 or trend is not None or metric is not None):
        raise click.UsageError(
            "two algorithms are compared in one results folder, or in two, without --trend or --metric"
        )
    if metric is not None and metric not in COMPARED:
        raise click.UsageError(f"--metric {metric!r}: choose one of {', '.join(COMPARED)}")
    pair = len(folders) == 2 and trend is None and metric is None
    if of is not None or (pair and all(map(has_results, folders))):
        table = table_of(folders[0], folders[-1], None if of is None or to is None else (to, of))
        click.echo(describe(table) if form in ("text", "table") else answer_text(table, form).rstrip("\n"))
    else:
        _trend(folders, form, trend, metric)


def _trend(folders: tuple[Path, ...], form: str, file: Path | None, metric: str | None) -> None:
    from cepbench.metrics.commits import load_commits
    from cepbench.metrics.files import write
    from cepbench.plots.draw import FORMATS, render
    from cepbench.plots.trend import changes, describe_trend, draw_trend
    from cepbench.plots.trend import table as table_of

    if file is not None and file.suffix.lstrip(".") not in FORMATS:
        raise click.UsageError(f"{file}: a drawing is named FILE.pdf, FILE.svg or FILE.png")
    commits = load_commits(folders)
    if len(commits) < 2:
        raise click.UsageError(
            "give two results folders, or two algorithms by --of and --to, or a folder of results kept by commit"
        )
    found = changes(commits, metric)
    click.echo(
        describe_trend(commits, found) if form == "text" else answer_text(table_of(commits, found), form).rstrip("\n")
    )
    if file is not None:
        write(file, render(draw_trend(commits, found), file.suffix.lstrip(".")))
