"""A topic of a Kafka broker, by confluent-kafka: its partitions, their offsets, and messages between two offsets."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pyarrow as pa

from cepbench.events.errors import CepbenchError

if TYPE_CHECKING:
    from confluent_kafka import Consumer

Offsets = Mapping[int, int]
"""An offset by partition."""
SCHEMA = pa.schema(
    [("partition", pa.int32()), ("offset", pa.int64()), ("timestamp", pa.int64()), ("value", pa.binary())]
)
"""The schema of messages; `timestamp` is in milliseconds since 1970."""
ANSWER_SECONDS = 10.0
"""Seconds in which a broker must answer."""
WAIT_SECONDS = 120.0
"""Seconds to wait for messages that exist, and for transactions that were open when a batch began."""
QUIET = {"log_level": 0}
"""Settings without which the client would write its own log to stderr."""
MESSAGES_AT_ONCE = 10_000
SETTING = "spark.cepbench.kafka."
"""Prefix of those settings of Spark that are for the Kafka client, such as `security.protocol`."""


@dataclass(frozen=True)
class Topic:
    """The topic `name` of `broker`: one `host:port` or several, separated by commas.

    `client`: settings of the client, such as `security.protocol`.
    """

    broker: str
    name: str
    client: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"kafka:{self.broker}/{self.name}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings that every client of the topic needs, of confluent-kafka and of Java."""
        return {"bootstrap.servers": self.broker, **self.client}

    def bounds(self, consumer: Consumer | None = None) -> dict[int, tuple[int, int]]:
        """By partition, the first offset and the offset after the last message, open transactions included.

        Frequent callers pass a `consumer`. Raises `CepbenchError` if there is no such topic or no answer.
        """
        from confluent_kafka import KafkaError, KafkaException, TopicPartition

        if consumer is None:
            with closing(self.consumer()) as opened:
                return self.bounds(opened)
        try:
            topic = consumer.list_topics(self.name, ANSWER_SECONDS).topics[self.name]
            if topic.error is not None:
                missing = topic.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
                reason = "the broker has no such topic; create it first" if missing else topic.error.str()
                raise CepbenchError(f"{self}: {reason}")
            bounds = {
                number: consumer.get_watermark_offsets(TopicPartition(self.name, number), ANSWER_SECONDS)
                for number in sorted(topic.partitions)
            }
        except KafkaException as error:
            raise CepbenchError(f"{self}: the broker does not answer: {error.args[0].str()}") from None
        if None in bounds.values():
            raise CepbenchError(f"{self}: the broker does not answer within {ANSWER_SECONDS:g} s")
        return bounds

    def read(self, partition: int, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The messages of a partition from offset `start` to before `end`; some offsets may have no message.

        Batches have `SCHEMA`. Raises `CepbenchError`, for example if the broker has deleted messages.
        """
        from confluent_kafka import KafkaError, TopicPartition

        with closing(self.consumer("read_committed")) as consumer:
            consumer.assign([TopicPartition(self.name, partition, start)])
            since = time.monotonic()
            while start < end:
                batches = []
                for message in consumer.consume(min(MESSAGES_AT_ONCE, end - start), 1.0):
                    error, offset = message.error(), message.offset() or 0
                    if error is None:
                        start = offset + 1
                        if offset < end:
                            batches.append((partition, offset, message.timestamp()[1], message.value()))
                    elif error.code() == KafkaError._PARTITION_EOF:
                        start = max(start, offset)
                    elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                        raise CepbenchError(f"{self}, partition {partition}: offset {start} is gone from the broker")
                    elif not error.retriable():
                        raise CepbenchError(f"{self}, partition {partition}: {error.str()}")
                if batches:
                    yield pa.RecordBatch.from_arrays(
                        [
                            pa.array(column, kind)
                            for column, kind in zip(zip(*batches, strict=True), SCHEMA.types, strict=True)
                        ],
                        schema=SCHEMA,
                    )
                    since = time.monotonic()
                elif time.monotonic() - since > WAIT_SECONDS:
                    raise CepbenchError(
                        f"{self}, partition {partition}: no message came in {WAIT_SECONDS:g} s "
                        f"at offset {start} of {end}"
                    )

    def consumer(self, isolation: str = "read_uncommitted") -> Consumer:
        """A client that reads; the caller closes it. Raises `CepbenchError` if a setting is wrong."""
        from confluent_kafka import Consumer, KafkaException

        try:
            return Consumer(
                {
                    "group.id": "cepbench",  # required by the client, but unused: Spark's log has the offsets
                    "enable.auto.commit": False,
                    "auto.offset.reset": "error",
                    "enable.partition.eof": True,
                    "isolation.level": isolation,
                    **QUIET,
                    **self.settings,
                }
            )
        except KafkaException as error:
            raise CepbenchError(f"{self}: {error.args[0].str()}") from None


def topic_of(text: str, settings: Mapping[str, str]) -> Topic:
    """The topic of `kafka:BROKER/TOPIC`; `settings` are those of Spark. Raises `CepbenchError`."""
    broker, _, name = text.removeprefix("kafka:").rpartition("/")
    if not broker or not name or "/" in broker:
        raise CepbenchError(f"{text}: expected kafka:BROKER/TOPIC, such as kafka:localhost:9092/ticks")
    if find_spec("confluent_kafka") is None:
        raise CepbenchError(f"{text}: the package confluent-kafka is missing; install cepbench[live]")
    client = {key.removeprefix(SETTING): value for key, value in settings.items() if key.startswith(SETTING)}
    return Topic(broker, name, client)


def limited(start: Offsets, end: Offsets, most: int) -> dict[int, int]:
    """Ends between `start` and `end` with about `most` messages, from each partition in proportion to its messages."""
    waiting = {partition: end[partition] - start.get(partition, 0) for partition in end}
    total = sum(waiting.values())
    if total <= most:
        return dict(end)
    return {partition: start.get(partition, 0) + -(-count * most // total) for partition, count in waiting.items()}
