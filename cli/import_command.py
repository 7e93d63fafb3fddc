"""`cepbench import`: your own files, or a downloaded data set, as an event store."""

from pathlib import Path

import click

from cepbench.cli.options import Place, as_options, cluster, reading, where
from cepbench.events.reading import EXPECTED, Reading
from cepbench.pipeline.cluster import SparkCluster


@click.command("import")
@click.argument("name", required=False)
@click.option(
    "--from", "source", required=True, type=Place(exists=True), help="CSV or Parquet file, or folder of files."
)
@click.option("-o", "--output", required=True, type=Place(), help="The store.")
@reading
@click.option("--typed-by", metavar="WAY", help="How events of a data set are typed; `datasets NAME` lists the ways.")
@where
@click.option("--key", metavar="A,B", help="Attributes that queries split the stream by; buckets hold keys whole.")
@click.option("--buckets", type=click.IntRange(min=1), help="Buckets of the store; by default as many as cores.")
@click.option("--replace", is_flag=True, help="Replace a store that is already there.")
@cluster
def import_command(
    name: str | None,
    source: Path,
    output: Path,
    reading: Reading,
    typed_by: str | None,
    key: str | None,
    buckets: int | None,
    replace: bool,
    cluster: SparkCluster,
) -> None:
    """Import events into a store.

    Without NAME, --from is your own file, or a folder of such files, and options name the columns of time and type.
    With the NAME of a data set of `cepbench datasets`, --from is the folder of its downloaded files. Data sets and
    --master need Spark. Files may be larger than memory.
    """
    from cepbench.pipeline.creation import shared_parent
    from cepbench.pipeline.import_dataset import import_dataset
    from cepbench.pipeline.import_events import import_events
    from cepbench.pipeline.probe import check_workers
    from cepbench.pipeline.session import session, stop

    attributes = None if key is None else [attribute.strip() for attribute in key.split(",") if attribute.strip()]
    declared = None
    if name is not None:
        from cepbench.datasets.registry import dataset

        declared = dataset(name)
        if reading != EXPECTED:
            raise click.UsageError(f"{name} knows its columns; leave out the options of columns and --where")
        if typed_by is not None:
            declared = declared.typed(typed_by)
    elif typed_by is not None:
        raise click.UsageError("--typed-by is for data sets; your own files have --type-column or --type")
    on_spark = declared is not None or cluster.master is not None
    try:
        spark = session(cluster) if on_spark else None
        if spark is not None:
            check_workers(spark, [shared_parent(output)], [source])
        if declared is not None:
            assert spark is not None, "data sets are read by Spark"
            stream, notices = import_dataset(
                declared, source, output, spark=spark, key=attributes, buckets=buckets, replace=replace
            )
        else:
            stream, notices = import_events(
                source, output, spark=spark, reading=reading, key=attributes or (), buckets=buckets, replace=replace
            )
        for notice in notices:
            click.echo(f"cepbench: {as_options(notice)}", err=True)
    finally:
        stop()
    size = f"{stream.events} events in {stream.buckets} buckets"
    click.echo(f"{output}: {size}, times in {stream.schema.time_unit}, fingerprint {stream.fingerprint}")
