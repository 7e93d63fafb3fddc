"""Updates of a segment's counters by the events of one time stamp (dissertation 22.2).

The events that match a place at one time stamp act together: they are alike to all others. Their number, sums and
minima multiply the counters of the place before.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from algorithms.kernels.arrays import Ints
from algorithms.kernels.compilation import inlined, kernel
from algorithms.kernels.sequences import (
    AT_LEAST,
    AT_REAL,
    AT_RING,
    BY_COUNT,
    CAPACITY,
    FIRST,
    FROM_LEAST,
    FROM_REAL,
    FROM_RING,
    HEAD,
    HIGH,
    LEAST,
    LENGTH,
    LINKS,
    LINKS_END,
    LOW,
    NOT_BOUND,
    QUERY_LEAST,
    QUERY_REAL,
    QUERY_RING,
    REAL,
    RING,
    ROWS,
    SINGLE,
    TAIL,
    UPDATES,
    WEIGHTS,
    Program,
    State,
)
from algorithms.kernels.sequences_combine import clear_cell
from algorithms.kernels.sequences_rows import (
    add_least,
    add_multiple,
    add_real,
    add_row,
    add_weighted,
    row_sum,
)
from queries.aggregates import NO_VALUE


@kernel
def update_place(g: int, j: int, symbol: int, program: Program, state: State, modular: bool) -> None:
    """Adds the gathered events of a symbol to place j of segment g: O(n) per channel for n live slots."""
    segment, place = program.segment[g], state.place[g]
    if j == 1:
        if segment[SINGLE]:
            state.tally[UPDATES] += 1
            if segment[ROWS]:
                _begin(segment, place, place[HEAD], symbol, program, state)
        else:
            state.tally[UPDATES] += 1
            _begin(segment, place, place[TAIL], symbol, program, state)
            place[TAIL] += 1
        if segment[LENGTH] == 1 and segment[FIRST]:
            clear_cell(state.cell)
            state.cell.ring[0] = state.cell.ring.dtype.type(1)
            for k in range(state.clock[LOW], state.clock[HIGH] + 1):
                _add_result(segment, k % state.opened.shape[1], 1, symbol, program, state, modular)
        return
    state.tally[UPDATES] += place[TAIL] - place[HEAD]
    if place[TAIL] == place[HEAD]:
        return
    if j <= segment[ROWS]:
        _update_row(segment, place, j, symbol, program, state, modular)
    if j == segment[LENGTH] and segment[FIRST]:
        _update_results(g, segment, place, j, symbol, program, state, modular)


@inlined
def _weight(segment: Ints, channel: int, j: int, program: Program) -> int:
    """What place j weighs for a channel: all families are numbered through, without COUNT(*)."""
    return program.weight[segment[WEIGHTS] + channel * segment[LENGTH] + j - 1]


@inlined
def _begin(segment: Ints, place: Ints, slot: int, symbol: int, program: Program, state: State) -> None:
    """Adds START events to a slot: their own is new, and its counters of later places are empty."""
    rows, gathered = state.rows, state.gathered
    capacity = place[CAPACITY]
    if slot == place[TAIL]:
        clear_slot(segment, place, slot, state)
    number = rows.ring.dtype.type(gathered.number[symbol])
    entry = place[AT_RING] + slot
    total = rows.ring[entry] + number
    rows.over[entry] |= total < number
    rows.ring[entry] = total
    for c in range(1, segment[RING]):
        weight = _weight(segment, c - 1, 1, program)
        if weight == NOT_BOUND:
            continue
        more, over = number, False
        if weight != BY_COUNT:
            more, over = rows.ring.dtype.type(gathered.ring[symbol, weight]), gathered.over[symbol, weight]
        entry = place[AT_RING] + c * segment[ROWS] * capacity + slot
        total = rows.ring[entry] + more
        rows.over[entry] |= over | (total < more)
        rows.ring[entry] = total
    for c in range(segment[REAL]):
        weight = _weight(segment, segment[RING] - 1 + c, 1, program)
        if weight != NOT_BOUND:
            rows.real[place[AT_REAL] + c * segment[ROWS] * capacity + slot] += gathered.real[symbol, weight]
    for c in range(segment[LEAST]):
        weight = _weight(segment, segment[RING] - 1 + segment[REAL] + c, 1, program)
        if weight != NOT_BOUND:
            entry = place[AT_LEAST] + c * segment[ROWS] * capacity + slot
            rows.least[entry] = min(rows.least[entry], gathered.least[symbol, weight])


@inlined
def clear_slot(segment: Ints, place: Ints, slot: int, state: State) -> None:
    """Empties all counters of a slot."""
    rows, capacity = state.rows, place[CAPACITY]
    for r in range(segment[RING] * segment[ROWS]):
        rows.ring[place[AT_RING] + r * capacity + slot] = rows.ring.dtype.type(0)
        rows.over[place[AT_RING] + r * capacity + slot] = False
    for r in range(segment[REAL] * segment[ROWS]):
        rows.real[place[AT_REAL] + r * capacity + slot] = 0.0
    for r in range(segment[LEAST] * segment[ROWS]):
        rows.least[place[AT_LEAST] + r * capacity + slot] = NO_VALUE


@kernel
def clear_place(g: int, j: int, program: Program, state: State) -> None:
    """Forgets the sequences that end at place j, since a negated event came after them."""
    segment, place = program.segment[g], state.place[g]
    rows, capacity = state.rows, place[CAPACITY]
    for c in range(segment[RING]):
        at = place[AT_RING] + (c * segment[ROWS] + j - 1) * capacity
        for slot in range(place[HEAD], place[TAIL]):
            rows.ring[at + slot] = rows.ring.dtype.type(0)
            rows.over[at + slot] = False
    for c in range(segment[REAL]):
        at = place[AT_REAL] + (c * segment[ROWS] + j - 1) * capacity
        for slot in range(place[HEAD], place[TAIL]):
            rows.real[at + slot] = 0.0
    for c in range(segment[LEAST]):
        at = place[AT_LEAST] + (c * segment[ROWS] + j - 1) * capacity
        for slot in range(place[HEAD], place[TAIL]):
            rows.least[at + slot] = NO_VALUE


@inlined
def _update_row(segment: Ints, place: Ints, j: int, symbol: int, program: Program, state: State, modular: bool) -> None:
    """Extends the sequences that end at place j - 1, slot by slot."""
    rows, gathered = state.rows, state.gathered
    capacity, size = place[CAPACITY], place[TAIL] - place[HEAD]
    number = gathered.number[symbol]
    first = place[AT_RING] + (j - 2) * capacity + place[HEAD]
    count, over = rows.ring[first : first + size], rows.over[first : first + size]
    for c in range(segment[RING]):
        x = first + c * segment[ROWS] * capacity
        y = x + capacity
        to, to_over = rows.ring[y : y + size], rows.over[y : y + size]
        row, row_over = rows.ring[x : x + size], rows.over[x : x + size]
        if number == 1:
            add_row(to, to_over, row, row_over)
        else:
            add_multiple(to, to_over, row, row_over, number, modular)
        if c == 0:
            continue
        weight = _weight(segment, c - 1, j, program)
        if weight == BY_COUNT:
            add_multiple(to, to_over, count, over, number, modular)
        elif weight != NOT_BOUND:
            add_weighted(to, to_over, count, over, gathered.ring[symbol, weight], gathered.over[symbol, weight])
    for c in range(segment[REAL]):
        x = place[AT_REAL] + (c * segment[ROWS] + j - 2) * capacity + place[HEAD]
        y = x + capacity
        weight = _weight(segment, segment[RING] - 1 + c, j, program)
        own = 0.0 if weight == NOT_BOUND else gathered.real[symbol, weight]
        add_real(rows.real[y : y + size], rows.real[x : x + size], float(number), count, own)
    for c in range(segment[LEAST]):
        x = place[AT_LEAST] + (c * segment[ROWS] + j - 2) * capacity + place[HEAD]
        y = x + capacity
        weight = _weight(segment, segment[RING] - 1 + segment[REAL] + c, j, program)
        least = NO_VALUE if weight == NOT_BOUND else gathered.least[symbol, weight]
        add_least(rows.least[y : y + size], rows.least[x : x + size], count, over, least)


@inlined
def _update_results(
    g: int, segment: Ints, place: Ints, j: int, symbol: int, program: Program, state: State, modular: bool
) -> None:
    """Extends the sequences that end before the last place, and adds them to all windows that hold their START.

    From the latest window to the earliest one, `state.cell` sums up the slots of the window: O(n + K).
    """
    rows, cell = state.rows, state.cell
    clear_cell(cell)
    span = state.opened.shape[1]
    capacity = place[CAPACITY]
    end = place[TAIL]
    for k in range(state.clock[HIGH], state.clock[LOW] - 1, -1):
        begin = max(state.opened[g, k % span], place[HEAD])
        size = end - begin
        if size > 0:
            for c in range(segment[RING]):
                x = place[AT_RING] + (c * segment[ROWS] + j - 2) * capacity + begin
                more, over = row_sum(rows.ring[x : x + size], rows.over[x : x + size], modular)
                total = cell.ring[c] + more
                cell.over[c] |= over | (total < more)
                cell.ring[c] = total
            for c in range(segment[REAL]):
                x = place[AT_REAL] + (c * segment[ROWS] + j - 2) * capacity + begin
                for slot in range(size):
                    cell.real[c] += rows.real[x + slot]
            for c in range(segment[LEAST]):
                x = place[AT_LEAST] + (c * segment[ROWS] + j - 2) * capacity + begin
                for slot in range(size):
                    cell.least[c] = min(cell.least[c], rows.least[x + slot])
            end = begin
        _add_result(segment, k % span, j, symbol, program, state, modular)


@inlined
def _add_result(segment: Ints, row: int, j: int, symbol: int, program: Program, state: State, modular: bool) -> None:
    """Adds the sequences of `state.cell`, extended by the gathered events, to the result of a window."""
    results, gathered, cell = state.results, state.gathered, state.cell
    if cell.ring[0] == 0 and not cell.over[0]:
        return
    number = gathered.number[symbol]
    at = segment[FROM_RING] + row * segment[RING]
    count, count_over = cell.ring[0:1], cell.over[0:1]
    for c in range(segment[RING]):
        to, to_over = results.ring[at + c : at + c + 1], results.over[at + c : at + c + 1]
        add_multiple(to, to_over, cell.ring[c : c + 1], cell.over[c : c + 1], number, modular)
        if c == 0:
            continue
        weight = _weight(segment, c - 1, j, program)
        if weight == BY_COUNT:
            add_multiple(to, to_over, count, count_over, number, modular)
        elif weight != NOT_BOUND:
            add_weighted(to, to_over, count, count_over, gathered.ring[symbol, weight], gathered.over[symbol, weight])
    at = segment[FROM_REAL] + row * segment[REAL]
    for c in range(segment[REAL]):
        weight = _weight(segment, segment[RING] - 1 + c, j, program)
        own = 0.0 if weight == NOT_BOUND else gathered.real[symbol, weight]
        add_real(results.real[at + c : at + c + 1], cell.real[c : c + 1], float(number), count, own)
    at = segment[FROM_LEAST] + row * segment[LEAST]
    for c in range(segment[LEAST]):
        weight = _weight(segment, segment[RING] - 1 + segment[REAL] + c, j, program)
        own_least = NO_VALUE if weight == NOT_BOUND else gathered.least[symbol, weight]
        to_least = results.least[at + c : at + c + 1]
        add_least(to_least, cell.least[c : c + 1], count, count_over, own_least)


@kernel
def make_room(g: int, program: Program, state: State) -> bool:
    """Whether segment g has room for one more slot, if need be after moving the live ones to the front."""
    segment, place = program.segment[g], state.place[g]
    capacity, head, tail = place[CAPACITY], place[HEAD], place[TAIL]
    if tail < capacity:
        return True
    if 2 * head < capacity:
        return False
    rows, snapshots = state.rows, state.snapshots
    span = state.opened.shape[1]
    for r in range(segment[RING] * segment[ROWS]):
        at = place[AT_RING] + r * capacity
        _move(rows.ring, at, head, tail)
        _move(rows.over, at, head, tail)
    for r in range(segment[REAL] * segment[ROWS]):
        _move(rows.real, place[AT_REAL] + r * capacity, head, tail)
    for r in range(segment[LEAST] * segment[ROWS]):
        _move(rows.least, place[AT_LEAST] + r * capacity, head, tail)
    for link in range(segment[LINKS], segment[LINKS_END]):
        query = program.query[program.link[link, 0]]
        for r in range(span * query[QUERY_RING]):
            at = state.snapshot[link, 0] + r * capacity
            _move(snapshots.ring, at, head, tail)
            _move(snapshots.over, at, head, tail)
        for r in range(span * query[QUERY_REAL]):
            _move(snapshots.real, state.snapshot[link, 1] + r * capacity, head, tail)
        for r in range(span * query[QUERY_LEAST]):
            _move(snapshots.least, state.snapshot[link, 2] + r * capacity, head, tail)
    for k in range(span):
        state.opened[g, k] = max(state.opened[g, k] - head, 0)
    place[HEAD], place[TAIL] = 0, tail - head
    return True


@inlined
def _move(values: NDArray[Any], at: int, head: int, tail: int) -> None:
    for slot in range(head, tail):
        values[at + slot - head] = values[at + slot]
