"""What sequences have counted in a window: the count combination of Sharon's shared method (dissertation 22.3).

Two parts of a sequence combine as x.y: counts multiply, a sum is sx * cy + cx * sy, a minimum the lesser of both.
Cells hold the channels of a query, from entry 0 of `State.cell` and `State.total` on.
"""

from __future__ import annotations

from algorithms.kernels.compilation import inlined, kernel
from algorithms.kernels.sequences import (
    AT_LEAST,
    AT_REAL,
    AT_RING,
    BEFORE,
    CAPACITY,
    COMBINATIONS,
    FROM_LEAST,
    FROM_REAL,
    FROM_RING,
    LEAST,
    MAP,
    PLAIN,
    QUERY,
    QUERY_LEAST,
    QUERY_REAL,
    QUERY_RING,
    REAL,
    RING,
    ROWS,
    SEGMENT,
    SEQUENCE,
    TAIL,
    Program,
    State,
    Store,
)
from algorithms.kernels.sequences_rows import dot, dot_real, least_of_both
from queries.aggregates import NO_VALUE


@inlined
def clear_cell(cell: Store) -> None:
    """Makes a cell that of no sequence."""
    for c in range(len(cell.ring)):
        cell.ring[c] = cell.ring.dtype.type(0)
        cell.over[c] = False
    for c in range(len(cell.real)):
        cell.real[c] = 0.0
    for c in range(len(cell.least)):
        cell.least[c] = NO_VALUE


@inlined
def add_to_total(cell: Store, total: Store) -> None:
    """Adds one cell to another."""
    for c in range(len(cell.ring)):
        value = total.ring[c] + cell.ring[c]
        total.over[c] |= cell.over[c] | (value < cell.ring[c])
        total.ring[c] = value
    for c in range(len(cell.real)):
        total.real[c] += cell.real[c]
    for c in range(len(cell.least)):
        total.least[c] = min(total.least[c], cell.least[c])


@kernel
def counted_before(sequence: int, link: int, window: int, program: Program, state: State, modular: bool) -> None:
    """Sets `state.cell` to what a sequence has counted up to a link, or in its first segment if `link` is -1.

    O(n) for n live slots of the link's segment, O(1) for the first one.
    """
    clear_cell(state.cell)
    if link >= 0:
        _combine(link, window, program, state, modular)
    elif program.sequence[sequence, PLAIN] >= 0:
        entry = program.sequence[sequence, PLAIN]
        state.cell.ring[0] = state.plain[entry]
        state.cell.over[0] = state.plain_over[entry]
    else:
        _first_result(sequence, window, program, state)


@inlined
def _first_result(sequence: int, window: int, program: Program, state: State) -> None:
    segment = program.segment[program.sequence[sequence, SEGMENT]]
    query = program.query[program.sequence[sequence, QUERY]]
    at = program.sequence[sequence, MAP]
    row = window % state.opened.shape[1]
    for c in range(query[QUERY_RING]):
        channel = program.channel[at + c]
        if channel >= 0:
            entry = segment[FROM_RING] + row * segment[RING] + channel
            state.cell.ring[c] = state.results.ring[entry]
            state.cell.over[c] = state.results.over[entry]
    at += query[QUERY_RING]
    for c in range(query[QUERY_REAL]):
        channel = program.channel[at + c]
        if channel >= 0:
            state.cell.real[c] = state.results.real[segment[FROM_REAL] + row * segment[REAL] + channel]
    at += query[QUERY_REAL]
    for c in range(query[QUERY_LEAST]):
        channel = program.channel[at + c]
        if channel >= 0:
            state.cell.least[c] = state.results.least[segment[FROM_LEAST] + row * segment[LEAST] + channel]


