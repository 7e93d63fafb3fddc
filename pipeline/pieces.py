"""The files of a source in pieces that tasks read concurrently, and the attributes of the source.

A CSV file is scanned twice before it is read: for newlines inside of quotes, which decide where it can be cut, then for
the kinds of its columns and its number of rows, so that every row has its number. A Parquet file is one piece.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from cepbench.events import csv_files
from cepbench.events.csv_files import Facts
from cepbench.events.csv_spans import WHOLE, ByteRange, Scan, scan, spans, stretches
from cepbench.events.files import FileLayout, csv_headers, csv_layout, source_layout
from cepbench.events.reading import EXPECTED, Reading
from cepbench.events.sources import Source
from cepbench.pipeline.tasks import default_partitions, run_tasks

LEAST_BYTES = 1 << 22
"""Minimum bytes of a piece: a smaller one does not justify a task."""


@dataclass(frozen=True)
class Piece:
    """Rows of file number `file`, which `before` of its rows precede."""

    file: int
    span: ByteRange = WHOLE
    before: int = 0


def pieces(
    spark: SparkSession | None, source: Source, most_bytes: int | None = None, reading: Reading = EXPECTED
) -> tuple[FileLayout, list[Piece]]:
    """The layout and the pieces of a source, in its order; those of CSV files have about `most_bytes`.

    By default there are as many pieces as tasks, if they are large enough. Raises `InputError`.
    """
    if not source.is_csv:
        return source_layout(source, reading), [Piece(number) for number in range(len(source.files))]
    headers = csv_headers(source, reading)
    parts = _spans(spark, source, most_bytes or _bytes(spark, source))
    guess = csv_files.sample(source.files[0], headers[0], reading.time)
    files = [file.resolve() for file in source.files]
    known = run_tasks(spark, partial(_facts, files, headers, guess, reading.time), parts)
    before, found = [0] * len(parts), [Facts()] * len(files)
    for index, ((file, _), facts) in enumerate(zip(parts, known, strict=True)):
        before[index] = found[file].rows
        found[file] += facts
    layout = csv_layout(source, found, reading)
    return layout, [Piece(file, span, rows) for (file, span), rows in zip(parts, before, strict=True)]


def _bytes(spark: SparkSession | None, source: Source) -> int:
    size = sum(file.stat().st_size for file in source.files)
    return max(LEAST_BYTES, -(-size // default_partitions(spark)))


def _spans(spark: SparkSession | None, source: Source, most_bytes: int) -> list[tuple[int, ByteRange]]:
    """Spans of whole rows, with the numbers of their files. Compressed files are not cut."""
    plain = [number for number, file in enumerate(source.files) if file.name.endswith(".csv")]
    files = {number: source.files[number].resolve() for number in plain}
    cut = {number: stretches(file.stat().st_size, most_bytes) for number, file in files.items()}
    items = [(files[number], stretch) for number in plain for stretch in cut[number] if len(cut[number]) > 1]
    scans = iter(run_tasks(spark, _scan, items))
    found: list[tuple[int, ByteRange]] = []
    for number in range(len(source.files)):
        if len(cut.get(number, ())) > 1:
            looked = [next(scans) for _ in cut[number]]
            found += [(number, span) for span in spans(files[number], looked)]
        else:
            found.append((number, WHOLE))
    return found


def _scan(item: tuple[Path, ByteRange]) -> Scan:
    return scan(*item)


def _facts(
    files: Sequence[Path], headers: Sequence[list[str]], guess: Facts, time: str, item: tuple[int, ByteRange]
) -> Facts:
    file, span = item
    return csv_files.facts(files[file], headers[file], guess, span, time)
