"""Updates of a segment's counters by the events of one time stamp (dissertation 22.2).

The events that match a place at one time stamp are processed together, since they have the same predecessors and
successors. Their number, sums and minima multiply the counters of the previous place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import HALF, LOWER, ONE, ZERO, is_modular
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.sequences.kernels.counters import CELL, Arrivals, ClockRecord, PlaceRecord, Values
from cepbench.algorithms.sequences.kernels.program import (
    BY_COUNT,
    BY_START,
    BY_WINDOW,
    NOT_BOUND,
    REAL,
    RING,
    SegmentRecord,
)
from cepbench.algorithms.sequences.kernels.rows import (
    add_least,
    add_real,
    add_sum,
    add_times,
    add_to,
    add_weighted,
    clear_cell,
    clear_spread,
    row_of,
)
from cepbench.queries.aggregates import NO_VALUE
from cepbench.queries.records import Records


@inlined
def update_place(
    j: int,
    segment: SegmentRecord,
    place: PlaceRecord,
    opened: Ints,
    events: Arrivals,
    clock: ClockRecord,
    values: Values,
) -> None:
    """Adds events at place j of a segment: O(n) per channel for n live slots. `opened[K]`: of the segment."""
    reached = place.tail - place.head if j > 1 else 1
    clock.updates += clock.high + 1 - clock.low if segment.slots == BY_WINDOW else reached
    if reached == 0:
        return
    if j == 1:
        _begin(segment, place, events, values)
    elif j <= segment.rows:
        _update_row(j, segment, place, events, values)
    if j == segment.length and segment.first:
        if is_modular(values) and events.number == ONE and j > 1 and segment.width == 1:
            _update_counts(j, segment, place, opened, clock, values)
        else:
            _update_results(j, segment, place, opened, events, clock, values)


@inlined
def _begin(segment: SegmentRecord, place: PlaceRecord, events: Arrivals, values: Values) -> None:
    """Adds START events to their slot; a new slot has empty counters at its later places."""
    slot = place.head
    if segment.slots == BY_START:
        slot = place.tail
        place.tail += 1
        clear_slot(slot, segment, place, events.channel, values)
    if segment.rows == 0:
        return
    number = values.counts.dtype.type(events.number)
    entry, step = place.at + slot, segment.rows * place.capacity
    add_to(values, entry, number, False)
    for c in range(1, segment.width):
        entry += step
        weight = events.code[c]
        total = events.total + weight
        if weight == NOT_BOUND:
            continue
        if weight == BY_COUNT:
            add_to(values, entry, number, False)
        elif events.channel[c].kind == RING:
            add_to(values, entry, values.counts[total], values.over[total])
        elif events.channel[c].kind == REAL:
            values.reals[entry] += values.reals[total]
        else:
            values.ints[entry] = min(values.ints[entry], values.ints[total])


@inlined
def clear_slot(slot: int, segment: SegmentRecord, place: PlaceRecord, channel: Records, values: Values) -> None:
    """Clears all counters of a slot; `channel`: those of the segment."""
    for c in range(segment.width):
        first = place.at + c * segment.rows * place.capacity
        clear_spread(values, first + slot, place.capacity, channel[c].empty, segment.rows)


@inner
def clear_place(j: int, segment: SegmentRecord, place: PlaceRecord, channel: Records, values: Values) -> None:
    """Drops the sequences that end at place j after a negated event: O(n) per channel."""
    step, size = segment.rows * place.capacity, place.tail - place.head
    first = place.at + (j - 1) * place.capacity + place.head
    for c in range(segment.width):
        clear_spread(values, first + c * step, 1, channel[c].empty, size)


@inlined
def _update_row(j: int, segment: SegmentRecord, place: PlaceRecord, events: Arrivals, values: Values) -> None:
    """Extends the sequences that end at place j - 1, slot by slot."""
    size, step = place.tail - place.head, segment.rows * place.capacity
    first = place.at + (j - 2) * place.capacity + place.head
    for c in range(segment.width):
        at = first + c * step
        _extend(c, at + place.capacity, at, first, size, events, values)


@inlined
def _extend(c: int, to: int, at: int, counts: int, size: int, events: Arrivals, values: Values) -> None:
    """Adds channel c of sequences, extended by events: words from `at` on, to those from `to` on.

    The words of COUNT(*), channel 0, begin at `counts`.
    """
    kind, weight, count = events.channel[c].kind, events.code[c], row_of(values, counts, size)
    total = events.total + weight
    if kind == RING:
        row = row_of(values, to, size)
        add_times(row, row_of(values, at, size), events.number)
        if weight == BY_COUNT:
            add_times(row, count, events.number)
        elif weight != NOT_BOUND:
            add_weighted(row, count, np.uint64(values.counts[total]), values.over[total])
    elif kind == REAL:
        value = 0.0 if weight == NOT_BOUND else values.reals[total]
        number = float(events.number)
        add_real(values.reals[to : to + size], values.reals[at : at + size], number, count, value)
    else:
        least = NO_VALUE if weight == NOT_BOUND else values.ints[total]
        add_least(values.ints[to : to + size], values.ints[at : at + size], count, least)


@inlined
def _update_counts(
    j: int, segment: SegmentRecord, place: PlaceRecord, opened: Ints, clock: ClockRecord, values: Values
) -> None:
    """`_update_results` for one event and COUNT(*) only, the most frequent case: needs no intermediate cell."""
    end, column = place.tail, place.at + (j - 2) * place.capacity
    lower, upper, flagged = ZERO, ZERO, False
    row = clock.high % len(opened)
    for _ in range(clock.high, clock.low - 1, -1):
        begin = max(opened[row], place.head)
        for slot in range(column + begin, column + end):
            count = np.uint64(values.counts[slot])
            lower += count & LOWER
            upper += count >> HALF
            flagged |= values.over[slot]
        end = min(begin, end)
        high = upper + (lower >> HALF)
        total = values.counts.dtype.type((high << HALF) + (lower & LOWER))
        over: Any = flagged | (high > LOWER)
        add_to(values, segment.result + row, total, over)
        row = row - 1 if row > 0 else len(opened) - 1


@inlined
def _update_results(
    j: int,
    segment: SegmentRecord,
    place: PlaceRecord,
    opened: Ints,
    events: Arrivals,
    clock: ClockRecord,
    values: Values,
) -> None:
    """Extends the sequences that end before the last place, and adds them to all windows that contain their START.

    From the latest window to the earliest one, the first cell accumulates the slots of the window: O(n + K). A segment
    with a single place extends the empty sequence.
    """
    end, width, step = place.tail, segment.width, segment.rows * place.capacity
    clear_cell(values, CELL, events.channel)
    if j == 1:
        values.counts[CELL] = values.counts.dtype.type(1)
    for k in range(clock.high, clock.low - 1, -1):
        row = k % len(opened)
        begin = max(opened[row], place.head)
        if j > 1 and end > begin:
            first = place.at + (j - 2) * place.capacity + begin
            for c in range(width):
                add_sum(values, CELL + c, first + c * step, end - begin, events.channel[c].kind)
            end = begin
        if values.counts[CELL] != 0 or values.over[CELL]:
            for c in range(width):
                _extend(c, segment.result + row * width + c, CELL + c, CELL, 1, events, values)