@inlined
def _combine(link: int, window: int, program: Program, state: State, modular: bool) -> None:
    g = program.link[link, SEGMENT]
    segment, place = program.segment[g], state.place[g]
    query = program.query[program.link[link, QUERY]]
    capacity = place[CAPACITY]
    row = window % state.opened.shape[1]
    low = state.opened[g, row]
    size = place[TAIL] - low
    rows, snapshots, cell = state.rows, state.snapshots, state.cell
    state.tally[COMBINATIONS] += size
    if size == 0:
        return
    # The counters of the whole segment, and the snapshots of what came before.
    y = place[AT_RING] + (segment[ROWS] - 1) * capacity + low
    x = state.snapshot[link, 0] + row * query[QUERY_RING] * capacity + low
    count, count_over = rows.ring[y : y + size], rows.over[y : y + size]
    before, before_over = snapshots.ring[x : x + size], snapshots.over[x : x + size]
    cell.ring[0], cell.over[0] = dot(before, before_over, count, count_over, modular)
    at = program.link[link, MAP]
    for c in range(1, query[QUERY_RING]):
        own = x + c * capacity
        ring, over = snapshots.ring[own : own + size], snapshots.over[own : own + size]
        cell.ring[c], cell.over[c] = dot(ring, over, count, count_over, modular)
        channel = program.channel[at + c]
        if channel > 0:
            other = y + channel * segment[ROWS] * capacity
            ring, over = rows.ring[other : other + size], rows.over[other : other + size]
            more, more_over = dot(ring, over, before, before_over, modular)
            total = cell.ring[c] + more
            cell.over[c] |= more_over | (total < more)
            cell.ring[c] = total
    at += query[QUERY_RING]
    for c in range(query[QUERY_REAL]):
        own = state.snapshot[link, 1] + (row * query[QUERY_REAL] + c) * capacity + low
        cell.real[c] = dot_real(snapshots.real[own : own + size], count)
        channel = program.channel[at + c]
        if channel >= 0:
            other = place[AT_REAL] + (channel * segment[ROWS] + segment[ROWS] - 1) * capacity + low
            cell.real[c] += dot_real(rows.real[other : other + size], before)
    at += query[QUERY_REAL]
    for c in range(query[QUERY_LEAST]):
        own = state.snapshot[link, 2] + (row * query[QUERY_LEAST] + c) * capacity + low
        mine = snapshots.least[own : own + size]
        theirs = mine
        channel = program.channel[at + c]
        if channel >= 0:
            other = place[AT_LEAST] + (channel * segment[ROWS] + segment[ROWS] - 1) * capacity + low
            theirs = rows.least[other : other + size]
        cell.least[c] = least_of_both(mine, theirs, before, before_over, count, count_over)


@kernel
def take_snapshots(segment: int, links: int, links_end: int, program: Program, state: State, modular: bool) -> None:
    """Keeps, in the next slot of a segment, what its links have counted so far in each open window."""
    place = state.place[segment]
    capacity = place[CAPACITY]
    span = state.opened.shape[1]
    for link in range(links, links_end):
        query = program.query[program.link[link, QUERY]]
        for window in range(state.clock[1], state.clock[2] + 1):
            counted_before(program.link[link, SEQUENCE], program.link[link, BEFORE], window, program, state, modular)
            row = window % span
            for c in range(query[QUERY_RING]):
                entry = state.snapshot[link, 0] + (row * query[QUERY_RING] + c) * capacity + place[TAIL]
                state.snapshots.ring[entry] = state.cell.ring[c]
                state.snapshots.over[entry] = state.cell.over[c]
            for c in range(query[QUERY_REAL]):
                entry = state.snapshot[link, 1] + (row * query[QUERY_REAL] + c) * capacity + place[TAIL]
                state.snapshots.real[entry] = state.cell.real[c]
            for c in range(query[QUERY_LEAST]):
                entry = state.snapshot[link, 2] + (row * query[QUERY_LEAST] + c) * capacity + place[TAIL]
                state.snapshots.least[entry] = state.cell.least[c]
