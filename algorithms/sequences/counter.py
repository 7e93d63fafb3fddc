"""Counts the sequences of queries that share their window: the state of A-Seq and Sharon."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Sequences
from functools import lru_cache

import numpy as np

from cepbench.algorithms.engine.batches import sliding
from cepbench.algorithms.engine.event_sequence import Sequence
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.lanes import ROOM_FOR_ROWS, Lanes, mapped
from cepbench.algorithms.engine.peak import KeySizes
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.algorithms.sequences.channels import FAMILIES, Member
from cepbench.algorithms.sequences.kernels import counters
from cepbench.algorithms.sequences.kernels.counters import CounterState, KeyCounters, SequenceRows, Values
from cepbench.algorithms.sequences.kernels.program import Chains
from cepbench.algorithms.sequences.kernels.stream import Sequencing, count_keys
from cepbench.algorithms.sequences.plan import Candidate
from cepbench.algorithms.sequences.program import make_counting
from cepbench.algorithms.sequences.segments import cut
from cepbench.algorithms.sequences.state import enlarge, largest_sizes, new_lane, new_values
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.aggregates import NO_VALUE


class SequenceCounter(Lanes):
    """Counters of sequences in time windows: O(l K) space per key for the places l of segments and K windows, and
    O(n l) for n live START events.

    Sequences are in order of their `query`, an index into `members`. Each key has a contiguous range of the values;
    when it needs space for more START events, it moves to a longer range at the end.
    """

    over = staticmethod(count_keys)
    arena: Values
    lanes: KeyCounters

    def __init__(
        self,
        schema: Schema,
        members: Sequences[Member],
        sequences: Sequences[Sequence],
        shared: Sequences[Candidate],
        window: Window,
    ) -> None:
        self.sequences = tuple(sequences)
        self.queries = tuple(member.query.index for member in members)
        self.counting = make_counting(schema, members, self.sequences, cut(self.sequences, shared), window.overlap)
        self.program = self.counting.program
        fixed = Sequencing(self.program, sliding(window), members[0].query.arithmetic == "modular")
        fresh = new_lane(self.counting, window.overlap)
        self.widths = tuple(int(self.program.chains.query["width"][family].max(initial=0)) for family in FAMILIES)
        self.used = np.zeros(3, np.int64)  # number of values in use per family
        super().__init__(fixed, fresh, new_values(self.used, self.program.unit.dtype), window, self.counting.columns)

    @property
    def rows(self) -> SequenceRows:
        return _new_rows(max(ROOM_FOR_ROWS, len(self.queries)), self.widths, self.program.unit.dtype.char)

    def allocate(self, first: int) -> None:
        size = self.fresh.size
        count = len(self.lanes.begin) - first
        self.lanes.begin[first:] = self.used + np.arange(count)[:, np.newaxis] * size
        self._use(count * size)

    def grow(self, key: int) -> None:
        """Doubles the slots of segments that are more than half full."""
        old = self.state_of_key(key).values
        copy = enlarge(mapped(lambda array: array[key], self.lanes), self.counting)
        copy(old, self.moved(key).values)

    def moved(self, key: int) -> CounterState:
        """The state of a key in a new, empty range of values; the key's `size` is its length."""
        self.lanes.begin[key] = self.used
        self._use(self.lanes.size[key])
        return self.state_of_key(key)

    def state_of_key(self, key: int) -> CounterState:
        """The state of a key as views of the arrays."""
        return in_python(counters.state_of)(self.arena, mapped(lambda array: array[key], self.lanes))

    def copied(self, rows: SequenceRows, size: int, owner: Ints) -> Rows:
        by_query = rows_by_query(rows, size, self.program.chains, owner)
        return {self.queries[member]: part for member, part in by_query.items()}

    def clear(self, keys: Ints) -> None:
        """As `Lanes.clear`; the keys keep their ranges of the values."""
        begin, size = self.lanes.begin[keys], self.lanes.size[keys]
        super().clear(keys)
        self.lanes.begin[keys], self.lanes.size[keys] = begin, size
        for array, place, empty in zip(self.arena, self._stretches(keys), (0, False, 0.0, NO_VALUE), strict=True):
            array[place] = empty

    def live(self) -> KeySizes:
        return largest_sizes(self.lanes, self.program)

    def work(self, lanes: KeyCounters) -> Mapping[str, float]:
        """`updates` of counters and `combinations`, products of a snapshot and a counter."""
        return {name: float(lanes.slots.clock[name].sum()) for name in ("updates", "combinations")}

    def packed(self, live: Ints) -> Values:
        """The values of live keys, concatenated."""
        return Values._make(array[place] for array, place in zip(self.arena, self._stretches(live), strict=True))

    def unpacked(self, live: Ints, packed: Values) -> Values:
        """The ranges of all keys, restored from the values of live keys."""
        ends = np.cumsum(self.lanes.size, axis=0)
        self.lanes.begin[:] = ends - self.lanes.size
        self.used = ends[-1] if len(ends) else np.zeros(3, np.int64)
        values = new_values(self.used, self.program.unit.dtype)
        for array, place, kept in zip(values, self._stretches(live), packed, strict=True):
            array[place] = kept
        return values

    def _stretches(self, live: Ints) -> Sequences[Ints]:
        """The indices of the live keys' values in each array, concatenated."""
        stretches = []
        for begin, size in zip(self.lanes.begin[live].T, self.lanes.size[live].T, strict=True):
            ahead = np.cumsum(size) - size
            stretches.append(np.repeat(begin - ahead, size) + np.arange(size.sum()))
        ring, real, least = stretches
        return ring, ring, real, least

    def _use(self, number: Ints) -> None:
        """Allocates more values; keys that have moved leave unused ranges behind."""
        self.used = self.used + number
        room = np.array([len(self.arena.ring), len(self.arena.real), len(self.arena.least)])
        if (self.used > room).any():
            wide = new_values(np.maximum(self.used, room * 3 // 2), self.program.unit.dtype)
            for old, new in zip(self.arena, wide, strict=True):
                new[: len(old)] = old
            self.arena = wide


@lru_cache(maxsize=16)
def _new_rows(room: int, widths: tuple[int, ...], dtype: str) -> SequenceRows:
    """Arrays for `room` rows with the given number of channels of each family."""
    ring, real, least = widths
    return SequenceRows(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, ring), dtype),
        np.empty((room, ring), np.bool_),
        np.empty((room, real), np.float64),
        np.empty((room, least), np.int64),
    )


def rows_by_query(rows: SequenceRows, size: int, chains: Chains, owner: Ints) -> dict[int, AggregateRows]:
    """Copies of the first `size` rows, whose keys are `owner`, by query index.

    Rows are sorted together and then cut: with many queries, separate numpy calls took more time than counting.
    """
    order = np.argsort(rows.query[:size], kind="stable")
    query, window, key = rows.query[order], rows.window[order], owner[order]
    ring, real, least = rows.ring[order], rows.real[order], rows.least[order]
    bits = np.uint64(1) << np.arange(ring.shape[1], dtype=np.uint64)
    returned = np.arange(ring.shape[1]) < chains.query["width"]["ring"][query][:, np.newaxis]
    over = ((rows.over[order] & returned) * bits).sum(axis=1, dtype=np.uint64)
    first = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])).tolist()
    numbers, ends = query[first].tolist(), [*first[1:], size]
    return {
        q: AggregateRows(
            window[a:b], ring[a:b, :rings], over[a:b], real[a:b, :reals], least[a:b, :leasts], key=key[a:b]
        )
        for q, a, b, (rings, reals, leasts) in zip(
            numbers, first, ends, chains.query["width"][numbers].tolist(), strict=True
        )
    }
