"""A-Seq and Sharon on a stream (dissertation 22.2, 22.3): the events of a time stamp take effect when it is over.

Events of one time stamp never precede one another. So snapshots are taken first, and then each segment is updated from
its last place to its first: an event at place j extends the sequences that had reached place j - 1 before.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.clock import has_ended, next_boundary
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents, Sliding, fits
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.sequences.kernels.closing import advance
from cepbench.algorithms.sequences.kernels.combination import take_snapshots
from cepbench.algorithms.sequences.kernels.counters import (
    CounterState,
    KeyCounters,
    SequenceRows,
    Values,
    state_of,
)
from cepbench.algorithms.sequences.kernels.gathering import forget, gather
from cepbench.algorithms.sequences.kernels.levels import update_segments
from cepbench.algorithms.sequences.kernels.plain import update_plain
from cepbench.algorithms.sequences.kernels.program import BY_START, Program
from cepbench.algorithms.sequences.kernels.room import move_to_front

NONE = -1


class Sequencing(NamedTuple):
    """The constant arguments of the kernel."""

    program: Program
    window: Sliding
    modular: bool


@kernel
def count_sequences(
    first: int,
    watermark: int,
    events: KernelEvents,
    fixed: Sequencing,
    values: Values,
    own: KeyCounters,
    out: SequenceRows,
    size: int,
) -> tuple[int, int, int]:
    """Counts the sequences of one key (`kernels.lanes`): O(k n) per event for the k places that it matches and n live
    START events.
    """
    program, window, modular = fixed.program, fixed.window, fixed.modular
    state = state_of(values, own)
    clock, gathered = state.slots.clock[0], state.gathered
    boundary = next_boundary(clock.low, clock.high, window)
    for i in range(first, len(events.time) + 1):
        if i == len(events.time) and not has_ended(clock.low, clock.high, watermark, window):
            break
        now = events.time[i] if i < len(events.time) else watermark
        if now != clock.now:
            if clock.touched > 0 and _act(program, state, modular) != NONE:
                return i, size, ROOM
            if now >= boundary:
                size, done = advance(now, size, window, program, state, modular, out)
                if not done:
                    return i, size, ROWS
                boundary = next_boundary(clock.low, clock.high, window)
            clock.now = now
        if i == len(events.time) or clock.low > clock.high:
            continue
        for b in range(program.binding_ptr[events.kind[i]], program.binding_ptr[events.kind[i] + 1]):
            symbol = program.binding[b]
            if fits(program.local[symbol], i, events):
                gather(i, symbol, events, program, clock, gathered)
    return len(events.time), size, DONE


@kernel
def count_keys(
    at: int, done: int, calls: Calls, fixed: Sequencing, values: Values, lanes: KeyCounters, rows: SequenceRows
) -> tuple[int, int, int, int]:
    """`count_sequences` for all keys."""
    return over_keys(count_sequences, at, done, calls, fixed, values, lanes, rows)


@inlined
def _act(program: Program, state: CounterState, modular: bool) -> int:
    """Applies the totals of the current time; returns a segment that needs more slots first, or `NONE`."""
    clock, gathered = state.slots.clock[0], state.gathered
    touched = clock.touched
    if len(program.begin) > 0:
        full = _make_room(touched, program, state)
        if full != NONE:
            return full
        _take_snapshots(touched, program, state, modular)
    update_plain(touched, program, state, modular)
    if len(program.target) > 0:
        update_segments(touched, program, state, modular)
    for t in range(touched):
        forget(gathered.touched[t], program, gathered)
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
def _take_snapshots(touched: int, program: Program, state: CounterState, modular: bool) -> None:
    for t in range(touched):
        symbol = state.gathered.touched[t]
        for b in range(program.begin_ptr[symbol], program.begin_ptr[symbol + 1]):
            segment = program.chains.segment[program.begin[b]]
            if segment.link < segment.link_end:
                take_snapshots(segment, program.chains, state.slots, state.values, state.plain, modular)
