"""Multi-pattern detection, event by event. An event visits the nodes whose rows can end with it, children first
(MCEP, Sections 3.1 and 5: the list of states of a type).

If the space does not suffice for an event, it is undone, and processed again after the caller has grown the arrays.
"""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.bindings import drop_bindings, move_bindings
from cepbench.algorithms.detection.mcep.kernels.joins import absent_row, event_row, joined_rows, set_rows
from cepbench.algorithms.detection.mcep.kernels.matches import forget_digests, report_digests
from cepbench.algorithms.detection.mcep.kernels.state import (
    ABSENT,
    BINDINGS,
    JOIN,
    LACK,
    LEAF,
    LOW,
    MATCHES,
    NOBODY,
    NOW,
    OWN,
    PEAK_BYTES,
    PEAK_EVENTS,
    PEAK_MATCHES,
    PEAK_ROWS,
    ROWS,
    SEEN,
    SLOTS,
    TOUCHED,
    WAITING,
    WAITING_BYTES,
    WAITING_WRITTEN,
    WORDS,
    WRITTEN,
    EngineOutput,
    EngineState,
    PlanTables,
)
from cepbench.algorithms.detection.mcep.kernels.stores import advance, compact
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits


@kernel
def detect(
    begin: int, events: KernelEvents, places: Ints, longest: Ints, tables: PlanTables, state: EngineState,
    output: EngineOutput,
) -> int:  # fmt: skip
    """Processes events `begin..`; returns the first one not processed due to a `LACK` of space, or their number.

    `places[n]`: positions of the events in the input; `longest`: the longest reach in time and in events.
    """
    count = state.counters
    for i in range(begin, len(events.time)):
        time = events.time[i]
        bindings, matches, written = count[BINDINGS], count[MATCHES], count[WRITTEN]
        waiting, waiting_written = count[WAITING], count[WAITING_WRITTEN]
        count[OWN], count[NOW] = NOBODY, time
        taken = True
        kind = events.kind[i]
        for at in range(tables.step_ptr[kind], tables.step_ptr[kind + 1]):
            n = tables.step[at]
            node = tables.node[n]
            point = count[SEEN] if node.counts else time
            if node.kind == JOIN:
                taken = joined_rows(n, point, time, tables, state, output)
            elif fits(tables.local[n], i, events):
                if node.kind == LEAF:
                    taken = event_row(n, i, point, events, places, tables, state, output)
                elif node.kind == ABSENT:
                    taken = absent_row(n, point, time, tables, state)
                else:
                    taken = set_rows(n, i, point, events, places, tables, state, output)
            if not taken:
                break
        if not taken or not report_digests(time, tables, state, output):
            forget_digests(state)
            _undo(tables, state)
            count[BINDINGS], count[MATCHES], count[WRITTEN] = bindings, matches, written
            count[WAITING], count[WAITING_WRITTEN] = waiting, waiting_written
            return i
        if count[TOUCHED]:
            drop_bindings(time - longest[0], count[SEEN] - longest[1], state)
            note(state)
            _end(tables, state)
        count[SEEN] += 1
    return len(events.time)


@inlined
def _undo(tables: PlanTables, state: EngineState) -> None:
    """Drops the rows of the current event."""
    count = state.counters
    for k in range(count[TOUCHED]):
        n = state.touched[k]
        _drop_fresh(n, tables, state)
        state.store[n].stamp = NOBODY
    count[TOUCHED] = 0


@inlined
def _end(tables: PlanTables, state: EngineState) -> None:
    """Drops rows that are needed only while the current event is processed."""
    count = state.counters
    for k in range(count[TOUCHED]):
        n = state.touched[k]
        if not tables.node[n].kept:
            _drop_fresh(n, tables, state)
    count[TOUCHED] = 0


@inlined
def _drop_fresh(n: int, tables: PlanTables, state: EngineState) -> None:
    store = state.store[n]
    gone = store.size - store.fresh
    state.counters[WORDS] -= gone * (SLOTS + tables.node[n].width)
    state.counters[ROWS] -= gone
    store.size = store.fresh


@inlined
def note(state: EngineState) -> None:
    """Records the state if it is the largest so far: rows, bindings, and waiting matches."""
    count = state.counters
    events = count[BINDINGS] - count[LOW]
    columns = state.ints.shape[0] + state.reals.shape[0]
    size = 8 * (count[WORDS] + (6 + columns) * events + count[WAITING_WRITTEN]) + WAITING_BYTES * count[WAITING]
    if size > count[PEAK_BYTES]:
        count[PEAK_BYTES], count[PEAK_EVENTS] = size, events
        count[PEAK_ROWS], count[PEAK_MATCHES] = count[ROWS], count[WAITING]


@kernel
def purge(longest: Ints, tables: PlanTables, state: EngineState) -> None:
    """Drops everything that is out of reach of events at time `NOW` or later, from number `SEEN` on. O(its size)."""
    count = state.counters
    for n in range(len(tables.node)):
        node = tables.node[n]
        floor = (count[SEEN] if node.counts else count[NOW]) - node.reach
        if state.store[n].size:
            advance(n, floor, tables, state)
            compact(n, floor, tables, state)
    drop_bindings(count[NOW] - longest[0], count[SEEN] - longest[1], state)
    move_bindings(state)
    count[LACK] = 0
