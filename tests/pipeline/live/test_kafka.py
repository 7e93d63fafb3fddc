"""Topics of Kafka as source and sink, with a real broker if it is installed."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from cepbench import evaluate
from cepbench.events.errors import CepbenchError, InputError
from cepbench.events.files import batches_layout
from cepbench.events.reading import EXPECTED, Reading
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import parse_supported, prepare
from cepbench.pipeline.live.broker import SCHEMA, Topic, limited, topic_of
from cepbench.pipeline.live.kafka import Messages, messages_of
from cepbench.pipeline.live.processor import Processor
from cepbench.pipeline.live.sink import Folder, sink_of
from cepbench.pipeline.live.source import read, schema_of
from cepbench.pipeline.live.state import Checkpoint
from cepbench.pipeline.live.stream import stream
from tests.pipeline.live.brokers import broker, create, needs_broker, received, send
from tests.pipeline.live.driving import batch_rows, rows_in

QUERY = "RETURN s, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) GROUP-BY s WITHIN 6 seconds SLIDE 2 seconds"
EVENTS: list[dict[str, Any]] = [
    {"time": n // 3, "type": "ABC"[n * 7 % 3], "g": 0, "h": 0, "x": n % 5, "y": 0.5, "s": "uv"[n % 2]}
    for n in range(60)
]

STARTS = 6
"""The most starts of a stream on Spark; the test stops one of them."""
FAILURES = ("stopped", "Python worker failed to connect back.")
"""Failures after which the stream is started again; on a busy machine Python starts more slowly than Spark waits."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with broker() as servers:
        yield servers


def messages(values: list[bytes | None], partition: list[int] | None = None, offset: int = 7) -> Messages:
    n = len(values)
    places = np.array(partition or [0] * n, np.int32)
    return Messages(0.0, "ticks", places, np.arange(offset, offset + n, dtype=np.int64), values)


def table(rows: list[tuple[int, int, int]]) -> pa.Table:
    """Rows of partition, offset and time, whose values name the first two."""
    columns = [*zip(*rows, strict=True), [f"{row[0]}-{row[1]}".encode() for row in rows]]
    return pa.Table.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)], schema=SCHEMA
    )


def test_messages_arrive_in_the_order_of_offsets_and_then_of_times() -> None:
    rows = [(0, 5, 10), (1, 2, 12), (0, 7, 20), (0, 6, 9), (1, 3, 11), (1, 4, 30)]
    expected = [b"0-5", b"0-6", b"1-2", b"1-3", b"0-7", b"1-4"]
    for seed in range(5):
        Random(seed).shuffle(rows)
        assert messages_of("ticks", table(rows)).value == expected


def events_of(values: list[bytes | None], query: str = QUERY, reading: Reading = EXPECTED) -> Any:
    """The events of messages in a stream that began with the first of them."""
    layout = batches_layout([messages(values[:1]).batch(reading)], "ticks", reading)
    queries, algorithm = parse_supported(query, "cogra")
    prepared = prepare(queries, algorithm, schema_of(queries, layout), "modular", Statistics())
    return read([messages(values)], layout, prepared.workload, prepared.workload.schema)


