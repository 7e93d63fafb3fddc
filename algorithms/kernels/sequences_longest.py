"""The longest match so far: how far a Kleene pattern must be flattened into event sequences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.kernels.arrays import Ints
from algorithms.kernels.compilation import kernel
from algorithms.kernels.streams import KernelEvents, Sliding, fits
from algorithms.kernels.type_grained import Slots
from queries.tables import Tables

NOW, LOW, HIGH, PARTIAL, MATCH = 0, 1, 2, 3, 4


class Lengths(NamedTuple):
    """Lengths per window and slot of `Slots`, in row k % K for window k.

    - `longest[K, S]`: the most events of a partial match that ended before the current time stamp and may be extended;
      `pending[K, S]`: of one that ends at it. 0 is none.
    - `clock`: current time, lowest and highest window opened, the longest partial match and the longest match ever.
    - `seen[J]`: negation starts known.
    """

    longest: Ints
    pending: Ints
    clock: Ints
    seen: Ints


@kernel
def follow_lengths(events: KernelEvents, tables: Tables, slots: Slots, window: Sliding, lengths: Lengths) -> None:
    """Follows a batch: O(w l) per event in w windows, for l transitions into its positions."""
    clock, longest, pending = lengths.clock, lengths.longest, lengths.pending
    span = longest.shape[0]
    for i in range(len(events.time)):
        now = events.time[i]
        if now != clock[NOW]:
            _commit(events.negated[i], slots, lengths)
            clock[NOW] = now
            low = max(clock[LOW], (now - window.within) // window.slide + 1, 0)
            for k in range(clock[LOW], min(low, clock[HIGH] + 1)):
                longest[k % span, :] = 0
            clock[LOW] = low
            clock[HIGH] = max(clock[HIGH], now // window.slide)
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if not fits(p, i, events, tables):
                continue
            for k in range(clock[LOW], clock[HIGH] + 1):
                row = k % span
                reached = 1 if tables.start[p] else 0
                for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                    if longest[row, slots.read[e]] > 0:
                        reached = max(reached, longest[row, slots.read[e]] + 1)
                if reached == 0:
                    continue
                clock[PARTIAL] = max(clock[PARTIAL], reached)
                if tables.end[p]:
                    clock[MATCH] = max(clock[MATCH], reached)
                for f in range(slots.feed_ptr[p], slots.feed_ptr[p + 1]):
                    pending[row, slots.feed[f]] = max(pending[row, slots.feed[f]], reached)


@kernel
def _commit(negated: Ints, slots: Slots, lengths: Lengths) -> None:
    """Lets later events see what ended at the current time stamp."""
    longest, pending = lengths.longest, lengths.pending
    for j in range(len(negated)):
        if negated[j] > lengths.seen[j]:
            lengths.seen[j] = negated[j]
            for v in range(slots.void_ptr[j], slots.void_ptr[j + 1]):
                longest[:, slots.void[v]] = 0
    for row in range(longest.shape[0]):
        for slot in range(longest.shape[1]):
            longest[row, slot] = max(longest[row, slot], pending[row, slot])
            pending[row, slot] = 0


def new_lengths(span: int, slots: int, negations: int) -> Lengths:
    """Before the first event."""
    return Lengths(
        np.zeros((span, slots), np.int64),
        np.zeros((span, slots), np.int64),
        np.array([-1, 0, -1, 0, 0], np.int64),
        np.full(negations, -1, np.int64),
    )
