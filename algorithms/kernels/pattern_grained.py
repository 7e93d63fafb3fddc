"""Skip-till-next-match and contiguous aggregation with predicates on adjacent events (dissertation Section 16.2).

Algorithm 9 keeps one last matched event. Definition 2.7 needs every event that still waits for its first successor:
under skip-till-next-match an event leaves when events of one time stamp extend it, under contiguous semantics when the
time moves on. So O(u) time per event and O(u) space for u waiting events, instead of O(1); u is 1 where Algorithm 9 is
right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from algorithms.kernels.cells import Cells, add, begin, clear, copy, extend, is_empty
from algorithms.kernels.predicates import hold
from algorithms.kernels.type_grained import (
    CONTIGUOUS,
    LOW,
    NOW,
    OCCUPIED,
    advance,
    feed,
    first_free_window,
)

ROOM, OUTPUT, DONE = 0, 1, 2
SHOWN, SIZE = 0, 1


class Waiting(NamedTuple):
    """Events without a successor: the first `count[SHOWN]` came before the current time stamp, `count[SIZE]` in all.

    `position[V]`, `high[V]` (the last window of the event), `taken[V]` (extended at the current time), attributes
    `ints[I, V]`, `reals[F, V]`; cell `v * K + k % K` is that of window k. `reached`: K cells.
    """

    position: NDArray[np.int64]
    high: NDArray[np.int64]
    taken: NDArray[np.bool_]
    ints: NDArray[np.int64]
    reals: NDArray[np.float64]
    cells: Cells
    reached: Cells
    count: NDArray[np.int64]


@njit(cache=True)
def extend_waiting(
    first, time, kind, ints, reals, negated, tables, slots, semantics, within, slide, waiting, state,
    out_window, out, out_size,
):  # fmt: skip
    """Processes events `first..`; returns (next event, rows in `out`, why it stopped: ROOM, OUTPUT or DONE)."""
    span = len(state.final.over)
    clock = state.clock
    for i in range(first, len(time)):
        now = time[i]
        if now != clock[NOW]:
            if out_size + span > len(out_window):
                return i, out_size, OUTPUT
            out_size = advance_waiting(
                now, negated[i], slots, semantics, within, slide, waiting, state, out_window, out, out_size
            )
        clock[OCCUPIED] = 1
        positions = tables.binding_ptr[kind[i] + 1] - tables.binding_ptr[kind[i]]
        if waiting.count[SIZE] + positions > len(waiting.position):
            return i, out_size, ROOM
        low, high = clock[LOW], now // slide
        for b in range(tables.binding_ptr[kind[i]], tables.binding_ptr[kind[i] + 1]):
            p = tables.binding[b]
            if hold(tables.local, p, ints, reals, i, ints, reals, i):
                _bind(i, p, low, high, ints, reals, negated, tables, slots, slide, waiting, state)
    return len(time), out_size, DONE


@njit(cache=True)
def _bind(i, p, low, high, ints, reals, negated, tables, slots, slide, waiting, state):
    """Event i at position p extends the waiting events that it may follow, and waits."""
    span = len(state.final.over)
    for k in range(high - low + 1):
        clear(waiting.reached, k)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        for v in range(waiting.count[SHOWN]):
            if waiting.position[v] != tables.source[e]:
                continue
            if not hold(tables.adjacent, e, waiting.ints, waiting.reals, v, ints, reals, i):
                continue
            waiting.taken[v] = True
            for k in range(low, min(high, waiting.high[v]) + 1):
                add(waiting.reached, k - low, waiting.cells, v * span + k % span)
    if tables.start[p]:
        for k in range(first_free_window(p, i, low, high, negated, tables, slide), high + 1):
            begin(waiting.reached, k - low)
    found = False
    for k in range(low, high + 1):
        if not is_empty(waiting.reached, k - low):
            found = True
            extend(waiting.reached, k - low, tables, p, ints, reals, i)
            feed(p, k % span, slots, state, waiting.reached, k - low)
    if not found:
        return
    v = waiting.count[SIZE]
    waiting.count[SIZE] = v + 1
    waiting.position[v], waiting.high[v], waiting.taken[v] = p, high, False
    for c in range(ints.shape[0]):
        waiting.ints[c, v] = ints[c, i]
    for c in range(reals.shape[0]):
        waiting.reals[c, v] = reals[c, i]
    for k in range(low, high + 1):
        copy(waiting.cells, v * span + k % span, waiting.reached, k - low)


@njit(cache=True)
def advance_waiting(now, negated, slots, semantics, within, slide, waiting, state, out_window, out, out_size):
    """Ends the current time stamp, closes windows that end by `now`, settles the waiting events; returns rows in `out`."""
    only_last = semantics == CONTIGUOUS and state.clock[OCCUPIED] == 1
    out_size = advance(now, negated, slots, semantics, within, slide, state, out_window, out, out_size)
    _settle(only_last, waiting, state.clock[LOW], len(state.final.over))
    return out_size


@njit(cache=True)
def _settle(only_last, waiting, low, span):
    """Drops events that were extended or left all windows (all older ones if `only_last`); the rest are shown."""
    kept = 0
    for v in range(waiting.count[SIZE]):
        old = v < waiting.count[SHOWN]
        if waiting.high[v] < low or waiting.taken[v] or (only_last and old):
            continue
        if kept < v:
            waiting.position[kept], waiting.high[kept], waiting.taken[kept] = waiting.position[v], waiting.high[v], False
            for c in range(waiting.ints.shape[0]):
                waiting.ints[c, kept] = waiting.ints[c, v]
            for c in range(waiting.reals.shape[0]):
                waiting.reals[c, kept] = waiting.reals[c, v]
            for k in range(span):
                copy(waiting.cells, kept * span + k, waiting.cells, v * span + k)
        kept += 1
    waiting.count[SHOWN] = kept
    waiting.count[SIZE] = kept
