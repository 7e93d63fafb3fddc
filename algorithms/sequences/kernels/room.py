"""Room for START events: the live slots of a segment move to the front (expiration, dissertation 22.2)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.sequences.kernels.counters import LiveSlots, PlaceRecord, Values
from cepbench.algorithms.sequences.kernels.program import Chains, PerFamily


@kernel
def move_to_front(g: int, chains: Chains, slots: LiveSlots, values: Values) -> bool:
    """Moves the live slots of segment g to the front, if at least half of them are dead; tells whether there is room.

    O(counters and snapshots of the segment), hence O(counters and snapshots of a slot) for each slot that is filled.
    """
    segment, place, span = chains.segment[g], slots.place[g], slots.opened.shape[1]
    if 2 * place.head < place.capacity:
        return False
    _move(segment.rows, segment.width, place.at, place, values)
    for u in range(segment.link, segment.link_end):
        _move(span, chains.query[chains.link[u].query].width, slots.snapshot[u], place, values)
    for row in range(span):
        slots.opened[g, row] = max(slots.opened[g, row] - place.head, 0)
    place.tail -= place.head
    place.head = 0
    return True


@inlined
def _move(rows: int, width: PerFamily, at: PerFamily, place: PlaceRecord, values: Values) -> None:
    """So many rows of each channel."""
    _move_rows(rows * width.ring, at.ring, place, values.ring)
    _move_rows(rows * width.ring, at.ring, place, values.over)
    _move_rows(rows * width.real, at.real, place, values.real)
    _move_rows(rows * width.least, at.least, place, values.least)


@inlined
def _move_rows(rows: int, at: int, place: PlaceRecord, values: NDArray[Any]) -> None:
    for _ in range(rows):
        for slot in range(at + place.head, at + place.tail):
            values[slot - place.head] = values[slot]
        at += place.capacity
