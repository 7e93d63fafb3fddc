"""A-Seq and Sharon on a stream: events are gathered per time stamp, which acts as a whole when it is over.

Events of one time stamp never precede one another. So snapshots are taken first, and then each segment is updated from
its last place to its first: an event at place j extends what had reached place j - 1 before the time stamp.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.arrays import Codes, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import Sliding
from cepbench.algorithms.kernels.predicates import hold
from cepbench.algorithms.sequences.kernels.combination import clear_cell, counted_before, take_snapshots
from cepbench.algorithms.sequences.kernels.places import clear_place, clear_slot, update_place
from cepbench.algorithms.sequences.kernels.room import move_to_front
from cepbench.algorithms.sequences.kernels.rows import product_exceeds
from cepbench.algorithms.sequences.kernels.tables import (
    BY_START,
    CAPACITY,
    FIRST,
    FROM_LEAST,
    FROM_REAL,
    FROM_RING,
    HEAD,
    HIGH,
    LAST,
    LEAST,
    LINKS,
    LINKS_END,
    LOW,
    NOW,
    QUERY_LEAST,
    QUERY_REAL,
    QUERY_RING,
    REAL,
    RING,
    SEQUENCES,
    SEQUENCES_END,
    SLOTS,
    TAIL,
    TOUCHED,
    UPDATES,
    CounterState,
    Program,
    SequenceRows,
)
from cepbench.queries.aggregates import NO_VALUE

NONE = -1


@kernel
def count_sequences(
    first: int,
    time: Ints,
    kind: Codes,
    ints: Ints,
    reals: Reals,
    until: int,
    window: Sliding,
    program: Program,
    state: CounterState,
    modular: bool,
    out: SequenceRows,
) -> tuple[int, int, int]:
    """Processes events `first..` and moves the time on to `until`; returns where to go on (n + 1: it is done), the rows
    in `out`, and a segment that needs more slots or `NONE`.

    Stops where rows or slots run out. O(k n) per event for the k places that it matches and n live START events.
    """
    clock = state.clock
    size = 0
    boundary = next_boundary(clock, window)
    for i in range(first, len(time) + 1):
        now = time[i] if i < len(time) else max(until, clock[NOW])
        if now != clock[NOW]:
            if clock[TOUCHED] > 0:
                segment = act(program, state, modular)
                if segment != NONE:
                    return i, size, segment
            if now >= boundary:
                size, done = advance(now, size, window, program, state, modular, out)
                if not done:
                    return i, size, NONE
                boundary = next_boundary(clock, window)
            clock[NOW] = now
        if i == len(time) or clock[LOW] > clock[HIGH]:
            continue
        for b in range(program.binding_ptr[kind[i]], program.binding_ptr[kind[i] + 1]):
            symbol = program.binding[b]
            if hold(program.local, symbol, ints, reals, i, ints, reals, i):
                gather(i, symbol, ints, reals, program, state)
    return len(time) + 1, size, NONE


@inlined
def next_boundary(clock: Ints, window: Sliding) -> int:
    """The time at which a window ends or begins."""
    return min(clock[LOW] * window.slide + window.within, (clock[HIGH] + 1) * window.slide)


@inlined
def gather(i: int, symbol: int, ints: Ints, reals: Reals, program: Program, state: CounterState) -> None:
    """Adds event i to those that match a symbol at the current time stamp."""
    gathered = state.gathered
    if gathered.number[symbol] == 0:
        gathered.touched[state.clock[TOUCHED]] = symbol
        state.clock[TOUCHED] += 1
    gathered.number[symbol] += np.uint64(1)
    for c in range(program.ring_ptr[symbol], program.ring_ptr[symbol + 1]):
        weight = program.ring[c]
        more = np.uint64(ints[program.ring_column[weight], i])
        total = gathered.ring[symbol, weight] + more
        gathered.over[symbol, weight] |= total < more
        gathered.ring[symbol, weight] = total
    for c in range(program.real_ptr[symbol], program.real_ptr[symbol + 1]):
        weight = program.real[c]
        gathered.real[symbol, weight] += reals[program.real_column[weight], i]
    for c in range(program.least_ptr[symbol], program.least_ptr[symbol + 1]):
        weight = program.least[c]
        value = ints[program.least_column[weight], i]
        gathered.least[symbol, weight] = min(gathered.least[symbol, weight], value)


@inlined
def act(program: Program, state: CounterState, modular: bool) -> int:
    """Lets the gathered events act; returns a segment that needs more slots first, or `NONE`."""
    clock, gathered = state.clock, state.gathered
    touched = clock[TOUCHED]
    for t in range(touched):
        symbol = gathered.touched[t]
        for b in range(program.begin_ptr[symbol], program.begin_ptr[symbol + 1]):
            g = program.begin[b]
            full = program.segment[g, SLOTS] == BY_START and state.place[g, TAIL] == state.place[g, CAPACITY]
            if full and not move_to_front(
                g, program.segment, program.link, program.query, state.place, state.opened, state.snapshot,
                state.ring, state.over, state.real, state.least,
            ):  # fmt: skip
                return g
    for t in range(touched):
        symbol = gathered.touched[t]
        for b in range(program.begin_ptr[symbol], program.begin_ptr[symbol + 1]):
            g = program.begin[b]
            if program.segment[g, LINKS] < program.segment[g, LINKS_END]:
                take_snapshots(
                    program.segment[g, LINKS], program.segment[g, LINKS_END], clock, program.segment, program.link,
                    program.sequence, program.query, program.channel, state.place, state.opened, state.snapshot,
                    state.ring, state.over, state.real, state.least, state.plain, state.plain_over, state.tally,
                    modular,
                )  # fmt: skip
    symbol = gathered.touched[0]
    if touched == 1 and program.clear_ptr[symbol] == program.clear_ptr[symbol + 1]:
        _update_plain(symbol, program, state, modular)
    else:
        _update_plain_together(touched, program, state, modular)
    _update_segments(touched, program, state, modular)
    for t in range(touched):
        _forget(gathered.touched[t], program, state)
    clock[TOUCHED] = 0
    return NONE


@inlined
def _update_plain(symbol: int, program: Program, state: CounterState, modular: bool) -> None:
    """Adds the events of one symbol to plain counters, from later places to earlier ones."""
    begin, end = program.plain_ptr[symbol], program.plain_ptr[symbol + 1]
    number = state.gathered.number[symbol]
    if number == 1:
        for q in range(begin, end):
            entry, source = program.plain[q], program.source[q]
            more = state.plain[source]
            total = state.plain[entry] + more
            state.plain_over[entry] |= state.plain_over[source] | (total < more)
            state.plain[entry] = total
    else:
        for q in range(begin, end):
            entry = program.plain[q]
            more, over = _multiple(program.source[q], number, state, modular)
            total = state.plain[entry] + more
            state.plain_over[entry] |= over | (total < more)
            state.plain[entry] = total
    state.tally[UPDATES] += end - begin


@inlined
def _multiple(entry: np.uint64, number: np.uint64, state: CounterState, modular: bool) -> tuple[float, bool]:
    """A plain counter times a number."""
    count = state.plain[entry]
    over = state.plain_over[entry] | (modular & product_exceeds(np.uint64(count), number))
    return count * state.plain.dtype.type(number), over


@inlined
def _update_plain_together(touched: int, program: Program, state: CounterState, modular: bool) -> None:
    """Adds the events of several symbols to plain counters: all read what was before the time stamp."""
    gathered = state.gathered
    for t in range(touched):
        symbol = gathered.touched[t]
        for q in range(program.plain_ptr[symbol], program.plain_ptr[symbol + 1]):
            state.change[q], state.change_over[q] = _multiple(
                program.source[q], gathered.number[symbol], state, modular
            )
    for t in range(touched):
        symbol = gathered.touched[t]
        for q in range(program.clear_ptr[symbol], program.clear_ptr[symbol + 1]):
            entry = program.clear[q]
            state.plain[entry] = state.plain.dtype.type(0)
            state.plain_over[entry] = False
    for t in range(touched):
        symbol = gathered.touched[t]
        for q in range(program.plain_ptr[symbol], program.plain_ptr[symbol + 1]):
            entry = program.plain[q]
            total = state.plain[entry] + state.change[q]
            state.plain_over[entry] |= state.change_over[q] | (total < state.change[q])
            state.plain[entry] = total
        state.tally[UPDATES] += program.plain_ptr[symbol + 1] - program.plain_ptr[symbol]


@inlined
def _update_segments(touched: int, program: Program, state: CounterState, modular: bool) -> None:
    """Updates the other counters, level by level from the last places down."""
    gathered = state.gathered
    for t in range(touched):
        symbol = gathered.touched[t]
        gathered.cursor[symbol] = program.target_ptr[symbol]
    while True:
        level = 0
        for t in range(touched):
            symbol = gathered.touched[t]
            if gathered.cursor[symbol] < program.target_ptr[symbol + 1]:
                level = max(level, program.target_level[gathered.cursor[symbol]])
        if level == 0:
            return
        for t in range(touched):
            symbol = gathered.touched[t]
            q = gathered.cursor[symbol]
            while q < program.target_ptr[symbol + 1] and program.target_level[q] == level:
                if level % 2:
                    clear_place(
                        program.target_segment[q], level // 2, program.segment, state.place,
                        state.ring, state.over, state.real, state.least,
                    )  # fmt: skip
                else:
                    update_place(
                        program.target_segment[q], level // 2, symbol, gathered, state.clock, program.segment,
                        program.weight, state.place, state.opened, state.ring, state.over, state.real, state.least,
                        state.tally, modular,
                    )  # fmt: skip
                q += 1
            gathered.cursor[symbol] = q


@inlined
def _forget(symbol: int, program: Program, state: CounterState) -> None:
    gathered = state.gathered
    gathered.number[symbol] = np.uint64(0)
    for c in range(program.ring_ptr[symbol], program.ring_ptr[symbol + 1]):
        gathered.ring[symbol, program.ring[c]] = np.uint64(0)
        gathered.over[symbol, program.ring[c]] = False
    for c in range(program.real_ptr[symbol], program.real_ptr[symbol + 1]):
        gathered.real[symbol, program.real[c]] = 0.0
    for c in range(program.least_ptr[symbol], program.least_ptr[symbol + 1]):
        gathered.least[symbol, program.least[c]] = NO_VALUE


@inlined
def advance(
    now: int, size: int, window: Sliding, program: Program, state: CounterState, modular: bool, out: SequenceRows
) -> tuple[int, bool]:
    """Closes the windows that end by `now` and opens those of `now`; returns (rows in `out`, whether it is done).

    If not, it goes on when called again with an empty `out`, which has room for a row per query at least.
    """
    clock = state.clock
    span = state.opened.shape[1]
    if clock[LOW] * window.slide + window.within <= now:
        _note_peak(program, state)
    while clock[LOW] <= clock[HIGH] and clock[LOW] * window.slide + window.within <= now:
        if size + len(program.query) > len(out.window):
            return size, False
        size = _write_rows(clock[LOW], size, program, state, modular, out)
        _forget_window(clock[LOW], program, state)
        clock[LOW] += 1
    high = clock[HIGH]
    clock[LOW] = max(clock[LOW], (now - window.within) // window.slide + 1, 0)
    clock[HIGH] = max(high, now // window.slide)
    for k in range(max(high + 1, clock[LOW]), clock[HIGH] + 1):
        for g in range(len(program.segment)):
            if program.segment[g, SLOTS] == BY_START:
                state.opened[g, k % span] = state.place[g, TAIL]
    return size, True


@inlined
def _note_peak(program: Program, state: CounterState) -> None:
    """Keeps how many slots were live, if they took more room than ever since this was asked for."""
    size = 0
    for g in range(len(program.segment)):
        size += (state.place[g, TAIL] - state.place[g, HEAD]) * program.slot_bytes[g]
    if size >= state.peak[0]:
        state.peak[0] = size
        state.peak[1] = state.clock[HIGH] + 1 - state.clock[LOW]
        for g in range(len(program.segment)):
            state.peak[2 + g] = state.place[g, TAIL] - state.place[g, HEAD]


@inlined
def _write_rows(k: int, size: int, program: Program, state: CounterState, modular: bool, out: SequenceRows) -> int:
    """Writes the rows of window k: the sum over the sequences of each query."""
    ring, over, real, least = state.ring, state.over, state.real, state.least
    row = k % state.opened.shape[1]
    at_ring, at_real, at_least = program.total[0], program.total[1], program.total[2]
    for q in range(len(program.query)):
        query = program.query[q]
        rings, reals, leasts = query[QUERY_RING], query[QUERY_REAL], query[QUERY_LEAST]
        clear_cell(rings, reals, leasts, at_ring, at_real, at_least, ring, over, real, least)
        for s in range(query[SEQUENCES], query[SEQUENCES_END]):
            counted_before(
                s, program.sequence[s, LAST], row, program.segment, program.link, program.sequence, program.query,
                program.channel, state.place, state.opened, state.snapshot, ring, over, real, least,
                state.plain, state.plain_over, state.tally, modular,
            )  # fmt: skip
            for c in range(rings):
                total = ring[at_ring + c] + ring[c]
                over[at_ring + c] |= over[c] | (total < ring[c])
                ring[at_ring + c] = total
            for c in range(reals):
                real[at_real + c] += real[c]
            for c in range(leasts):
                least[at_least + c] = min(least[at_least + c], least[c])
        if ring[at_ring] != 0 or over[at_ring]:
            out.window[size] = k
            out.query[size] = q
            for c in range(rings):
                out.ring[size, c] = ring[at_ring + c]
                out.over[size, c] = over[at_ring + c]
            for c in range(reals):
                out.real[size, c] = real[at_real + c]
            for c in range(leasts):
                out.least[size, c] = least[at_least + c]
            size += 1
    return size


@inlined
def _forget_window(k: int, program: Program, state: CounterState) -> None:
    """Empties the results of window k and drops the START events that lie in no later window."""
    span = state.opened.shape[1]
    row = k % span
    for i in range(len(state.plain)):  # plain counters have one window at a time
        state.plain[i] = program.unit[i]
        state.plain_over[i] = False
    for g in range(len(program.segment)):
        segment, place = program.segment[g], state.place[g]
        if segment[FIRST]:
            rings, reals, leasts = segment[RING], segment[REAL], segment[LEAST]
            clear_cell(
                rings, reals, leasts,
                segment[FROM_RING] + row * rings, segment[FROM_REAL] + row * reals, segment[FROM_LEAST] + row * leasts,
                state.ring, state.over, state.real, state.least,
            )  # fmt: skip
        if segment[SLOTS] != BY_START:
            clear_slot(g, row, program.segment, state.place, state.ring, state.over, state.real, state.least)
        elif k < state.clock[HIGH]:
            place[HEAD] = state.opened[g, (k + 1) % span]
        else:
            place[HEAD] = place[TAIL] = 0
