"""The event store: events are read as they were written, whatever the buckets, and never by halves."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError, InputError
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics, statistics_of
from cepbench.pipeline import rebucketing
from cepbench.pipeline.creation import creating
from cepbench.pipeline.rebucketing import rebucket
from cepbench.pipeline.store import bucket_batches, is_store, read_stream, stream_batches
from cepbench.pipeline.writing import BucketWriter, describe

SCHEMA = Schema(
    ("A", "B", "unused"),
    (Attribute("i", Kind.INT), Attribute("x", Kind.FLOAT), Attribute("s", Kind.STRING)),
    "ms",
    ("u", "v", "w"),
)
EVENTS = 5000


def events(n: int = EVENTS, seed: int = 0, schema: Schema = SCHEMA) -> EventBatch:
    random = np.random.default_rng(seed)
    return EventBatch(
        schema,
        np.sort(random.integers(0, n, n)),
        random.integers(0, 2, n).astype(np.int32),
        {
            "i": random.integers(-5, 5, n),
            "x": random.random(n),
            "s": random.integers(0, 3, n).astype(np.int32),
        },
        np.arange(n),
    )


def write(path: Path, batch: EventBatch, key: tuple[str, ...] = (), buckets: int = 1, parts: int = 1) -> None:
    with creating(path) as folder:
        written = []
        for part in range(parts):
            writer = BucketWriter(folder, batch.schema, key, buckets, part)
            with writer:
                for start in range(len(batch) * part // parts, len(batch) * (part + 1) // parts, 700):
                    writer.write(batch.slice(start, min(start + 700, len(batch) * (part + 1) // parts)))
            written.append(writer.written)
        describe(folder, batch.schema, key, written, {"test": 1})


def assert_equal(actual: EventBatch, expected: EventBatch) -> None:
    assert actual.position.tolist() == expected.position.tolist()
    assert actual.time.tolist() == expected.time.tolist()
    assert actual.type.tolist() == expected.type.tolist()
    for name, column in actual.columns.items():
        assert column.tolist() == expected.columns[name].tolist()
        assert column.dtype == expected.columns[name].dtype


def joined(batches: list[EventBatch]) -> EventBatch:
    return EventBatch(
        batches[0].schema,
        np.concatenate([b.time for b in batches]),
        np.concatenate([b.type for b in batches]),
        {name: np.concatenate([b.columns[name] for b in batches]) for name in batches[0].columns},
        np.concatenate([b.position for b in batches]),
    )


@pytest.mark.parametrize(("key", "buckets", "parts"), [((), 1, 1), ((), 1, 4), (("i",), 3, 2), (("s", "x"), 7, 3)])
def test_written_is_read(tmp_path: Path, key: tuple[str, ...], buckets: int, parts: int) -> None:
    batch = events()
    write(tmp_path / "store", batch, key, buckets, parts)
    stream = read_stream(tmp_path / "store")
    assert stream.schema == SCHEMA
    assert (stream.key, stream.buckets, stream.events) == (key, buckets, EVENTS)
    assert (stream.first, stream.last) == (batch.time[0], batch.time[-1])
    assert set(stream.types) == {"A", "B"}
    assert stream.types["A"].events == (batch.type == 0).sum()
    assert stream.types["B"].first == batch.time[batch.type == 1][0]
    assert stream.types["B"].last == batch.time[batch.type == 1][-1]
    assert sum(stream.statistics.rates.values()) == pytest.approx(EVENTS / stream.statistics.duration)
    for rows in (999, 10**6):
        assert_equal(joined(list(stream_batches(stream, rows=rows))), batch)
    assert_equal(joined(list(stream_batches(stream, 1234, 2345, rows=100))), batch.slice(1234, 2345))
    for last in (EVENTS * part // parts - 1 for part in range(1, parts)):  # the last event of a file, and the next one
        assert_equal(joined(list(stream_batches(stream, last, last + 2))), batch.slice(last, last + 2))
    homes: dict[tuple[object, ...], int] = {}
    for bucket in range(buckets):
        for piece in bucket_batches(stream, bucket, rows=500):
            assert len(piece) <= 500
            assert (np.diff(piece.position) > 0).all()
            for row in range(len(piece)):
                assert homes.setdefault(tuple(piece.columns[name][row] for name in key), bucket) == bucket
    only = next(bucket_batches(stream, 0, attributes={"x"}))
    assert list(only.columns) == ["x"]


def test_rates_count_from_the_first_to_the_last_unit_of_time() -> None:
    assert statistics_of({"A": 6, "B": 3}, 10, 12) == Statistics(9, 3, {"A": 2.0, "B": 1.0})
    assert statistics_of({"A": 2}, 7, 7) == Statistics(2, 1, {"A": 2.0})
    assert statistics_of({}, None, None) == Statistics()


def test_fingerprint_knows_the_rows_and_nothing_else(tmp_path: Path) -> None:
    batch = events()
    fingerprints = set()
    for number, (key, buckets, parts) in enumerate([((), 1, 1), (("i",), 4, 3), (("s",), 2, 1)]):
        write(tmp_path / str(number), batch, key, buckets, parts)
        fingerprints.add(read_stream(tmp_path / str(number)).fingerprint)
    # The same strings under other codes.
    swapped = Schema(("B", "A"), SCHEMA.attributes, "ms", ("w", "v", "u"))
    recoded = EventBatch(
        swapped, batch.time, 1 - batch.type, {**batch.columns, "s": np.int32(2) - batch.columns["s"]}, batch.position
    )
    write(tmp_path / "recoded", recoded)
    assert fingerprints == {read_stream(tmp_path / "recoded").fingerprint}
    for name, changed in {
        "shorter": batch.slice(0, EVENTS - 1),
        "unit": events(schema=Schema(SCHEMA.types, SCHEMA.attributes, "s", SCHEMA.strings)),
        "value": EventBatch(
            SCHEMA, batch.time, batch.type, {**batch.columns, "i": batch.columns["i"] + 1}, batch.position
        ),
        "type": EventBatch(SCHEMA, batch.time, 1 - batch.type, batch.columns, batch.position),
    }.items():
        write(tmp_path / name, changed)
        assert read_stream(tmp_path / name).fingerprint not in fingerprints


def test_rebucketed_once_and_again_when_the_stream_changed(tmp_path: Path) -> None:
    batch = events()
    write(tmp_path / "store", batch, ("i",), 3, 2)
    stream = read_stream(tmp_path / "store")
    assert rebucket(stream, ("i",), 3, spark=None) is stream
    for key, buckets in ((("i",), 2), (("s",), 4), ((), 1)):
        copy = rebucket(stream, key, buckets, spark=None)
        assert (copy.key, copy.buckets, copy.fingerprint) == (key, buckets, stream.fingerprint)
        assert_equal(joined(list(stream_batches(copy))), batch)
        before = (copy.path / "stream.json").stat().st_mtime_ns
        again = rebucket(stream, key, buckets, spark=None)
        assert (again.path / "stream.json").stat().st_mtime_ns == before
    description = json.loads((copy.path / "stream.json").read_text())
    description["fingerprint"] = "other"
    (copy.path / "stream.json").write_text(json.dumps(description))
    assert rebucket(stream, (), 1, spark=None).fingerprint == stream.fingerprint
    assert not list((tmp_path / "store" / "_rebucketed").glob(".*"))
    [part] = copy.parts
    (copy.path / part.name).write_bytes(b"0" * part.bytes)
    assert_equal(joined(list(stream_batches(rebucket(stream, (), 1, spark=None)))), batch)
    (copy.path / "stream.json").unlink()
    assert_equal(joined(list(stream_batches(rebucket(stream, (), 1, spark=None)))), batch)


def test_of_two_processes_that_rebucket_the_second_takes_the_copy_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "store", events(), ("i",), 3, 2)
    stream = read_stream(tmp_path / "store")

    def slower(*arguments: Any) -> None:
        copy(*arguments)
        raise OSError(39, "Directory not empty")

    copy = rebucketing._copy
    monkeypatch.setattr(rebucketing, "_copy", slower)
    assert rebucket(stream, (), 1, spark=None).fingerprint == stream.fingerprint

    def refused(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rebucketing, "_copy", refused)
    with pytest.raises(CepbenchError, match="No space left on device"):
        rebucket(stream, ("s",), 2, spark=None)


def test_a_store_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "store"

    def fail(replace: bool = False) -> None:
        with creating(path, replace) as folder:
            (folder / "part").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    write(path, events(10))
    with pytest.raises(CepbenchError, match="exists already; choose another path or overwrite it"), creating(path):
        pass
    with pytest.raises(RuntimeError):
        fail(replace=True)
    assert read_stream(path).events == 10
    with creating(path, replace=True) as folder:
        (folder / "new").write_text("")
    assert not is_store(path)
    assert [p.name for p in tmp_path.iterdir()] == ["store"]
    with pytest.raises(CepbenchError, match="it is not an event store"), creating(path, replace=True):
        pass


def test_damaged_stores_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not an event store"):
        read_stream(tmp_path)
    write(tmp_path / "store", events())
    stream = read_stream(tmp_path / "store")
    part = next((tmp_path / "store").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"part-00000\.parquet: \d+ bytes instead of \d+"):
        list(bucket_batches(stream, 0))
    for text in ("{", "{}", "[]", '{"format": 99}'):
        (tmp_path / "store" / "stream.json").write_text(text)
        with pytest.raises(InputError, match=r"stream\.json"):
            read_stream(tmp_path / "store")


def test_nulls_are_known_by_type_and_attribute(tmp_path: Path) -> None:
    batch = events(100)
    x = batch.columns["x"].copy()
    x[7] = np.nan
    batch = EventBatch(SCHEMA, batch.time, np.zeros(100, np.int32), {**batch.columns, "x": x}, batch.position)
    write(tmp_path / "store", batch, ("i",), 2)
    stream = read_stream(tmp_path / "store")
    stream.check_needed({"*": ["i"], "B": ["x"]})
    with pytest.raises(InputError, match="event 8 of the stream, column 'x': null or NaN in an event of type 'A'"):
        stream.check_needed({"A": ["x"]})
    with pytest.raises(InputError, match="column 'x'"):
        stream.check_needed({"*": ["x"]})
    with pytest.raises(InputError, match="column 'y' is missing; there are i, x, s"):
        stream.check_needed({"A": ["y"]})
    assert rebucket(stream, (), 1, spark=None).holes == stream.holes


def test_writers_refuse_what_is_no_stream(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="key attribute 'y' is missing; there are i, x, s"):
        BucketWriter(tmp_path, SCHEMA, ("y",), 2, 0)
    with pytest.raises(InputError, match="2 buckets without a key"):
        BucketWriter(tmp_path, SCHEMA, (), 2, 0)
    with pytest.raises(InputError, match="0 buckets"):
        BucketWriter(tmp_path, SCHEMA, (), 0, 0)
    batch = events(10)
    backwards = EventBatch(SCHEMA, batch.time[::-1], batch.type, batch.columns, batch.position)
    with pytest.raises(InputError, match="not in time order"):
        BucketWriter(tmp_path, SCHEMA, (), 1, 0).write(backwards)
