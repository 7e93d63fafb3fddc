"""The counters of A-Seq and Sharon, which their kernels write (dissertation 22.2 and 22.3).

Counters are stored in rows of slots, so that an event updates contiguous memory.

The algebra is that of `cepbench.algorithms.engine.kernels.cells`, where one word per cell has an overflow bit per
channel, since a cell is read and written as a whole. Here an event updates one channel in all slots, and a flag per
counter allows these loops to be vectorized.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.sequences.kernels.program import PerFamily
from cepbench.queries.records import Records

BLOCK_BITS = 5
BLOCK = 1 << BLOCK_BITS
"""Slots whose snapshots are contiguous; every capacity for START events is a multiple of two blocks."""
CELL = PerFamily(0, 0, 0)
"""Offset of the first cell in `Values`, in which combinations and results are computed."""


class ClockRecord:
    """The current time, the lowest and the highest open window, the number of symbols in `Gathered.touched`, and the
    numbers of counter updates and combinations so far.
    """

    now: int
    low: int
    high: int
    touched: int
    updates: int
    combinations: int


class PlaceRecord:
    """The live slots of a segment, `head` to `tail` out of `capacity`, and the offset of its counters in `Values`.

    The counters of channel c and place j are row `c * rows + j - 1`, of `capacity` slots.
    """

    head: int
    tail: int
    capacity: int
    at: PerFamily


class LiveSlots(NamedTuple):
    """The slots of all segments; window k is at index k % K of the data per window.

    - `clock[1]`, `place[G]`: records.
    - `opened[G, K]`: the first slot in a window.
    - `snapshot[U]`: offset of a link's snapshots in `Values`. Block b has those of `BLOCK` slots; in it, those of
      channel c in window k are row `c * K + k % K` out of `K * width` (`kernels.blocks`). If a segment has a slot per
      window, they are at its first place.
    """

    clock: Records
    place: Records
    opened: Ints
    snapshot: Records


class Counters(NamedTuple):
    """Numbers uint64[n] with overflow flags, or numbers float64[n], whose flags are never set."""

    ring: NDArray[Any]
    over: Flags


class Values(NamedTuple):
    """All values of a key: the channels of two cells, each of the size of the widest query or segment; the results of
    segments that begin a sequence; counters; snapshots. `over[i]`: whether `ring[i]` has overflowed.
    """

    ring: NDArray[Any]
    over: Flags
    real: Reals
    least: Ints


class Gathered(NamedTuple):
    """Totals over the events of the current time, per symbol: their number, and sums and minima of columns.

    `touched` lists the symbols with events; `cursor` iterates over their targets.
    """

    number: NDArray[np.uint64]
    ring: NDArray[np.uint64]
    over: Flags
    real: Reals
    least: Ints
    touched: Ints
    cursor: Ints


class Arrivals(NamedTuple):
    """The totals of one symbol for one place: `code` maps each channel to the number of its total."""

    code: Ints
    number: np.uint64
    ring: NDArray[np.uint64]
    over: Flags
    real: Reals
    least: Ints


class KeyCounters(NamedTuple):
    """The arrays of one key.

    - `begin[3]`, `size[3]`: its range in each family of the `Values` that all keys share.
    - `plain`: plain counters; `change`: what simultaneous events add to them.
    - `peak[2 + G]`: the peak bytes of live slots before windows were closed, and the windows and live slots then.
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
def state_of(values: Values, lane: KeyCounters) -> CounterState:
    """The counters of a key."""
    ring, real, least = lane.begin[0], lane.begin[1], lane.begin[2]
    return CounterState(
        lane.slots,
        Values(
            values.ring[ring : ring + lane.size[0]],
            values.over[ring : ring + lane.size[0]],
            values.real[real : real + lane.size[1]],
            values.least[least : least + lane.size[2]],
        ),
        lane.plain,
        lane.change,
        lane.gathered,
        lane.peak,
    )


class SequenceRows(NamedTuple):
    """Rows of closed windows: window, query index, and channels, as many as the widest query has."""

    window: Ints
    query: Ints
    ring: NDArray[Any]
    over: Flags
    real: Reals
    least: Ints
