"""Counters of event sequences: what the kernels of A-Seq and Sharon read and write (dissertation 22.2 and 22.3).

A *segment* is a pattern that is counted on its own: a whole sequence, a shared pattern, or what lies between shared
patterns. Its places are numbered from 1. Slot s stands for the live START events of one time stamp; the counters of
place j, one per slot, hold the sequences from those START events to place j. A *link* says that a sequence continues
with a segment: each slot then keeps snapshots of what the sequence had counted before, per window.

Two kinds of segments need no START events. Where windows do not overlap, none expires inside a window, so one slot
serves all of them, if no link leads to the segment; with COUNT(*) alone its counters are *plain*: entries i to i + l of
one array, the first of them always 1. And a segment that only continues one sequence carries on what that has counted
before: it has a slot per window, and its place 1 stands for what came before, so that its own begin with place 2. It is
plain, and its place 1 adds the last counter before it, if all before it is.

Counters lie in rows of slots, so that an event updates contiguous memory. Kernels take arrays one by one where they are
called often: to pass a tuple of forty arrays costs more than their work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.queries.tables import Predicates

# Columns of `Program.segment`.
LENGTH, ROWS, SLOTS, FIRST, RING, REAL, LEAST, WEIGHTS, FROM_RING, FROM_REAL, FROM_LEAST, LINKS, LINKS_END = range(13)
# Columns of `Program.link` and, up to `MAP`, of `Program.sequence`; `BEFORE` is the link before and `ENTRY` the
# entry of its plain result, or -1.
QUERY, SEGMENT, MAP, SEQUENCE, BEFORE, ENTRY = range(6)
# More columns of `Program.sequence`: the entry of its plain result or -1, and its last link or -1.
PLAIN, LAST = 3, 4
# Columns of `Program.query`.
QUERY_RING, QUERY_REAL, QUERY_LEAST, SEQUENCES, SEQUENCES_END = range(5)
# Columns of `CounterState.place`.
HEAD, TAIL, CAPACITY, AT_RING, AT_REAL, AT_LEAST = range(6)
# Entries of `CounterState.clock`.
NOW, LOW, HIGH, TOUCHED = range(4)
# Entries of `CounterState.tally`.
UPDATES, COMBINATIONS = range(2)

BY_START, ONE, BY_WINDOW = 0, 1, 2
"""Codes of `SLOTS`: a slot per time stamp of START events, one slot for all of them, or a slot per window."""
NOT_BOUND, BY_COUNT = -2, -1
"""Codes in `Program.weight`: a place that a channel leaves out, and one where an event weighs 1."""


class Program(NamedTuple):
    """What is counted; never written. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - symbols by event type: `binding_ptr[T + 1]`, `binding`; `local`: predicates per symbol.
    - columns that a symbol gathers, of each family: `ring_ptr[Y + 1]`, `ring`, and so on; `ring_column` and
      `least_column` are rows of `ints`, `real_column` rows of `reals`.
    - plain entries that a symbol adds to (later places of a sequence first), from which `source`, and those that it
      clears.
    - `target`: what else a symbol updates, by level from high to low: 2 j adds to place j, 2 j + 1 clears place j.
    - `begin`: segments with slots that begin with a symbol.
    - `segment`, `link`, `sequence`, `query`: tables with the columns named above.
    - `weight`: for each segment and channel (ring without COUNT(*), real, least), a code per place.
    - `channel`: for each link and sequence, at `MAP`, the segment's channel for each channel of the query, or -1.
    - `unit`: 1 at entries of `CounterState.plain` that stand for place 0.
    - `slot_bytes[G]`: what a slot of a segment takes, its snapshots in all windows included.
    - `total[3]`: where the second cell begins in `CounterState.ring`, `real` and `least`.
    """

    binding_ptr: Ints
    binding: Ints
    local: Predicates
    ring_ptr: Ints
    ring: Ints
    real_ptr: Ints
    real: Ints
    least_ptr: Ints
    least: Ints
    ring_column: Ints
    real_column: Ints
    least_column: Ints
    plain_ptr: Ints
    plain: NDArray[np.uint64]
    source: NDArray[np.uint64]
    clear_ptr: Ints
    clear: NDArray[np.uint64]
    target_ptr: Ints
    target_level: Ints
    target_segment: Ints
    begin_ptr: Ints
    begin: Ints
    segment: Ints
    link: Ints
    sequence: Ints
    query: Ints
    weight: Ints
    channel: Ints
    unit: NDArray[Any]
    slot_bytes: Ints
    total: Ints


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


class CounterState(NamedTuple):
    """Counters of all open windows; window k has row k % K of what is kept per window.

    - `clock`: current time, lowest and highest window opened, number of touched symbols.
    - `place[G]`: the live slots of a segment, their capacity, and where its counters begin in `ring` (and `over`),
      `real` and `least`: channel c of place j is row `c * ROWS + j - 1` of so many slots.
    - `opened[G, K]`: the first slot in a window.
    - `snapshot[U, 3]`: where those of a link begin; channel c in window k is row `(k % K) * C + c` of slots.
    - `ring`, `over`, `real`, `least`: all values; `over[i]` tells that `ring[i]` overflowed. First come the channels of
      two cells, each of the size of the widest query or segment, then what segments that begin a sequence have
      counted in each window, at `(k % K) * C + c`, then counters, then snapshots.
    - `plain`, `plain_over`: plain counters; `change`, `change_over`: what simultaneous events add to them.
    - `tally`: counter updates and combinations so far.
    - `peak[2 + G]`: the most bytes of live slots before windows were closed, and then the windows and live slots.
    """

    clock: Ints
    place: Ints
    opened: Ints
    snapshot: Ints
    ring: NDArray[Any]
    over: Flags
    real: Reals
    least: Ints
    plain: NDArray[Any]
    plain_over: Flags
    change: NDArray[Any]
    change_over: Flags
    gathered: Gathered
    tally: Ints
    peak: Ints


class SequenceRows(NamedTuple):
    """Rows of closed windows: window, number of the query, and its channels, over the widest query's."""

    window: Ints
    query: Ints
    ring: NDArray[Any]
    over: Flags
    real: Reals
    least: Ints
