"""Closes and opens windows: writes rows, and expires START events with their last window (dissertation 22.2)."""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.clock import has_ended, opened
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import Sliding
from cepbench.algorithms.sequences.kernels.combination import counted_before
from cepbench.algorithms.sequences.kernels.counters import CELL, CounterState, SequenceRows
from cepbench.algorithms.sequences.kernels.places import clear_slot
from cepbench.algorithms.sequences.kernels.program import BY_START, Program, QueryRecord
from cepbench.algorithms.sequences.kernels.rows import add_sum, clear_cell


@inlined
def advance(
    now: int, size: int, window: Sliding, program: Program, state: CounterState, out: SequenceRows
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
        size = _write_rows(clock.low, size, program, state, out)
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
    if size >= clock.peak_bytes:
        clock.peak_bytes = size
        clock.peak_windows = clock.high + 1 - clock.low
        for g in range(len(program.chains.segment)):
            place = state.slots.place[g]
            place.peak = place.tail - place.head


@inlined
def _write_rows(k: int, size: int, program: Program, state: CounterState, out: SequenceRows) -> int:
    """Writes the rows of window k. The cell of the answer keeps what subsequent queries have in common."""
    values, chains, answer = state.values, program.chains, program.answer
    present = False
    for q in chains.order:
        query = chains.query[q]
        if query.like == q:
            _add_up(query, k, program, state)
            present = values.counts[answer] != 0 or values.over[answer]
        if not present:
            continue
        out.window[size] = k
        out.query[size] = q
        for c in range(query.width):
            out.ints[size, c], out.over[size, c] = values.ints[answer + c], values.over[answer + c]
        size += 1
    return size


@inlined
def _add_up(query: QueryRecord, k: int, program: Program, state: CounterState) -> None:
    """Sets the cell of the answer to the sum over the sequences of a query in window k."""
    values, chains = state.values, program.chains
    row = k % state.slots.opened.shape[1]
    clear_cell(values, program.answer, chains.channel[query.channel : query.channel + query.width])
    for s in range(query.sequence, query.sequence_end):
        sequence = chains.sequence[s]
        counted_before(sequence, sequence.last, row, chains, state.slots, values, state.plain)
        for c in range(query.width):
            add_sum(values, program.answer + c, CELL + c, 1, chains.channel[query.channel + c].kind)


@inlined
def _forget_window(k: int, program: Program, state: CounterState) -> None:
    """Clears the results of window k and drops the START events that lie in no later window."""
    clock, first = state.slots.clock[0], state.slots.opened
    row = k % first.shape[1]
    for i in range(len(state.plain.counts)):  # plain counters belong to the only open window
        state.plain.counts[i] = program.unit[i]
        state.plain.over[i] = False
    for g in range(len(program.chains.segment)):
        segment, place = program.chains.segment[g], state.slots.place[g]
        channel = program.chains.channel[segment.channel : segment.channel + segment.width]
        if segment.first:
            clear_cell(state.values, segment.result + row * segment.width, channel)
        if segment.slots != BY_START:
            clear_slot(row, segment, place, channel, state.values)
        elif k < clock.high:
            place.head = first[g, (k + 1) % first.shape[1]]
        else:
            place.head = place.tail = 0
