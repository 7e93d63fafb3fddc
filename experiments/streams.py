"""The event stores of a sweep: prepared once, kept in the results folder, and reused where the source is the same."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Any

from cepbench.datasets import flights
from cepbench.datasets.registry import dataset
from cepbench.events.errors import CepbenchError
from cepbench.events.paths import local_path
from cepbench.events.reading import Reading
from cepbench.experiments.points import identity
from cepbench.experiments.schema import FORM
from cepbench.experiments.store_data import check_fits
from cepbench.generators.registry import from_spec
from cepbench.pipeline.generation import generate
from cepbench.pipeline.import_dataset import import_dataset
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.measured import Session
from cepbench.pipeline.store import FORMAT, Stream, is_store, read_stream
from cepbench.queries.workloads import parse_workload

STREAMS_FOLDER = "streams"


def check_stream(configuration: Mapping[str, Any]) -> None:
    """Refuses a stream specification that cannot be prepared, before anything runs. Raises `CepbenchError`."""
    stream = configuration["stream"]
    if "store" in stream:
        check_fits(configuration)
        return
    if "generator" in stream:
        from_spec(stream["generator"], stream["parameters"])
        return
    if stream.get("dataset") == flights.NAME:
        flights.installed()
        return
    if "dataset" in stream:
        dataset(stream["dataset"])
        if "path" not in stream:
            raise CepbenchError(f"data set {stream['dataset']}: give the path of its files (--set stream.path=FOLDER)")
    if not local_path(stream["path"]).exists():
        raise CepbenchError(f"{stream['path']}: no such file or folder")


def prepare_stream(configuration: Mapping[str, Any], folder: Path, spark: Session) -> Stream:
    """The store of a configuration's stream, bucketed by `common_key`; written if it does not exist."""
    stream = configuration["stream"]
    if "store" in stream:
        return read_stream(stream["path"])
    key = common_key(configuration["workload"])
    buckets = configuration["buckets"] if key else 1
    path = folder / identity(FORMAT, _source(stream), key, buckets)
    if is_store(path):
        return read_stream(path)
    if "generator" in stream:
        generator = from_spec(stream["generator"], stream["parameters"])
        # For a single slice, starting a Spark job takes longer than generating the events.
        return generate(generator, path, spark=spark if generator.slices() > 1 else None, key=key, buckets=buckets)
    if stream.get("dataset") == flights.NAME:
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, f"{flights.NAME}.parquet")
            flights.write_flights(file)
            return import_events(file, path, spark=None, reading=_reading(stream), key=key, buckets=buckets)[0]
    if "dataset" in stream:
        declared, files = dataset(stream["dataset"]), stream["path"]
        return import_dataset(declared, files, path, spark=spark, key=key, buckets=buckets)[0]
    if is_store(stream["path"]):
        return read_stream(stream["path"])
    return import_events(stream["path"], path, spark=spark, reading=_reading(stream), key=key, buckets=buckets)[0]


def _reading(stream: Mapping[str, Any]) -> Reading:
    """The reading of the files of a stream; fields that the experiment leaves out have their defaults."""
    defaults = Reading(unit=stream["time_unit"])
    return Reading(
        stream.get("time_column", defaults.time),
        stream.get("type_column", defaults.type),
        stream.get("type"),
        defaults.unit,
        stream.get("time_format", defaults.format),
        stream.get("where"),
        **{name: stream[name] for name in FORM if name in stream},
    )


def common_key(workload: str) -> tuple[str, ...]:
    """The attributes by which all queries partition the stream, in the order of the first query."""
    partitions: Sequence[tuple[str, ...]] = [query.partition for query in parse_workload(workload)]
    shared = reduce(lambda a, b: a & b, (set(p) for p in partitions))
    return tuple(name for name in partitions[0] if name in shared)


def _source(stream: Mapping[str, Any]) -> Any:
    """The identity of a stream: the parameters of a generator, or files with their sizes and modification times."""
    if "generator" in stream:
        return dict(from_spec(stream["generator"], stream["parameters"]).source())
    reading = _reading(stream)
    if stream.get("dataset") == flights.NAME:
        return [flights.NAME, asdict(reading)]
    root = Path(stream["path"]).resolve()
    files = sorted(p for p in root.rglob("*") if p.is_file()) if root.is_dir() else [root]
    stamps = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return [stream.get("dataset"), stream["time_unit"], stamps, *([asdict(reading)] if reading.own_columns else [])]
