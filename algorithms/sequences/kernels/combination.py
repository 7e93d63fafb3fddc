"""What sequences have counted in a window: the count combination of Sharon's shared method (dissertation 22.3).

Two parts of a sequence combine as x.y: counts multiply, a sum is sx * cy + cx * sy, a minimum the lesser of both.
Arrays are those of `Program` and `State`; the result is the cell at entry 0 of `ring`, `over`, `real` and `least`.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.sequences.kernels.rows import dot, dot_real, least_of_both
from cepbench.algorithms.sequences.kernels.tables import (
    AT_LEAST,
    AT_REAL,
    AT_RING,
    BEFORE,
    BY_WINDOW,
    CAPACITY,
    COMBINATIONS,
    ENTRY,
    FROM_LEAST,
    FROM_REAL,
    FROM_RING,
    HIGH,
    LEAST,
    LOW,
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
    SLOTS,
    TAIL,
)
from cepbench.queries.aggregates import NO_VALUE


@kernel
def take_snapshots(
    first_link: int,
    last_link: int,
    clock: Ints,
    segments: Ints,
    links: Ints,
    sequences: Ints,
    queries: Ints,
    channels: Ints,
    place: Ints,
    opened: Ints,
    snapshot: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
    plain: NDArray[Any],
    plain_over: Flags,
    tally: Ints,
    modular: bool,
) -> None:
    """Keeps what the links of one segment have counted so far in each open window.

    That is in the next slot of START events, or, if the segment has a slot per window, at its first place there.
    O(n) per link and window for n live slots of the segment before, O(1) if that is a sequence's first segment.
    """
    span = opened.shape[1]
    for link in range(first_link, last_link):
        query, segment = links[link, QUERY], links[link, SEGMENT]
        rings, reals, leasts = queries[query, QUERY_RING], queries[query, QUERY_REAL], queries[query, QUERY_LEAST]
        capacity = place[segment, CAPACITY]
        by_window = segments[segment, SLOTS] == BY_WINDOW
        step = segments[segment, ROWS] * capacity if by_window else capacity
        row = clock[LOW] % span
        for _ in range(clock[LOW], clock[HIGH] + 1):
            counted_before(
                links[link, SEQUENCE], links[link, BEFORE], row, segments, links, sequences, queries, channels,
                place, opened, snapshot, ring, over, real, least, plain, plain_over, tally, modular,
            )  # fmt: skip
            entry = snapshot[link, 0] + row * rings * capacity + place[segment, TAIL]
            if by_window:
                entry = place[segment, AT_RING] + row
            for c in range(rings):
                ring[entry] = ring[c]
                over[entry] = over[c]
                entry += step
            entry = snapshot[link, 1] + row * reals * capacity + place[segment, TAIL]
            if by_window:
                entry = place[segment, AT_REAL] + row
            for c in range(reals):
                real[entry] = real[c]
                entry += step
            entry = snapshot[link, 2] + row * leasts * capacity + place[segment, TAIL]
            if by_window:
                entry = place[segment, AT_LEAST] + row
            for c in range(leasts):
                least[entry] = least[c]
                entry += step
            row = row + 1 if row + 1 < span else 0


@inlined
def counted_before(
    sequence: int,
    link: int,
    row: int,
    segments: Ints,
    links: Ints,
    sequences: Ints,
    queries: Ints,
    channels: Ints,
    place: Ints,
    opened: Ints,
    snapshot: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
    plain: NDArray[Any],
    plain_over: Flags,
    tally: Ints,
    modular: bool,
) -> None:
    """Sets the cell to what a sequence has counted up to a link, or in its first segment if `link` is -1.

    `row` is that of the window. O(n) for n live slots of the link's segment, O(1) for the first one.
    """
    query = sequences[sequence, QUERY]
    clear_cell(queries[query, QUERY_RING], queries[query, QUERY_REAL], queries[query, QUERY_LEAST], 0, 0, 0,
               ring, over, real, least)  # fmt: skip
    entry = links[link, ENTRY] if link >= 0 else sequences[sequence, PLAIN]
    if entry >= 0:
        ring[0] = plain[entry]
        over[0] = plain_over[entry]
    elif link >= 0:
        _combine(
            link, query, row, segments, links, queries, channels, place, opened, snapshot, ring, over, real, least,
            tally, modular,
        )  # fmt: skip
    else:
        _first_result(
            query, sequences[sequence, SEGMENT], sequences[sequence, MAP], row, segments, queries, channels, ring, over,
            real, least,
        )  # fmt: skip


@inlined
def clear_cell(
    rings: int,
    reals: int,
    leasts: int,
    at_ring: int,
    at_real: int,
    at_least: int,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
) -> None:
    """Makes so many channels those of no sequence."""
    for c in range(rings):
        ring[at_ring + c] = ring.dtype.type(0)
        over[at_ring + c] = False
    for c in range(reals):
        real[at_real + c] = 0.0
    for c in range(leasts):
        least[at_least + c] = NO_VALUE


@inlined
def _first_result(
    query: int,
    segment: int,
    at: int,
    row: int,
    segments: Ints,
    queries: Ints,
    channels: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
) -> None:
    entry = segments[segment, FROM_RING] + row * segments[segment, RING]
    for c in range(queries[query, QUERY_RING]):
        if channels[at + c] >= 0:
            ring[c] = ring[entry + channels[at + c]]
            over[c] = over[entry + channels[at + c]]
    at += queries[query, QUERY_RING]
    entry = segments[segment, FROM_REAL] + row * segments[segment, REAL]
    for c in range(queries[query, QUERY_REAL]):
        if channels[at + c] >= 0:
            real[c] = real[entry + channels[at + c]]
    at += queries[query, QUERY_REAL]
    entry = segments[segment, FROM_LEAST] + row * segments[segment, LEAST]
    for c in range(queries[query, QUERY_LEAST]):
        if channels[at + c] >= 0:
            least[c] = least[entry + channels[at + c]]


@inlined
def _combine(
    link: int,
    query: int,
    row: int,
    segments: Ints,
    links: Ints,
    queries: Ints,
    channels: Ints,
    place: Ints,
    opened: Ints,
    snapshot: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
    tally: Ints,
    modular: bool,
) -> None:
    g, at = links[link, SEGMENT], links[link, MAP]
    capacity, kept, low = place[g, CAPACITY], segments[g, ROWS], opened[g, row]
    size = place[g, TAIL] - low
    rings, reals, leasts = queries[query, QUERY_RING], queries[query, QUERY_REAL], queries[query, QUERY_LEAST]
    if segments[g, SLOTS] == BY_WINDOW:
        _carried(g, row, segments, place, ring, over, real, least)
        return
    tally[COMBINATIONS] += size
    if size == 0:
        return
    # The counters of the whole segment, and the snapshots of what came before.
    y = place[g, AT_RING] + (kept - 1) * capacity + low
    x = snapshot[link, 0] + row * rings * capacity + low
    count, count_over = ring[y : y + size], over[y : y + size]
    before, before_over = ring[x : x + size], over[x : x + size]
    ring[0], over[0] = dot(before, before_over, count, count_over, modular)
    for c in range(1, rings):
        own = x + c * capacity
        ring[c], over[c] = dot(ring[own : own + size], over[own : own + size], count, count_over, modular)
        if channels[at + c] > 0:
            other = y + channels[at + c] * kept * capacity
            more, more_over = dot(ring[other : other + size], over[other : other + size], before, before_over, modular)
            total = ring[c] + more
            over[c] |= more_over | (total < more)
            ring[c] = total
    at += rings
    for c in range(reals):
        own = snapshot[link, 1] + (row * reals + c) * capacity + low
        real[c] = dot_real(real[own : own + size], count)
        if channels[at + c] >= 0:
            other = place[g, AT_REAL] + (channels[at + c] * kept + kept - 1) * capacity + low
            real[c] += dot_real(real[other : other + size], before)
    at += reals
    for c in range(leasts):
        own = snapshot[link, 2] + (row * leasts + c) * capacity + low
        other = own
        if channels[at + c] >= 0:
            other = place[g, AT_LEAST] + (channels[at + c] * kept + kept - 1) * capacity + low
        least[c] = least_of_both(
            least[own : own + size], least[other : other + size], before, before_over, count, count_over
        )


@inlined
def _carried(
    g: int, row: int, segments: Ints, place: Ints, ring: NDArray[Any], over: Flags, real: Reals, least: Ints
) -> None:
    """Sets the cell to the counters of the last place in one window: they hold what was counted before, too."""
    capacity, kept = place[g, CAPACITY], segments[g, ROWS]
    for c in range(segments[g, RING]):
        entry = place[g, AT_RING] + (c * kept + kept - 1) * capacity + row
        ring[c] = ring[entry]
        over[c] = over[entry]
    for c in range(segments[g, REAL]):
        real[c] = real[place[g, AT_REAL] + (c * kept + kept - 1) * capacity + row]
    for c in range(segments[g, LEAST]):
        least[c] = least[place[g, AT_LEAST] + (c * kept + kept - 1) * capacity + row]
