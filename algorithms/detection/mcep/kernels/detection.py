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
    JOIN,
    LEAF,
    NOBODY,
    SLOTS,
    WAITING_BYTES,
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
    """Processes events `begin..`; returns the first one not processed for lack of space, or their number.

    `places[n]`: positions of the events in the input; `longest`: the longest reach in time and in events.
    """
    count = state.counters[0]
    for i in range(begin, len(events.time)):
        time = events.time[i]
        bindings, matches, written = count.bindings, count.output.matches, count.output.positions
        waiting, waiting_written = count.waiting.matches, count.waiting.positions
        count.current_binding, count.now = NOBODY, time
        done = True
        kind = events.kind[i]
        for at in range(tables.step_ptr[kind], tables.step_ptr[kind + 1]):
            n = tables.step[at]
            node = tables.node[n]
            point = count.seen if node.counts else time
            if node.kind == JOIN:
                done = joined_rows(n, point, time, tables, state, output)
            elif fits(tables.local[n], i, events):
                if node.kind == LEAF:
                    done = event_row(n, i, point, events, places, tables, state, output)
                elif node.kind == ABSENT:
                    done = absent_row(n, point, time, tables, state)
                else:
                    done = set_rows(n, i, point, events, places, tables, state, output)
            if not done:
                break
        if not done or not report_digests(time, tables, state, output):
            forget_digests(state)
            _undo(tables, state)
            count.bindings, count.output.matches, count.output.positions = bindings, matches, written
            count.waiting.matches, count.waiting.positions = waiting, waiting_written
            return i
        if count.touched:
            drop_bindings(time - longest[0], count.seen - longest[1], state)
            note(state)
            _end(tables, state)
        count.seen += 1
    return len(events.time)


@inlined
def _undo(tables: PlanTables, state: EngineState) -> None:
    """Drops the rows of the current event."""
    count = state.counters[0]
    for k in range(count.touched):
        n = state.touched[k]
        _drop_fresh(n, tables, state)
        state.store[n].stamp = NOBODY
    count.touched = 0


@inlined
def _end(tables: PlanTables, state: EngineState) -> None:
    """Drops rows that are needed only while the current event is processed."""
    count = state.counters[0]
    for k in range(count.touched):
        n = state.touched[k]
        if not tables.node[n].kept:
            _drop_fresh(n, tables, state)
    count.touched = 0


@inlined
def _drop_fresh(n: int, tables: PlanTables, state: EngineState) -> None:
    store = state.store[n]
    gone = store.size - store.fresh
    state.counters[0].live_words -= gone * (SLOTS + tables.node[n].width)
    state.counters[0].live_rows -= gone
    store.size = store.fresh


@inlined
def note(state: EngineState) -> None:
    """Records the state if it is the largest so far: rows, bindings, and waiting matches."""
    count = state.counters[0]
    events = count.bindings - count.oldest
    columns = state.ints.shape[0] + state.reals.shape[0]
    words = count.live_words + (6 + columns) * events + count.waiting.positions
    size = 8 * words + WAITING_BYTES * count.waiting.matches
    if size > count.peak_bytes:
        count.peak_bytes, count.peak_events = size, events
        count.peak_rows, count.peak_matches = count.live_rows, count.waiting.matches


@kernel
def purge(longest: Ints, tables: PlanTables, state: EngineState) -> None:
    """Drops everything that is out of reach of events at time `now` or later, from number `seen` on. O(its size)."""
    count = state.counters[0]
    for n in range(len(tables.node)):
        node = tables.node[n]
        floor = (count.seen if node.counts else count.now) - node.reach
        if state.store[n].size:
            advance(n, floor, tables, state)
            compact(n, floor, tables, state)
    drop_bindings(count.now - longest[0], count.seen - longest[1], state)
    move_bindings(state)
    count.full_array = 0
