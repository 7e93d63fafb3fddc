"""Updates of a segment's counters by the events of one time stamp (dissertation 22.2).

The events that match a place at one time stamp are processed together, since they have the same predecessors and
successors. Their number, sums and minima multiply the counters of the previous place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import HALF, LOWER, ONE, ZERO
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.sequences.kernels.counters import CELL, Arrivals, ClockRecord, PlaceRecord, Values
from cepbench.algorithms.sequences.kernels.program import BY_COUNT, BY_START, BY_WINDOW, NOT_BOUND, SegmentRecord
from cepbench.algorithms.sequences.kernels.rows import (
    add_least,
    add_real,
    add_times,
    add_to,
    add_weighted,
    clear_cell,
    row_of,
    row_sum,
)
from cepbench.queries.aggregates import NO_VALUE


@inlined
def update_place(
    j: int,
    segment: SegmentRecord,
    place: PlaceRecord,
    opened: Ints,
    events: Arrivals,
    clock: ClockRecord,
    values: Values,
    modular: bool,
) -> None:
    """Adds events at place j of a segment: O(n) per channel for n live slots. `opened[K]`: of the segment."""
    reached = place.tail - place.head if j > 1 else 1
    clock.updates += clock.high + 1 - clock.low if segment.slots == BY_WINDOW else reached
    if reached == 0:
        return
    if j == 1:
        _begin(segment, place, events, values)
    elif j <= segment.rows:
        _update_row(j, segment, place, events, values, modular)
    if j == segment.length and segment.first:
        width = segment.width
        if modular and events.number == ONE and j > 1 and width.ring == 1 and width.real == 0 and width.least == 0:
            _update_counts(j, segment, place, opened, clock, values)
        else:
            _update_results(j, segment, place, opened, events, clock, values, modular)


@inlined
def _begin(segment: SegmentRecord, place: PlaceRecord, events: Arrivals, values: Values) -> None:
    """Adds START events to their slot; a new slot has empty counters at its later places."""
    slot = place.head
    if segment.slots == BY_START:
        slot = place.tail
        place.tail += 1
        clear_slot(slot, segment, place, values)
    if segment.rows == 0:
        return
    step, rings, reals = segment.rows * place.capacity, segment.width.ring, segment.width.real
    number = values.ring.dtype.type(events.number)
    entry = place.at.ring + slot
    add_to(values, entry, number, False)
    for c in range(1, rings):
        entry += step
        weight = events.code[c]
        if weight == BY_COUNT:
            add_to(values, entry, number, False)
        elif weight != NOT_BOUND:
            add_to(values, entry, values.ring.dtype.type(events.ring[weight]), events.over[weight])
    entry = place.at.real + slot
    for c in range(reals):
        weight = events.code[rings + c]
        if weight != NOT_BOUND:
            values.real[entry] += events.real[weight]
        entry += step
    entry = place.at.least + slot
    for c in range(segment.width.least):
        weight = events.code[rings + reals + c]
        if weight != NOT_BOUND:
            values.least[entry] = min(values.least[entry], events.least[weight])
        entry += step


@inlined
def clear_slot(slot: int, segment: SegmentRecord, place: PlaceRecord, values: Values) -> None:
    """Clears all counters of a slot."""
    entry = place.at.ring + slot
    for _ in range(segment.width.ring * segment.rows):
        values.ring[entry] = values.ring.dtype.type(0)
        values.over[entry] = False
        entry += place.capacity
    entry = place.at.real + slot
    for _ in range(segment.width.real * segment.rows):
        values.real[entry] = 0.0
        entry += place.capacity
    entry = place.at.least + slot
    for _ in range(segment.width.least * segment.rows):
        values.least[entry] = NO_VALUE
        entry += place.capacity


@inner
def clear_place(j: int, segment: SegmentRecord, place: PlaceRecord, values: Values) -> None:
    """Drops the sequences that end at place j after a negated event: O(n) per channel."""
    step, size = segment.rows * place.capacity, place.tail - place.head
    first = (j - 1) * place.capacity + place.head
    for c in range(segment.width.ring):
        at = place.at.ring + first + c * step
        values.ring[at : at + size] = values.ring.dtype.type(0)
        values.over[at : at + size] = False
    for c in range(segment.width.real):
        at = place.at.real + first + c * step
        values.real[at : at + size] = 0.0
    for c in range(segment.width.least):
        at = place.at.least + first + c * step
        values.least[at : at + size] = NO_VALUE


@inlined
def _update_row(
    j: int, segment: SegmentRecord, place: PlaceRecord, events: Arrivals, values: Values, modular: bool
) -> None:
    """Extends the sequences that end at place j - 1, slot by slot."""
    size, capacity, step = place.tail - place.head, place.capacity, segment.rows * place.capacity
    rings, reals, number = segment.width.ring, segment.width.real, events.number
    first = (j - 2) * capacity + place.head
    x = place.at.ring + first
    count = row_of(values, x, size)
    add_times(row_of(values, x + capacity, size), count, number, modular)
    for c in range(1, rings):
        x += step
        to, weight = row_of(values, x + capacity, size), events.code[c]
        add_times(to, row_of(values, x, size), number, modular)
        if weight == BY_COUNT:
            add_times(to, count, number, modular)
        elif weight != NOT_BOUND:
            add_weighted(to, count, events.ring[weight], events.over[weight])
    x = place.at.real + first
    for c in range(reals):
        y, weight = x + capacity, events.code[rings + c]
        value = 0.0 if weight == NOT_BOUND else events.real[weight]
        add_real(values.real[y : y + size], values.real[x : x + size], float(number), count, value)
        x += step
    x = place.at.least + first
    for c in range(segment.width.least):
        y, weight = x + capacity, events.code[rings + reals + c]
        least = NO_VALUE if weight == NOT_BOUND else events.least[weight]
        add_least(values.least[y : y + size], values.least[x : x + size], count, least)
        x += step


@inlined
def _update_counts(
    j: int, segment: SegmentRecord, place: PlaceRecord, opened: Ints, clock: ClockRecord, values: Values
) -> None:
    """`_update_results` for one event and COUNT(*) only, the most frequent case: needs no intermediate cell."""
    end, column = place.tail, place.at.ring + (j - 2) * place.capacity
    lower, upper, flagged = ZERO, ZERO, False
    row = clock.high % len(opened)
    for _ in range(clock.high, clock.low - 1, -1):
        begin = max(opened[row], place.head)
        for slot in range(column + begin, column + end):
            count = np.uint64(values.ring[slot])
            lower += count & LOWER
            upper += count >> HALF
            flagged |= values.over[slot]
        end = min(begin, end)
        high = upper + (lower >> HALF)
        total = values.ring.dtype.type((high << HALF) + (lower & LOWER))
        over: Any = flagged | (high > LOWER)
        add_to(values, segment.result.ring + row, total, over)
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
    modular: bool,
) -> None:
    """Extends the sequences that end before the last place, and adds them to all windows that contain their START.

    From the latest window to the earliest one, the first cell accumulates the slots of the window: O(n + K). A segment
    with a single place extends the empty sequence.
    """
    end, step = place.tail, segment.rows * place.capacity
    clear_cell(segment.width, CELL, values)
    if j == 1:
        values.ring[0] = values.ring.dtype.type(1)
    for k in range(clock.high, clock.low - 1, -1):
        row = k % len(opened)
        begin = max(opened[row], place.head)
        size = end - begin
        if j > 1 and size > 0:
            first = (j - 2) * place.capacity + begin
            x = place.at.ring + first
            for c in range(segment.width.ring):
                total, over = row_sum(row_of(values, x, size), modular)
                add_to(values, c, total, over)
                x += step
            x = place.at.real + first
            for c in range(segment.width.real):
                for slot in range(x, x + size):
                    values.real[c] += values.real[slot]
                x += step
            x = place.at.least + first
            for c in range(segment.width.least):
                for slot in range(x, x + size):
                    values.least[c] = min(values.least[c], values.least[slot])
                x += step
            end = begin
        _add_result(row, segment, events, values, modular)


@inlined
def _add_result(row: int, segment: SegmentRecord, events: Arrivals, values: Values, modular: bool) -> None:
    """Adds the sequences of the first cell, extended by events, to the result of the window in a row."""
    if values.ring[0] != 0 or values.over[0]:
        rings, reals, leasts, number = segment.width.ring, segment.width.real, segment.width.least, events.number
        at = segment.result.ring + row * rings
        add_times(row_of(values, at, rings), row_of(values, 0, rings), number, modular)
        for c in range(1, rings):
            to, count, weight = row_of(values, at + c, 1), row_of(values, 0, 1), events.code[c]
            if weight == BY_COUNT:
                add_times(to, count, number, modular)
            elif weight != NOT_BOUND:
                add_weighted(to, count, events.ring[weight], events.over[weight])
        at = segment.result.real + row * reals
        for c in range(reals):
            weight = events.code[rings + c]
            value = 0.0 if weight == NOT_BOUND else events.real[weight]
            values.real[at + c] += float(number) * values.real[c] + value * float(values.ring[0])
        at = segment.result.least + row * leasts
        for c in range(leasts):
            weight = events.code[rings + reals + c]
            least = NO_VALUE if weight == NOT_BOUND else events.least[weight]
            values.least[at + c] = min(values.least[at + c], values.least[c], least)
