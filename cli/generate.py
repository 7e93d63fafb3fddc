"""`cepbench generate`: a stream as an event store, or a workload as a file."""

from functools import partial
from pathlib import Path

import click

from cepbench.cli.options import Pair, Place, cluster
from cepbench.cli.progress import advance, bar
from cepbench.pipeline.cluster import SparkCluster


@click.command()
@click.argument("name")
@click.option("-o", "--output", required=True, type=Place(), help="The store, or the workload file.")
@click.option("-p", "parameters", type=Pair(), multiple=True, help="A parameter; `datasets NAME` lists them.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of all randomness; the same as -p seed=N.")
@click.option("--key", metavar="A,B", help="Attributes that queries split the stream by; buckets hold keys whole.")
@click.option("--buckets", type=click.IntRange(min=1), help="Buckets of the store; by default as many as cores.")
@click.option("--replace", is_flag=True, help="Replace a store that is already there.")
@click.option("--raw", type=Place(exists=True, file_okay=False), help="Downloaded files of a data set.")
@cluster
def generate(
    name: str,
    output: Path,
    parameters: tuple[tuple[str, str], ...],
    seed: int | None,
    key: str | None,
    buckets: int | None,
    replace: bool,
    raw: Path | None,
    cluster: SparkCluster,
) -> None:
    """Generate a stream or a workload.

    NAME is a stream or workload of `cepbench datasets`. What is generated depends on parameters and seed only, not on
    --master; without --master it is generated in this process. A real stream is read from --raw by Spark.
    """
    from cepbench.generators.workloads.registry import WORKLOADS
    from cepbench.pipeline.creation import shared_parent
    from cepbench.pipeline.probe import check_workers
    from cepbench.pipeline.session import session, stop

    if name in {workload.name for workload in WORKLOADS}:
        if key is not None or buckets is not None or raw is not None or cluster.master is not None:
            raise click.UsageError(f"{name} is a workload: it has parameters, and neither buckets nor a stream")
        _write_workload(name, _parameters(parameters, seed), output, replace)
        return
    attributes = None if key is None else [attribute.strip() for attribute in key.split(",") if attribute.strip()]
    try:
        if raw is not None:
            from cepbench.datasets.registry import dataset
            from cepbench.pipeline.import_dataset import import_dataset

            if parameters or seed is not None:
                raise click.UsageError("a data set that is read from --raw has no parameters and no seed")
            reader = session(cluster)
            check_workers(reader, [shared_parent(output)], [raw])
            stream, notices = import_dataset(
                dataset(name), raw, output, spark=reader, key=attributes, buckets=buckets, replace=replace
            )
            for notice in notices:
                click.echo(f"cepbench: {notice}", err=True)
        else:
            from cepbench.generators.registry import from_spec
            from cepbench.pipeline.generation import generate as write

            generator = from_spec(name, _parameters(parameters, seed))
            spark = None if cluster.master is None else session(cluster)
            if spark is not None:
                check_workers(spark, [shared_parent(output)])
            with bar("slice", name) as shown:
                stream = write(
                    generator, output, spark=spark, key=attributes or (), buckets=buckets, replace=replace,
                    progress=partial(advance, shown),
                )  # fmt: skip
    finally:
        stop()
    click.echo(f"{output}: {stream.events} events in {stream.buckets} buckets, fingerprint {stream.fingerprint}")


def _write_workload(name: str, parameters: dict[str, str | int], output: Path, replace: bool) -> None:
    from cepbench.generators.workloads.registry import workload_text
    from cepbench.queries.workloads import parse_workload

    text = workload_text(name, parameters)
    queries = parse_workload(text)
    if output.exists() and not replace:
        raise click.UsageError(f"{output} is there already; --replace replaces it")
    output.write_text(text, encoding="utf-8")
    click.echo(f"{output}: {len(queries)} queries")


def _parameters(pairs: tuple[tuple[str, str], ...], seed: int | None) -> dict[str, str | int]:
    """Parameters by name; none may be given twice."""
    parameters: list[tuple[str, str | int]] = [*pairs, *([] if seed is None else [("seed", seed)])]
    names = [name for name, _ in parameters]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"parameter {name!r} is given twice")
    return dict(parameters)
