"""The raw rows of a data set's files as Spark DataFrames: good ones, and bad ones with the reason."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from cepbench.datasets.base import FILE, Dataset, Ranked, RawLayout
from cepbench.events.errors import InputError
from cepbench.generators.registry import from_spec

CORRUPT = "_corrupt_record"
MALFORMED = "a line without the columns of the layout"
REASON = "_reason"
ROW = "_row"
EXAMPLES = 3
"""The number of bad rows that are named."""


@dataclass(frozen=True)
class BadRows:
    """Rows that are not events, by reason, and the places of the first few of them: `file, row 7: no volume`."""

    reasons: dict[str, int]
    examples: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of bad rows."""
        return sum(self.reasons.values())

    @property
    def summary(self) -> str:
        """All reasons and examples in one line."""
        by = ", ".join(f"{count} with {reason}" for reason, count in self.reasons.items())
        dots = " ..." if self.count > len(self.examples) else ""
        return f"{by} ({'; '.join(self.examples)}{dots})"


def files_of(dataset: Dataset, raw: Path) -> dict[RawLayout, list[Path]]:
    """The files below a folder, or the file itself, by layout. Raises `InputError` if there is none."""
    by_layout = {}
    for layout in dataset.layouts:
        files = [raw] if raw.is_file() and raw.match(layout.files) else sorted(raw.rglob(layout.files))
        if files:
            by_layout[layout] = [file for file in files if file.is_file()]
    if not by_layout:
        patterns = " or ".join(dataset.files)
        raise InputError(f"{raw}: no files {patterns} of data set {dataset.name}; see {dataset.source}")
    return by_layout


def judged(spark: SparkSession, dataset: Dataset, files: dict[RawLayout, list[Path]]) -> DataFrame:
    """The raw rows that the declared filter keeps, with `_file` and `_reason` (why a row is bad, or null)."""
    frames = [frame for layout, paths in files.items() for frame in _frames(spark, dataset, layout, paths)]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame)
    return _judged(dataset, whole)


def bad_rows(spark: SparkSession, dataset: Dataset, files: dict[RawLayout, list[Path]], rows: DataFrame) -> BadRows:
    """Counts the bad rows of `judged`, and names the first ones."""
    counts: dict[str, int] = defaultdict(int)
    places: set[str] = set()
    for row in rows.filter(f"{REASON} IS NOT NULL").groupBy(REASON, FILE).count().collect():
        counts[row[REASON]] += row["count"]
        places.add(unquote(urlparse(row[FILE]).path))
    if not counts:
        return BadRows({})
    examples: list[str] = []
    for layout, paths in files.items():
        for path in paths:
            if str(path.resolve()) in places and len(examples) < EXAMPLES:
                examples += _examples(spark, dataset, layout, path, EXAMPLES - len(examples))
    return BadRows(dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))), tuple(examples))


def with_ranks(spark: SparkSession, rows: DataFrame, ranked: Ranked, scratch: Path) -> DataFrame:
    """The rows with a number (or a name) for the values of some columns, by their frequency.

    The numbers of values are passed in a file in `scratch`: a DataFrame of Python values would need workers.
    """
    values = rows.select(sql.col(f"`{ranked.columns[0]}`").alias("_value"))
    for column in ranked.columns[1:]:
        values = values.unionByName(rows.select(sql.col(f"`{column}`").alias("_value")))
    counts = values.groupBy("_value").count().collect()
    order = sorted((-row["count"], row["_value"]) for row in counts)
    suffix, names = "rank", list[int | str](range(len(order)))
    if ranked.names is not None:
        generator, parameter = ranked.names
        suffix, names = "name", list(from_spec(generator, {parameter: max(1, len(order)), "hot": 0}).schema().types)
    for column in ranked.columns:
        file = scratch / f"{column}_{suffix}.parquet"
        table = {"_value": [value for _, value in order], f"{column}_{suffix}": names[: len(order)]}
        pq.write_table(pa.table(table), file)
        same = sql.col(f"`{column}`") == sql.col("_value")
        rows = rows.join(sql.broadcast(spark.read.parquet(str(file))), same, "left").drop("_value")
    return rows


