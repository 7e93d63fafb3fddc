"""The event store: a folder with `stream.json` and Parquet files `bucket=NNNN/part-NNNNN.parquet`.

Columns are `time` int64, `type` int32 code, attributes (int64, float64, or int32 code of a string) and `_position`
int64. All events of a key are in one bucket; parts of a bucket are consecutive in time. A store appears complete or not
at all (`pipeline.creation`), and is never changed. Its description names every file, and readers check each
(`pipeline.parts`).
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.events.batch import EventBatch
from cepbench.events.errors import InputError
from cepbench.events.paths import local_path
from cepbench.events.reading import Reading
from cepbench.events.schema import Attribute, Kind, Schema, check_attributes
from cepbench.events.statistics import Statistics, statistics_of
from cepbench.pipeline.parts import DamagedStore, StoreFile, by_folder, check_files, opened

FORMAT = 2
STREAM_FILE = "stream.json"
POSITION = "_position"
READ_ROWS = 1 << 17


@dataclass(frozen=True)
class TypeSummary:
    """Events of one type: their number, and the first and last time."""

    events: int
    first: int
    last: int


@dataclass(frozen=True)
class Holes:
    """Events of one type whose attribute is null or NaN: their number, and the origin of the first."""

    events: int
    first: str


@dataclass(frozen=True)
class Stream:
    """The contents of `stream.json`.

    `types` has only types with events; `holes` is by type, then attribute; `parts` are in the order of buckets, and
    those of a bucket in the order of time.
    """

    path: Path
    schema: Schema
    key: tuple[str, ...]
    bucket_events: tuple[int, ...]
    parts: tuple[StoreFile, ...]
    types: Mapping[str, TypeSummary]
    fingerprint: str
    holes: Mapping[str, Mapping[str, Holes]] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def buckets(self) -> int:
        """Number of buckets."""
        return len(self.bucket_events)

    @property
    def events(self) -> int:
        """Number of events."""
        return sum(self.bucket_events)

    @property
    def first(self) -> int | None:
        """Time of the first event."""
        return min((summary.first for summary in self.types.values()), default=None)

    @property
    def last(self) -> int | None:
        """Time of the last event."""
        return max((summary.last for summary in self.types.values()), default=None)

    @property
    def statistics(self) -> Statistics:
        """The statistics for optimizers."""
        return statistics_of({name: summary.events for name, summary in self.types.items()}, self.first, self.last)

    def parts_of(self, bucket: int) -> list[StoreFile]:
        """The files of a bucket."""
        return self._parts_by_folder.get(bucket_folder(bucket), [])

    @cached_property
    def _parts_by_folder(self) -> dict[str, list[StoreFile]]:
        return by_folder(self.parts)

    def holds_whole(self, partition: tuple[str, ...]) -> bool:
        """Whether every key of the partition is in one bucket."""
        return self.buckets == 1 or (bool(self.key) and set(self.key) <= set(partition))

    def check_read(self, events: int) -> None:
        """`DamagedStore` unless all events were read; for callers that add up the events of tasks."""
        if events != self.events:
            raise DamagedStore(f"{self.path}: {events} of {self.events} events were read; make the store again")

    def check_needed(self, needs: Mapping[str, Collection[str]]) -> None:
        """`InputError` if an attribute that a query needs is absent, or null or NaN on an event of the type."""
        check_attributes(self.schema, needs, str(self.path))
        for name, attributes in needs.items():
            for needed in sorted(attributes):
                for kind in self.holes if name == "*" else (name,):
                    if hole := self.holes.get(kind, {}).get(needed):
                        problem = (
                            f"null or NaN in an event of type {kind!r} (one of {hole.events}), but a query needs it"
                        )
                        if "dataset" not in self.source:
                            fields = ("type", "constant", "where")
                            reading = Reading(**{key: self.source[key] for key in fields if key in self.source})
                            condition = reading.without_nulls(needed, None if name == "*" else kind)
                            problem += f"; leave such rows out by where='{condition}' (of a store when it is imported)"
                        raise InputError(f"{hole.first}, column {needed!r}: {problem}")

    def document(self) -> dict[str, Any]:
        """The content of `stream.json`."""
        duration = self.statistics.duration
        return {
            "format": FORMAT,
            "time_unit": self.schema.time_unit,
            **({} if self.schema.zone is None else {"zone": self.schema.zone}),
            "events": self.events,
            "first": self.first,
            "last": self.last,
            "types": {
                name: {"events": s.events, "rate": s.events / duration, "first": s.first, "last": s.last}
                for name, s in sorted(self.types.items())
            },
            "key": list(self.key),
            "buckets": self.buckets,
            "fingerprint": self.fingerprint,
            "source": dict(self.source),
            "attributes": {a.name: str(a.kind) for a in self.schema.attributes},
            "nulls": {
                name: {attribute: asdict(hole) for attribute, hole in sorted(holes.items())}
                for name, holes in sorted(self.holes.items())
            },
            "bucket_events": list(self.bucket_events),
            "files": [asdict(part) for part in self.parts],
            "type_codes": list(self.schema.types),
            "strings": list(self.schema.strings),
        }


def is_store(path: str | Path) -> bool:
    """Whether the folder is an event store."""
    return (Path(path) / STREAM_FILE).is_file()


def read_stream(path: str | Path) -> Stream:
    """The description of the store at `path`.

    Raises `InputError` if there is none, and `DamagedStore` if files are missing or unexpected.
    """
    stream = _described(local_path(path))
    check_files(stream.path, stream.parts)
    return stream


def _described(path: Path) -> Stream:
    try:
        document = json.loads((path / STREAM_FILE).read_text())
        if document["format"] != FORMAT:
            raise InputError(
                f"{path}/{STREAM_FILE}: format {document['format']}; this version reads format {FORMAT}; "
                "make the store again"
            )
        attributes = tuple(Attribute(name, Kind(kind)) for name, kind in document["attributes"].items())
        stream = Stream(
            path,
            Schema(
                tuple(document["type_codes"]),
                attributes,
                document["time_unit"],
                tuple(document["strings"]),
                document.get("zone"),
            ),
            tuple(document["key"]),
            tuple(document["bucket_events"]),
            tuple(StoreFile(**part) for part in document["files"]),
            {name: TypeSummary(s["events"], s["first"], s["last"]) for name, s in document["types"].items()},
            document["fingerprint"],
            {t: {a: Holes(**hole) for a, hole in by.items()} for t, by in document["nulls"].items()},
            document["source"],
        )
        for bucket, events in enumerate(stream.bucket_events):
            if sum(part.events for part in stream.parts_of(bucket)) != events:
                raise DamagedStore(
                    f"{path}/{STREAM_FILE}: the files of bucket {bucket} do not add up to {events} events"
                )
        return stream
    except OSError as error:
        raise InputError(f"{path}: not an event store: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}/{STREAM_FILE}: no description of a stream ({error!r})") from None


def bucket_folder(bucket: int) -> str:
    """The name of a bucket's folder."""
    return f"bucket={bucket:04d}"


