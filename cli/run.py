"""`cepbench run`: the experiments."""

import sys
from functools import partial
from pathlib import Path

import click

from cepbench.cli.lists import experiments as list_experiments
from cepbench.cli.options import cluster, plugins, results
from cepbench.cli.results import report
from cepbench.pipeline.cluster import SparkCluster

PROFILES = ("smoke", "quick", "laptop", "paper")


@click.command()
@click.argument("experiments", metavar="[EXPERIMENT]...", nargs=-1)
@click.option("--profile", type=click.Choice(PROFILES), default="quick", show_default=True, help="Size of the runs.")
@click.option("--set", "overrides", multiple=True, metavar="K=V", help="Change a field, such as limits.seconds=5.")
@click.option("--buckets", type=click.IntRange(min=1), help="Parts of keyed streams, a worker each; the same as --set.")
@click.option("--with", "include", multiple=True, metavar="SYSTEM", help="Measure a system that needs an extra: flink.")
@click.option("--list", "listing", is_flag=True, help="List the experiments and stop.")
@click.option("--dry-run", is_flag=True, help="List the cells that would run and stop.")
@click.option("--again", type=click.Choice(["noisy"]), help="Measure finished cells that are noisy again.")
@click.option("--report", "with_report", is_flag=True, help="Then draw the figures and write RESULTS/report.html.")
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
    listing: bool,
    dry_run: bool,
    again: str | None,
    with_report: bool,
    by_commit: bool,
    results: Path,
    cluster: SparkCluster,
) -> None:
    """Run experiments on Spark.

    All, or the EXPERIMENTs: names of `cepbench experiments`, or .yaml files. Finished cells are not run again.
    The status is 1 if an answer is wrong or a cell ended with an error.
    """
    if listing:
        context.invoke(list_experiments, as_json=False)
        return

    from cepbench.experiments import sweep
    from cepbench.metrics.record import Status

    if buckets is not None:
        overrides = (*overrides, f"buckets={buckets}")
    if by_commit:
        from cepbench.experiments.provenance import commit_folder

        results = commit_folder(results)
    planned = sweep.plan(experiments, profile, overrides, include=include)
    if dry_run:
        click.echo("\n".join(sweep.listing(planned, results, again == "noisy")))
        return

    from cepbench.pipeline.session import stop

    try:
        # A terminal has a bar.
        each = _ignore if sys.stderr.isatty() else partial(click.echo, err=True)
        swept = sweep.run_planned(
            planned, results, cluster, notify=click.echo, finished=each, again_noisy=again == "noisy"
        )
    finally:
        stop()
    if with_report:
        context.invoke(report, results=results, output=None)
    if swept.statuses.get(Status.WRONG) or swept.statuses.get(Status.ERROR):
        context.exit(1)


def _ignore(line: str) -> None:
    pass
