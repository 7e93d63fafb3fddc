"""A-Seq and Sharon on a stream (dissertation 22.2, 22.3): the events of a time stamp take effect when it is over.

Events of one time stamp never precede one another. So snapshots are taken first, and then each segment is updated from
its last place to its first: an event at place j extends the sequences that had reached place j - 1 before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.cells import ONE, is_modular, product_exceeds
from cepbench.algorithms.engine.kernels.clock import has_ended, next_boundary
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, Sliding, fits
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.sequences.kernels.closing import advance
from cepbench.algorithms.sequences.kernels.combination import take_snapshots
from cepbench.algorithms.sequences.kernels.counters import (
    BLOCK,
    Arrivals,
    ClockRecord,
    Counters,
    CounterState,
    Gathered,
    KeyCounters,
    LiveSlots,
    SequenceRows,
    Values,
    state_of,
)
from cepbench.algorithms.sequences.kernels.places import clear_place, update_place
from cepbench.algorithms.sequences.kernels.program import BY_START, REAL, RING, Chains, Program, SegmentRecord
from cepbench.algorithms.sequences.kernels.rows import add_to, clear_spread, copy_spread


class Sequencing(NamedTuple):
    """The constant arguments of the kernel."""

    program: Program
    window: Sliding


@kernel
def count_sequences(
    first: int,
    watermark: int,
    events: KernelEvents,
    fixed: Sequencing,
    values: Values,
    lane: KeyCounters,
    out: SequenceRows,
    size: int,
) -> tuple[int, int, int]:
    """Counts the sequences of one key (`kernels.lanes`): O(k n) per event for the k places that it matches and n live
    START events.
    """
    program, window = fixed.program, fixed.window
    state = state_of(values, lane)
    clock, gathered = state.slots.clock[0], state.gathered
    boundary = next_boundary(clock.low, clock.high, window)
    for i in range(first, len(events.time) + 1):
        if i == len(events.time) and not has_ended(clock.low, clock.high, watermark, window):
            break
        now = events.time[i] if i < len(events.time) else watermark
        if now != clock.now:
            if clock.touched > 0 and _act(program, state) != NONE:
                return i, size, ROOM
            if now >= boundary:
                size, done = advance(now, size, window, program, state, out)
                if not done:
                    return i, size, ROWS
                boundary = next_boundary(clock.low, clock.high, window)
            clock.now = now
        if i == len(events.time) or clock.low > clock.high:
            continue
        for b in range(program.binding_ptr[events.kind[i]], program.binding_ptr[events.kind[i] + 1]):
            symbol = program.binding[b]
            if fits(program.local[symbol], i, events):
                gather(i, symbol, events, program, clock, gathered, state.values)
    return len(events.time), size, DONE


@kernel
def count_keys(
    at: int, done: int, calls: Calls, fixed: Sequencing, values: Values, lanes: KeyCounters, rows: SequenceRows
) -> tuple[int, int, int, int]:
    """`count_sequences` for all keys."""
    return over_keys(count_sequences, at, done, calls, fixed, values, lanes, rows)


@inlined
def _act(program: Program, state: CounterState) -> int:
    """Applies the totals of the current time; returns a segment that needs more slots first, or `NONE`."""
    clock, gathered = state.slots.clock[0], state.gathered
    touched = clock.touched
    if len(program.begin) > 0:
        full = _make_room(touched, program, state)
        if full != NONE:
            return full
        _take_snapshots(touched, program, state)
    update_plain(touched, program, state)
    if len(program.target) > 0:
        update_segments(touched, program, state)
    for t in range(touched):
        forget(gathered.touched[t], program, gathered, state.values)
    clock.touched = 0
    return NONE


@inlined
def _make_room(touched: int, program: Program, state: CounterState) -> int:
    """Frees slots for START events; returns a segment that needs more slots, or `NONE`."""
    for t in range(touched):
        symbol = state.gathered.touched[t]
        for b in range(program.begin_ptr[symbol], program.begin_ptr[symbol + 1]):
            g = program.begin[b]
            place = state.slots.place[g]
            full = program.chains.segment[g].slots == BY_START and place.tail == place.capacity
            if full and not move_to_front(g, program.chains, state.slots, state.values):
                return g
    return NONE


@inlined
def _take_snapshots(touched: int, program: Program, state: CounterState) -> None:
    for t in range(touched):
        symbol = state.gathered.touched[t]
        for b in range(program.begin_ptr[symbol], program.begin_ptr[symbol + 1]):
            segment = program.chains.segment[program.begin[b]]
            if segment.link < segment.link_end:
                take_snapshots(segment, program.chains, state.slots, state.values, state.plain)


@inlined
def gather(
    i: int,
    symbol: int,
    events: KernelEvents,
    program: Program,
    clock: ClockRecord,
    gathered: Gathered,
    values: Values,
) -> None:
    """Adds event i to the totals of a symbol at the current time."""
    if gathered.number[symbol] == 0:
        gathered.touched[clock.touched] = symbol
        clock.touched += 1
    gathered.number[symbol] += np.uint64(1)
    first = _totals_of(symbol, program)
    for c in range(program.gathered_ptr[symbol], program.gathered_ptr[symbol + 1]):
        weight = program.gathered[c]
        total, at = program.total[weight], first + weight
        if total.kind == RING:
            add_to(values, at, values.counts.dtype.type(np.uint64(events.ints[total.column, i])), False)
        elif total.kind == REAL:
            values.reals[at] += events.reals[total.column, i]
        else:
            values.ints[at] = min(values.ints[at], events.ints[total.column, i])


@inlined
def _totals_of(symbol: int, program: Program) -> int:
    """The offset of a symbol's totals in `Values`."""
    return program.totals + symbol * len(program.total)


