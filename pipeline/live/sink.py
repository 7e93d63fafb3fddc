"""Sinks for the rows of a live stream: a file per batch, which a repeated batch replaces by an equal one; messages,
whose keys a repeated batch repeats; or stdout.
"""

import io
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import isfinite
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.events.errors import CepbenchError
from cepbench.metrics.files import write
from cepbench.pipeline.live.broker import QUIET, WAIT_SECONDS, Topic, topic_of

if TYPE_CHECKING:
    from confluent_kafka import Producer


class Sink(ABC):
    """Takes the rows of batches. A batch that is written again has the same rows.

    `str` of a sink is its name in a checkpoint.
    """

    def check_new(self) -> None:
        """Raises `CepbenchError` if the sink has rows of another stream."""
        return

    @abstractmethod
    def put(self, batch: str, rows: pa.Table) -> None:
        """Writes the rows of a batch, at least one; `batch` is its name (`state.batch_name`)."""


class Folder(Sink):
    """A folder with a Parquet file for each batch that has rows, so that every row is in it once.

    Files are named `STEM-BATCH.parquet`.
    """

    def __init__(self, path: Path, stem: str = "rows") -> None:
        self.path, self.stem = path, stem

    def __str__(self) -> str:
        return f"folder:{self.path}"

    def check_new(self) -> None:
        if next(self.path.glob(f"{self.stem}-*.parquet"), None) is not None:
            raise CepbenchError(f"{self.path}: the folder has rows of another stream; choose another, or empty it")

    def put(self, batch: str, rows: pa.Table) -> None:
        content = io.BytesIO()
        pq.write_table(rows, content)
        write(self.path / f"{self.stem}-{batch}.parquet", content.getvalue())


class Messages(Sink):
    """A topic with a JSON message per row. Its key, `batch/row`, is the same if the batch is repeated after a failure.

    So a reader that leaves out messages with a known key sees every row once.
    """

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        topic.bounds()

    def __str__(self) -> str:
        return str(self.topic)

    def check_new(self) -> None:
        if any(first < end for first, end in self.topic.bounds().values()):
            raise CepbenchError(f"{self.topic}: the topic has messages already; choose another")

    @cached_property
    def _producer(self) -> "Producer":
        from confluent_kafka import Producer

        return Producer({"enable.idempotence": True, "linger.ms": 0, **QUIET, **self.topic.settings})

    def put(self, batch: str, rows: pa.Table) -> None:
        from confluent_kafka import KafkaException

        failed: list[str] = []

        def delivered(error: object, message: object) -> None:
            if error is not None:
                failed.append(str(error))

        for number, text in enumerate(as_json(rows)):
            while True:
                try:
                    self._producer.produce(self.topic.name, text, f"{batch}/{number:08d}", on_delivery=delivered)
                    break
                except BufferError:
                    self._producer.poll(1.0)
                except KafkaException as error:  # a message that is too large, or a wrong setting
                    raise CepbenchError(f"{self.topic}: rows could not be written: {error.args[0].str()}") from None
        if self._producer.flush(WAIT_SECONDS) or failed:
            raise CepbenchError(
                f"{self.topic}: rows could not be written: {(failed or ['the broker does not answer'])[0]}"
            )


class Console(Sink):
    """Writes rows to stdout as CSV. Rows of a batch that is repeated after a failure are written again."""

    def __init__(self) -> None:
        self._begun = False

    def __str__(self) -> str:
        return "console"

    def put(self, batch: str, rows: pa.Table) -> None:
        sys.stdout.write(rows.to_pandas().to_csv(index=False, header=not self._begun, lineterminator="\n"))
        sys.stdout.flush()
        self._begun = True


def as_json(rows: pa.Table) -> Iterator[str]:
    """Each row as a JSON object without the columns that are null.

    JSON has no numbers that are not finite; they become texts, such as "inf".
    """
    for row in rows.to_pylist():
        fields = {name: _finite(value) for name, value in row.items() if value is not None}
        yield json.dumps(fields, default=methodcaller("isoformat"))  # timestamps


def _finite(value: object) -> object:
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def sink_of(text: str, settings: Mapping[str, str]) -> Sink:
    """The sink of `folder:PATH`, `kafka:BROKER/TOPIC` or `console`; `settings` are those of Spark.

    Raises `CepbenchError`.
    """
    kind, colon, place = text.partition(":")
    if text == "console":
        return Console()
    if kind == "folder" and colon and place:
        return Folder(Path(place).resolve())
    if kind == "kafka" and colon and place:
        return Messages(topic_of(text, settings))
    raise CepbenchError(f"unknown sink {text!r}; choose folder:PATH, kafka:BROKER/TOPIC or console")
