"""Arrays of SPASS, which grow between calls of the kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.growth import widened
from cepbench.algorithms.sequences.spass.kernels.arrival import STORED, Arrived, Stores

FIRST_EVENTS = 256
FIRST_ROWS = 16


def no_events(ints: int, reals: int, gaps: int) -> Arrived:
    """Arrays without events."""
    return Arrived(
        np.zeros(FIRST_EVENTS, np.int64),
        np.zeros(FIRST_EVENTS, np.int64),
        np.zeros((ints, FIRST_EVENTS), np.int64),
        np.zeros((reals, FIRST_EVENTS), np.float64),
        np.zeros((gaps, FIRST_EVENTS), np.int64),
        np.full((2, gaps), -1, np.int64),
        np.array([0, 0, -1], np.int64),
    )


def no_rows(width: NDArray[np.int64]) -> Stores:
    """Empty stores for rows of `width[s]` events."""
    room = np.zeros(len(width), np.int64)
    nothing = np.zeros(0, np.int64)
    return Stores(room, room.copy(), width, room.copy(), room.copy(), nothing, nothing.copy(), nothing.copy())


def with_events(arrived: Arrived, number: int) -> Arrived:
    """Space for `number` events; if there is not enough, at least twice the space."""
    size = int(arrived.counters[STORED])
    if size + number <= len(arrived.time):
        return arrived
    room = len(arrived.time)
    return widened(arrived, ("time", "window", "ints", "reals", "barrier"), max(size + number - room, room))


def with_rows(stores: Stores, number: NDArray[np.int64]) -> Stores:
    """Space for `number[s]` rows in each store.

    If one store is full, all of them get twice the space that they need; otherwise all rows would move whenever another
    one grows. Unused space costs no memory.
    """
    needed = stores.size + number
    if not (needed > stores.room).any():
        return stores
    room = np.maximum(stores.room, np.maximum(2 * needed, FIRST_ROWS))
    values = room * stores.width
    grown = Stores(
        np.cumsum(room) - room,
        np.cumsum(values) - values,
        stores.width,
        room,
        stores.size,
        np.zeros(int(room.sum()), np.int64),
        np.zeros(int(room.sum()), np.int64),
        np.zeros(int(values.sum()), np.int64),
    )
    for s in np.flatnonzero(stores.size).tolist():
        size, width = int(stores.size[s]), int(stores.width[s])
        old, new = int(stores.begin[s]), int(grown.begin[s])
        grown.last[new : new + size] = stores.last[old : old + size]
        grown.bucket[new : new + size] = stores.bucket[old : old + size]
        old, new, size = int(stores.cells[s]), int(grown.cells[s]), size * width
        grown.events[new : new + size] = stores.events[old : old + size]
    return grown
