"""`cepbench stream`: queries on a live stream."""

from pathlib import Path

import click

from cepbench.cli.options import Place, as_options, cluster, plugins, reading
from cepbench.cli.options import arithmetic as counted
from cepbench.cli.query import asked, one, query_text
from cepbench.events.reading import Reading
from cepbench.pipeline.cluster import SparkCluster

IDLE_SECONDS = 5.0
"""Seconds of `--until-idle` without a value."""


@click.command()
@asked
@one
@click.option(
    "--source",
    required=True,
    metavar="KIND:PLACE",
    help="folder:PATH, into which files of events are moved, or kafka:BROKER/TOPIC with JSON messages.",
)
@click.option(
    "--sink",
    default="console",
    show_default=True,
    metavar="KIND:PLACE",
    help="folder:PATH for a Parquet file of rows per batch, kafka:BROKER/TOPIC for a message per row, or console.",
)
@click.option(
    "--checkpoint", required=True, type=Place(file_okay=False), help="Folder from which the same command resumes."
)
@click.option(
    "--watermark",
    default="0s",
    show_default=True,
    metavar="LENGTH",
    help="How much older than the newest event an event may be; older ones are left out.",
)
@click.option(
    "--late", type=Place(file_okay=False), help="Folder that lists late events; by default in the checkpoint."
)
@click.option(
    "--until-idle",
    is_flag=False,
    flag_value=IDLE_SECONDS,
    type=click.FloatRange(min=0),
    metavar="[SECONDS]",
    help=f"End the stream when nothing has arrived for SECONDS (by default {IDLE_SECONDS:g}), and write its last rows.",
)
@click.option("--trigger", metavar="LENGTH", help="Minimum time between the starts of two batches; by default none.")
@click.option(
    "--dashboard",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Show the stream on a page at this port, for this machine only; 0 takes a free port.",
)
@counted
@reading
@plugins
@cluster
def stream(
    workload: Path,
    algorithm: str,
    source: str,
    sink: str,
    checkpoint: Path,
    watermark: str,
    late: Path | None,
    until_idle: float | None,
    trigger: str | None,
    dashboard: int | None,
    arithmetic: str,
    reading: Reading,
    cluster: SparkCluster,
) -> None:
    """Evaluate queries on a live stream.

    Runs on Spark until it is interrupted. The same command resumes where it stopped: every row is written once.
    """
    text = query_text(workload)
    from cepbench.pipeline.live.stream import stream as run
    from cepbench.pipeline.session import stop

    try:
        totals = run(
            text,
            algorithm,
            source,
            sink,
            checkpoint,
            watermark,
            late=late,
            until_idle=until_idle,
            trigger=trigger,
            arithmetic=arithmetic,
            reading=reading,
            master=cluster,
            dashboard=dashboard,
            notify=_notice,
        )
    finally:
        stop()
    counts = f"{totals.events} events in {totals.batches} batches, {totals.late} of them late; {totals.rows} rows"
    _notice(f"the stream has ended: {counts}")


def _notice(text: str) -> None:
    click.echo(f"cepbench: {as_options(text)}", err=True)
