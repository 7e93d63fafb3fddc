"""Indices of stores by the value that a condition reads; joins look up rows for which the condition can hold.

An index has one entry per row, in the order of rows, until look-ups have scanned so many that sorting pays. From then
on all full blocks of entries are in sorted runs. The length of a run is a power of two times a block, longest run
first, as in a binary counter: a row is moved O(log n) times, and a look-up searches O(log n) runs. A look-up can list
rows that do not satisfy the condition: bounds are inclusive, values are rounded, and a set of events is represented by
its last one.
"""

from __future__ import annotations

from math import inf

import numpy as np

from cepbench.algorithms.detection.mcep.kernels.bindings import index_of
from cepbench.algorithms.detection.mcep.kernels.rows import binding_in, row_at
from cepbench.algorithms.detection.mcep.kernels.state import EngineState, Full, PlanTables
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.queries.tables import EQUAL, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL

LEAST_ROOM = 64
"""Initial capacity of an index in entries."""

ENTRY_WORDS = 2
"""A key and its row."""


@inlined
def forget(n: int, tables: PlanTables, state: EngineState) -> None:
    """Empties the indices of node n, whose rows have moved."""
    for k in range(tables.index_ptr[n], tables.index_ptr[n + 1]):
        entries = state.entries[k]
        state.counters[0].live_words -= ENTRY_WORDS * entries.filled
        entries.filled, entries.sorted = 0, 0


@inlined
def filled(k: int, end: int, tables: PlanTables, state: EngineState) -> bool:
    """Adds the rows up to `end` to index k, and sorts them if that pays; False if there is no space."""
    entries, index = state.entries[k], tables.indices[k]
    if end > entries.room and not _moved(k, end, state):
        return False
    for r in range(entries.filled, end):
        at = index_of(binding_in(row_at(index.node, r, state), index.slot, state), state)
        key = index.factor * state.reals[index.column, at] if index.real else float(state.ints[index.column, at])
        state.key[entries.offset + r] = key if key == key else inf
        state.entry[entries.offset + r] = r
    added = end - entries.filled
    if added > 0:
        state.counters[0].live_words += ENTRY_WORDS * added
        entries.filled, entries.entered = end, entries.entered + added
    if entries.passed >= index.patience * entries.entered:
        while end - entries.sorted >= index.block:
            _sort_block(entries.offset + entries.sorted, index.block, state)
            entries.sorted += index.block
            size = index.block
            while entries.sorted // size % 2 == 0:
                _merge(entries.offset + entries.sorted - 2 * size, size, entries.offset + entries.room, state)
                size *= 2
    return True


@inlined
def _moved(k: int, end: int, state: EngineState) -> bool:
    """Moves index k to a place with space for `end` entries and as much working space; False if there is none."""
    entries, count = state.entries[k], state.counters[0]
    room = max(LEAST_ROOM, 2 * end)
    if count.entries_used + 2 * room > len(state.key):
        count.full = Full.ENTRIES
        return False
    for e in range(entries.filled):
        state.key[count.entries_used + e] = state.key[entries.offset + e]
        state.entry[count.entries_used + e] = state.entry[entries.offset + e]
    entries.offset, entries.room = count.entries_used, room
    count.entries_used += 2 * room
    return True


@inlined
def _sort_block(begin: int, size: int, state: EngineState) -> None:
    for at in range(begin + 1, begin + size):
        key, row = state.key[at], state.entry[at]
        free = at
        while free > begin and state.key[free - 1] > key:
            state.key[free], state.entry[free] = state.key[free - 1], state.entry[free - 1]
            free -= 1
        state.key[free], state.entry[free] = key, row


@inlined
def _merge(begin: int, size: int, spare: int, state: EngineState) -> None:
    """Merges two sorted runs of `size` entries; the first one is copied to `spare` before."""
    for e in range(size):
        state.key[spare + e], state.entry[spare + e] = state.key[begin + e], state.entry[begin + e]
    left, right, at = spare, begin + size, begin
    while left < spare + size:
        if right < begin + 2 * size and state.key[right] < state.key[left]:
            state.key[at], state.entry[at] = state.key[right], state.entry[right]
            right += 1
        else:
            state.key[at], state.entry[at] = state.key[left], state.entry[left]
            left += 1
        at += 1


@inlined
def listed(j: int, fresh: int, begin: int, end: int, tables: PlanTables, state: EngineState) -> int:
    """Lists those of the rows `begin..end - 1` that may satisfy join j with a fresh row; returns their number.

    The list is written after the entries of the join's index, which must be `filled` at least up to `end`. O(log^2 n)
    plus the number of rows that are listed or not sorted.
    """
    join, count = tables.join[j], state.counters[0]
    low, high = -inf, inf
    for b in range(join.within, join.within_end):
        bound = tables.bound[b]
        at = index_of(binding_in(fresh, bound.slot, state), state)
        value = bound.factor * state.reals[bound.column, at] if bound.real else float(state.ints[bound.column, at])
        if value != value:
            return 0
        if bound.op == LESS or bound.op == LESS_OR_EQUAL or bound.op == EQUAL:
            low = max(low, value)
        if bound.op == GREATER or bound.op == GREATER_OR_EQUAL or bound.op == EQUAL:
            high = min(high, value)
    entries = state.entries[join.index]
    offset, into = entries.offset, entries.offset + entries.room
    number, start = 0, 0
    while start < entries.sorted:
        size = tables.indices[join.index].block
        while 2 * size <= entries.sorted - start:
            size *= 2
        stop = start + size
        if stop > begin and start < end:
            at = _first_from(offset + start, offset + stop, low, state)
            while at < offset + stop and state.key[at] <= high:
                row = state.entry[at]
                if begin <= row < end:
                    state.entry[into + number] = row
                    number += 1
                at += 1
        start = stop
    count.comparisons += number
    first = max(begin, entries.sorted)
    if first < end:
        for r in range(np.uint64(first), np.uint64(end)):
            key = state.key[np.uint64(offset) + r]
            if low <= key and key <= high:
                state.entry[into + number] = r
                number += 1
        count.comparisons += end - first
        entries.passed += end - first
    return number


@inlined
def _first_from(begin: int, end: int, value: float, state: EngineState) -> int:
    """The first of some sorted entries with a key of at least `value`. O(log n)."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if state.key[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
