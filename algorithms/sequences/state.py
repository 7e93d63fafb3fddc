"""The arrays of a sequence counter: made, and made anew with room for more START events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.sequences.kernels.tables import (
    AT_LEAST,
    AT_REAL,
    AT_RING,
    BY_START,
    BY_WINDOW,
    CAPACITY,
    FIRST,
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
    SLOTS,
    TAIL,
    CounterState,
    Gathered,
    Program,
)
from cepbench.algorithms.sequences.program import CHANNEL_BYTES, Counting
from cepbench.queries.aggregates import NO_VALUE

Ints = NDArray[np.int64]

AT_FIRST = 16
"""START events for which a segment has room at first."""
CHANNELS = (RING, REAL, LEAST)
PLACES = (AT_RING, AT_REAL, AT_LEAST)
QUERY_CHANNELS = (QUERY_RING, QUERY_REAL, QUERY_LEAST)


def new_state(counting: Counting, span: int, modular: bool) -> CounterState:
    """The state of `span` windows before the first event."""
    program = counting.program
    segments, links = len(program.segment), len(program.link)
    dtype = np.uint64 if modular else np.float64
    slots = program.segment[:, SLOTS]
    place = np.zeros((segments, 6), np.int64)
    place[:, TAIL] = np.choose(slots, (0, 1, span))
    place[:, CAPACITY] = np.choose(slots, (AT_FIRST, 1, span))
    snapshot = np.zeros((links, 3), np.int64)
    values = lay_out(counting, place, snapshot, span, dtype)
    symbols = len(program.ring_ptr) - 1
    ring, real, least = counting.weights
    return CounterState(
        np.array([-1, 0, -1, 0], np.int64),
        place,
        np.zeros((segments, span), np.int64),
        snapshot,
        *values,
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
        np.zeros(2, np.int64),
        np.zeros(2 + segments, np.int64),
    )


def state_size(program: Program, windows: int, live: Ints) -> StateSize:
    """What so many open windows and live slots of each segment take."""
    segment, link = program.segment, program.link
    live = np.where(segment[:, SLOTS] == BY_WINDOW, windows, live)
    by_start = segment[:, SLOTS] == BY_START
    plain = len(program.unit) if windows else 0
    values = live * segment[:, ROWS] + windows * segment[:, FIRST]
    kept = (live * by_start)[link[:, SEGMENT]] * windows
    size = 9 * plain
    size += int((values * (segment[:, CHANNELS] @ CHANNEL_BYTES)).sum())
    size += int((kept * (program.query[link[:, QUERY]][:, QUERY_CHANNELS] @ CHANNEL_BYTES)).sum())
    aggregates = plain + int((values * segment[:, CHANNELS].sum(axis=1)).sum())
    events = int((live * by_start).sum())
    return StateSize(size, {"aggregates": aggregates, "snapshots": int(kept.sum()), "events": events})


def enlarged(state: CounterState, counting: Counting) -> CounterState:
    """The same state with twice the slots for segments that are more than half full."""
    program = counting.program
    span = state.opened.shape[1]
    place, snapshot = state.place.copy(), state.snapshot.copy()
    crowded = (2 * (place[:, TAIL] - place[:, HEAD]) > place[:, CAPACITY]) & (program.segment[:, SLOTS] == BY_START)
    place[:, CAPACITY] *= np.where(crowded, 2, 1)
    values = lay_out(counting, place, snapshot, span, state.plain.dtype)
    for new, old, family in zip(values, (state.ring, state.over, state.real, state.least), (0, 0, 1, 2), strict=True):
        new[: counting.results[family]] = old[: counting.results[family]]
        rows = program.segment[:, CHANNELS[family]] * program.segment[:, ROWS]
        for g, count in enumerate(rows.tolist()):
            _copy(old, new, state.place[g], place[g], state.place[g, PLACES[family]], place[g, PLACES[family]], count)
        kept = _snapshot_rows(program, family, span)
        for u, count in enumerate(kept.tolist()):
            g = program.link[u, SEGMENT]
            _copy(old, new, state.place[g], place[g], state.snapshot[u, family], snapshot[u, family], count)
    ring, over, real, least = values
    return state._replace(place=place, snapshot=snapshot, ring=ring, over=over, real=real, least=least)


def _copy(old: NDArray[Any], new: NDArray[Any], was: Ints, place: Ints, begin: int, new_begin: int, rows: int) -> None:
    """Copies rows of slots to wider ones."""
    size, wider = int(was[CAPACITY]), int(place[CAPACITY])
    source = old[begin : begin + rows * size].reshape(rows, size)
    new[new_begin : new_begin + rows * wider].reshape(rows, wider)[:, :size] = source


def _snapshot_rows(program: Program, family: int, span: int) -> Ints:
    """Rows of snapshots per link; a segment that has a slot per window keeps them at its first place."""
    by_start = program.segment[program.link[:, SEGMENT], SLOTS] == BY_START
    rows: Ints = program.query[program.link[:, QUERY], QUERY_CHANNELS[family]] * span * by_start
    return rows


def lay_out(
    counting: Counting, place: Ints, snapshot: Ints, span: int, dtype: Any
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.float64], Ints]:
    """Writes to `place` and `snapshot` where counters and snapshots begin; returns `ring`, `over`, `real`, `least`."""
    program, slots = counting.program, place[:, CAPACITY]
    sizes = []
    for family, results in enumerate(counting.results):
        counters = program.segment[:, CHANNELS[family]] * program.segment[:, ROWS] * slots
        kept = _snapshot_rows(program, family, span) * slots[program.link[:, SEGMENT]]
        ends = results + np.cumsum(np.concatenate([counters, kept]))
        begins = np.concatenate([[results], ends[:-1]])
        place[:, PLACES[family]], snapshot[:, family] = begins[: len(counters)], begins[len(counters) : len(ends)]
        sizes.append(int(ends[-1]) if len(ends) else results)
    ring, real, least = sizes
    return np.zeros(ring, dtype), np.zeros(ring, np.bool_), np.zeros(real), np.full(least, NO_VALUE, np.int64)
