"""Writing event stores: events in time order go to the part files of their buckets, without a shuffle.

A stream is cut into consecutive stretches, one writer (and task) each. Every writer fills a part file of its own in
each bucket; stretches are consecutive in time, and so are the parts. The counts of the writers are added up at the end.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import blake2b
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.errors import InputError
from cepbench.events.schema import Schema
from cepbench.pipeline.hashing import RowHasher, bucket_of
from cepbench.pipeline.parts import PartWriter, StoreFile
from cepbench.pipeline.store import POSITION, Holes, Stream, TypeSummary, bucket_folder, write_description

MAX_BUCKETS = 9999
GROUP_ROWS = 1 << 18
PENDING_ROWS = 1 << 22  # over all buckets of a writer


@dataclass(frozen=True)
class Written:
    """The counts of a batch or a writer: addable, and small enough to be collected from every task."""

    bucket_events: tuple[int, ...]
    types: Mapping[str, TypeSummary]
    sums: tuple[int, int]
    first: int | None = None  # time of the first and last event
    last: int | None = None
    holes: Mapping[str, Mapping[str, Holes]] = field(default_factory=dict)
    parts: tuple[StoreFile, ...] = ()

    def __add__(self, other: "Written") -> "Written":
        """The sum of both, when `other` follows in time."""
        if self.last is not None and other.first is not None and other.first < self.last:
            raise InputError(f"the stream goes back in time, from {self.last} to {other.first}, between two slices")
        types = dict(self.types)
        for name, summary in other.types.items():
            types[name] = _add_types(types[name], summary) if name in types else summary
        holes = {name: dict(by) for name, by in self.holes.items()}
        for name, by in other.holes.items():
            for attribute, hole in by.items():
                before = holes.setdefault(name, {}).get(attribute)
                holes[name][attribute] = hole if before is None else Holes(before.events + hole.events, before.first)
        return Written(
            tuple(a + b for a, b in zip(self.bucket_events, other.bucket_events, strict=True)),
            types,
            ((self.sums[0] + other.sums[0]) % 2**64, (self.sums[1] + other.sums[1]) % 2**64),
            other.first if self.first is None else self.first,
            self.last if other.last is None else other.last,
            holes,
            self.parts + other.parts,
        )


class BucketWriter:
    """Writes part number `part` of every bucket of a new store. A context manager; later, `written` has its files."""

    def __init__(self, folder: Path, schema: Schema, key: Sequence[str], buckets: int, part: int) -> None:
        check_key(schema, key, buckets)
        self.written = Written((0,) * buckets, {}, (0, 0))
        self._folder, self._schema, self._key, self._part = folder, schema, tuple(key), part
        self._arrow = arrow_schema(schema)
        self._pending: list[list[pa.Table]] = [[] for _ in range(buckets)]
        self._rows = [0] * buckets
        self._group = min(GROUP_ROWS, max(4096, PENDING_ROWS // buckets))
        self._files: dict[int, PartWriter] = {}
        self._hasher = RowHasher(schema)

    def __enter__(self) -> "BucketWriter":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            for file in self._files.values():
                file.discard()
            return
        for bucket, rows in enumerate(self._rows):
            if rows:
                self._flush(bucket)
        self.written = replace(self.written, parts=tuple(file.close() for file in self._files.values()))

    def write(
        self,
        events: EventBatch,
        missing: Mapping[str, NDArray[np.bool_]] | None = None,
        origin: Callable[[int], str] | None = None,
    ) -> None:
        """Writes events in time order. `missing` marks null attributes; NaN is found here.

        `origin` names the place in the input of the batch's event i, for messages.
        """
        if not len(events):
            return
        first, last = int(events.time[0]), int(events.time[-1])
        before = first if self.written.last is None else self.written.last
        if first < before or np.any(events.time[1:] < events.time[:-1]):
            raise InputError(f"events from position {events.position[0]} on are not in time order")
        if first < 0:
            raise InputError(f"the time {first} at position {events.position[0]} is negative")
        buckets = len(self._rows)
        if buckets == 1:
            sizes = np.array([len(events)])
            table = self._table(events)
        else:
            target = bucket_of(events, self._key, buckets)
            sizes = np.bincount(target, minlength=buckets)
            table = self._table(events.take(np.argsort(target, kind="stable")))
        holes = self._holes(events, missing or {}, origin)
        self.written += Written(
            tuple(sizes.tolist()), self._types(events), self._hasher.sums(events), first, last, holes
        )
        stops = np.cumsum(sizes)
        for bucket in np.flatnonzero(sizes):
            self._append(int(bucket), table.slice(int(stops[bucket] - sizes[bucket]), int(sizes[bucket])))

    def _types(self, events: EventBatch) -> dict[str, TypeSummary]:
        names = self._schema.types
        firsts, lasts = np.empty(len(names), np.int64), np.empty(len(names), np.int64)
        lasts[events.type] = events.time  # where a type occurs often, the last assignment stays
        firsts[events.type[::-1]] = events.time[::-1]
        counts = np.bincount(events.type, minlength=len(names))
        return {
            names[code]: TypeSummary(int(counts[code]), int(firsts[code]), int(lasts[code]))
            for code in np.flatnonzero(counts)
        }

    def _holes(
        self, events: EventBatch, missing: Mapping[str, NDArray[np.bool_]], origin: Callable[[int], str] | None
    ) -> dict[str, dict[str, Holes]]:
        holes: dict[str, dict[str, Holes]] = {}
        for name, column in events.columns.items():
            mask = missing.get(name)
            if column.dtype == np.float64 and np.isnan(column.min()):
                mask = np.isnan(column)
            if mask is None:
                continue
            counts = np.bincount(events.type[mask], minlength=len(self._schema.types))
            for code in np.flatnonzero(counts):
                first = int(np.argmax(mask & (events.type == code)))
                place = origin(first) if origin else f"event {events.position[first] + 1} of the stream"
                holes.setdefault(self._schema.types[code], {})[name] = Holes(int(counts[code]), place)
        return holes

    def _table(self, events: EventBatch) -> pa.Table:
        columns = [events.time, events.type, *(events.columns[n] for n in self._schema.kinds), events.position]
        return pa.Table.from_arrays(
            [pa.array(c, field.type) for c, field in zip(columns, self._arrow, strict=True)], schema=self._arrow
        )

    def _append(self, bucket: int, table: pa.Table) -> None:
        self._pending[bucket].append(table)
        self._rows[bucket] += table.num_rows
        if self._rows[bucket] >= self._group:
            self._flush(bucket)

    def _flush(self, bucket: int) -> None:
        if bucket not in self._files:
            name = f"{bucket_folder(bucket)}/part-{self._part:05d}.parquet"
            self._files[bucket] = PartWriter(self._folder, name, self._arrow, **options(self._schema))
        table = pa.concat_tables(self._pending[bucket]).combine_chunks()
        self._files[bucket].write(table, GROUP_ROWS)
        self._pending[bucket], self._rows[bucket] = [], 0


def check_key(schema: Schema, key: Sequence[str], buckets: int) -> None:
    """`InputError` for a key or number of buckets that a store of this schema cannot have."""
    for name in key:
        if name not in schema.kinds:
            raise InputError(f"key attribute {name!r} is missing; there are {', '.join(schema.kinds) or 'none'}")
    if not 1 <= buckets <= MAX_BUCKETS:
        raise InputError(f"{buckets} buckets; choose 1 to {MAX_BUCKETS}")
    if not key and buckets > 1:
        raise InputError(f"{buckets} buckets without a key; name key attributes or choose 1 bucket")


def arrow_schema(schema: Schema) -> pa.Schema:
    """The columns of a store's Parquet files."""
    kinds = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.int32()}
    attributes = [pa.field(a.name, kinds[a.kind], False) for a in schema.attributes]
    time, kind, position = (
        pa.field(*f, False) for f in (("time", pa.int64()), ("type", pa.int32()), (POSITION, pa.int64()))
    )
    return pa.schema([time, kind, *attributes, position])


