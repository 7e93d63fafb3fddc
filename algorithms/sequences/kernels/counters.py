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
from cepbench.queries.records import Records

BLOCK_BITS = 5
BLOCK = 1 << BLOCK_BITS
"""Slots whose snapshots are contiguous; every capacity for START events is a multiple of two blocks."""
CELL = 0
"""Offset of the first cell in `Values`."""


class ClockRecord:
    """The current time, the lowest and the highest open window, the number of symbols in `Gathered.touched`, and the
    numbers of counter updates and combinations so far.

    `peak_bytes`: the peak bytes of live slots before windows were closed; `peak_windows`: the open windows then.
    """

    now: int
    low: int
    high: int
    touched: int
    updates: int
    combinations: int
    peak_bytes: int
    peak_windows: int


class PlaceRecord:
    """The live slots of a segment, `head` to `tail` out of `capacity`, and the offset of its counters in `Values`.

    The counters of channel c and place j are row `c * rows + j - 1`, of `capacity` slots. `peak`: the live slots at the
    peak of the clock.
    """

    head: int
    tail: int
    capacity: int
    at: int
    peak: int


class RegionRecord:
    """The words of one key: `size` from `begin` on in the `Values` that all keys share."""

    begin: int
    size: int


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
    snapshot: Ints


class Counters(NamedTuple):
    """Numbers uint64[n] with overflow flags, or numbers float64[n], whose flags are never set."""

    counts: NDArray[Any]
    over: Flags


class Values(NamedTuple):
    """Words of 64 bits, each of one channel and some sequences, and an overflow flag per word.

    `counts`, `reals` and `ints` are views of the same memory: `counts[n]`, uint64 or in float arithmetic float64, for
    ring channels; `reals[n]` for real channels; `ints[n]` for least channels and for copies of any word.

    Words of a key: two cells, each of the size of the widest query or segment, the first for results and combinations,
    the second for answers (`Program.answer`); the totals of symbols at the current time; the results of segments that
    begin a sequence; counters; snapshots.
    """

    counts: NDArray[Any]
    reals: Reals
    ints: Ints
    over: Flags


class Gathered(NamedTuple):
    """The events of the current time: their `number` per symbol.

    `touched` lists the symbols with events; `cursor` iterates over their targets.
    """

    number: NDArray[np.uint64]
    touched: Ints
    cursor: Ints


class Arrivals(NamedTuple):
    """The events of one symbol for one place of a segment: `code` maps each `channel` of the segment to the number of
    its total; totals begin at `total` in `Values`.
    """

    channel: Records
    code: Ints
    number: np.uint64
    total: int


class KeyCounters(NamedTuple):
    """The arrays of one key.

    - `region[1]`: its words (`RegionRecord`).
    - `plain`: plain counters; `change`: what simultaneous events add to them.
    """

    slots: LiveSlots
    region: Records
    plain: Counters
    change: Counters
    gathered: Gathered


class CounterState(NamedTuple):
    """Counters of all open windows of a key: the fields of `KeyCounters`, and its own words."""

    slots: LiveSlots
    values: Values
    plain: Counters
    change: Counters
    gathered: Gathered


@inlined
def state_of(values: Values, lane: KeyCounters) -> CounterState:
    """The counters of a key."""
    begin = lane.region[0]["begin"]
    end = begin + lane.region[0]["size"]
    region = Values(values.counts[begin:end], values.reals[begin:end], values.ints[begin:end], values.over[begin:end])
    return CounterState(lane.slots, region, lane.plain, lane.change, lane.gathered)


class SequenceRows(NamedTuple):
    """Rows of closed windows: window, query index, and words with flags, as many as the widest query has channels."""

    window: Ints
    query: Ints
    ints: Ints
    over: Flags
