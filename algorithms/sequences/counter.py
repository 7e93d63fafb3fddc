"""Counts the sequences of queries that share their window: the state of A-Seq and Sharon."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Sequences
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.batches import sliding
from cepbench.algorithms.engine.event_sequence import Sequence
from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.lanes import ROOM_FOR_ROWS, Lanes, mapped
from cepbench.algorithms.engine.peak import KeySizes
from cepbench.algorithms.growth import with_room
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.algorithms.sequences.channels import Member
from cepbench.algorithms.sequences.kernels import counters
from cepbench.algorithms.sequences.kernels.counters import CounterState, KeyCounters, SequenceRows, Values
from cepbench.algorithms.sequences.kernels.stream import Sequencing, count_keys
from cepbench.algorithms.sequences.plan import Candidate
from cepbench.algorithms.sequences.program import make_counting
from cepbench.algorithms.sequences.segments import cut
from cepbench.algorithms.sequences.state import (
    copy_values,
    empty_words,
    enlarge,
    largest_sizes,
    new_lane,
    values_of,
)
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.aggregates import Layout


class SequenceCounter(Lanes):
    """Counters of sequences in time windows: O(l K) space per key for the places l of segments and K windows, and
    O(n l) for n live START events.

    Sequences are in order of their `query`, an index into `members`. Each key has a contiguous region of the values;
    when it needs space for more START events, it moves to a larger region at the end.
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
        self.layouts = tuple(member.query.layout for member in members)
        self.counting = make_counting(schema, members, self.sequences, cut(self.sequences, shared), window.overlap)
        self.program = self.counting.program
        fixed = Sequencing(self.program, sliding(window))
        fresh = new_lane(self.counting, window.overlap)
        self.empty = empty_words(self.counting, fresh)
        self.used = 0  # number of values in use
        super().__init__(fixed, fresh, self._values(0), window, self.counting.columns)

    @property
    def rows(self) -> SequenceRows:
        width = int(self.program.chains.query["width"].max())
        return _new_rows(max(ROOM_FOR_ROWS, len(self.queries)), width)

    def allocate(self, first: int) -> None:
        region = self.lanes.region[first:, 0]
        region["begin"] = self.used + np.arange(len(region)) * len(self.empty)
        self._use(len(region) * len(self.empty))
        self._write_empty(region["begin"])

    def grow(self, key: int) -> None:
        """Doubles the slots of segments that are more than half full."""
        old = self.state_of_key(key)
        old = old._replace(slots=mapped(np.copy, old.slots))
        enlarge(mapped(lambda array: array[key], self.lanes), self.counting)
        copy_values(old, self.moved(key), self.counting)

    def moved(self, key: int) -> CounterState:
        """The state of a key in a new region of words that are 0; `size` of its region is given."""
        region = self.lanes.region[key, 0]
        region["begin"] = self.used
        self._use(int(region["size"]))
        return self.state_of_key(key)

    def state_of_key(self, key: int) -> CounterState:
        """The state of a key as views of the arrays."""
        return in_python(counters.state_of)(self.arena, mapped(lambda array: array[key], self.lanes))

    def copied(self, rows: SequenceRows, size: int, owner: Ints) -> Rows:
        by_query = rows_by_query(rows, size, self.layouts, self.program.unit.dtype, owner)
        return {self.queries[member]: part for member, part in by_query.items()}

    def clear(self, keys: Ints) -> None:
        """As `Lanes.clear`; the keys keep their regions of the values."""
        region = self.lanes.region[keys]
        super().clear(keys)
        self.lanes.region[keys] = region
        place = self._places(keys)
        self.arena.ints[place], self.arena.over[place] = 0, False
        self._write_empty(region["begin"][:, 0])

    def state(self) -> StateSize:
        """As `Lanes.state`; the three views of the values share their memory."""
        state = super().state()
        return replace(state, reserved=state.reserved - 2 * self.arena.ints.nbytes)

    def live(self) -> KeySizes:
        return largest_sizes(self.lanes, self.program)

    def work(self, lanes: KeyCounters) -> Mapping[str, float]:
        """`updates` of counters and `combinations`, products of a snapshot and a counter."""
        return {name: float(lanes.slots.clock[name].sum()) for name in ("updates", "combinations")}

    def packed(self, live: Ints) -> tuple[Ints, Flags]:
        """The words and flags of live keys, concatenated."""
        place = self._places(live)
        return self.arena.ints[place], self.arena.over[place]

    def unpacked(self, live: Ints, packed: tuple[Ints, Flags]) -> Values:
        """The regions of all keys, restored from the values of live keys."""
        region = self.lanes.region[:, 0]
        ends = np.cumsum(region["size"])
        region["begin"] = ends - region["size"]
        self.used = int(ends[-1]) if len(ends) else 0
        self.arena = self._values(self.used)
        self._write_empty(region["begin"])
        place = self._places(live)
        self.arena.ints[place], self.arena.over[place] = packed
        return self.arena

    def _values(self, size: int) -> Values:
        """Values that are 0."""
        return values_of(np.zeros(size, np.int64), np.zeros(size, np.bool_), self.program.unit.dtype)

    def _places(self, keys: Ints) -> Ints:
        """The indices of the keys' values, concatenated."""
        begin, size = self.lanes.region["begin"][keys, 0], self.lanes.region["size"][keys, 0]
        before = np.cumsum(size) - size
        return np.repeat(begin - before, size) + np.arange(size.sum())

    def _write_empty(self, begin: Ints) -> None:
        """Makes regions of zeros those of keys before the first event."""
        words = np.flatnonzero(self.empty)
        self.arena.ints[begin[:, np.newaxis] + words] = self.empty[words]

    def _use(self, number: int) -> None:
        """Allocates more values; keys that have moved leave unused regions behind."""
        self.used += number
        ints, over = with_room(self.arena.ints, self.used), with_room(self.arena.over, self.used)
        self.arena = values_of(ints, over, self.program.unit.dtype)


@lru_cache(maxsize=16)
def _new_rows(room: int, width: int) -> SequenceRows:
    """Arrays for `room` rows of up to `width` channels."""
    return SequenceRows(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, width), np.int64),
        np.empty((room, width), np.bool_),
    )


def rows_by_query(
    rows: SequenceRows, size: int, layouts: Sequences[Layout], dtype: np.dtype[Any], owner: Ints
) -> dict[int, AggregateRows]:
    """Copies of the first `size` rows, whose keys are `owner`, by query index; ring channels are of a dtype.

    Rows are sorted together and then cut: with many queries, separate numpy calls took more time than counting.
    """
    order = np.argsort(rows.query[:size], kind="stable")
    query, window, key, words = rows.query[order], rows.window[order], owner[order], rows.ints[order]
    counts, reals = words.view(dtype), words.view(np.float64)
    rings = np.array([len(layout.ring) for layout in layouts])
    channel = np.arange(rings.max())
    flags = rows.over[order][:, channel] & (channel < rings[query][:, np.newaxis])
    over = (flags * (np.uint64(1) << channel.astype(np.uint64))).sum(axis=1, dtype=np.uint64)
    first = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])).tolist()
    numbers, ends = query[first].tolist(), [*first[1:], size]
    by_query = {}
    for q, a, b in zip(numbers, first, ends, strict=True):
        real = len(layouts[q].ring)
        least = real + len(layouts[q].real)
        end = least + len(layouts[q].least)
        by_query[q] = AggregateRows(
            window[a:b], counts[a:b, :real], over[a:b], reals[a:b, real:least], words[a:b, least:end], key=key[a:b]
        )
    return by_query
