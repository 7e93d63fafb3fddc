"""Creates rows of a node: from an event, from sets that an event extends, or from the rows of two other nodes
(MCEP, Sections 3.1 and 5; lazy evaluation: earlier events are looked up where they are stored).

Every new row contains the current event. So two rows meet exactly once: a fresh one, which contains the current event,
and an older one of the other node. In a SEQ the current event, which is the newest, can only be the last one.
"""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.bindings import all_hold, apart, bound, current_binding
from cepbench.algorithms.detection.mcep.kernels.indices import filled, listed
from cepbench.algorithms.detection.mcep.kernels.matches import emitted, has_excluded
from cepbench.algorithms.detection.mcep.kernels.state import (
    AFTER,
    APART,
    BEFORE,
    ENDED,
    FIRST,
    LAST,
    NOBODY,
    SLOTS,
    EngineOutput,
    EngineState,
    PlanTables,
)
from cepbench.algorithms.detection.mcep.kernels.stores import advance, first_from, has_room, keep, opened
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import KernelEvents


@inlined
def absent_row(n: int, point: int, time: int, tables: PlanTables, state: EngineState) -> bool:
    """Stores a negated event at node n; False if there is no space."""
    opened(n, point, tables, state)
    if not has_room(n, tables, state):
        return False
    at = state.store[n].offset + state.store[n].size * SLOTS
    state.slab[at + FIRST], state.slab[at + LAST], state.slab[at + ENDED] = point, point, time
    keep(n, tables, state)
    return True


@inlined
def event_row(
    n: int, i: int, point: int, events: KernelEvents, places: Ints, tables: PlanTables, state: EngineState,
    output: EngineOutput,
) -> bool:  # fmt: skip
    """Creates a row of event i at node n; False if there is no space."""
    opened(n, point, tables, state)
    binding = current_binding(i, events, places, state)
    if binding == NOBODY or not has_room(n, tables, state):
        return False
    store = state.store[n]
    at = store.offset + store.size * (SLOTS + 1)
    state.slab[at + FIRST], state.slab[at + LAST], state.slab[at + ENDED] = point, point, events.time[i]
    state.slab[at + SLOTS] = binding
    return _finish_row(n, at, point, tables, state, output)


@inlined
def set_rows(
    n: int, i: int, point: int, events: KernelEvents, places: Ints, tables: PlanTables, state: EngineState,
    output: EngineOutput,
) -> bool:  # fmt: skip
    """Creates rows of the sets whose last event is event i; False if there is no space. O(number of sets)."""
    if not event_row(n, i, point, events, places, tables, state, output):
        return False
    floor, stride = point - tables.node[n].reach, SLOTS + 1
    store = state.store[n]
    for r in range(store.base, store.fresh):
        at = store.offset + r * stride
        if state.slab[at + ENDED] >= events.time[i]:
            break
        if state.slab[at + FIRST] < floor:
            continue
        longer = bound(i, state.slab[at + SLOTS], events, places, state)
        if longer == NOBODY or not has_room(n, tables, state):
            return False
        first = state.slab[store.offset + r * stride + FIRST]
        at = store.offset + store.size * stride
        state.slab[at + FIRST], state.slab[at + LAST], state.slab[at + ENDED] = first, point, events.time[i]
        state.slab[at + SLOTS] = longer
        if not _finish_row(n, at, point, tables, state, output):
            return False
    return True