def bucket_batches(
    stream: Stream,
    bucket: int,
    rows: int = READ_ROWS,
    attributes: Collection[str] | None = None,
    start: int = 0,
    begin: int = 0,
) -> Iterator[EventBatch]:
    """Events of a bucket in time order, from position `start` and time `begin` on, at most `rows` at a time.

    Memory is bounded by row groups, independent of the size of the bucket. Only `attributes` are read if given.
    """
    names = [n for n in stream.schema.kinds if attributes is None or n in attributes]
    columns = ["time", "type", *names, POSITION]
    for part in stream.parts_of(bucket):
        with opened(stream.path, part) as parquet:
            groups = _groups(parquet, start, begin)
            for batch in parquet.iter_batches(rows, row_groups=groups, columns=columns, use_threads=False):
                events = _events(batch, stream.schema, names)
                skip = int(max(np.searchsorted(events.position, start), np.searchsorted(events.time, begin)))
                if skip < len(events):
                    yield events.slice(skip, len(events))


def stream_batches(
    stream: Stream,
    start: int = 0,
    stop: int | None = None,
    rows: int = READ_ROWS,
    attributes: Collection[str] | None = None,
) -> Iterator[EventBatch]:
    """Events at positions start..stop-1 of the stream in time order: all buckets merged, at most `rows` at a time."""
    stop = stream.events if stop is None else min(stop, stream.events)
    if stream.buckets == 1:
        for batch in bucket_batches(stream, 0, rows, attributes, start):
            if batch.position[0] >= stop:
                return
            yield batch.slice(0, int(np.searchsorted(batch.position, stop)))
        return
    cursors = [_Cursor(bucket_batches(stream, b, rows, attributes, start)) for b in range(stream.buckets)]
    for low in range(start, stop, rows):
        high = min(low + rows, stop)
        pieces = [piece for cursor in cursors for piece in cursor.before(high)]
        yield _merged(pieces, low, high, stream)


