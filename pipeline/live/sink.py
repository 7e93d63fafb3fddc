"""Where the rows of a live stream go: a file per batch, which a repeated batch replaces by the same file; or stdout."""

import io
import sys
from abc import ABC, abstractmethod
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.events.errors import CepbenchError
from cepbench.metrics.files import write


class Sink(ABC):
    """Takes the rows of batches. Whoever writes rows of a batch again writes the same ones."""

    def check_new(self) -> None:
        """Refuses a place that has rows of another stream. Raises `CepbenchError`."""
        return

    @abstractmethod
    def put(self, batch: str, rows: pa.Table) -> None:
        """Writes the rows of a batch, at least one."""


class Folder(Sink):
    """A folder with a Parquet file for each batch that has rows: every row is there once.

    `stem` begins the names of files.
    """

    def __init__(self, path: Path, stem: str = "rows") -> None:
        self.path, self.stem = path, stem

    def check_new(self) -> None:
        if next(self.path.glob(f"{self.stem}-*.parquet"), None) is not None:
            raise CepbenchError(f"{self.path}: the folder has rows of another stream; choose another, or empty it")

    def put(self, batch: str, rows: pa.Table) -> None:
        content = io.BytesIO()
        pq.write_table(rows, content)
        write(self.path / f"{self.stem}-{batch}.parquet", content.getvalue())


class Console(Sink):
    """Writes rows to stdout as CSV. Rows of a batch that is repeated after a failure are written again."""

    def __init__(self) -> None:
        self._begun = False

    def put(self, batch: str, rows: pa.Table) -> None:
        sys.stdout.write(rows.to_pandas().to_csv(index=False, header=not self._begun, lineterminator="\n"))
        sys.stdout.flush()
        self._begun = True


def sink_of(text: str) -> Sink:
    """The sink of `folder:PATH` or `console`. Raises `CepbenchError`."""
    kind, colon, path = text.partition(":")
    if text == "console":
        return Console()
    if kind == "folder" and colon and path:
        return Folder(Path(path).resolve())
    raise CepbenchError(f"unknown sink {text!r}; choose folder:PATH or console")
