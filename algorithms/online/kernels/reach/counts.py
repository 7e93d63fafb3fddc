"""Algorithm 7 (dissertation Section 15.1) itself: COUNT(*) under skip-till-any-match, one position per type.

The short cut of `sums` for queries without predicates and negation. An event that is alone at its time stamp updates
the counts at once; only simultaneous events, which never precede one another, wait.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Flags, Index, Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, TOUCHED, has_ended, next_boundary, opened
from cepbench.algorithms.kernels.compilation import inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding
from cepbench.algorithms.kernels.lanes import DONE, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.peak import note


class Template(NamedTuple):
    """The automaton: `position[T]` of a type or -1; `start[P]` 0 or 1 in the dtype of counts; predecessors in CSR.

    Indices are unsigned because Numba would otherwise test each one for Python's negative indexing.
    """

    position: Ints
    start: NDArray[Any]
    end: Flags
    enter_ptr: Index
    source: Index


class Counting(NamedTuple):
    """What does not change."""

    template: Template
    window: Sliding


class TypeCounts(NamedTuple):
    """Counts of K windows: that of position p in window k is entry `(k % K) * P + p`.

    `trends` counts those that ended before the current time stamp, `pending` those that end at it; `over` and
    `pending_over` mark the overflowed ones. `waiting[P]` lists positions with pending counts. `clock`
    (`kernels.clock`) also has how many wait, and the largest state (`kernels.peak`).
    """

    trends: NDArray[Any]
    over: Flags
    pending: NDArray[Any]
    pending_over: Flags
    waiting: Index
    clock: Ints


def new_counts(span: int, positions: int, arithmetic: str, clock: Ints) -> TypeCounts:
    """Counts of `span` windows before the first event."""
    dtype = np.uint64 if arithmetic == "modular" else np.float64
    cells = span * positions
    return TypeCounts(
        np.zeros(cells, dtype),
        np.zeros(cells, np.bool_),
        np.zeros(cells, dtype),
        np.zeros(cells, np.bool_),
        np.zeros(positions, np.uint64),
        clock,
    )


@inner
def count_trends(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: Counting,
    arena: tuple[()],
    counts: TypeCounts,
    rows: RowCells,
    written: int,
) -> tuple[int, int, int]:
    """Counts trends of one key (`kernels.lanes`): O(w * l) per event of w windows and l predecessor positions."""
    time, kind, template, window = events.time, events.kind, fixed.template, fixed.window
    size = np.uint64(len(counts.waiting))
    span = np.uint64(len(counts.trends)) // size
    one = np.uint64(1)
    clock = counts.clock
    now, waiting = clock[NOW], clock[TOUCHED]
    most = 1  # that waited at once in these windows; an event that is alone would if a batch ended there
    low, high = clock[LOW], clock[HIGH]
    boundary = next_boundary(low, high, window)  # divisions are left to the boundaries of panes
    row = np.uint64(low) % span * size
    windows = np.uint64(high - low + 1)
    last = len(time) - 1
    for i in range(first, len(time)):
        alone = False
        if time[i] != now:
            if time[i] >= boundary:
                clock[NOW], clock[TOUCHED] = now, waiting
                note(max(most, waiting) * np.int64(windows), clock)
                if written + np.int64(span) > len(rows.window):
                    return i, written, ROWS
                written = close(time[i], template, window, counts, rows, written)
                most = 1
                low, high = clock[LOW], clock[HIGH]
                boundary = next_boundary(low, high, window)
                row = np.uint64(low) % span * size
                windows = np.uint64(high - low + 1)
            elif waiting > 0:
                most = max(most, waiting)
                _show(waiting, row, windows, size, counts)
            waiting = 0
            now = time[i]
            alone = i < last and time[i + 1] != now
        position = template.position[kind[i]]
        if position < 0:
            continue
        p = np.uint64(position)
        if not alone:
            listed = False
            for k in range(waiting):
                listed |= counts.waiting[k] == p
            if not listed:
                counts.waiting[waiting] = p
                waiting += 1
        base = row
        for _ in range(windows):
            trends = template.start[p]
            over = False
            for e in range(template.enter_ptr[p], template.enter_ptr[p + one]):
                q = base + template.source[e]
                more = counts.trends[q]
                trends += more
                over |= counts.over[q] | (trends < more)
            q = base + p
            if alone:
                total = counts.trends[q] + trends
                counts.over[q] |= over | (total < trends)
                counts.trends[q] = total
            else:
                total = counts.pending[q] + trends
                counts.pending_over[q] |= over | (total < trends)
                counts.pending[q] = total
            base += size
            if base == span * size:
                base = np.uint64(0)
    if first < len(time):
        clock[NOW], clock[TOUCHED] = now, waiting
        note(max(most, waiting) * np.int64(windows), clock)
    if has_ended(low, high, until, window):
        if written + np.int64(span) > len(rows.window):
            return len(time), written, ROWS
        written = close(until, template, window, counts, rows, written)
    return len(time), written, DONE


@kernel
def count_keys(
    at: int, done: int, calls: Calls, fixed: Counting, arena: tuple[()], lanes: TypeCounts, rows: RowCells
) -> tuple[int, int, int, int]:
    """`count_trends` over keys."""
    return over_keys(count_trends, at, done, calls, fixed, arena, lanes, rows)


@inner
def close(now: int, template: Template, window: Sliding, counts: TypeCounts, rows: RowCells, written: int) -> int:
    """Ends the current time stamp, closes windows that end by `now`, opens those of `now`; needs room for K rows."""
    clock = counts.clock
    size = np.uint64(len(counts.waiting))
    span = np.uint64(len(counts.trends)) // size
    _show(clock[TOUCHED], np.uint64(clock[LOW]) % span * size, np.uint64(clock[HIGH] - clock[LOW] + 1), size, counts)
    clock[TOUCHED] = 0
    clock[NOW] = now
    while has_ended(clock[LOW], clock[HIGH], now, window):
        base = np.uint64(clock[LOW]) % span * size
        trends = counts.trends.dtype.type(0)
        over = False
        for p in range(size):
            if template.end[p]:
                more = counts.trends[base + p]
                trends += more
                over |= counts.over[base + p] | (trends < more)
        if trends != 0 or over:
            rows.window[written] = clock[LOW]
            rows.cells.ring[written, 0] = trends
            rows.cells.over[written] = np.uint64(over)
            written += 1
        for p in range(size):
            counts.trends[base + p] = 0
            counts.over[base + p] = False
        clock[LOW] += 1
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    return written


@inner
def _show(waiting: int, row: np.uint64, windows: np.uint64, size: np.uint64, counts: TypeCounts) -> None:
    """Moves pending counts to where later events see them, in the windows from cell `row` on."""
    cells = np.uint64(len(counts.trends))
    for _ in range(windows):
        for k in range(waiting):
            q = row + counts.waiting[k]
            more = counts.pending[q]
            total = counts.trends[q] + more
            counts.over[q] |= counts.pending_over[q] | (total < more)
            counts.trends[q] = total
            counts.pending[q] = 0
            counts.pending_over[q] = False
        row += size
        if row == cells:
            row = np.uint64(0)
