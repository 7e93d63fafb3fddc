"""Closes and opens windows: writes rows, and expires START events with their last window (dissertation 22.2)."""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.clock import has_ended, opened
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import Sliding
from cepbench.algorithms.sequences.kernels.combination import counted_before
from cepbench.algorithms.sequences.kernels.counters import CounterState, SequenceRows
from cepbench.algorithms.sequences.kernels.places import clear_slot
from cepbench.algorithms.sequences.kernels.program import BY_START, PerFamily, Program, QueryRecord
from cepbench.algorithms.sequences.kernels.rows import add_to, clear_cell


@inlined
def advance(
    now: int, size: int, window: Sliding, program: Program, state: CounterState, modular: bool, out: SequenceRows
) -> tuple[int, bool]:
    """Closes the windows that end by `now` and opens those of `now`; returns (rows in `out`, whether it is done).

    If it is not done, it continues when called again with an empty `out`, which must hold at least one row per query.
    """
    clock, first = state.slots.clock[0], state.slots.opened
    if has_ended(clock.low, clock.high, now, window):
        _note_peak(program, state)
    while has_ended(clock.low, clock.high, now, window):
        if size + len(program.chains.query) > len(out.window):
            return size, False
        size = _write_rows(clock.low, size, program, state, modular, out)
        _forget_window(clock.low, program, state)
        clock.low += 1
    high = clock.high
    clock.low, clock.high = opened(clock.low, high, now, window)
    for k in range(max(high + 1, clock.low), clock.high + 1):
        for g in range(len(program.chains.segment)):
            if program.chains.segment[g].slots == BY_START:
                first[g, k % first.shape[1]] = state.slots.place[g].tail
    return size, True


@inlined
def _note_peak(program: Program, state: CounterState) -> None:
    """Records the number of live slots if their bytes are the peak since the last report."""
    clock = state.slots.clock[0]
    size = 0
    for g in range(len(program.chains.segment)):
        place = state.slots.place[g]
        size += (place.tail - place.head) * program.chains.segment[g].slot_bytes
    if size >= state.peak[0]:
        state.peak[0] = size
        state.peak[1] = clock.high + 1 - clock.low
        for g in range(len(program.chains.segment)):
            state.peak[2 + g] = state.slots.place[g].tail - state.slots.place[g].head


@inlined
def _write_rows(k: int, size: int, program: Program, state: CounterState, modular: bool, out: SequenceRows) -> int:
    """Writes the rows of window k. The second cell keeps results that subsequent queries have in common."""
    values, chains, total = state.values, program.chains, program.total[0]
    present = False
    for q in chains.order:
        query = chains.query[q]
        if query.like == q:
            _add_up(query, k, program, state, modular)
            present = values.ring[total.ring] != 0 or values.over[total.ring]
        if not present:
            continue
        out.window[size] = k
        out.query[size] = q
        for c in range(query.width.ring):
            out.ring[size, c] = values.ring[total.ring + c]
            out.over[size, c] = values.over[total.ring + c]
        for c in range(query.width.real):
            out.real[size, c] = values.real[total.real + c]
        for c in range(query.width.least):
            out.least[size, c] = values.least[total.least + c]
        size += 1
    return size


@inlined
def _add_up(query: QueryRecord, k: int, program: Program, state: CounterState, modular: bool) -> None:
    """Sets the second cell to the sum over the sequences of a query in window k."""
    values, chains, total = state.values, program.chains, program.total[0]
    row = k % state.slots.opened.shape[1]
    clear_cell(query.width, total, values)
    for s in range(query.sequence, query.sequence_end):
        sequence = chains.sequence[s]
        counted_before(sequence, sequence.last, row, chains, state.slots, values, state.plain, modular)
        for c in range(query.width.ring):
            add_to(values, total.ring + c, values.ring[c], values.over[c])
        for c in range(query.width.real):
            values.real[total.real + c] += values.real[c]
        for c in range(query.width.least):
            values.least[total.least + c] = min(values.least[total.least + c], values.least[c])


@inlined
def _forget_window(k: int, program: Program, state: CounterState) -> None:
    """Clears the results of window k and drops the START events that lie in no later window."""
    clock, first = state.slots.clock[0], state.slots.opened
    row = k % first.shape[1]
    for i in range(len(state.plain.ring)):  # plain counters belong to the only open window
        state.plain.ring[i] = program.unit[i]
        state.plain.over[i] = False
    for g in range(len(program.chains.segment)):
        segment, place = program.chains.segment[g], state.slots.place[g]
        if segment.first:
            width, result = segment.width, segment.result
            at = PerFamily(
                result.ring + row * width.ring, result.real + row * width.real, result.least + row * width.least
            )
            clear_cell(width, at, state.values)
        if segment.slots != BY_START:
            clear_slot(row, segment, place, state.values)
        elif k < clock.high:
            place.head = first[g, (k + 1) % first.shape[1]]
        else:
            place.head = place.tail = 0
