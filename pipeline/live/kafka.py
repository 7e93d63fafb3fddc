"""A topic of Kafka as the source of a live stream: messages are JSON objects, whose fields are the columns of an event.

The messages of a partition arrive in the order of their offsets. Within a batch, those of several partitions are merged
by time, without changing the order of a partition.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from cepbench.events.columns import ARROW
from cepbench.events.errors import InputError
from cepbench.events.files import FileLayout, InputEvents, batches_layout, checked
from cepbench.events.place import Place
from cepbench.events.reading import Reading
from cepbench.events.schema import Schema
from cepbench.pipeline.live.broker import Topic, limited
from cepbench.pipeline.live.source import Piece, Source, check_times, coded

BATCH_MESSAGES = 200_000
FIRST_MESSAGES = 1000
"""Maximum number of messages that define the attributes of the stream."""
CONNECTOR = "spark-sql-kafka"
"""A part of the name of the package of Spark's own connector."""
_NOT_OF_A_KIND = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""Errors of Arrow for a value that has no or another type."""
PACKAGES = ("spark.jars.packages", "spark.jars")


@dataclass(frozen=True, eq=False)
class Messages(Piece):
    """Messages of a topic in the order of arrival.

    - `partition`: int32[n]; `offset`: int64[n].
    - `value`: the n messages as bytes; None for a message without content.
    """

    since: float
    topic: str
    partition: NDArray[np.int32]
    offset: NDArray[np.int64]
    value: Sequence[bytes | None]

    def events(self, layout: FileLayout, schema: Schema) -> InputEvents:
        batch = self.batch(layout.reading, layout)
        check_times(batches_layout([batch], self.topic, layout.reading).zone, layout, self.topic)
        place = _MessagePlace(self.topic, called=layout.reading.called, messages=self)
        events = coded([checked(batch, layout, place)], layout, schema, self.topic)
        return _MessageEvents(**vars(events), messages=self)

    def place(self, row: int) -> tuple[str, int]:
        return f"{self.topic}/{self.partition[row]}", int(self.offset[row])

    def named(self, event: int) -> str:
        """The place of a message, for errors."""
        partition, offset = self.place(event)
        return f"{partition}, offset {offset}"

    def batch(self, reading: Reading, layout: FileLayout | None = None) -> pa.RecordBatch:
        """A column per field of `layout`, or per field that occurs if there is no layout yet. Raises `InputError`."""
        objects = [self._object(event) for event in range(len(self.value))]
        if layout is None:
            names = dict.fromkeys(name for message in objects for name in message)
            reading.check(list(names), self.topic)
        else:
            fields = [] if reading.constant is not None else [reading.type]
            names = dict.fromkeys([reading.time, *fields, *layout.kinds])
        kinds = {} if layout is None else layout.kinds
        arrays = {
            name: self._array([part.get(name) for part in objects], name, ARROW[kinds[name]] if name in kinds else None)
            for name in names
        }
        return pa.RecordBatch.from_pydict(arrays)

    def _object(self, event: int) -> dict[str, Any]:
        try:
            message = json.loads(self.value[event] or b"")
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise InputError(f"{self.named(event)}: is no JSON object")
        return message

    def _array(self, values: list[Any], name: str, wanted: pa.DataType | None) -> pa.Array:
        """A field of all messages, as type `wanted` if given. Integers among floats become floats."""
        try:
            array = pa.array(values)  # inferred: with a given type, Arrow truncates floats to integers
            if wanted in (None, array.type) or pa.types.is_null(array.type):
                return array if wanted is None else array.cast(wanted)
        except _NOT_OF_A_KIND:
            pass
        kind = wanted
        for event, value in enumerate(values):
            try:
                value_type = pa.array([value]).type
            except _NOT_OF_A_KIND:
                raise InputError(f"{self.named(event)}, field {name!r}: {value!r} cannot be an attribute") from None
            if pa.types.is_null(value_type) or (value_type, kind) == (pa.int64(), pa.float64()):
                continue
            if wanted is None and (value_type, kind) == (pa.float64(), pa.int64()):
                kind = value_type
            if kind not in (None, value_type):
                raise InputError(f"{self.named(event)}, field {name!r}: {value!r} is not {kind}, as in other messages")
            kind = value_type
        # If a field has both, large integers become the nearest float, as in files.
        return pa.array([None if value is None else float(value) for value in values], pa.float64())


@dataclass(frozen=True)
class _MessagePlace(Place):
    messages: Messages | None = None

    def error(self, index: int, column: str, problem: str) -> InputError:
        assert self.messages is not None
        return InputError(f"{self.messages.named(index)}, field {self.name(column)!r}: {problem}")


@dataclass(frozen=True, eq=False)
class _MessageEvents(InputEvents):
    messages: Messages | None = None

    def place(self, event: int) -> str:
        assert self.messages is not None
        return self.messages.named(event)


class KafkaSource(Source):
    """A topic, read by Spark's own connector if `settings` name its package, otherwise by a data source in Python."""

    nothing = "no message came"

    def __init__(self, topic: Topic, settings: Mapping[str, str]) -> None:
        self.topic = topic
        self.connector = any(CONNECTOR in settings.get(name, "") for name in PACKAGES)
        topic.bounds()

    def __str__(self) -> str:
        return str(self.topic)

    def first_layout(self, reading: Reading) -> FileLayout | None:
        bounds = self.topic.bounds()
        begins = {partition: first for partition, (first, _) in bounds.items()}
        ends = limited(begins, {partition: end for partition, (_, end) in bounds.items()}, FIRST_MESSAGES)
        batches = [batch for number, end in ends.items() for batch in self.topic.read(number, begins[number], end)]
        if not batches:
            return None
        messages = messages_of(self.topic.name, pa.Table.from_batches(batches))
        return batches_layout([messages.batch(reading)], self.topic.name, reading)

    def stream(self, spark: SparkSession) -> DataFrame:
        if self.connector:
            options = {
                **{f"kafka.{name}": value for name, value in self.topic.settings.items()},
                "kafka.isolation.level": "read_committed",
                "subscribe": self.topic.name,
                "startingOffsets": "earliest",
                "maxOffsetsPerTrigger": str(BATCH_MESSAGES),
            }
            frame = spark.readStream.format("kafka").options(**options).load()
            return frame.selectExpr("partition", "offset", "unix_millis(timestamp) AS timestamp", "value")
        from cepbench.pipeline.live.reader import TopicSource  # which needs PySpark 4.2

        spark.dataSource.register(TopicSource)
        client = json.dumps(dict(self.topic.client))
        options = {"broker": self.topic.broker, "topic": self.topic.name, "client": client, "most": str(BATCH_MESSAGES)}
        return spark.readStream.format(TopicSource.name()).options(**options).load()

    def pieces(self, frame: DataFrame, batch: int, log: Path) -> Sequence[Piece]:
        table = frame.toArrow()
        return [messages_of(self.topic.name, table)] if table.num_rows else []


def messages_of(topic: str, table: pa.Table) -> Messages:
    """The rows of a table with `broker.SCHEMA`, in any order, as messages in the order of arrival."""
    partition, offset, timestamp = (table[name].to_numpy() for name in ("partition", "offset", "timestamp"))
    order = np.lexsort((offset, partition))
    sent = timestamp[order]
    for number in np.unique(partition):  # no message precedes one with a smaller offset
        mine = partition[order] == number
        sent[mine] = np.maximum.accumulate(sent[mine])
    order = order[np.argsort(sent, kind="stable")]
    values = table["value"].take(order).to_pylist()
    return Messages(float(timestamp.min()) / 1000, topic, partition[order], offset[order], values)
