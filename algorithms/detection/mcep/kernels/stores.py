"""Stores of rows: their space, and the removal of expired rows (MCEP, Section 3.3, removal of instances)."""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.indices import forget
from cepbench.algorithms.detection.mcep.kernels.state import (
    ENDED,
    FIRST,
    LAST,
    OF_SLAB,
    SLOTS,
    EngineState,
    PlanTables,
)
from cepbench.algorithms.engine.kernels.compilation import inlined

LEAST_LIMIT = 32
"""Number of rows up to which expired ones are not searched."""


@inlined
def advance(n: int, floor: int, tables: PlanTables, state: EngineState) -> None:
    """Drops the oldest rows of node n that ended before the point `floor`. O(1) amortized."""
    store = state.store[n]
    stride = SLOTS + tables.node[n].width
    before = store.base
    at = store.offset + before * stride
    while store.base < store.size and state.slab[at + LAST] < floor:
        store.base += 1
        at += stride
    state.counters[0].live_words -= (store.base - before) * stride
    state.counters[0].live_rows -= store.base - before


@inlined
def compact(n: int, floor: int, tables: PlanTables, state: EngineState) -> None:
    """Drops all rows of node n that began before the point `floor`, and moves the rest to the front."""
    store = state.store[n]
    stride = SLOTS + tables.node[n].width
    size = 0
    for r in range(store.base, store.size):
        source = store.offset + r * stride
        if state.slab[source + FIRST] >= floor:
            target = store.offset + size * stride
            for word in range(stride):
                state.slab[target + word] = state.slab[source + word]
            size += 1
    gone = store.size - store.base - size
    if size < store.size:
        forget(n, tables, state)
    state.counters[0].live_words -= gone * stride
    state.counters[0].live_rows -= gone
    store.base, store.size = 0, size
    store.limit = max(LEAST_LIMIT, 2 * size)


@inlined
def opened(n: int, point: int, tables: PlanTables, state: EngineState) -> None:
    """Prepares node n for rows of the current event, if it has not been prepared yet."""
    store = state.store[n]
    count = state.counters[0]
    if store.stamp == count.seen:
        return
    node = tables.node[n]
    if not node.held:
        floor = point - node.reach
        advance(n, floor, tables, state)
        if store.size >= store.limit:
            compact(n, floor, tables, state)
    store.fresh, store.stamp = store.size, count.seen
    state.touched[count.touched] = n
    count.touched += 1


@inlined
def has_room(n: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether there is space for another row of node n; moves the store to the end of the slab if necessary."""
    store = state.store[n]
    if store.size < store.room:
        return True
    stride = SLOTS + tables.node[n].width
    count = state.counters[0]
    room = 2 * store.room
    if count.slab_used + room * stride > len(state.slab):
        count.full_array = OF_SLAB
        return False
    for word in range(store.size * stride):
        state.slab[count.slab_used + word] = state.slab[store.offset + word]
    store.offset, store.room = count.slab_used, room
    count.slab_used += room * stride
    return True


@inlined
def keep(n: int, tables: PlanTables, state: EngineState) -> None:
    """Keeps the row that was written after the last one of node n."""
    state.store[n].size += 1
    state.counters[0].live_words += SLOTS + tables.node[n].width
    state.counters[0].live_rows += 1


@inlined
def first_from(n: int, word: int, value: int, tables: PlanTables, state: EngineState) -> int:
    """The first row of node n whose `word` is at least `value`; rows must ascend by this word. O(log n)."""
    store = state.store[n]
    stride = SLOTS + tables.node[n].width
    low, high = store.base, store.size
    while low < high:
        middle = (low + high) // 2
        if state.slab[store.offset + middle * stride + word] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def is_free(n: int, after: int, before: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether no row of node n ended after time `after` and before time `before`. O(log n)."""
    store = state.store[n]
    r = first_from(n, ENDED, before, tables, state) - 1
    return r < store.base or state.slab[store.offset + r * (SLOTS + tables.node[n].width) + ENDED] <= after
