"""Hashes of events, vectorized: the fingerprint of a stream, and the bucket of a key.

Both mix one 64-bit word per column with the finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
number generators, 2014). Neither is cryptographic.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Kind, Schema

CHUNK = 1 << 15  # rows hashed at a time, so that the words stay in the cache

Words = NDArray[np.uint64]


def word(text: str) -> int:
    """A 64-bit word of a text, equal in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def words(texts: Sequence[str]) -> Words:
    """`word` of each text; uint64, with at least one element so that it can be indexed without texts."""
    return np.array([word(text) for text in texts] or [0], np.uint64)


class RowHasher:
    """Two sums of row hashes, which do not depend on the order of rows, nor on batches, buckets or codes."""

    def __init__(self, schema: Schema) -> None:
        self._types = words(schema.types)
        self._strings = words(schema.strings)
        self._columns = sorted((a.name, a.kind, np.uint64(word(a.name))) for a in schema.attributes)

    def sums(self, events: EventBatch) -> tuple[int, int]:
        """The sums over events (time, type, attributes, position), modulo 2^64."""
        total = np.zeros(2, np.uint64)
        for start in range(0, len(events), CHUNK):
            total += self._chunk(events.slice(start, start + CHUNK))
        return int(total[0]), int(total[1])

    def _chunk(self, events: EventBatch) -> Words:
        hashed = _mix(events.position.view(np.uint64) + np.uint64(1))
        hashed = _mix(hashed ^ events.time.view(np.uint64))
        hashed = _mix(hashed ^ self._types[events.type])
        for name, kind, salt in self._columns:
            column = events.columns[name]
            bits = self._strings[column] if kind is Kind.STRING else np.ascontiguousarray(column).view(np.uint64)
            hashed = _mix(hashed ^ (bits + salt))
        return np.array([hashed.sum(dtype=np.uint64), _mix(hashed).sum(dtype=np.uint64)], np.uint64)


def bucket_of(events: EventBatch, key: Sequence[str], buckets: int) -> NDArray[np.uint16]:
    """uint16[n], the bucket of each event: a hash of its key attributes modulo `buckets`."""
    hashed = np.zeros(len(events), np.uint64)
    for name in key:
        column = events.columns[name]
        # -0.0 and 0.0 are one key.
        bits = (
            (column.astype(np.float64) + 0.0).view(np.uint64)
            if column.dtype == np.float64
            else column.astype(np.uint64)
        )
        hashed = _mix(hashed ^ bits)
    return (hashed % np.uint64(buckets)).astype(np.uint16)


def _mix(values: Words) -> Words:
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