def describe(
    folder: Path, schema: Schema, key: Sequence[str], written: Sequence[Written], source: Mapping[str, Any]
) -> Stream:
    """Completes a store: adds up the counts of its writers (in the order of their parts) and writes `stream.json`."""
    total = reduce(add, written)
    stream = Stream(
        folder,
        schema,
        tuple(key),
        total.bucket_events,
        tuple(sorted(total.parts, key=lambda part: part.name)),
        total.types,
        _fingerprint(schema, total),
        total.holes,
        source,
    )
    write_description(stream, folder)
    return stream


def _fingerprint(schema: Schema, total: Written) -> str:
    """The fingerprint: of rows, attributes and time unit, not of buckets, parts, key, dictionaries and origin."""
    attributes = sorted((a.name, str(a.kind)) for a in schema.attributes)
    holes = sorted((t, a, hole.events) for t, by in total.holes.items() for a, hole in by.items())
    content = json.dumps([schema.time_unit, attributes, sum(total.bucket_events), total.sums, holes])
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _add_types(a: TypeSummary, b: TypeSummary) -> TypeSummary:
    return TypeSummary(a.events + b.events, min(a.first, b.first), max(a.last, b.last))


def options(schema: Schema) -> dict[str, Any]:
    """Encodings: times and positions as differences (a few bits each), codes by dictionary, other numbers plain."""
    coded = ["type", *(a.name for a in schema.attributes if a.kind == "string")]
    differences = {"time": "DELTA_BINARY_PACKED", POSITION: "DELTA_BINARY_PACKED"}
    return {"compression": "snappy", "use_dictionary": coded, "column_encoding": differences, "write_statistics": True}
