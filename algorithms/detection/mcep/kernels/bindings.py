"""Events bound by rows, with their columns. The sets of a Kleene operand are linked lists from the last event back."""

from __future__ import annotations

from cepbench.algorithms.detection.mcep.kernels.state import EngineState, Full, PlanTables
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.engine.kernels.predicates import hold


@inlined
def index_of(binding: int, state: EngineState) -> int:
    """Where a binding and its columns are."""
    return binding & (len(state.binding) - 1)


@inlined
def bound(i: int, below: int, events: KernelEvents, places: Ints, state: EngineState) -> int:
    """A new binding of event i after the set `below`, or alone if that is NONE. NONE if there is no space."""
    count = state.counters[0]
    if count.bindings - count.oldest == len(state.binding):
        count.full = Full.BINDINGS
        return NONE
    at = index_of(count.bindings, state)
    binding = state.binding[at]
    binding.time, binding.number, binding.place, binding.below = events.time[i], count.seen, places[i], below
    if below == NONE:
        binding.first, binding.length = events.time[i], 1
    else:
        last = state.binding[index_of(below, state)]
        binding.first, binding.length = last.first, last.length + 1
    keep_columns(i, events, state.ints, state.reals, at)
    count.bindings += 1
    return count.bindings - 1


@inlined
def current_binding(i: int, events: KernelEvents, places: Ints, state: EngineState) -> int:
    """The binding of event i alone, which all operands share; NONE if there is no space."""
    count = state.counters[0]
    if count.current_binding == NONE:
        count.current_binding = bound(i, NONE, events, places, state)
    return count.current_binding


@inlined
def all_hold(which: int, fresh: int, older: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether a list of conditions holds between each event of binding `fresh` and each of `older`."""
    a = fresh
    while a != NONE:
        at, b = index_of(a, state), older
        while b != NONE:
            older_at = index_of(b, state)
            if not hold(tables.pairs, which, state.ints, state.reals, at, state.ints, state.reals, older_at):
                return False
            b = state.binding[older_at].below
        a = state.binding[at].below
    return True


@inlined
def apart(fresh: int, older: int, state: EngineState) -> bool:
    """Whether two bindings have no event in common. O(l), since positions are descending in both."""
    a, b = fresh, older
    while a != NONE and b != NONE:
        left, right = state.binding[index_of(a, state)], state.binding[index_of(b, state)]
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
    low, end = count.oldest, count.bindings
    while low < end:
        binding = state.binding[index_of(low, state)]
        if binding.time >= since or binding.number >= number:
            break
        low += 1
    count.oldest = low
