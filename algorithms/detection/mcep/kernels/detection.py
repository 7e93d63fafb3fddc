"""Multi-pattern detection, event by event. An event visits the nodes whose rows can end with it, children first
(MCEP, Sections 3.1 and 5: the list of states of a type).

If the space does not suffice for an event, it is undone, and processed again after the caller has grown the arrays.
"""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.bindings import drop_bindings
from cepbench.algorithms.detection.mcep.kernels.joins import absent_row, event_row, joined_rows, set_rows
from cepbench.algorithms.detection.mcep.kernels.matches import forget_digests, report_digests
from cepbench.algorithms.detection.mcep.kernels.state import EngineState, Kind, PlanTables
from cepbench.algorithms.detection.mcep.kernels.stores import advance, compact
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits


@kernel
def detect(
    begin: int, events: KernelEvents, places: Ints, longest: Ints, tables: PlanTables, state: EngineState
) -> tuple[int, int]:
    """Processes events `begin..`; returns the first one that was not processed, and the full table, or 0 at the end.

    `places[n]`: positions of the events in the input; `longest`: the longest reach in time and in events.
    """
    count = state.counters[0]
    for i in range(begin, len(events.time)):
        time = events.time[i]
        bindings, matches, positions = count.bindings, count.matches, count.positions
        waiting, waiting_positions = count.waiting, count.waiting_positions
        count.current_binding, count.now = NONE, time
        done = True
        kind = events.kind[i]
        for at in range(tables.step_ptr[kind], tables.step_ptr[kind + 1]):
            n = tables.step[at]
            node = tables.node[n]
            point = count.seen if node.counts else time
            if node.kind == Kind.JOIN:
                done = joined_rows(n, point, time, tables, state)
            elif fits(tables.local[n], i, events):
                if node.kind == Kind.LEAF:
                    done = event_row(n, i, point, events, places, tables, state)
                elif node.kind == Kind.ABSENT:
                    done = absent_row(n, point, time, tables, state)
                else:
                    done = set_rows(n, i, point, events, places, tables, state)
            if not done:
                break
        if not done or not report_digests(time, tables, state):
            forget_digests(state)
            _undo(state)
            count.bindings, count.matches, count.positions = bindings, matches, positions
            count.waiting, count.waiting_positions = waiting, waiting_positions
            return i, count.full
        if count.touched:
            drop_bindings(time - longest[0], count.seen - longest[1], state)
            note(state)
            _end(tables, state)
        count.seen += 1
    return len(events.time), 0


@inlined
def _undo(state: EngineState) -> None:
    """Drops the rows of the current event."""
    count = state.counters[0]
    for k in range(count.touched):
        n = state.touched[k]
        _drop_fresh(n, state)
        state.store[n].stamp = NONE
    count.touched = 0


@inlined
def _end(tables: PlanTables, state: EngineState) -> None:
    """Drops rows that are needed only while the current event is processed."""
    count = state.counters[0]
    for k in range(count.touched):
        n = state.touched[k]
        if not tables.node[n].kept:
            _drop_fresh(n, state)
    count.touched = 0


@inlined
def _drop_fresh(n: int, state: EngineState) -> None:
    store = state.store[n]
    gone = store.size - store.fresh
    state.counters[0].live_words -= gone * store.words
    state.counters[0].live_rows -= gone
    store.size = store.fresh


@inlined
def note(state: EngineState) -> None:
    """Records the state if it is the largest so far: rows, bindings, and waiting matches."""
    count = state.counters[0]
    events = count.bindings - count.oldest
    columns = state.ints.shape[0] + state.reals.shape[0]
    size = 8 * (count.live_words + columns * events + count.waiting_positions)
    size += state.binding.itemsize * events + state.match.itemsize * count.waiting
    if size > count.peak_bytes:
        count.peak_bytes, count.peak_events = size, events
        count.peak_rows, count.peak_matches = count.live_rows, count.waiting


@kernel
def purge(longest: Ints, tables: PlanTables, state: EngineState) -> None:
    """Drops everything that is out of reach of events at time `now` or later, from number `seen` on. O(its size)."""
    count = state.counters[0]
    for n in range(len(tables.node)):
        node = tables.node[n]
        floor = (count.seen if node.counts else count.now) - node.reach
        if state.store[n].size:
            advance(n, floor, state)
            compact(n, floor, tables, state)
    drop_bindings(count.now - longest[0], count.seen - longest[1], state)
