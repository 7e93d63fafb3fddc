"""Events bound by rows, with their columns. The sets of a Kleene operand are linked lists from the last event back."""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.state import (
    NOBODY,
    OF_BINDINGS,
    EngineState,
    PlanTables,
)
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.engine.kernels.predicates import hold


@inlined
def bound(i: int, below: int, events: KernelEvents, places: Ints, state: EngineState) -> int:
    """A new binding of event i after the set `below`, or alone if that is NOBODY. NOBODY if there is no space."""
    count = state.counters[0]
    at = count.bindings - count.origin
    if at == len(state.binding):
        count.full_array = OF_BINDINGS
        return NOBODY
    binding = state.binding[at]
    binding.time, binding.number, binding.place, binding.below = events.time[i], count.seen, places[i], below
    if below == NOBODY:
        binding.first, binding.length = events.time[i], 1
    else:
        last = state.binding[below - count.origin]
        binding.first, binding.length = last.first, last.length + 1
    keep_columns(i, events, state.ints, state.reals, at)
    count.bindings += 1
    return count.bindings - 1


@inlined
def current_binding(i: int, events: KernelEvents, places: Ints, state: EngineState) -> int:
    """The binding of event i alone, which all operands share; NOBODY if there is no space."""
    count = state.counters[0]
    if count.current_binding == NOBODY:
        count.current_binding = bound(i, NOBODY, events, places, state)
    return count.current_binding


@inlined
def all_hold(which: int, fresh: int, older: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether a list of conditions holds between each event of binding `fresh` and each of `older`."""
    origin = state.counters[0].origin
    a = fresh
    while a != NOBODY:
        b = older
        while b != NOBODY:
            if not hold(tables.pairs, which, state.ints, state.reals, a - origin, state.ints, state.reals, b - origin):
                return False
            b = state.binding[b - origin].below
        a = state.binding[a - origin].below
    return True


@inlined
def apart(fresh: int, older: int, state: EngineState) -> bool:
    """Whether two bindings have no event in common. O(l), since positions are descending in both."""
    origin = state.counters[0].origin
    a, b = fresh, older
    while a != NOBODY and b != NOBODY:
        left, right = state.binding[a - origin], state.binding[b - origin]
        if left.number == right.number:
            return False
        if left.number > right.number:
            a = left.below
        else:
            b = right.below
    return True


@inlined
def drop_bindings(since: int, number: int, state: EngineState) -> None:
    """Drops the oldest bindings: those older than time `since` and before event `number`. O(1) amortized."""
    count = state.counters[0]
    low, end, origin = count.oldest, count.bindings, count.origin
    while low < end:
        binding = state.binding[low - origin]
        if binding.time >= since or binding.number >= number:
            break
        low += 1
    count.oldest = low


@inlined
def move_bindings(state: EngineState) -> None:
    """Moves the live bindings to the front of the arrays. O(number of live bindings)."""
    count = state.counters[0]
    gone = count.oldest - count.origin
    for at in range(count.bindings - count.oldest):
        state.binding[at] = state.binding[at + gone]
        for c in range(state.ints.shape[0]):
            state.ints[c, at] = state.ints[c, at + gone]
        for c in range(state.reals.shape[0]):
            state.reals[c, at] = state.reals[c, at + gone]
    count.origin = count.oldest
