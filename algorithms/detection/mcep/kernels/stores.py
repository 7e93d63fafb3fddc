"""Stores of rows: their space, and the removal of expired rows (MCEP, Section 3.3, removal of instances)."""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.indices import forget
from cepbench.algorithms.detection.mcep.kernels.rows import Word, end_time, first_point, last_point, row_at
from cepbench.algorithms.detection.mcep.kernels.state import EngineState, Full, PlanTables
from cepbench.algorithms.engine.kernels.compilation import inlined

LEAST_LIMIT = 32
"""Number of rows up to which expired ones are not searched."""


@inlined
def advance(n: int, floor: int, state: EngineState) -> None:
    """Drops the oldest rows of node n that ended before the point `floor`. O(1) amortized."""
    store = state.store[n]
    words, before = store.words, store.base
    row = row_at(n, before, state)
    while store.base < store.size and last_point(row, state) < floor:
        store.base += 1
        row += words
    state.counters[0].live_words -= (store.base - before) * words
    state.counters[0].live_rows -= store.base - before


@inlined
def compact(n: int, floor: int, tables: PlanTables, state: EngineState) -> None:
    """Drops all rows of node n that began before the point `floor`, and moves the rest to the front."""
    store = state.store[n]
    words, size = store.words, 0
    for r in range(store.base, store.size):
        source = row_at(n, r, state)
        if first_point(source, state) >= floor:
            target = row_at(n, size, state)
            for word in range(words):
                state.slab[target + word] = state.slab[source + word]
            size += 1
    gone = store.size - store.base - size
    if size < store.size:
        forget(n, tables, state)
    state.counters[0].live_words -= gone * words
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
        advance(n, floor, state)
        if store.size >= store.limit:
            compact(n, floor, tables, state)
    store.fresh, store.stamp = store.size, count.seen
    state.touched[count.touched] = n
    count.touched += 1


@inlined
def has_room(n: int, state: EngineState) -> bool:
    """Whether there is space for another row of node n; moves the store to the end of the slab if necessary."""
    store = state.store[n]
    if store.size < store.room:
        return True
    words, count = store.words, state.counters[0]
    room = 2 * store.room
    if count.slab_used + room * words > len(state.slab):
        count.full = Full.SLAB
        return False
    for word in range(store.size * words):
        state.slab[count.slab_used + word] = state.slab[store.offset + word]
    store.offset, store.room = count.slab_used, room
    count.slab_used += room * words
    return True


@inlined
def keep(n: int, state: EngineState) -> None:
    """Keeps the row that was written after the last one of node n."""
    state.store[n].size += 1
    state.counters[0].live_words += state.store[n].words
    state.counters[0].live_rows += 1


@inlined
def first_from(n: int, word: Word, value: int, state: EngineState) -> int:
    """The first row of node n whose `word` is at least `value`; rows must ascend by this word. O(log n)."""
    low, high = state.store[n].base, state.store[n].size
    while low < high:
        middle = (low + high) // 2
        if state.slab[row_at(n, middle, state) + word] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def is_free(n: int, after: int, before: int, state: EngineState) -> bool:
    """Whether no row of node n ended after time `after` and before time `before`. O(log n)."""
    r = first_from(n, Word.ENDED, before, state) - 1
    return r < state.store[n].base or end_time(row_at(n, r, state), state) <= after
