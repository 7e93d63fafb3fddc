"""`cepbench plot`, `report` and `compare`: what was measured, drawn and written up."""

from pathlib import Path

import click

from cepbench.cli.options import Place, results
from cepbench.cli.tables import answer_text

folder = Place(exists=True, file_okay=False)


@click.command()
@click.argument("experiments", metavar="[EXPERIMENT]...", nargs=-1)
@results
@click.option("-o", "--output", type=Place(file_okay=False), help="Folder for the drawings.")
def plot(experiments: tuple[str, ...], results: Path, output: Path | None) -> None:
    """Draw the measured figures.

    All, or those of the EXPERIMENTs, become PDF, SVG and PNG files, by default beside their cells.
    """
    from cepbench.metrics.results import load_results
    from cepbench.plots.draw import all_styles, write_drawings

    everything = load_results(results)
    look = all_styles(everything)
    measured = [found.figure.experiment for found in everything]
    for name in experiments:
        if name not in measured:
            choices = ", ".join(dict.fromkeys(measured)) or "none"
            raise click.UsageError(f"{results} has no cells of experiment {name!r}; measured are: {choices}")
    for found in everything:
        if not experiments or found.figure.experiment in experiments:
            for path in write_drawings(found, output, look).values():
                click.echo(path)


@click.command()
@results
@click.option("-o", "--output", type=Place(dir_okay=False), help="The page; by default RESULTS/report.html.")
def report(results: Path, output: Path | None) -> None:
    """Write all measured figures up on one page."""
    from cepbench.plots.report import write_report

    click.echo(write_report(results, output or results / "report.html"))


@click.command()
@click.argument("a", type=folder)
@click.argument("b", type=folder, required=False)
@click.option("--of", metavar="SPEC", help="With --to: compare the cells of this algorithm")
@click.option("--to", metavar="SPEC", help="With --of: with those of this one, by its name in the results.")
@click.option(
    "--format", "form", type=click.Choice(["text", "table", "csv", "json"]), default="text", show_default=True
)
def compare(a: Path, b: Path | None, of: str | None, to: str | None, form: str) -> None:
    """Compare two results folders, or two algorithms.

    Tells how times, memory, statuses and answers of the same cells changed from A to B, as ratios with their intervals;
    one whose interval holds 1 is inconclusive. With --of and --to, the ratios are those of one algorithm to another.
    """
    if (of is None) != (to is None):
        raise click.UsageError("--of and --to go together: two algorithms are compared")
    if b is None and of is None:
        raise click.UsageError("give two results folders, or two algorithms by --of and --to")
    from cepbench.plots.compare import compare as table_of
    from cepbench.plots.compare import describe

    table = table_of(a, b or a, None if of is None or to is None else (to, of))
    click.echo(describe(table) if form == "text" else answer_text(table, form).rstrip("\n"))
