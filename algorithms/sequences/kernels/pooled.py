"""Sequences of many sub-streams: `count_sequences` on one state after another.

The arrays of a state have a first axis of sub-streams here; those that the inner kernel gets are views of one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import has_ended
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import KernelEvents, Sliding
from cepbench.algorithms.kernels.lanes import NO_END, lane, last_end, own, until_place
from cepbench.algorithms.sequences.kernels.counters import (
    CounterState,
    SequenceRows,
)
from cepbench.algorithms.sequences.kernels.program import Program
from cepbench.algorithms.sequences.kernels.stream import NONE, count_sequences

APART = -2
"""In place of an end, of a sub-stream whose state lies apart, since it needed more room than others."""
AT_FIRST: Any = np.int64(0)
NO_TIME: Any = np.int64(0)
"""Not literals, for which Numba would compile the inner kernel anew."""


@kernel
def count_pooled(
    at: int,
    done: int,
    number: Ints,
    begin: Ints,
    events: KernelEvents,
    window: Sliding,
    program: Program,
    states: CounterState,
    modular: bool,
    ends: Ints,
    out: SequenceRows,
    owner: Ints,
) -> tuple[int, int, int, int]:
    """Processes keys `at..` of a batch, the first of them from event `done` on; returns (next key, next event,
    rows written, a segment of that piece's sub-stream that needs more slots or `NONE`).

    Stops where `out` might not suffice, and at a sub-stream that is `APART`. O(1) per piece beside its events.
    """
    written = 0
    for j in range(at, len(number)):
        s, stop = number[j], begin[j + 1]
        if ends[s] == APART:
            return j, done, written, NONE
        first = max(done, begin[j])
        done, more, segment = count_sequences(
            first, NO_TIME, until_place(events, stop), window, program, lane(states, s), modular, _from(out, written)
        )
        own(owner, written, written + more, s)
        written += more
        if done <= stop:
            return j, done, written, segment
        done = stop
        ends[s] = last_end(events.time[stop - 1], window)
    return len(number), done, written, NONE


@kernel
def close_sequences(
    at: int,
    until: int,
    events: KernelEvents,
    window: Sliding,
    program: Program,
    states: CounterState,
    modular: bool,
    ends: Ints,
    out: SequenceRows,
    owner: Ints,
) -> tuple[int, int, int]:
    """Closes the windows that end by `until` in sub-streams `at..`; returns the next sub-stream, the rows written, and
    a segment of it that needs more slots or `NONE`. `events` has none. Stops as `count_pooled`.
    """
    written = 0
    for s in range(at, len(ends)):
        clock = states.slots.clock[s, 0]
        if ends[s] == APART:
            return s, written, NONE
        if ends[s] != NO_END and has_ended(clock.low, clock.high, until, window):
            done, more, segment = count_sequences(
                AT_FIRST, until, until_place(events, 0), window, program, lane(states, s), modular,
                _from(out, written),
            )  # fmt: skip
            own(owner, written, written + more, s)
            written += more
            if done == 0:
                return s, written, segment
            if ends[s] <= until:
                ends[s] = NO_END
    return len(ends), written, NONE


@inlined
def _from(out: SequenceRows, written: int) -> SequenceRows:
    """The rows behind those that are written."""
    return SequenceRows(
        out.window[written:], out.query[written:], out.ring[written:], out.over[written:], out.real[written:],
        out.least[written:],
    )  # fmt: skip
