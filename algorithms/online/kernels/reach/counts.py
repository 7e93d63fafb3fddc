"""Algorithm 7 (dissertation Section 15.1) itself: COUNT(*) under skip-till-any-match, one position per type.

The short cut of `sums` for queries without predicates and negation, over the same cells. An event that is alone at its
time stamp updates the counts at once; only simultaneous events, which never precede one another, wait.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import ONE, ZERO
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, TOUCHED, has_ended, next_boundary, opened
from cepbench.algorithms.kernels.compilation import inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells
from cepbench.algorithms.kernels.lanes import DONE, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.online.kernels.reach.sums import Typed, new_cells
from cepbench.algorithms.online.kernels.type_tables import END
from cepbench.queries.aggregates import Layout


class Counts(NamedTuple):
    """What `TypeCells` has of one channel: `trends[C]` and `over[C]` for C cells, `waiting[P]` and `clock`."""

    trends: NDArray[Any]
    over: NDArray[np.uint64]
    waiting: Ints
    clock: Ints


def new_counts(span: int, positions: int, layout: Layout, arithmetic: str, clock: Ints) -> Counts:
    """Counts of `span` windows before the first event."""
    cells, waiting, _, _ = new_cells(span, positions, layout, arithmetic, clock)
    return Counts(cells.ring[0], cells.over, waiting, clock)


@inner
def count_trends(
    first: int, until: int, events: KernelEvents, fixed: Typed, arena: tuple[()], state: Counts, rows: RowCells,
    written: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Counts trends of one key (`kernels.lanes`): O(w * l) per event of w windows and l predecessor positions."""
    time, kind, template, window = events.time, events.kind, fixed.template, fixed.window
    trends, over, _, clock = state
    positions, span = np.uint64(len(state.waiting)), np.uint64(fixed.span)
    size = positions + ONE
    half = span * size
    now, i, number = clock[NOW], first, len(time)
    while True:
        low, high, waiting = clock[LOW], clock[HIGH], clock[TOUCHED]
        most = waiting or 1  # that waited at once in these windows; an event that is alone would if a batch ended there
        boundary = next_boundary(low, high, window)  # divisions are left to the boundaries of panes
        row = np.uint64(low) % span * size
        windows = np.uint64(high - low + 1)
        while i < number and time[i] < boundary:
            alone = False
            if time[i] != now:
                if waiting > 0:
                    _show(waiting, row, windows, size, half, state)
                    waiting = 0
                now = time[i]
                alone = i + 1 < number and time[i + 1] != now
            p, waits = template.sole[np.uint64(kind[i])], ZERO
            i += 1
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
                    if waiting > most:
                        most = waiting
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
        clock[NOW], clock[TOUCHED] = now, waiting
        if first < number:
            note(int(most * (high - low + 1)), clock)
        if i == number and not has_ended(low, high, until, window):
            return i, written, DONE
        if written + fixed.span > len(rows.window):
            return i, written, ROWS
        _show(waiting, row, windows, size, half, state)
        written = close(until if i == number else time[i], fixed, state, rows, written)
        if i == number:
            return i, written, DONE


@kernel
def count_keys(
    at: int, done: int, calls: Calls, fixed: Typed, arena: tuple[()], lanes: Counts, rows: RowCells
) -> tuple[int, int, int, int]:
    """`count_trends` over keys."""
    return over_keys(count_trends, at, done, calls, fixed, arena, lanes, rows)


@inner
def close(now: int, fixed: Typed, state: Counts, rows: RowCells, written: int) -> int:
    """Closes windows that end by `now` and opens those of `now`; no counts may wait, and K rows need room."""
    trends, over, _, clock = state
    positions, span = np.uint64(len(state.waiting)), np.uint64(fixed.span)
    size = positions + ONE
    clock[NOW], clock[TOUCHED] = now, 0
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
def _show(waiting: int, row: np.uint64, windows: np.uint64, size: np.uint64, half: np.uint64, state: Counts) -> None:
    """Moves counts that wait to where later events see them, in the windows from cell `row` on."""
    trends, over, _, _ = state
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
