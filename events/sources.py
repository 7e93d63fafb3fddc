"""Where events come from: CSV and Parquet files and folders of them, read block by block as raw Arrow columns.

CSV columns stay strings here, so that a file has the same types whether it is read whole or in blocks, by one process
or by many: `csv_kinds` decides from all values. Only an empty field is null ("NA" may be a company).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from cepbench.events.errors import InputError
from cepbench.events.paths import local_path
from cepbench.events.schema import Kind

CSV_SUFFIXES = (".csv", ".csv.gz", ".csv.bz2", ".csv.zst")
PARQUET_SUFFIXES = (".parquet", ".pq")
BLOCK_ROWS = 1 << 18
BLOCK_BYTES = 1 << 23


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
            raise InputError(f"{path}: the folder is no event store (no stream.json) and has no CSV or Parquet files")
        return Source(path, parquet or tables, not parquet)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.name.endswith(PARQUET_SUFFIXES):
        return Source(path, (path,), False)
    if path.name.endswith(CSV_SUFFIXES):
        return Source(path, (path,), True)
    raise InputError(f"{path}: neither {', '.join(CSV_SUFFIXES + PARQUET_SUFFIXES)}, nor a folder of such files")


def blocks(file: Path, is_csv: bool) -> Iterator[pa.RecordBatch]:
    """Rows of one file in order, in blocks of bounded size; CSV columns are strings. `InputError` if unreadable."""
    if is_csv:
        yield from _csv_blocks(file)
        return
    try:
        with pq.ParquetFile(file) as parquet:
            yield _empty(parquet.schema_arrow)
            yield from parquet.iter_batches(batch_size=BLOCK_ROWS)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file}: unreadable or corrupt Parquet: {_line(error)}") from None


def csv_kinds(source: Source) -> dict[str, Kind | None]:
    """The kind of every CSV column: integers, else floats, else strings, over all files; None when all is empty."""
    widest: dict[str, int] = {}
    for file in source.files:
        for block in blocks(file, True):
            for name, column in zip(block.schema.names, block.columns, strict=True):
                widest[name] = _widest(column, widest.get(name, 0))
    return {name: (None, Kind.INT, Kind.FLOAT, Kind.STRING)[width] for name, width in widest.items()}


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


def _csv_blocks(file: Path) -> Iterator[pa.RecordBatch]:
    try:
        names = _csv_names(file)
        convert = csv.ConvertOptions(
            column_types={name: pa.string() for name in names}, null_values=[""], strings_can_be_null=True
        )
        # One thread: only then does Arrow name the row of a malformed line.
        read = csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False)
        parse = csv.ParseOptions(newlines_in_values=True)
        yield _empty(pa.schema([(name, pa.string()) for name in names]))
        with csv.open_csv(file, read_options=read, parse_options=parse, convert_options=convert) as reader:
            yield from reader
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file}: unreadable CSV: {_line(error)}") from None


def _csv_names(file: Path) -> list[str]:
    with csv.open_csv(file, read_options=csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False)) as reader:
        return list(reader.schema.names)


def _widest(column: pa.Array, width: int) -> int:
    """0 nothing but nulls, 1 int64, 2 float64, 3 string; at least `width`."""
    if width == 3 or column.null_count == len(column):
        return width
    trimmed = pc.utf8_trim_whitespace(column)
    for candidate, kind in ((1, pa.int64()), (2, pa.float64())):
        if candidate >= width and _casts(trimmed, kind):
            # Integers beyond int64 would lose digits as floats; they are identifiers.
            long = candidate == 2 and pc.any(pc.match_substring_regex(trimmed, r"^[+-]?\d{19,}$")).as_py()
            return 3 if long else candidate
    return 3


def _casts(column: pa.Array, kind: pa.DataType) -> bool:
    try:
        pc.cast(column, kind)
    except pa.ArrowInvalid:
        return False
    return True


def _line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
