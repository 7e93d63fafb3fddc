"""Construction of sub-sequences and sequences by SPASS, and the aggregation of each constructed sequence.

A sequence is a row of parts, each the rows of a store (`kernels.spass_arrival`): single events or instances of a shared
sub-sequence. Its instances are joined from the last part to the first, by depth-first search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.kernels.arrays import Ints
from algorithms.kernels.cells import Cells
from algorithms.kernels.compilation import inlined, kernel
from algorithms.kernels.spass_arrival import BASE, Arrived, Stores
from queries.tables import Weights

NO_GAP = -1


class Parts(NamedTuple):
    """A sequence of l places in U parts.

    - `symbol[l]`: the store of the symbol at each place.
    - `store[U]`; `offset[U + 1]`: the first place of each part, and l.
    - `gap[U]`: the gap of negated events before each part, or NO_GAP.
    """

    symbol: Ints
    store: Ints
    offset: Ints
    gap: Ints


class Walk(NamedTuple):
    """Scratch space of a search.

    - `cursor[U]`, `stop[U]`: rows of each part that are left to try; `since[U]`: its first row that may be of use.
    - `ready[l + 1]`: the earliest time by which events can have bound the first places; -1 for none of them.
    - `sequence[l]`: the places (`Arrived`) of the events chosen so far.
    """

    cursor: Ints
    stop: Ints
    since: Ints
    ready: Ints
    sequence: Ints


class Channels(NamedTuple):
    """Aggregates of a query at the places of a sequence: `bound[c, place]`, columns of `Arrived`."""

    ring: Weights
    real: Weights
    least: Weights


@kernel
def count_instances(new: int, parts: Parts, arrived: Arrived, stores: Stores, walk: Walk) -> int:
    """How many instances end in row `new` of the last part or a later one. Time as `construct`, starts left out."""
    found = 0
    depth = _begin(new, parts, stores, walk)
    while depth < len(parts.store):
        depth = _descend(depth, parts, arrived, stores, walk)
        if depth == 0:
            found += walk.stop[0] - walk.cursor[0]
            depth = 1
    return found


@kernel
def construct(new: int, into: int, parts: Parts, arrived: Arrived, stores: Stores, walk: Walk) -> None:
    """Adds the instances that end in row `new` of the last part or a later one to store `into`; there must be room.

    O(l) per instance.
    """
    base = arrived.counters[BASE]
    length = len(walk.sequence)
    depth = _begin(new, parts, stores, walk)
    while depth < len(parts.store):
        depth = _descend(depth, parts, arrived, stores, walk)
        if depth == 0:
            for r in range(walk.cursor[0], walk.stop[0]):
                _choose(r, 0, base, parts, stores, walk)
                size = stores.size[into]
                row = stores.begin[into] + size
                stores.first[row] = arrived.time[walk.sequence[0]]
                stores.last[row] = arrived.time[walk.sequence[length - 1]]
                for j in range(length):
                    stores.events[stores.cells[into] + size * length + j] = base + walk.sequence[j]
                stores.size[into] = size + 1
            depth = 1


@kernel
def join(
    new: int, parts: Parts, channels: Channels, arrived: Arrived, stores: Stores, walk: Walk, buckets: Cells
) -> int:
    """Constructs every sequence that ends in row `new` of the last part or a later one, and adds it to its bucket.

    Returns how many there are. O(l) per sequence and aggregate.
    """
    joined = 0
    base = arrived.counters[BASE]
    span = len(buckets.over)
    depth = _begin(new, parts, stores, walk)
    while depth < len(parts.store):
        depth = _descend(depth, parts, arrived, stores, walk)
        if depth == 0:
            for r in range(walk.cursor[0], walk.stop[0]):
                _choose(r, 0, base, parts, stores, walk)
                _aggregate(walk.sequence, channels, arrived, buckets, arrived.bucket[walk.sequence[0]] % span)
            joined += walk.stop[0] - walk.cursor[0]
            depth = 1
    return joined


@kernel
def _begin(new: int, parts: Parts, stores: Stores, walk: Walk) -> int:
    """Opens the last part; returns it, or the number of parts if nothing can be found.

    `ready` is found greedily, which tells rows that no sequence can reach, negation aside: O(l log n).
    """
    units = len(parts.store)
    walk.ready[0] = -1
    for j in range(len(parts.symbol)):
        s = parts.symbol[j]
        row = _first_from(stores.last, stores.begin[s], stores.begin[s] + stores.size[s], walk.ready[j] + 1)
        if row == stores.begin[s] + stores.size[s]:
            return units
        walk.ready[j + 1] = stores.last[row]
    for u in range(units):
        s = parts.store[u]
        begin = stores.begin[s]
        walk.since[u] = _first_from(stores.last, begin, begin + stores.size[s], walk.ready[parts.offset[u + 1]]) - begin
    s = parts.store[units - 1]
    walk.cursor[units - 1] = max(new, walk.since[units - 1])
    walk.stop[units - 1] = stores.size[s]
    return units - 1


@inlined
def _descend(depth: int, parts: Parts, arrived: Arrived, stores: Stores, walk: Walk) -> int:
    """Chooses the next rows of all parts but the first: 0 when its rows are open, the number of parts at the end."""
    base = arrived.counters[BASE]
    units = len(parts.store)
    while 0 < depth < units:
        r = walk.cursor[depth]
        if r >= walk.stop[depth]:
            depth += 1
            continue
        walk.cursor[depth] = r + 1
        s = parts.store[depth]
        start = stores.first[stores.begin[s] + r]
        if start <= walk.ready[parts.offset[depth]]:
            continue
        _choose(r, depth, base, parts, stores, walk)
        before = parts.store[depth - 1]
        begin = stores.begin[before]
        since = begin + walk.since[depth - 1]
        stop = _first_from(stores.last, since, begin + stores.size[before], start)
        gap = parts.gap[depth]
        if gap != NO_GAP:
            since = _first_from(stores.last, since, stop, arrived.barrier[gap, walk.sequence[parts.offset[depth]]])
        depth -= 1
        walk.cursor[depth] = since - begin
        walk.stop[depth] = stop - begin
    return depth


@inlined
def _choose(r: int, u: int, base: int, parts: Parts, stores: Stores, walk: Walk) -> None:
    """Binds the events of row r of part u."""
    s = parts.store[u]
    width = stores.width[s]
    at = stores.cells[s] + r * width
    for j in range(width):
        walk.sequence[parts.offset[u] + j] = stores.events[at + j] - base


@inlined
def _first_from(times: Ints, low: int, high: int, time: int) -> int:
    """The first index of `times[low:high]`, which are sorted, whose time is not before `time`; `high` if none."""
    while low < high:
        middle = (low + high) // 2
        if times[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _aggregate(sequence: Ints, channels: Channels, arrived: Arrived, buckets: Cells, b: int) -> None:
    """The second step: one constructed sequence is added to the aggregates of bucket b."""
    one = buckets.ring.dtype.type(1)
    buckets.ring[b, 0] += one
    if buckets.ring[b, 0] < one:
        buckets.over[b] |= np.uint64(1)
    for c in range(1, buckets.ring.shape[1]):
        column = channels.ring.column[c]
        for j in range(len(sequence)):
            if channels.ring.bound[c, j]:
                more = one if column < 0 else buckets.ring.dtype.type(np.uint64(arrived.ints[column, sequence[j]]))
                buckets.ring[b, c] += more
                if buckets.ring[b, c] < more:
                    buckets.over[b] |= np.uint64(1) << np.uint64(c)
    for c in range(buckets.real.shape[1]):
        for j in range(len(sequence)):
            if channels.real.bound[c, j]:
                buckets.real[b, c] += arrived.reals[channels.real.column[c], sequence[j]]
    for c in range(buckets.least.shape[1]):
        for j in range(len(sequence)):
            if channels.least.bound[c, j]:
                buckets.least[b, c] = min(buckets.least[b, c], arrived.ints[channels.least.column[c], sequence[j]])