def _judged(dataset: Dataset, rows: DataFrame) -> DataFrame:
    cases = [f"WHEN {CORRUPT} IS NOT NULL THEN '{_quoted(MALFORMED)}'"]
    cases += [f"WHEN {condition} THEN '{_quoted(reason)}'" for reason, condition in dataset.reasons().items()]
    judged = rows.withColumn(REASON, sql.expr(f"CASE {' '.join(cases)} END"))
    return judged if dataset.filter is None else judged.filter(f"{CORRUPT} IS NOT NULL OR ({dataset.filter})")


def _frames(spark: SparkSession, dataset: Dataset, layout: RawLayout, files: Sequence[Path]) -> Iterator[DataFrame]:
    """The files of a layout with all rows, also malformed ones, whose text is in `_corrupt_record`."""
    columns = [f"`{column.name}`" for column in layout.columns]
    where = "_metadata.file_path"
    if not layout.named:
        reader = spark.read.format(layout.format).options(**layout.options)
        reader = reader.option("columnNameOfCorruptRecord", CORRUPT).option("columnPruning", "false")
        reader = reader.schema(f"{layout.raw_schema()}, {CORRUPT} STRING")
        yield reader.load([str(file.resolve()) for file in files]).selectExpr(*columns, CORRUPT, f"{where} AS {FILE}")
        return
    for names, alike in _alike(layout, files).items():
        absent = [c.name for c in layout.columns if c.name not in names]
        if absent:
            several = f"columns {' and '.join(map(repr, absent))} are"
            lacking = f"column {absent[0]!r} is" if len(absent) == 1 else several
            place = f"data set {dataset.name} has files {layout.described()}"
            raise InputError(f"{alike[0]}: {lacking} missing; {place}")
        reader = spark.read.format(layout.format).options(**layout.options)
        rows = reader.load([str(file.resolve()) for file in alike])
        yield rows.selectExpr(*layout.selected(), f"CAST(NULL AS STRING) AS {CORRUPT}", f"{where} AS {FILE}")


def _alike(layout: RawLayout, files: Sequence[Path]) -> dict[tuple[str, ...], list[Path]]:
    """Files by the columns and types that they declare: Spark reads those with equal columns together."""
    groups: dict[tuple[str, ...], list[Path]] = defaultdict(list)
    for file in files:
        try:
            if layout.format == "parquet":
                schema = pq.read_schema(file)
                key: tuple[str, ...] = (*schema.names, *(f"\0{field.type}" for field in schema))
            else:
                with csv.open_csv(file, csv.ReadOptions(use_threads=False)) as reader:
                    key = tuple(reader.schema.names)
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: unreadable {layout.format}: {str(error).splitlines()[0]}") from None
        groups[key].append(file)
    return groups


def _examples(spark: SparkSession, dataset: Dataset, layout: RawLayout, file: Path, count: int) -> list[str]:
    """The first bad rows of a file, which is read whole, to count its rows."""
    [frame] = _frames(spark, dataset, layout, [file])
    numbered = frame.coalesce(1).withColumn(ROW, sql.monotonically_increasing_id())
    bad = _judged(dataset, numbered).filter(f"{REASON} IS NOT NULL").orderBy(ROW).limit(count)
    rows = bad.select(ROW, REASON).collect()
    return [f"{file}, {_place(layout, row[ROW])}: {row[REASON]}" for row in rows]


def _place(layout: RawLayout, row: int) -> str:
    """The place of a row in messages, from 1, with the heading of a CSV file and without blank lines."""
    return f"row {row + (2 if layout.options.get('header') == 'true' else 1)}"


def _quoted(text: str) -> str:
    return text.replace("'", "\\'")
