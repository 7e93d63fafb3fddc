"""Frees space for START events: moves the live slots of a segment to the front (expiration, dissertation 22.2)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.sequences.kernels.counters import BLOCK, LiveSlots, Values
from cepbench.algorithms.sequences.kernels.program import Chains, PerFamily


@inner
def move_to_front(g: int, chains: Chains, slots: LiveSlots, values: Values) -> bool:
    """Moves the live slots of segment g to the front if at least half of all are dead; returns whether it did.

    Whole blocks are moved, so that a slot keeps its place in its block.

    O(counters and snapshots of the segment), hence O(counters and snapshots of a slot) for each slot that is filled.
    """
    segment, place, span = chains.segment[g], slots.place[g], slots.opened.shape[1]
    if 2 * place.head < place.capacity:
        return False
    dead = place.head // BLOCK * BLOCK
    size = place.tail - dead
    _move(segment.rows, segment.width, place.at, dead, size, place.capacity, values)
    for u in range(segment.link, segment.link_end):
        _move_blocks(span, chains.query[chains.link[u].query].width, slots.snapshot[u], dead, size, values)
    for row in range(span):
        slots.opened[g, row] = max(slots.opened[g, row] - dead, 0)
    place.tail -= dead
    place.head -= dead
    return True


@inlined
def _move(rows: int, width: PerFamily, at: PerFamily, dead: int, size: int, capacity: int, values: Values) -> None:
    """Moves the given number of rows of each channel."""
    _move_rows(rows * width.ring, at.ring, dead, size, capacity, values.ring)
    _move_rows(rows * width.ring, at.ring, dead, size, capacity, values.over)
    _move_rows(rows * width.real, at.real, dead, size, capacity, values.real)
    _move_rows(rows * width.least, at.least, dead, size, capacity, values.least)


@inlined
def _move_blocks(rows: int, width: PerFamily, at: PerFamily, dead: int, size: int, values: Values) -> None:
    """Moves blocks with the given number of rows of each channel; blocks are contiguous, and are moved as a whole."""
    size = -(-size // BLOCK) * BLOCK
    kept = rows * width.ring
    _move_rows(1, at.ring, kept * dead, kept * size, 0, values.ring)
    _move_rows(1, at.ring, kept * dead, kept * size, 0, values.over)
    kept = rows * width.real
    _move_rows(1, at.real, kept * dead, kept * size, 0, values.real)
    kept = rows * width.least
    _move_rows(1, at.least, kept * dead, kept * size, 0, values.least)


@inlined
def _move_rows(rows: int, at: int, dead: int, size: int, capacity: int, values: NDArray[Any]) -> None:
    """Moves the values after the dead ones of each row to the front."""
    for _ in range(rows):
        for slot in range(at, at + size):
            values[slot] = values[slot + dead]
        at += capacity
