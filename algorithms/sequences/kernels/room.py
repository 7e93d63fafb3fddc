"""Room for START events: the live slots of a segment move to the front."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.sequences.kernels.tables import (
    AT_LEAST,
    AT_REAL,
    AT_RING,
    CAPACITY,
    HEAD,
    LEAST,
    LINKS,
    LINKS_END,
    QUERY,
    QUERY_LEAST,
    QUERY_REAL,
    QUERY_RING,
    REAL,
    RING,
    ROWS,
    TAIL,
)


@kernel
def move_to_front(
    g: int,
    segments: Ints,
    links: Ints,
    queries: Ints,
    place: Ints,
    opened: Ints,
    snapshot: Ints,
    ring: NDArray[Any],
    over: Flags,
    real: Reals,
    least: Ints,
) -> bool:
    """Moves the live slots of segment g to the front, if at least half of them are dead; tells whether there is room.

    O(counters and snapshots of the segment), hence O(counters and snapshots of a slot) for each slot that is filled.
    """
    capacity, head, tail, kept = place[g, CAPACITY], place[g, HEAD], place[g, TAIL], segments[g, ROWS]
    if 2 * head < capacity:
        return False
    _move(segments[g, RING] * kept, place[g, AT_RING], head, tail, capacity, ring)
    _move(segments[g, RING] * kept, place[g, AT_RING], head, tail, capacity, over)
    _move(segments[g, REAL] * kept, place[g, AT_REAL], head, tail, capacity, real)
    _move(segments[g, LEAST] * kept, place[g, AT_LEAST], head, tail, capacity, least)
    span = opened.shape[1]
    for link in range(segments[g, LINKS], segments[g, LINKS_END]):
        query = links[link, QUERY]
        _move(span * queries[query, QUERY_RING], snapshot[link, 0], head, tail, capacity, ring)
        _move(span * queries[query, QUERY_RING], snapshot[link, 0], head, tail, capacity, over)
        _move(span * queries[query, QUERY_REAL], snapshot[link, 1], head, tail, capacity, real)
        _move(span * queries[query, QUERY_LEAST], snapshot[link, 2], head, tail, capacity, least)
    for row in range(span):
        opened[g, row] = max(opened[g, row] - head, 0)
    place[g, HEAD], place[g, TAIL] = 0, tail - head
    return True


@inlined
def _move(rows: int, at: int, head: int, tail: int, capacity: int, values: NDArray[Any]) -> None:
    for _ in range(rows):
        for slot in range(at + head, at + tail):
            values[slot - head] = values[slot]
        at += capacity