FIRST = b'{"time": 1, "type": "A", "x": 1, "s": "u"}'


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"{", "ticks/0, offset 8: is no JSON object"),
        (None, "ticks/0, offset 8: is no JSON object"),
        (b"[1]", "ticks/0, offset 8: is no JSON object"),
        (b'{"type": "A", "x": 1, "s": "u"}', "ticks/0, offset 8, field 'time': the time is null"),
        (b'{"time": -1, "type": "A", "x": 1, "s": "u"}', "ticks/0, offset 8, field 'time': the time -1 is negative"),
        (b'{"time": "2", "type": "A", "x": 1, "s": "u"}', "ticks/0, offset 8, field 'time': '2' is not int64"),
        (b'{"time": 2, "x": 1, "s": "u"}', "ticks/0, offset 8, field 'type': the type is empty"),
        (b'{"time": 2, "type": "A", "x": 1.5, "s": "u"}', "ticks/0, offset 8, field 'x': 1.5 is not int64"),
        (b'{"time": 2, "type": "A", "x": "1", "s": "u"}', "ticks/0, offset 8, field 'x': '1' is not int64"),
        (b'{"time": 2, "type": "A", "s": "u"}', "ticks/0, offset 8, column 'x': null or NaN in an event of type 'A'"),
    ],
)
def test_a_message_that_is_no_event_is_named(value: bytes | None, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        events_of([FIRST, value])
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_times_of_messages_may_be_timestamps_in_all_of_them() -> None:
    texts = [b'{"time": "2024-03-01T12:00:0%d", "type": "A", "x": 1, "s": "u"}' % n for n in range(2)]
    [batch] = events_of([*texts])
    assert batch.schema.zone == ""
    assert np.diff(batch.time).tolist() == [1]


def test_integers_may_stand_among_floats() -> None:
    query = "RETURN SUM(A.x) PATTERN A WITHIN 6 seconds"
    values = [b'{"time": 1, "type": "A", "x": %s}' % x for x in (b"0.5", b"2", b"9007199254740993")]
    for cut in (1, 2, 3):
        column = events_of(values[:cut], query)[0].columns["x"]
        assert column.tolist() == [0.5, 2.0, 9007199254740992.0][:cut]


def test_fields_may_have_other_names() -> None:
    [batch] = events_of([b'{"ts": 1, "k": "A", "x": 1, "s": "u"}'], reading=Reading(time="ts", type="k"))
    assert (batch.time.tolist(), batch.schema.types[batch.type[0]]) == ([1], "A")


def test_a_batch_has_a_share_of_what_waits_in_each_partition() -> None:
    assert limited({0: 5, 1: 0}, {0: 8, 1: 90}, 1000) == {0: 8, 1: 90}
    assert limited({0: 5, 1: 0}, {0: 105, 1: 300, 2: 0}, 40) == {0: 15, 1: 30, 2: 0}
    assert limited({0: 0, 1: 0}, {0: 1, 1: 1000}, 10) == {0: 1, 1: 10}


@pytest.mark.parametrize("text", ["kafka:here", "kafka:/ticks", "kafka:host:9092/", "kafka:a/b/c"])
def test_a_topic_needs_a_broker_and_a_name(text: str) -> None:
    with pytest.raises(CepbenchError, match="expected kafka:BROKER/TOPIC"):
        topic_of(text, {})


def test_a_setting_that_the_client_does_not_know_is_named() -> None:
    pytest.importorskip("confluent_kafka")
    with pytest.raises(CepbenchError, match=r'^kafka:127\.0\.0\.1:9/ticks: .*"nonsense"'):
        Topic("127.0.0.1:9", "ticks", {"nonsense": "1"}).bounds()


@needs_broker
def test_a_topic_is_read_between_offsets(address: str) -> None:
    create(address, "ranges", 2)
    send(address, "ranges", EVENTS, [n % 2 for n in range(60)])
    topic = topic_of(f"kafka:{address}/ranges", {})
    assert topic.bounds() == {0: (0, 30), 1: (0, 30)}
    messages_read = pa.Table.from_batches(topic.read(1, 4, 9))
    assert [json.loads(value) for value in messages_read["value"].to_pylist()] == EVENTS[9:19:2]
    assert messages_read["offset"].to_pylist() == [4, 5, 6, 7, 8]
    whole = pa.Table.from_batches([batch for number in (0, 1) for batch in topic.read(number, 0, 30)])
    assert [json.loads(value) for value in messages_of("ranges", whole).value] == EVENTS
    with pytest.raises(CepbenchError, match="the broker has no such topic"):
        Topic(address, "nowhere").bounds()


@needs_broker
def test_rows_that_are_written_again_have_the_same_keys(address: str) -> None:
    create(address, "rows")
    sink = sink_of(f"kafka:{address}/rows", {})
    sink.check_new()
    rows = pa.table({"query": ["q", "q"], "window_end": [5, None], "COUNT(*)": [2, 3]})
    for batch in ("00000000", "00000000", "end"):
        sink.put(batch, rows)
    first, second = {"query": "q", "window_end": 5, "COUNT(*)": 2}, {"query": "q", "COUNT(*)": 3}
    assert received(address, "rows") == [
        ("00000000/00000000", first), ("00000000/00000001", second), ("end/00000000", first), ("end/00000001", second),
    ]  # fmt: skip
    with pytest.raises(CepbenchError, match="the topic has messages already"):
        sink.check_new()


@needs_broker
def test_a_row_that_the_client_refuses_is_one_line(address: str) -> None:
    create(address, "large")
    sink = sink_of(f"kafka:{address}/large", {"spark.cepbench.kafka.message.max.bytes": "1000"})
    with pytest.raises(CepbenchError, match=r"^kafka:.*/large: rows could not be written: .*too large"):
        sink.put("00000000", pa.table({"query": ["q" * 2000]}))


def test_rows_of_messages_are_those_of_the_batch_run(tmp_path: Path) -> None:
    values = [json.dumps(event).encode() for event in EVENTS]
    pieces = [messages(values[:25], offset=0), messages(values[25:], offset=25)]
    layout = batches_layout([pieces[0].batch(EXPECTED)], "ticks", EXPECTED)
    queries, algorithm = parse_supported(QUERY, "cogra")
    prepared = prepare(queries, algorithm, schema_of(queries, layout), "modular", Statistics())
    rows, late = Folder(tmp_path / "rows"), Folder(tmp_path / "late", "late")
    processor = Processor(prepared, layout, Checkpoint(tmp_path / "state", {}), rows, late, 2, 0)
    for number, piece in enumerate(pieces):
        processor.run(number, [piece])
    assert processor.finish().late == 0
    assert rows_in(tmp_path / "rows") == batch_rows(QUERY, EVENTS, "cogra", tmp_path)


@needs_broker
def test_batches_between_offsets_are_the_same_again(address: str, tmp_path: Path) -> None:
    """Batches are read as Spark asks for them, and each is run twice, as after a failure."""
    from cepbench.pipeline.live.reader import TopicSource

    create(address, "asked", 2)
    create(address, "answers")
    settings = {"broker": address, "topic": "asked", "client": "{}", "most": "20"}
    layout = batches_layout([messages([json.dumps(EVENTS[0]).encode()]).batch(EXPECTED)], "asked", EXPECTED)
    queries, algorithm = parse_supported(QUERY, "cogra")
    prepared = prepare(queries, algorithm, schema_of(queries, layout), "modular", Statistics())
    late, sink = Folder(tmp_path / "late", "late"), sink_of(f"kafka:{address}/answers", {})
    reader: Any = TopicSource(settings).streamReader(StructType())
    start, batch = reader.initialOffset(), 0
    assert start == {"0": 0, "1": 0} == reader.latestOffset(start, None)
    for part in (EVENTS[:24], EVENTS[24:]):
        send(address, "asked", part, [n % 2 for n in range(len(part))])
        while (end := reader.latestOffset(start, None)) != start:
            for _ in range(2):
                records = [rows for partition in reader.partitions(start, end) for rows in reader.read(partition)]
                processor = Processor(prepared, layout, Checkpoint(tmp_path / "state", {}), sink, late, 2, 2)
                totals = processor.run(batch, [messages_of("asked", pa.Table.from_batches(records))])
            start, batch = end, batch + 1
    assert (batch, totals.events, totals.late) == (4, 60, 0)
    processor.finish()
    expected = evaluate(QUERY, pd.DataFrame(EVENTS), "cogra").to_dict("records")
    assert sorted((row for _, row in received(address, "answers")), key=repr) == sorted(expected, key=repr)
    with pytest.raises(CepbenchError, match="has fewer messages than were read"):
        reader.latestOffset({"0": 99, "1": 0}, None)
    reader.consumer.close()


@needs_broker
@pytest.mark.full
@pytest.mark.spark("live")
@pytest.mark.usefixtures("_spark_settings")
def test_a_topic_becomes_rows_once(address: str, tmp_path: Path) -> None:
    """Stopped after a batch of which Spark does not know that it is finished, and started again."""
    create(address, "in", 2)
    create(address, "out")
    send(address, "in", EVENTS[:30], [n % 2 for n in range(30)])
    stops = [True]

    def progress(totals: object) -> None:
        if stops:
            stops.pop()
            send(address, "in", EVENTS[30:], [n % 2 for n in range(30)])
            raise RuntimeError("stopped")

    def run() -> None:
        stream(
            QUERY, "cogra", f"kafka:{address}/in", f"kafka:{address}/out", tmp_path / "checkpoint", "2s",
            until_idle=2, master="local[2,4]", notify=str, progress=progress,
        )  # fmt: skip

    for _ in range(STARTS):
        try:
            run()
            break
        except CepbenchError as error:
            if not str(error).endswith(FAILURES):
                raise
    assert stops == []
    expected = evaluate(QUERY, pd.DataFrame(EVENTS), "cogra").to_dict("records")
    rows = [row for _, row in received(address, "out")]
    assert sorted(rows, key=repr) == sorted(expected, key=repr)