@inlined
def joined_rows(n: int, point: int, time: int, tables: PlanTables, state: EngineState, output: EngineOutput) -> bool:
    """Joins fresh rows with older ones into rows of node n; False if there is no space. O(pairs in reach)."""
    count = state.counters[0]
    node = tables.node[n]
    floor = point - node.reach
    for j in range(tables.join_ptr[n], tables.join_ptr[n + 1]):
        join = tables.join[j]
        fresh_store, older_store = state.store[join.fresh], state.store[join.older]
        if fresh_store.stamp != count.seen or fresh_store.fresh == fresh_store.size:
            continue
        advance(join.older, point - tables.node[join.older].reach, tables, state)
        begin, end = older_store.base, older_store.fresh if older_store.stamp == count.seen else older_store.size
        if begin < end and node.reach < tables.node[join.older].reach:
            begin = first_from(join.older, LAST, floor, tables, state)
        if begin >= end:
            continue
        if join.index != NOBODY and not filled(join.index, end, tables, state):
            return False
        opened(n, point, tables, state)
        fresh_stride, stride = SLOTS + tables.node[join.fresh].width, SLOTS + tables.node[join.older].width
        for r in range(fresh_store.fresh, fresh_store.size):
            fresh = fresh_store.offset + r * fresh_stride
            if state.slab[fresh + FIRST] < floor:
                continue
            stop = end
            if join.bound != NOBODY:
                limit = state.binding[state.slab[fresh + SLOTS + join.bound] - count.origin].first
                if state.slab[older_store.offset + (end - 1) * stride + ENDED] >= limit:
                    stop = first_from(join.older, ENDED, limit, tables, state)
            number, list_at = stop - begin, NOBODY
            if join.index != NOBODY:
                number = listed(j, fresh, begin, stop, tables, state)
                list_at = state.entries[join.index].offset + state.entries[join.index].room
            for c in range(number):
                older = older_store.offset + (begin + c if list_at == NOBODY else state.entry[list_at + c]) * stride
                count.comparisons += list_at == NOBODY
                if state.slab[older + FIRST] < floor or not _agree(j, fresh, older, tables, state):
                    continue
                if not _join_row(n, j, fresh, older, point, time, tables, state, output):
                    return False
    return True


@inlined
def _agree(j: int, fresh: int, older: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether two rows satisfy the checks of a join."""
    origin = state.counters[0].origin
    for c in range(tables.join[j].check, tables.join[j].check_end):
        check = tables.check[c]
        fresh_binding, older_binding = state.slab[fresh + SLOTS + check.fresh], state.slab[older + SLOTS + check.older]
        if check.which >= 0:
            if not all_hold(check.which, fresh_binding, older_binding, tables, state):
                return False
        elif check.which == BEFORE:
            if state.binding[older_binding - origin].time >= state.binding[fresh_binding - origin].first:
                return False
        elif check.which == AFTER:
            if state.binding[fresh_binding - origin].time >= state.binding[older_binding - origin].first:
                return False
        elif check.which == APART and not apart(fresh_binding, older_binding, state):
            return False
    return True


@inlined
def _join_row(
    n: int, j: int, fresh: int, older: int, point: int, time: int, tables: PlanTables, state: EngineState,
    output: EngineOutput,
) -> bool:  # fmt: skip
    """Writes the row of two joined rows; False if there is no space."""
    if not has_room(n, tables, state):
        return False
    width, copy = tables.node[n].width, tables.join[j].copy
    at = state.store[n].offset + state.store[n].size * (SLOTS + width)
    state.slab[at + FIRST] = min(state.slab[fresh + FIRST], state.slab[older + FIRST])
    state.slab[at + LAST], state.slab[at + ENDED] = point, time
    for slot in range(width):
        source = tables.copy[copy + slot]
        row = fresh + SLOTS + source if source >= 0 else older + SLOTS + ~source
        state.slab[at + SLOTS + slot] = state.slab[row]
    return _finish_row(n, at, point, tables, state, output)


@inlined
def _finish_row(n: int, at: int, point: int, tables: PlanTables, state: EngineState, output: EngineOutput) -> bool:
    """Stores or emits the row of node n that was written at word `at`; False if there is no space for a match."""
    if has_excluded(n, at, tables, state):
        return True
    state.counters[0].instances += 1
    if tables.final_ptr[n] < tables.final_ptr[n + 1] and not emitted(n, at, point, tables, state, output):
        return False
    if tables.node[n].stored:
        keep(n, tables, state)
    return True