def joined(pieces: list[EventBatch], schema: Schema) -> EventBatch:
    """The events of consecutive batches."""
    if not pieces:
        nothing = np.empty(0, np.int64)
        return EventBatch(schema, nothing, nothing.astype(np.int32), {}, nothing)
    return EventBatch(
        schema,
        np.concatenate([piece.time for piece in pieces]),
        np.concatenate([piece.type for piece in pieces]),
        {name: np.concatenate([piece.columns[name] for piece in pieces]) for name in pieces[0].columns},
        np.concatenate([piece.position for piece in pieces]),
    )


def write_description(stream: Stream, folder: Path) -> None:
    """`stream.json`, the last file of a store."""
    temporary = folder / f".{STREAM_FILE}.tmp"
    temporary.write_text(json.dumps(stream.document(), indent=1) + "\n")
    os.replace(temporary, folder / STREAM_FILE)


def _groups(parquet: pq.ParquetFile, start: int, begin: int) -> list[int]:
    """Row groups that contain a position from `start` on and a time from `begin` on."""
    metadata = parquet.metadata
    groups = list(range(metadata.num_row_groups))
    for name, least in ((POSITION, start), ("time", begin)):
        if least > 0:
            place = parquet.schema_arrow.get_field_index(name)
            groups = [group for group in groups if metadata.row_group(group).column(place).statistics.max >= least]
    return groups


def _events(batch: pa.RecordBatch, schema: Schema, names: Sequence[str]) -> EventBatch:
    columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
    attributes = dict(zip(names, columns[2:-1], strict=True))
    return EventBatch(schema, columns[0], columns[1], attributes, columns[-1])


class _Cursor:
    """Reads one bucket up to given positions."""

    def __init__(self, batches: Iterator[EventBatch]) -> None:
        self._batches = batches
        self._rest: EventBatch | None = None

    def before(self, position: int) -> Iterator[EventBatch]:
        """Unread events at positions below `position`."""
        while True:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            if batch is None:
                return
            cut = int(np.searchsorted(batch.position, position))
            self._rest = batch.slice(cut, len(batch)) if cut < len(batch) else None
            if cut:
                yield batch.slice(0, cut)
            if self._rest is not None:
                return


def _merged(pieces: list[EventBatch], low: int, high: int, stream: Stream) -> EventBatch:
    if len(pieces) == 1:
        return pieces[0]
    events = joined(pieces, stream.schema)
    if len(events) != high - low:
        raise DamagedStore(f"{stream.path}: positions {low} to {high - 1} are not complete; make the store again")
    order = np.empty(high - low, np.int64)
    order[events.position - low] = np.arange(high - low)
    return events.take(order)
