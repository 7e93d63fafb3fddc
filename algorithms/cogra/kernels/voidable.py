"""Type-grained aggregation with negation: a match of it empties cells (`algorithms.kernels.windows`).

`type_grained` serves queries without negation, several times as fast.
"""

from __future__ import annotations

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import add, clear
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, next_boundary
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.kernels.windows import (
    NEXT,
    OCCUPIED,
    TOUCHED,
    OpenWindows,
    Slots,
    advance,
    append,
    commit,
)
from cepbench.queries.tables import Tables


@kernel
def aggregate_voidable(
    first: int,
    events: KernelEvents,
    tables: Tables,
    slots: Slots,
    semantics: int,
    window: Sliding,
    state: OpenWindows,
    out: RowCells,
    size: int,
) -> tuple[int, int]:
    """Processes events `first..`; returns (next event, rows in `out`, `size` before).

    Stops before an event that might close more windows than `out` has room for. O(w l) per event in w windows, for l
    transitions into its positions.
    """
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
                return i, size
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
    return len(events.time), size


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
