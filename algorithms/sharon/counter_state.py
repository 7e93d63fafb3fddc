"""The arrays of a sequence counter: made, and made anew with room for more START events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.kernels.sequences import (
    AT_LEAST,
    AT_REAL,
    AT_RING,
    CAPACITY,
    HEAD,
    LEAST,
    QUERY,
    QUERY_LEAST,
    QUERY_REAL,
    QUERY_RING,
    REAL,
    RING,
    ROWS,
    SEGMENT,
    SINGLE,
    TAIL,
    Gathered,
    Program,
    State,
    Store,
)
from algorithms.sharon.program import Counting
from queries.aggregates import NO_VALUE

Ints = NDArray[np.int64]

SLOTS = 16
"""Slots of a segment at first."""
CHANNELS = (RING, REAL, LEAST)
PLACES = (AT_RING, AT_REAL, AT_LEAST)
QUERY_CHANNELS = (QUERY_RING, QUERY_REAL, QUERY_LEAST)


def new_state(counting: Counting, span: int, modular: bool) -> State:
    """The state of `span` windows before the first event."""
    program = counting.program
    segments, links = len(program.segment), len(program.link)
    dtype = np.uint64 if modular else np.float64
    single = program.segment[:, SINGLE] == 1
    place = np.zeros((segments, 6), np.int64)
    place[:, TAIL] = single
    place[:, CAPACITY] = np.where(single, 1, SLOTS)
    snapshot = np.zeros((links, 3), np.int64)
    rows, snapshots = lay_out(program, place, snapshot, span, dtype)
    symbols = len(program.ring_ptr) - 1
    ring, real, least = counting.weights
    widest = [int(program.query[:, c].max(initial=0)) for c in QUERY_CHANNELS]
    most = [max(int(program.segment[:, c].max(initial=0)), wide) for c, wide in zip(CHANNELS, widest, strict=True)]
    return State(
        np.array([-1, 0, -1, 0], np.int64),
        place,
        np.zeros((segments, span), np.int64),
        snapshot,
        rows,
        snapshots,
        _empty(counting.results, dtype),
        program.unit.astype(dtype),
        np.zeros(len(program.unit), np.bool_),
        np.zeros(len(program.plain), dtype),
        np.zeros(len(program.plain), np.bool_),
        Gathered(
            np.zeros(symbols, np.uint64),
            np.zeros((symbols, ring), np.uint64),
            np.zeros((symbols, ring), np.bool_),
            np.zeros((symbols, real)),
            np.full((symbols, least), NO_VALUE, np.int64),
            np.zeros(symbols, np.int64),
            np.zeros(symbols, np.int64),
        ),
        _empty(most, dtype),
        _empty(most, dtype),
        np.zeros(2, np.int64),
    )


def enlarged(state: State, program: Program) -> State:
    """The same state with twice the slots for segments that are more than half full."""
    span = state.opened.shape[1]
    place, snapshot = state.place.copy(), state.snapshot.copy()
    crowded = (2 * (place[:, TAIL] - place[:, HEAD]) > place[:, CAPACITY]) & (program.segment[:, SINGLE] == 0)
    place[:, CAPACITY] *= np.where(crowded, 2, 1)
    rows, snapshots = lay_out(program, place, snapshot, span, state.plain.dtype)
    for g in range(len(place)):
        for (old, new), channel, at in zip(_families(state.rows, rows), (0, 0, 1, 2), (0, 0, 1, 2), strict=True):
            count = int(program.segment[g, CHANNELS[channel]] * program.segment[g, ROWS])
            _copy(old, new, state.place[g], place[g], state.place[g, PLACES[at]], place[g, PLACES[at]], count)
    for u in range(len(snapshot)):
        g, query = program.link[u, SEGMENT], program.query[program.link[u, QUERY]]
        for (old, new), family in zip(_families(state.snapshots, snapshots), (0, 0, 1, 2), strict=True):
            count = int(query[QUERY_CHANNELS[family]]) * span
            _copy(old, new, state.place[g], place[g], state.snapshot[u, family], snapshot[u, family], count)
    return state._replace(place=place, snapshot=snapshot, rows=rows, snapshots=snapshots)


def _families(old: Store, new: Store) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    return [(old.ring, new.ring), (old.over, new.over), (old.real, new.real), (old.least, new.least)]


def _copy(old: NDArray[Any], new: NDArray[Any], was: Ints, place: Ints, begin: int, new_begin: int, rows: int) -> None:
    """Copies rows of slots to wider ones."""
    size, wider = int(was[CAPACITY]), int(place[CAPACITY])
    source = old[begin : begin + rows * size].reshape(rows, size)
    new[new_begin : new_begin + rows * wider].reshape(rows, wider)[:, :size] = source


def lay_out(program: Program, place: Ints, snapshot: Ints, span: int, dtype: Any) -> tuple[Store, Store]:
    """Writes to `place` and `snapshot` where counters and snapshots begin; returns stores for them."""
    slots = place[:, CAPACITY]
    sizes = []
    for channel, at in zip(CHANNELS, PLACES, strict=True):
        ends = np.cumsum(program.segment[:, channel] * program.segment[:, ROWS] * slots)
        place[1:, at] = ends[:-1]
        sizes.append(int(ends[-1]) if len(ends) else 0)
    kept = []
    for family, channel in enumerate(QUERY_CHANNELS):
        ends = np.cumsum(program.query[program.link[:, QUERY], channel] * span * slots[program.link[:, SEGMENT]])
        snapshot[1:, family] = ends[:-1]
        kept.append(int(ends[-1]) if len(ends) else 0)
    return _empty(sizes, dtype), _empty(kept, dtype)


def _empty(sizes: Any, dtype: Any) -> Store:
    ring, real, least = sizes
    return Store(np.zeros(ring, dtype), np.zeros(ring, np.bool_), np.zeros(real), np.full(least, NO_VALUE, np.int64))
