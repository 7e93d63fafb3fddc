"""Creates rows of a node: from an event, from sets that an event extends, or from the rows of two other nodes
(MCEP, Sections 3.1 and 5; lazy evaluation: earlier events are looked up where they are stored).

Every new row contains the current event. So two rows meet exactly once: a fresh one, which contains the current event,
and an older one of the other node. In a SEQ the current event, which is the newest, can only be the last one.
"""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.bindings import all_hold, apart, bound, current_binding, index_of
from cepbench.algorithms.detection.mcep.kernels.indices import filled, listed
from cepbench.algorithms.detection.mcep.kernels.matches import emitted, has_excluded
from cepbench.algorithms.detection.mcep.kernels.rows import (
    Word,
    bind,
    binding_in,
    end_time,
    first_point,
    row_at,
    write_points,
)
from cepbench.algorithms.detection.mcep.kernels.state import Check, EngineState, PlanTables
from cepbench.algorithms.detection.mcep.kernels.stores import advance, first_from, has_room, keep, opened
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents


@inlined
def absent_row(n: int, point: int, time: int, tables: PlanTables, state: EngineState) -> bool:
    """Stores a negated event at node n; False if there is no space."""
    opened(n, point, tables, state)
    if not has_room(n, state):
        return False
    write_points(row_at(n, state.store[n].size, state), point, point, time, state)
    keep(n, state)
    return True


@inlined
def event_row(
    n: int, i: int, point: int, events: KernelEvents, places: Ints, tables: PlanTables, state: EngineState
) -> bool:
    """Creates a row of event i at node n; False if there is no space."""
    opened(n, point, tables, state)
    binding = current_binding(i, events, places, state)
    if binding == NONE or not has_room(n, state):
        return False
    row = row_at(n, state.store[n].size, state)
    write_points(row, point, point, events.time[i], state)
    bind(row, 0, binding, state)
    return _finish_row(n, row, point, tables, state)


@inlined
def set_rows(
    n: int, i: int, point: int, events: KernelEvents, places: Ints, tables: PlanTables, state: EngineState
) -> bool:
    """Creates rows of the sets whose last event is event i; False if there is no space. O(number of sets)."""
    if not event_row(n, i, point, events, places, tables, state):
        return False
    floor, store = point - tables.node[n].reach, state.store[n]
    for r in range(store.base, store.fresh):
        row = row_at(n, r, state)
        if end_time(row, state) >= events.time[i]:
            break
        first = first_point(row, state)
        if first < floor:
            continue
        longer = bound(i, binding_in(row, 0, state), events, places, state)
        if longer == NONE or not has_room(n, state):
            return False
        row = row_at(n, store.size, state)
        write_points(row, first, point, events.time[i], state)
        bind(row, 0, longer, state)
        if not _finish_row(n, row, point, tables, state):
            return False
    return True


@inlined
def joined_rows(n: int, point: int, time: int, tables: PlanTables, state: EngineState) -> bool:
    """Joins fresh rows with older ones into rows of node n; False if there is no space. O(pairs in reach)."""
    count = state.counters[0]
    node = tables.node[n]
    floor = point - node.reach
    for j in range(tables.join_ptr[n], tables.join_ptr[n + 1]):
        join = tables.join[j]
        fresh_store, older_store = state.store[join.fresh], state.store[join.older]
        if fresh_store.stamp != count.seen or fresh_store.fresh == fresh_store.size:
            continue
        advance(join.older, point - tables.node[join.older].reach, state)
        begin, end = older_store.base, older_store.fresh if older_store.stamp == count.seen else older_store.size
        if begin < end and node.reach < tables.node[join.older].reach:
            begin = first_from(join.older, Word.LAST, floor, state)
        if begin >= end:
            continue
        if join.index != NONE and not filled(join.index, end, tables, state):
            return False
        opened(n, point, tables, state)
        for r in range(fresh_store.fresh, fresh_store.size):
            fresh = row_at(join.fresh, r, state)
            if first_point(fresh, state) < floor:
                continue
            stop = end
            if join.bound != NONE:
                limit = state.binding[index_of(binding_in(fresh, join.bound, state), state)].first
                if end_time(row_at(join.older, end - 1, state), state) >= limit:
                    stop = first_from(join.older, Word.ENDED, limit, state)
            number, list_at = stop - begin, NONE
            if join.index != NONE:
                number = listed(j, fresh, begin, stop, tables, state)
                list_at = state.entries[join.index].offset + state.entries[join.index].room
            for c in range(number):
                older_row = begin + c if list_at == NONE else state.entry[list_at + c]
                older = row_at(join.older, older_row, state)
                count.comparisons += list_at == NONE
                if first_point(older, state) < floor or not _agree(j, fresh, older, tables, state):
                    continue
                if not _join_row(n, j, fresh, older, point, time, tables, state):
                    return False
    return True


@inlined
def _agree(j: int, fresh: int, older: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether two rows satisfy the checks of a join."""
    for c in range(tables.join[j].check, tables.join[j].check_end):
        check = tables.check[c]
        left, right = binding_in(fresh, check.fresh, state), binding_in(older, check.older, state)
        if check.which >= 0:
            if not all_hold(check.which, left, right, tables, state):
                return False
        elif check.which == Check.BEFORE:
            if not _is_before(right, left, state):
                return False
        elif check.which == Check.AFTER:
            if not _is_before(left, right, state):
                return False
        elif check.which == Check.APART and not apart(left, right, state):
            return False
    return True


@inlined
def _is_before(earlier: int, later: int, state: EngineState) -> bool:
    """Whether all events of a binding are before those of another one."""
    return state.binding[index_of(earlier, state)].time < state.binding[index_of(later, state)].first


@inlined
def _join_row(
    n: int, j: int, fresh: int, older: int, point: int, time: int, tables: PlanTables, state: EngineState
) -> bool:
    """Writes the row of two joined rows; False if there is no space."""
    if not has_room(n, state):
        return False
    row, copy = row_at(n, state.store[n].size, state), tables.join[j].copy
    write_points(row, min(first_point(fresh, state), first_point(older, state)), point, time, state)
    for slot in range(tables.node[n].width):
        source = tables.copy[copy + slot]
        bind(row, slot, binding_in(fresh, source, state) if source >= 0 else binding_in(older, ~source, state), state)
    return _finish_row(n, row, point, tables, state)


@inlined
def _finish_row(n: int, row: int, point: int, tables: PlanTables, state: EngineState) -> bool:
    """Stores or emits a row of node n after it was written; False if there is no space for a match."""
    if has_excluded(n, row, tables, state):
        return True
    state.counters[0].instances += 1
    if tables.final_ptr[n] < tables.final_ptr[n + 1] and not emitted(n, row, point, tables, state):
        return False
    if tables.node[n].stored:
        keep(n, state)
    return True
