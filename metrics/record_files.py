"""A record on disk: `<cell>.json`, and its raw samples as `<cell>.parquet` beside it, which the former names by digest.

The samples are written first: a record without its samples, or with others, is invalid. Samples that replace others are
`<cell>.next.parquet` until the record names them.
"""

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.metrics.files import Unwritable, write
from cepbench.metrics.record import Record, Samples

SAMPLES_SUFFIX = ".parquet"
NEXT_SUFFIX = ".next.parquet"
_SCHEMA = pa.schema(
    [(name, pa.list_(pa.int64() if name == "state_bytes" else pa.float64())) for name in Samples.model_fields]
)
"""One row, a list per column."""


class SamplesError(ValueError):
    """Samples that do not belong to their record: the message names the file."""


def write_record(folder: Path, record: Record) -> None:
    """Writes a record to a folder atomically, in place of the cell's earlier one. Raises `Unwritable`."""
    document = record.model_dump(mode="json", exclude={"samples"})
    samples = None
    if record.samples != Samples():
        content = _content(record.samples)
        samples = write(folder / f"{record.cell}{NEXT_SUFFIX}", content)
        document["samples"] = {"digest": _digest(content)}
    write(folder / f"{record.cell}.json", json.dumps(document, indent=1).encode())
    if samples is not None:
        _put_in_place(samples, folder / f"{record.cell}{SAMPLES_SUFFIX}")


def read_record(path: Path) -> Record:
    """The record in a JSON file, with its samples.

    Raises `OSError`, pydantic's `ValidationError`, or `SamplesError`.
    """
    content = path.read_bytes()
    try:
        document: Any = json.loads(content)
        digest = document["samples"].pop("digest")
    except (ValueError, KeyError, TypeError, AttributeError):
        return Record.model_validate_json(content)  # without samples, or with an error
    following = path.with_suffix(NEXT_SUFFIX)
    samples = following if _is(following, digest) else path.with_suffix(SAMPLES_SUFFIX)
    return Record.model_validate({**document, "samples": _samples(samples, digest)})


def _put_in_place(samples: Path, place: Path) -> None:
    try:
        os.replace(samples, place)
    except OSError as error:
        raise Unwritable(f"{place}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def _is(path: Path, digest: str) -> bool:
    """Whether there are new samples that a record already names."""
    return path.exists() and _digest(path.read_bytes()) == digest


def _content(samples: Samples) -> bytes:
    columns = [pa.array([getattr(samples, field.name)], field.type) for field in _SCHEMA]
    with pa.BufferOutputStream() as out:
        pq.write_table(pa.Table.from_arrays(columns, schema=_SCHEMA), out, use_dictionary=False)
        return bytes(out.getvalue())


def _samples(path: Path, digest: str) -> Samples:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SamplesError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if _digest(content) != digest:
        raise SamplesError(f"{path}: not the samples of its record; run the experiment again")
    # Without threads of Arrow: one that is still idle when the process ends aborts it (apache/arrow issue 34314).
    [row] = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False).read(use_threads=False).to_pylist()
    return Samples(**row)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