@inlined
def forget(symbol: int, program: Program, gathered: Gathered, values: Values) -> None:
    """Resets the totals of a symbol."""
    gathered.number[symbol] = np.uint64(0)
    first = _totals_of(symbol, program)
    for c in range(program.gathered_ptr[symbol], program.gathered_ptr[symbol + 1]):
        weight = program.gathered[c]
        clear_spread(values, first + weight, 1, program.total[weight].empty, 1)


@inlined
def update_plain(touched: int, program: Program, state: CounterState) -> None:
    """Adds the totals of the current time to plain counters: O(1) per symbol and place."""
    symbol = state.gathered.touched[0]
    if touched == 1 and program.clear_ptr[symbol] == program.clear_ptr[symbol + 1]:
        _update_alone(symbol, program, state)
    else:
        _update_together(touched, program, state)


@inlined
def _update_alone(symbol: int, program: Program, state: CounterState) -> None:
    """Adds the events of one symbol, from later places to earlier ones."""
    plain, number = state.plain, state.gathered.number[symbol]
    begin, end = program.plain_ptr[symbol], program.plain_ptr[symbol + 1]
    if number == ONE:  # a separate loop, since this is the most frequent case
        for q in range(begin, end):
            target = program.plain[q]
            add_to(plain, target.entry, plain.counts[target.source], plain.over[target.source])
    else:
        for q in range(begin, end):
            target = program.plain[q]
            product, over = _multiple(plain, target.source, number)
            add_to(plain, target.entry, product, over)
    state.slots.clock[0].updates += end - begin


@inlined
def _multiple(plain: Counters, entry: np.uint64, number: np.uint64) -> tuple[float, bool]:
    """A plain counter times a number."""
    count = plain.counts[entry]
    if number == ONE:
        return count, plain.over[entry]
    over = plain.over[entry] | (is_modular(plain) & product_exceeds(np.uint64(count), number))
    return count * plain.counts.dtype.type(number), over


