"""Updates of a segment's counters by the events of one time stamp (dissertation 22.2).

The events that match a place at one time stamp act together: they are alike to all others. Their number, sums and
minima multiply the counters of the place before. Arrays are those of `Program` and `State`; `events` are gathered.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.sequences.kernels.combination import clear_cell
from cepbench.algorithms.sequences.kernels.rows import add_least, add_multiple, add_real, add_row, add_weighted, row_sum
from cepbench.algorithms.sequences.kernels.tables import (
    AT_LEAST,
    AT_REAL,
    AT_RING,
    BY_COUNT,
    BY_START,
    BY_WINDOW,
    CAPACITY,
    FIRST,
    FROM_LEAST,
    FROM_REAL,
    FROM_RING,
    HEAD,
    HIGH,
    LEAST,
    LENGTH,
    LOW,
    NOT_BOUND,
    REAL,
    RING,
    ROWS,
    SLOTS,
    TAIL,
    UPDATES,
    WEIGHTS,
    Gathered,
)
from cepbench.queries.aggregates import NO_VALUE


@kernel
def update_place(
    g: int,
    j: int,
    symbol: int,
    events: Gathered,
    clock: Ints,
    segments: Ints,
    weights: Ints,
    place: Ints,
    opened: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
    tally: Ints,
    modular: bool,
) -> None:
    """Adds the gathered events of a symbol to place j of segment g: O(n) per channel for n live slots."""
    head, tail, length, kept = place[g, HEAD], place[g, TAIL], segments[g, LENGTH], segments[g, ROWS]
    if j == 1:
        slot = tail if segments[g, SLOTS] == BY_START else head
        if kept > 0:
            _begin(g, slot, symbol, events, segments, weights, place, ring, over, real, least)
        if segments[g, SLOTS] == BY_START:
            place[g, TAIL] += 1
        tally[UPDATES] += 1
        if length == 1 and segments[g, FIRST]:
            clear_cell(segments[g, RING], segments[g, REAL], segments[g, LEAST], 0, 0, 0, ring, over, real, least)
            ring[0] = ring.dtype.type(1)
            for k in range(clock[LOW], clock[HIGH] + 1):
                _add_result(
                    g, k % opened.shape[1], j, symbol, events, segments, weights, ring, over, real, least, modular
                )
        return
    tally[UPDATES] += clock[HIGH] + 1 - clock[LOW] if segments[g, SLOTS] == BY_WINDOW else tail - head
    if tail == head:
        return
    if j <= kept:
        _update_row(g, j, symbol, events, segments, weights, place, ring, over, real, least, modular)
    if j == length and segments[g, FIRST]:
        _update_results(g, j, symbol, events, clock, segments, weights, place, opened, ring, over, real, least, modular)


@inlined
def _begin(
    g: int,
    slot: int,
    symbol: int,
    events: Gathered,
    segments: Ints,
    weights: Ints,
    place: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
) -> None:
    """Adds START events to a slot: if it is a new one, its counters of later places are empty."""
    step, length = segments[g, ROWS] * place[g, CAPACITY], segments[g, LENGTH]
    if slot == place[g, TAIL]:
        clear_slot(g, slot, segments, place, ring, over, real, least)
    number = ring.dtype.type(events.number[symbol])
    code = segments[g, WEIGHTS]
    entry = place[g, AT_RING] + slot
    _add_entry(entry, number, False, ring, over)
    for _ in range(1, segments[g, RING]):
        entry += step
        weight = weights[code]
        code += length
        if weight == BY_COUNT:
            _add_entry(entry, number, False, ring, over)
        elif weight != NOT_BOUND:
            _add_entry(entry, ring.dtype.type(events.ring[symbol, weight]), events.over[symbol, weight], ring, over)
    entry = place[g, AT_REAL] + slot
    for _ in range(segments[g, REAL]):
        if weights[code] != NOT_BOUND:
            real[entry] += events.real[symbol, weights[code]]
        entry += step
        code += length
    entry = place[g, AT_LEAST] + slot
    for _ in range(segments[g, LEAST]):
        if weights[code] != NOT_BOUND:
            least[entry] = min(least[entry], events.least[symbol, weights[code]])
        entry += step
        code += length


@inlined
def _add_entry(entry: int, more: Any, more_over: bool, ring: NDArray[Any], over: Flags) -> None:
    total = ring[entry] + more
    over[entry] |= more_over | (total < more)
    ring[entry] = total


@inlined
def clear_slot(
    g: int, slot: int, segments: Ints, place: Ints, ring: NDArray[Any], over: Flags, real: Reals, least: Ints
) -> None:
    """Empties all counters of a slot."""
    capacity, kept = place[g, CAPACITY], segments[g, ROWS]
    entry = place[g, AT_RING] + slot
    for _ in range(segments[g, RING] * kept):
        ring[entry] = ring.dtype.type(0)
        over[entry] = False
        entry += capacity
    entry = place[g, AT_REAL] + slot
    for _ in range(segments[g, REAL] * kept):
        real[entry] = 0.0
        entry += capacity
    entry = place[g, AT_LEAST] + slot
    for _ in range(segments[g, LEAST] * kept):
        least[entry] = NO_VALUE
        entry += capacity


@kernel
def clear_place(
    g: int, j: int, segments: Ints, place: Ints, ring: NDArray[Any], over: Flags, real: Reals, least: Ints
) -> None:
    """Forgets the sequences that end at place j, since a negated event came after them: O(n) per channel."""
    capacity, kept, size = place[g, CAPACITY], segments[g, ROWS], place[g, TAIL] - place[g, HEAD]
    for c in range(segments[g, RING]):
        at = place[g, AT_RING] + (c * kept + j - 1) * capacity + place[g, HEAD]
        ring[at : at + size] = ring.dtype.type(0)
        over[at : at + size] = False
    for c in range(segments[g, REAL]):
        at = place[g, AT_REAL] + (c * kept + j - 1) * capacity + place[g, HEAD]
        real[at : at + size] = 0.0
    for c in range(segments[g, LEAST]):
        at = place[g, AT_LEAST] + (c * kept + j - 1) * capacity + place[g, HEAD]
        least[at : at + size] = NO_VALUE


@inlined
def _update_row(
    g: int,
    j: int,
    symbol: int,
    events: Gathered,
    segments: Ints,
    weights: Ints,
    place: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
    modular: bool,
) -> None:
    """Extends the sequences that end at place j - 1, slot by slot."""
    head, capacity, kept, length = place[g, HEAD], place[g, CAPACITY], segments[g, ROWS], segments[g, LENGTH]
    size = place[g, TAIL] - head
    number = events.number[symbol]
    code = segments[g, WEIGHTS] + j - 1
    x = place[g, AT_RING] + (j - 2) * capacity + head
    y = x + capacity
    count, count_over = ring[x : x + size], over[x : x + size]
    if number == 1:
        add_row(ring[y : y + size], over[y : y + size], count, count_over)
    else:
        add_multiple(ring[y : y + size], over[y : y + size], count, count_over, number, modular)
    for _ in range(1, segments[g, RING]):
        x += kept * capacity
        y = x + capacity
        to, to_over = ring[y : y + size], over[y : y + size]
        if number == 1:
            add_row(to, to_over, ring[x : x + size], over[x : x + size])
        else:
            add_multiple(to, to_over, ring[x : x + size], over[x : x + size], number, modular)
        weight = weights[code]
        if weight == BY_COUNT and number == 1:
            add_row(to, to_over, count, count_over)
        elif weight == BY_COUNT:
            add_multiple(to, to_over, count, count_over, number, modular)
        elif weight != NOT_BOUND:
            add_weighted(to, to_over, count, count_over, events.ring[symbol, weight], events.over[symbol, weight])
        code += length
    x = place[g, AT_REAL] + (j - 2) * capacity + head
    for _ in range(segments[g, REAL]):
        y = x + capacity
        own = 0.0 if weights[code] == NOT_BOUND else events.real[symbol, weights[code]]
        add_real(real[y : y + size], real[x : x + size], float(number), count, own)
        x += kept * capacity
        code += length
    x = place[g, AT_LEAST] + (j - 2) * capacity + head
    for _ in range(segments[g, LEAST]):
        y = x + capacity
        least_own = NO_VALUE if weights[code] == NOT_BOUND else events.least[symbol, weights[code]]
        add_least(least[y : y + size], least[x : x + size], count, count_over, least_own)
        x += kept * capacity
        code += length


@inlined
def _update_results(
    g: int,
    j: int,
    symbol: int,
    events: Gathered,
    clock: Ints,
    segments: Ints,
    weights: Ints,
    place: Ints,
    opened: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
    modular: bool,
) -> None:
    """Extends the sequences that end before the last place, and adds them to all windows that hold their START.

    From the latest window to the earliest one, the first cell sums up the slots of the window: O(n + K).
    """
    capacity, kept, end = place[g, CAPACITY], segments[g, ROWS], place[g, TAIL]
    rings, reals, leasts = segments[g, RING], segments[g, REAL], segments[g, LEAST]
    clear_cell(rings, reals, leasts, 0, 0, 0, ring, over, real, least)
    for k in range(clock[HIGH], clock[LOW] - 1, -1):
        row = k % opened.shape[1]
        begin = max(opened[g, row], place[g, HEAD])
        size = end - begin
        if size > 0:
            x = place[g, AT_RING] + (j - 2) * capacity + begin
            for c in range(rings):
                more, more_over = row_sum(ring[x : x + size], over[x : x + size], modular)
                _add_entry(c, more, more_over, ring, over)
                x += kept * capacity
            x = place[g, AT_REAL] + (j - 2) * capacity + begin
            for c in range(reals):
                for slot in range(x, x + size):
                    real[c] += real[slot]
                x += kept * capacity
            x = place[g, AT_LEAST] + (j - 2) * capacity + begin
            for c in range(leasts):
                for slot in range(x, x + size):
                    least[c] = min(least[c], least[slot])
                x += kept * capacity
            end = begin
        _add_result(g, row, j, symbol, events, segments, weights, ring, over, real, least, modular)


@inlined
def _add_result(
    g: int,
    row: int,
    j: int,
    symbol: int,
    events: Gathered,
    segments: Ints,
    weights: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
    modular: bool,
) -> None:
    """Adds the sequences of the first cell, extended by the gathered events, to the result of a window."""
    if ring[0] != 0 or over[0]:
        rings, reals, leasts, length = segments[g, RING], segments[g, REAL], segments[g, LEAST], segments[g, LENGTH]
        number = events.number[symbol]
        code = segments[g, WEIGHTS] + j - 1
        at = segments[g, FROM_RING] + row * rings
        to, to_over = ring[at : at + rings], over[at : at + rings]
        if number == 1:
            add_row(to, to_over, ring[:rings], over[:rings])
        else:
            add_multiple(to, to_over, ring[:rings], over[:rings], number, modular)
        for c in range(1, rings):
            weight = weights[code]
            if weight == BY_COUNT:
                add_multiple(to[c : c + 1], to_over[c : c + 1], ring[:1], over[:1], number, modular)
            elif weight != NOT_BOUND:
                add_weighted(
                    to[c : c + 1], to_over[c : c + 1], ring[:1], over[:1],
                    events.ring[symbol, weight], events.over[symbol, weight],
                )  # fmt: skip
            code += length
        at = segments[g, FROM_REAL] + row * reals
        for c in range(reals):
            own = 0.0 if weights[code] == NOT_BOUND else events.real[symbol, weights[code]]
            real[at + c] += float(number) * real[c] + own * float(ring[0])
            code += length
        at = segments[g, FROM_LEAST] + row * leasts
        for c in range(leasts):
            least_own = NO_VALUE if weights[code] == NOT_BOUND else events.least[symbol, weights[code]]
            least[at + c] = min(least[at + c], least[c], least_own)
            code += length
