"""`cepbench run`: runs experiments."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cepbench.cli.lists import experiments as list_experiments
from cepbench.cli.options import cluster, plugins, results
from cepbench.pipeline.cluster import SparkCluster

if TYPE_CHECKING:
    from cepbench.experiments.planning import Planned

PROFILES = ("smoke", "quick", "headline", "paper", "atlas")


@click.command()
@click.argument("experiments", metavar="[EXPERIMENT]...", nargs=-1)
@click.option("--profile", type=click.Choice(PROFILES), default="quick", show_default=True, help="Size of the runs.")
@click.option("--set", "overrides", multiple=True, metavar="K=V", help="Change a field, such as limits.seconds=5.")
@click.option("--buckets", type=click.IntRange(min=1), help="Parts of keyed streams, one worker each; as --set.")
@click.option(
    "--with",
    "include",
    multiple=True,
    metavar="ENGINE",
    help="Measure an engine that others wrote, too: flink, duckdb, core-engine.",
)
@click.option("--engines", is_flag=True, help="Measure all such engines that are installed.")
@click.option("--list", "listing", is_flag=True, help="List the experiments and stop.")
@click.option("--dry-run", is_flag=True, help="List the cells to run and stop.")
@click.option("--again", type=click.Choice(["noisy"]), help="Measure finished cells that are noisy again.")
@click.option("--report", "with_report", is_flag=True, help="Write RESULTS/report.html, figure by figure.")
@click.option("--by-commit", is_flag=True, help="Keep the results in RESULTS/commits/COMMIT, for `compare`.")
@results
@plugins
@cluster
@click.pass_context
def run(
    context: click.Context,
    experiments: tuple[str, ...],
    profile: str,
    overrides: tuple[str, ...],
    buckets: int | None,
    include: tuple[str, ...],
    engines: bool,
    listing: bool,
    dry_run: bool,
    again: str | None,
    with_report: bool,
    by_commit: bool,
    results: Path,
    cluster: SparkCluster,
) -> None:
    """Run experiments on Spark.

    Runs all experiments, or the EXPERIMENTs in the given order: names of `cepbench experiments`, or .yaml files.
    Without names, those that show every system come first. Finished cells are not run again. With --report the page
    exists after the first experiment, grows with each, and refreshes by itself until the last one.

    The status is 1 if an answer is wrong or a cell ended with an error.
    """
    if listing:
        context.invoke(list_experiments, as_json=False)
        return

    from cepbench.experiments import planning, sweep
    from cepbench.metrics.status import Status

    if engines:
        include = (*include, *_installed_engines())
    if buckets is not None:
        overrides = (*overrides, f"buckets={buckets}")
    if by_commit:
        from cepbench.experiments.provenance import commit_folder

        results = commit_folder(results)
    planned = planning.plan(experiments, profile, overrides, include=include)
    if dry_run:
        click.echo("\n".join(planning.listing(planned, results, again == "noisy")))
        return

    from cepbench.pipeline.session import stop

    page = _Page(results, planned) if with_report else None
    try:
        # On a terminal the bar shows progress.
        each = _ignore if sys.stderr.isatty() else partial(click.echo, err=True)
        measured = _ignore if page is None else page.show
        swept = sweep.run_planned(
            planned, results, cluster, notify=click.echo, finished=each, measured=measured, again_noisy=again == "noisy"
        )
    finally:
        stop()
        if page is not None:
            page.finish()
    if swept.statuses.get(Status.WRONG) or swept.statuses.get(Status.ERROR):
        context.exit(1)


def _installed_engines() -> list[str]:
    """The engines that can run here; a line on standard error for each of the others."""
    from cepbench.algorithms.registry import ENGINES, make

    reasons = {name: make(name).missing() for name in ENGINES}
    for name, reason in reasons.items():
        if reason is not None:
            click.echo(f"without {name}: {reason}", err=True)
    return [name for name, reason in reasons.items() if reason is None]


def _ignore(news: object) -> None:
    pass


class _Page:
    """The report while experiments run, and its address."""

    def __init__(self, results: Path, planned: "Sequence[Planned]") -> None:
        from cepbench.experiments.load import experiments
        from cepbench.experiments.planning import not_measured
        from cepbench.plots.report import GrowingReport
        from cepbench.verification.capabilities import measured_capabilities

        place = results / "report.html"
        algorithms = [entry.experiment.series for entry in planned if entry.missing is None]
        missing = [not_measured(entry) for entry in planned if entry.missing is not None]
        self._report = GrowingReport(
            results, place, measured_capabilities, algorithms, files=experiments(), missing=missing
        )
        self._address = place.resolve().as_uri()
        self._begun = False

    def show(self, folder: Path) -> None:
        """Adds the figure of one more experiment. A failure here does not end the sweep: it occurs again
        in `finish`.
        """
        begun = self._begun
        try:
            self._begun = self._report.add(folder) or begun
        except Exception as error:
            click.echo(f"cepbench: the report could not be written: {' '.join(str(error).split())}", err=True)
            self._begun = begun = True
        if self._begun and not begun:
            click.echo(f"The first figure is on {self._address}, which grows and refreshes by itself.")

    def finish(self) -> None:
        """Writes the final page, unless nothing was measured."""
        if self._begun:
            self._report.finish()
            click.echo(f"Report: {self._address}")
