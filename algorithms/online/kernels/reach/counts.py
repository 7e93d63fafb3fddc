"""Algorithm 7 (dissertation Section 15.1) itself: COUNT(*) under skip-till-any-match, one position per type.

The short cut of `sums` for queries without predicates and negation, over the same cells. An event that is alone at its
time stamp updates the counts at once; only simultaneous events, which never precede one another, wait.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.cells import ONE, ZERO
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, TOUCHED, has_ended, next_boundary, opened
from cepbench.algorithms.kernels.compilation import inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells
from cepbench.algorithms.kernels.lanes import DONE, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.online.kernels.reach.sums import TypeCells, Typed
from cepbench.algorithms.online.kernels.type_tables import END


@inner
def count_trends(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: Typed,
    arena: tuple[()],
    state: TypeCells,
    rows: RowCells,
    written: int,
) -> tuple[int, int, int]:
    """Counts trends of one key (`kernels.lanes`): O(w * l) per event of w windows and l predecessor positions."""
    time, kind, template, window, clock = events.time, events.kind, fixed.template, fixed.window, state.clock
    trends, over = state.cells.ring[0], state.cells.over
    positions, span = np.uint64(len(state.waiting)), np.uint64(fixed.span)
    size = positions + ONE
    half = span * size
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
                if written + fixed.span > len(rows.window):
                    return i, written, ROWS
                written = close(time[i], fixed, state, rows, written)
                most = 1
                low, high = clock[LOW], clock[HIGH]
                boundary = next_boundary(low, high, window)
                row = np.uint64(low) % span * size
                windows = np.uint64(high - low + 1)
            elif waiting > 0:
                most = max(most, waiting)
                _show(waiting, row, windows, size, half, state)
            waiting = 0
            now = time[i]
            alone = i < last and time[i + 1] != now
        p, waits = template.sole[np.uint64(kind[i])], ZERO
        if p == positions:
            continue
        if not alone:
            waits = half
            listed = False
            for k in range(waiting):
                listed |= state.waiting[k] == p
            if not listed:
                state.waiting[waiting] = p
                waiting += 1
        base = row
        for _ in range(windows):
            count = trends.dtype.type(template.start[p])
            beyond = ZERO
            e = template.first_source[p]
            while template.source[e] != END:
                q = base + template.source[e]
                more = trends[q]
                count += more
                beyond |= over[q] | np.uint64(count < more)
                e += ONE
            q = base + p + waits
            total = trends[q] + count
            over[q] |= beyond | np.uint64(total < count)
            trends[q] = total
            base += size
            if base == half:
                base = ZERO
    if first < len(time):
        clock[NOW], clock[TOUCHED] = now, waiting
        note(max(most, waiting) * np.int64(windows), clock)
    if has_ended(low, high, until, window):
        if written + fixed.span > len(rows.window):
            return len(time), written, ROWS
        written = close(until, fixed, state, rows, written)
    return len(time), written, DONE


@kernel
def count_keys(
    at: int, done: int, calls: Calls, fixed: Typed, arena: tuple[()], lanes: TypeCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`count_trends` over keys."""
    return over_keys(count_trends, at, done, calls, fixed, arena, lanes, rows)


@inner
def close(now: int, fixed: Typed, state: TypeCells, rows: RowCells, written: int) -> int:
    """Ends the current time stamp, closes windows that end by `now`, opens those of `now`; needs room for K rows."""
    trends, over, clock = state.cells.ring[0], state.cells.over, state.clock
    positions, span = np.uint64(len(state.waiting)), np.uint64(fixed.span)
    size = positions + ONE
    row = np.uint64(clock[LOW]) % span * size
    _show(clock[TOUCHED], row, np.uint64(clock[HIGH] - clock[LOW] + 1), size, span * size, state)
    clock[TOUCHED] = 0
    clock[NOW] = now
    while has_ended(clock[LOW], clock[HIGH], now, fixed.window):
        base = np.uint64(clock[LOW]) % span * size
        count = trends.dtype.type(0)
        beyond = ZERO
        for p in range(positions):
            if fixed.template.end[p]:
                more = trends[base + p]
                count += more
                beyond |= over[base + p] | np.uint64(count < more)
            trends[base + p] = 0
            over[base + p] = ZERO
        if count != 0 or beyond != ZERO:
            rows.window[written] = clock[LOW]
            rows.cells.ring[written, 0] = count
            rows.cells.over[written] = beyond
            written += 1
        clock[LOW] += 1
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, fixed.window)
    return written


@inner
def _show(waiting: int, row: np.uint64, windows: np.uint64, size: np.uint64, half: np.uint64, state: TypeCells) -> None:
    """Moves counts that wait to where later events see them, in the windows from cell `row` on."""
    trends, over = state.cells.ring[0], state.cells.over
    for _ in range(windows):
        for k in range(waiting):
            q = row + np.uint64(state.waiting[k])
            more = trends[q + half]
            total = trends[q] + more
            over[q] |= over[q + half] | np.uint64(total < more)
            trends[q] = total
            trends[q + half] = 0
            over[q + half] = ZERO
        row += size
        if row == half:
            row = ZERO