@inlined
def _update_together(touched: int, program: Program, state: CounterState) -> None:
    """Adds the events of several symbols; all read the counts before the time stamp."""
    gathered, plain, change = state.gathered, state.plain, state.change
    for t in range(touched):
        symbol = gathered.touched[t]
        for q in range(program.plain_ptr[symbol], program.plain_ptr[symbol + 1]):
            source = program.plain[q].source
            change.counts[q], change.over[q] = _multiple(plain, source, gathered.number[symbol])
    for t in range(touched if len(program.clear) > 0 else 0):
        symbol = gathered.touched[t]
        for q in range(program.clear_ptr[symbol], program.clear_ptr[symbol + 1]):
            entry = program.clear[q]
            plain.counts[entry] = plain.counts.dtype.type(0)
            plain.over[entry] = False
    for t in range(touched):
        symbol = gathered.touched[t]
        for q in range(program.plain_ptr[symbol], program.plain_ptr[symbol + 1]):
            add_to(plain, program.plain[q].entry, change.counts[q], change.over[q])
        state.slots.clock[0].updates += program.plain_ptr[symbol + 1] - program.plain_ptr[symbol]


@inlined
def update_segments(touched: int, program: Program, state: CounterState) -> None:
    """Applies the totals of the current time to segments with slots, from the last places down.

    It is inlined into the stream's kernel, since passing the arguments of one place update costs as much as its work.
    """
    slots, gathered = state.slots, state.gathered
    for t in range(touched):
        symbol = gathered.touched[t]
        gathered.cursor[symbol] = program.target_ptr[symbol]
    while True:
        level = 0
        for t in range(touched):
            symbol = gathered.touched[t]
            if gathered.cursor[symbol] < program.target_ptr[symbol + 1]:
                level = max(level, program.target[gathered.cursor[symbol]].level)
        if level == 0:
            return
        for t in range(touched):
            symbol = gathered.touched[t]
            q = gathered.cursor[symbol]
            while q < program.target_ptr[symbol + 1] and program.target[q].level == level:
                g, j = program.target[q].segment, level // 2
                segment, place = program.chains.segment[g], slots.place[g]
                if level % 2:
                    channel = program.chains.channel[segment.channel : segment.channel + segment.width]
                    clear_place(j, segment, place, channel, state.values)
                else:
                    events = _arrivals(j, symbol, segment, program, gathered)
                    update_place(j, segment, place, slots.opened[g], events, slots.clock[0], state.values)
                q += 1
            gathered.cursor[symbol] = q


@inlined
def _arrivals(j: int, symbol: int, segment: SegmentRecord, program: Program, gathered: Gathered) -> Arrivals:
    """The events of a symbol, for place j of a segment."""
    begin = segment.code + (j - 1) * segment.width
    return Arrivals(
        program.chains.channel[segment.channel : segment.channel + segment.width],
        program.code[begin : begin + segment.width],
        gathered.number[symbol],
        _totals_of(symbol, program),
    )


@inner
def move_to_front(g: int, chains: Chains, slots: LiveSlots, values: Values) -> bool:
    """Moves the live slots of segment g to the front if at least half of all are dead; returns whether it did.

    Whole blocks are moved, so that a slot keeps its place in its block.

    O(counters and snapshots of the segment), hence O(counters and snapshots of a slot) for each slot that is filled.
    """
    segment, place, span = chains.segment[g], slots.place[g], slots.opened.shape[1]
    if 2 * place.head < place.capacity:
        return False
    dead = place.head // BLOCK * BLOCK
    size = place.tail - dead
    _move_rows(segment.width * segment.rows, place.at, dead, size, place.capacity, values)
    blocks = -(-size // BLOCK) * BLOCK
    for u in range(segment.link, segment.link_end):
        kept = chains.query[chains.link[u].query].width * span
        _move_rows(1, slots.snapshot[u], kept * dead, kept * blocks, 0, values)
    for row in range(span):
        slots.opened[g, row] = max(slots.opened[g, row] - dead, 0)
    place.tail -= dead
    place.head -= dead
    return True


@inlined
def _move_rows(rows: int, at: int, dead: int, size: int, capacity: int, values: Values) -> None:
    """Moves the words after the dead ones of each row to the front."""
    for _ in range(rows):
        copy_spread(values, at, 1, at + dead, 1, size)
        at += capacity
