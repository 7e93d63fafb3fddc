"""A topic of Kafka as a data source of Spark in Python, for sessions without Spark's own connector.

Spark keeps the offsets of each batch in its log, and reads the messages between them again if it repeats the batch.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from confluent_kafka import Consumer
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.live.broker import Topic, limited


@dataclass
class Messages(InputPartition):
    """The messages of a partition from offset `start` to before `end`."""

    partition: int
    start: int
    end: int


class TopicSource(DataSource):
    """A topic. Options: `broker`, `topic`, `client` (settings as JSON), and `most`: messages per batch, about."""

    @classmethod
    def name(cls) -> str:
        return "cepbench-kafka"

    def schema(self) -> str:
        return "partition INT, offset LONG, timestamp LONG, value BINARY"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _Reader(self.options)


class _Reader(DataSourceStreamReader):
    def __init__(self, options: Mapping[str, str]) -> None:
        self.topic = Topic(options["broker"], options["topic"], json.loads(options["client"]))
        self.most = int(options["most"])

    @cached_property
    def consumer(self) -> Consumer:
        """Kept, because Spark requests the latest offsets continuously, always in the same process."""
        return self.topic.consumer()

    def initialOffset(self) -> dict[str, int]:
        return _named({number: first for number, (first, _) in self.topic.bounds(self.consumer).items()})

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        before = _numbered(start)
        ends = {number: end for number, (_, end) in self.topic.bounds(self.consumer).items()}
        for partition, offset in before.items():
            if ends.get(partition, 0) < offset:
                raise CepbenchError(
                    f"{self.topic}, partition {partition}: has fewer messages than were read; was it created again?"
                )
        return _named(limited(before, ends, self.most))

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        before = _numbered(start)
        ranges = [Messages(number, before.get(number, 0), last) for number, last in _numbered(end).items()]
        return [part for part in ranges if part.start < part.end]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Messages)
        return self.topic.read(partition.partition, partition.start, partition.end)


def _named(offsets: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): offset for partition, offset in offsets.items()}


def _numbered(offsets: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): offset for partition, offset in offsets.items()}
