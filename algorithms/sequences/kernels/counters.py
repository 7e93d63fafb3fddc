"""The counters of A-Seq and Sharon: what their kernels write (dissertation 22.2 and 22.3).

Counters lie in rows of slots, so that an event updates contiguous memory.

The algebra is that of `cepbench.algorithms.kernels.cells`, where one word per cell has a bit for each channel that
overflowed, since a cell is read and written as a whole. Here an event adds up one channel in all slots, and a flag
beside each counter lets these loops be vectorised.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.algorithms.sequences.kernels.program import PerFamily
from cepbench.queries.records import Records

BLOCK_BITS = 5
BLOCK = 1 << BLOCK_BITS
"""Slots whose snapshots lie together; every capacity for START events is a multiple of two blocks."""
CELL = PerFamily(0, 0, 0)
"""Where the first cell begins in `Values`: the one in which combinations and results are computed."""


class ClockRecord:
    """The current time, the lowest and the highest window opened, and the number of symbols in `Gathered.touched`;
    counter updates and combinations so far.
    """

    now: int
    low: int
    high: int
    touched: int
    updates: int
    combinations: int


class PlaceRecord:
    """The live slots of a segment, `head` to `tail` out of `capacity`, and where its counters begin in `Values`.

    Those of channel c and place j are row `c * rows + j - 1` of `capacity` slots.
    """

    head: int
    tail: int
    capacity: int
    at: PerFamily


class LiveSlots(NamedTuple):
    """The slots of all segments; window k has row k % K of what is kept per window.

    - `clock[1]`, `place[G]`: records.
    - `opened[G, K]`: the first slot in a window.
    - `snapshot[U]`: where those of a link begin in `Values`. Block b has those of `BLOCK` slots; in it, those of
      channel c in window k are row `c * K + k % K` out of `K * width` (`kernels.blocks`). Where a segment has a slot
      per window, they are at its first place.
    """

    clock: Records
    place: Records
    opened: Ints
    snapshot: Records


class Counters(NamedTuple):
    """Numbers uint64[n] and whether they overflowed, or numbers float64[n], whose flags are never set."""

    ring: NDArray[Any]
    over: Flags


class Values(NamedTuple):
    """All values of a key: first the channels of two cells, each of the size of the widest query or segment, then the
    results of segments that begin a sequence, then counters, then snapshots. `over[i]` tells that `ring[i]` overflowed.
    """

    ring: NDArray[Any]
    over: Flags
    real: Reals
    least: Ints


class Gathered(NamedTuple):
    """What the events of the current time stamp add up to, per symbol: number, and sums and minima of columns.

    `touched` lists the symbols that have any; `cursor` walks through their targets.
    """

    number: NDArray[np.uint64]
    ring: NDArray[np.uint64]
    over: Flags
    real: Reals
    least: Ints
    touched: Ints
    cursor: Ints


class Arrivals(NamedTuple):
    """What was gathered for one symbol, as a place receives it: `code` tells each channel which number is its own."""

    code: Ints
    number: np.uint64
    ring: NDArray[np.uint64]
    over: Flags
    real: Reals
    least: Ints


class KeyCounters(NamedTuple):
    """What the counters of a key have of their own.

    - `begin[3]`, `size[3]`: its stretch of each family of the `Values` that all keys share.
    - `plain`: plain counters; `change`: what simultaneous events add to them.
    - `peak[2 + G]`: the most bytes of live slots before windows were closed, and then the windows and live slots.
    """

    slots: LiveSlots
    begin: Ints
    size: Ints
    plain: Counters
    change: Counters
    gathered: Gathered
    peak: Ints


class CounterState(NamedTuple):
    """Counters of all open windows of a key: the fields of `KeyCounters`, and its own values."""

    slots: LiveSlots
    values: Values
    plain: Counters
    change: Counters
    gathered: Gathered
    peak: Ints


@inlined
def state_of(values: Values, own: KeyCounters) -> CounterState:
    """The counters of a key."""
    ring, real, least = own.begin[0], own.begin[1], own.begin[2]
    return CounterState(
        own.slots,
        Values(
            values.ring[ring : ring + own.size[0]],
            values.over[ring : ring + own.size[0]],
            values.real[real : real + own.size[1]],
            values.least[least : least + own.size[2]],
        ),
        own.plain,
        own.change,
        own.gathered,
        own.peak,
    )


class SequenceRows(NamedTuple):
    """Rows of closed windows: window, number of the query, and its channels, over the widest query's."""

    window: Ints
    query: Ints
    ring: NDArray[Any]
    over: Flags
    real: Reals
    least: Ints
