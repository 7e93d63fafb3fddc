"""The sources of events: CSV files (`events.csv_files`) and Parquet files, and folders of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.events.errors import InputError
from cepbench.events.paths import local_path
from cepbench.events.schema import Kind

CSV_SUFFIXES = (".csv", ".csv.gz", ".csv.bz2", ".csv.zst")
PARQUET_SUFFIXES = (".parquet", ".pq")
BLOCK_ROWS = 1 << 18


@dataclass(frozen=True)
class Source:
    """Files of one format, in the order in which their rows count as input."""

    path: Path
    files: tuple[Path, ...]
    is_csv: bool


def find(path: str | Path) -> Source:
    """The CSV or Parquet file at `path`, or all such files in the folder, by name; `InputError` if there is none."""
    path = local_path(path)
    if path.is_dir():
        files = tuple(f for f in sorted(path.rglob("*")) if f.is_file() and _visible(f.relative_to(path)))
        parquet = tuple(f for f in files if f.name.endswith(PARQUET_SUFFIXES))
        tables = tuple(f for f in files if f.name.endswith(CSV_SUFFIXES))
        if parquet and tables:
            raise InputError(f"{path}: the folder mixes CSV and Parquet files; keep one format")
        if not parquet and not tables:
            missing = "no stream.json, and no CSV or Parquet files"
            raise InputError(f"{path}: the folder is not an event store ({missing})")
        return Source(path, parquet or tables, not parquet)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.name.endswith(PARQUET_SUFFIXES):
        return Source(path, (path,), False)
    if path.name.endswith(CSV_SUFFIXES):
        return Source(path, (path,), True)
    raise InputError(f"{path}: neither {', '.join(CSV_SUFFIXES + PARQUET_SUFFIXES)}, nor a folder of such files")


def parquet_blocks(file: Path) -> Iterator[pa.RecordBatch]:
    """Rows of a file in order, in blocks of bounded size, the first one empty. `InputError` if unreadable."""
    try:
        with pq.ParquetFile(file) as parquet:
            yield _empty(parquet.schema_arrow)
            yield from parquet.iter_batches(batch_size=BLOCK_ROWS)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file}: unreadable or corrupt Parquet: {_line(error)}") from None


def arrow_kind(kind: pa.DataType) -> Kind | None:
    """The attribute kind that an Arrow type is read as; None if it cannot be one."""
    if pa.types.is_dictionary(kind):
        return arrow_kind(kind.value_type)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return Kind.INT
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Kind.FLOAT
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return Kind.STRING
    return None


def _visible(path: Path) -> bool:
    return not any(part.startswith(("_", ".")) for part in path.parts)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
