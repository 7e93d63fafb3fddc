"""Type-grained aggregation with negation: a match of it empties cells (`algorithms.online.kernels.lifecycle`).

`reach.sums` serves queries without negation, several times as fast.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import add, clear
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, OCCUPIED, TOUCHED, has_ended, next_boundary
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, fits
from cepbench.algorithms.kernels.lanes import DONE, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.online.kernels.lifecycle import (
    NEXT,
    OpenWindows,
    Slots,
    Windowed,
    advance,
    append,
    commit,
)
from cepbench.queries.tables import Tables


class VoidableCells(NamedTuple):
    """What a key has."""

    windows: OpenWindows


@inner
def aggregate_voidable(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: Windowed,
    arena: tuple[()],
    lane: VoidableCells,
    out: RowCells,
    size: int,
) -> tuple[int, int, int]:
    """Aggregates the trends of one key (`kernels.lanes`): O(w l) per event in w windows, for l transitions into its
    positions.
    """
    tables, slots, semantics, window, state = fixed.tables, fixed.slots, fixed.semantics, fixed.window, lane.windows
    span = len(state.final.over)
    clock = state.clock
    boundary = next_boundary(clock[LOW], clock[HIGH], window)
    for i in range(first, len(events.time)):
        now = events.time[i]
        if now != clock[NOW]:
            note(_pending_cells(clock), clock)
            if now < boundary:
                commit(events.negated[i], slots, semantics, state)
                clock[NOW] = now
            elif size + span > len(out.window):
                return i, size, ROWS
            else:
                size = advance(now, events.negated[i], slots, semantics, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
        clock[OCCUPIED] = 1
        low = clock[LOW]
        high = clock[HIGH]
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if not fits(p, i, events, tables):
                continue
            if semantics == NEXT:
                for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                    state.consumed[slots.read[e]] = True
            _collect(p, low, high, tables, slots, state)
            append(i, p, low, high, events, tables, slots, window, state)
    note(_pending_cells(clock), clock)
    n = len(events.time)
    if has_ended(clock[LOW], clock[HIGH], until, window):
        if size + span > len(out.window):
            return n, size, ROWS
        size = advance(until, events.negated[n], slots, semantics, window, state, out, size)
    return n, size, DONE


@kernel
def aggregate_voidable_keys(
    at: int, done: int, calls: Calls, fixed: Windowed, arena: tuple[()], lanes: VoidableCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_voidable` over keys."""
    return over_keys(aggregate_voidable, at, done, calls, fixed, arena, lanes, rows)


@inlined
def _pending_cells(clock: Ints) -> int:
    """Cells in which trends wait for the current time stamp to end."""
    pending: int = clock[TOUCHED] * (clock[HIGH] - clock[LOW] + 1)
    return pending


@inlined
def _collect(p: int, low: int, high: int, tables: Tables, slots: Slots, state: OpenWindows) -> None:
    """Sets `state.reached` to the trends that an event at position p may extend in windows low..high."""
    span = len(state.final.over)
    for k in range(low, high + 1):
        base = (k % span) * len(state.touched)
        clear(state.reached, k - low)
        for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
            add(state.reached, k - low, state.cells, base + slots.read[e])
