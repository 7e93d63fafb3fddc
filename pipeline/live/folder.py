"""The source of a live stream as a folder into which complete files of events are moved.

A file is read once it is in the folder. Files arrive in the order of their modification times, then of their names.
Files whose names begin with a dot or an underscore are ignored, so that a file may be written under such a name.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from cepbench.events import sources
from cepbench.events.csv_files import form_of
from cepbench.events.errors import InputError
from cepbench.events.files import FileLayout, InputEvents, file_blocks, source_layout
from cepbench.events.reading import AUTO, Reading
from cepbench.events.schema import Schema
from cepbench.events.time_formats import misread
from cepbench.pipeline.live.source import Piece, Source, check_times, coded
from cepbench.pipeline.live.state import UnusableCheckpoint

SUFFIXES = sources.CSV_SUFFIXES + sources.PARQUET_SUFFIXES
BATCH_BYTES = 1 << 26
"""Maximum bytes of the files of a batch with several files: so state is saved while many files wait."""
FILES = "path STRING, modificationTime TIMESTAMP, length LONG, content BINARY"
"""The columns of Spark's source of files; it does not read contents that are not selected."""


@dataclass(frozen=True)
class File(Piece):
    """A file of events."""

    path: Path
    since: float

    def events(self, layout: FileLayout, schema: Schema) -> InputEvents:
        if not self.path.is_file():
            raise InputError(f"{self.path}: is gone before its batch ended; move it back")
        source, reading = sources.find(self.path), layout.reading
        if source.is_csv:
            reading.check(form_of(self.path, reading, str(self.path)).names, str(self.path), is_csv=True)
        else:
            file_layout = source_layout(source, reading)
            kinds = file_layout.kinds
            changed = next((name for name, kind in layout.kinds.items() if kinds.get(name, kind) is not kind), None)
            if changed is not None:
                was = layout.kinds[changed].value
                raise InputError(
                    f"{self.path}: column {changed!r} is {kinds[changed].value}, and {was} in the first file of "
                    "the stream"
                )
            check_times(file_layout.zone, layout, str(self.path))
        return coded(list(file_blocks(self.path, source.is_csv, layout)), layout, schema, str(self.path))

    def place(self, row: int) -> tuple[str, int]:
        return str(self.path), row + 1


class FolderSource(Source):
    """The folder `path`. Raises `InputError` if there is no such folder."""

    nothing = "no CSV or Parquet file came"

    def __init__(self, path: str) -> None:
        if not Path(path).is_dir():
            raise InputError(f"{path}: no such folder, which is to be the source of a stream")
        self.path = Path(path).resolve()

    def __str__(self) -> str:
        return str(self.path)

    def first_layout(self, reading: Reading) -> FileLayout | None:
        named = (file for file in self.path.iterdir() if file.name.endswith(SUFFIXES) and file.name[0] not in "._")
        files = [file for file in named if file.is_file()]
        first = min(files, key=lambda file: (file.stat().st_mtime_ns, file.name), default=None)
        return None if first is None else layout_of(first, reading)

    def stream(self, spark: SparkSession) -> DataFrame:
        names = ",".join(suffix[1:] for suffix in SUFFIXES)
        return (
            spark.readStream.format("binaryFile")
            .schema(FILES)
            .option("pathGlobFilter", f"*.{{{names}}}")
            .option("maxBytesPerTrigger", str(BATCH_BYTES))
            .option("maxFileAge", "36500d")  # files of any age may be moved here
            .load(_escaped(self.path))
            .select("path")
        )

    def pieces(self, frame: DataFrame, batch: int, log: Path) -> Sequence[Piece]:
        """The files in Spark's log. The frame would lack removed files without an error."""
        try:
            files = _files_of(log, batch)
        except (OSError, ValueError, KeyError, TypeError):
            files = []
        if not files:
            raise UnusableCheckpoint(f"{log}: names no file of batch {batch}; the checkpoint is damaged")
        return files


def layout_of(file: Path, reading: Reading) -> FileLayout:
    """The layout of the first file, which is that of the stream; notices also say whether its times look misread."""
    source = sources.find(file)
    layout = source_layout(source, reading)
    times = next((block.time for block in file_blocks(file, source.is_csv, layout) if len(block.time)), np.zeros(0))
    if layout.zone is None and reading.format == AUTO and (why := misread(np.sort(times), reading.unit)):
        layout = replace(layout, notices=(*layout.notices, f"{file}, column {reading.time!r}: {why}"))
    return layout


def _files_of(log: Path, batch: int) -> list[File]:
    """The files of a batch in Spark's log, in the order of modification time and name.

    `offsets` has the last entry of `sources/0` in each batch. After a failure, a batch may have several entries. Files
    `N.compact` of `sources/0` repeat all earlier entries.
    """
    first, last = _end(log, batch - 1), _end(log, batch)
    files = set()
    for file in (log / "sources" / "0").glob("[0-9]*"):
        if int(file.name.removesuffix(".compact")) > first:
            for line in file.read_text(encoding="utf-8").splitlines()[1:]:  # after the version
                entry = json.loads(line)
                if first < entry["batchId"] <= last:
                    files.add((entry["timestamp"], entry["path"]))
    return [File(Path(unquote(urlsplit(path).path)), millis / 1000) for millis, path in sorted(files)]


def _end(log: Path, batch: int) -> int:
    if batch < 0:
        return -1
    return int(json.loads((log / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[-1])["logOffset"])


def _escaped(folder: Path) -> str:
    """The path with the special characters of Spark's patterns escaped."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", str(folder))
