"""The sources of events: CSV files (`events.csv_files`) and Parquet files, and folders of them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.events.errors import InputError
from cepbench.events.paths import local_path
from cepbench.events.schema import Kind

_ZIPPED = ("", ".gz", ".bz2", ".zst")
CSV_SUFFIXES = tuple(f"{ending}{zipped}" for ending in (".csv", ".tsv") for zipped in _ZIPPED)
_TEXT_SUFFIXES = tuple(f".txt{zipped}" for zipped in _ZIPPED)
PARQUET_SUFFIXES = (".parquet", ".pq")
BLOCK_ROWS = 1 << 18


@dataclass(frozen=True)
class Source:
    """Files of one format, in the order in which their rows count as input."""

    path: Path
    files: tuple[Path, ...]
    is_csv: bool


def find(path: str | Path) -> Source:
    """The file at `path`, CSV unless its name is one of Parquet, or all such files in the folder, by name.

    In a folder, texts (`.txt`) count only if there is nothing else. `InputError` if there is none.
    """
    path = local_path(path)
    if path.is_dir():
        files = tuple(f for f in sorted(path.rglob("*")) if f.is_file() and _visible(f.relative_to(path)))
        parquet = tuple(f for f in files if f.name.endswith(PARQUET_SUFFIXES))
        texts = tuple(f for f in files if f.name.endswith(_TEXT_SUFFIXES))
        tables = tuple(f for f in files if f.name.endswith(CSV_SUFFIXES)) or (() if parquet else texts)
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
    return Source(path, (path,), True)


def parquet_schema(file: Path) -> pa.Schema:
    """The columns of a file. `InputError` if unreadable."""
    try:
        return pq.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from None


def parquet_blocks(file: Path, columns: Collection[str] | None, *, whole: bool = False) -> Iterator[pa.RecordBatch]:
    """Rows of a file in order, in blocks of bounded size, the first one empty. `InputError` if unreadable.

    Only `columns` are read if given, where the file has them. Strings stay coded, as most files store them. With
    `whole`, all rows are one block, so that nobody has to join its columns.
    """
    try:
        metadata = pq.read_metadata(file)
        coded = range(metadata.num_columns)  # numbers are read as they are
        with pq.ParquetFile(file, metadata=metadata, read_dictionary=coded) as parquet:
            names = [name for name in parquet.schema_arrow.names if columns is None or name in columns]
            yield _empty(pa.schema([parquet.schema_arrow.field(name) for name in names]))
            if whole:
                yield from parquet.read(names).unify_dictionaries().combine_chunks().to_batches()
            else:
                yield from parquet.iter_batches(batch_size=BLOCK_ROWS, columns=names)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from None


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


def _unreadable(file: Path, error: Exception) -> InputError:
    line = str(error).strip().split("\n", 1)[0]
    return InputError(f"{file}: unreadable or corrupt Parquet: {line}")
