"""Constructs sub-sequences and sequences in SPASS, and aggregates each constructed sequence (dissertation 21, 25.1).

A sequence consists of parts, each with the rows of a store (`spass.kernels.arrival`): single events or instances of a
shared sub-sequence. Its instances are joined from the last part to the first, by depth-first search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import ONE, Cells, add_ring, begin, counts_only
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.sequences.spass.kernels.arrival import Arrived, Stores

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

    - `chosen[U]`: offset of the chosen row of each part in `Stores.events`: the sequence under construction.
    - `cursor[U]`, `stop[U]`: the rows of each part that are left to try; `since[U]`: its first row that can be used.
    - `ready[l + 1]`: the earliest time at which events can have bound the first places; -1 for no places.
    """

    chosen: Ints
    cursor: Ints
    stop: Ints
    since: Ints
    ready: Ints


class CountedEvents(NamedTuple):
    """The events of a sequence that count for channel c of a cell are `ptr[c]:ptr[c + 1]`; for channel 0 none count.

    Each is number `within` of the row chosen for `part`. `column[c]`: its weight in `Arrived`, or -1 for the weight 1.
    """

    ptr: Ints
    part: Ints
    within: Ints
    column: Ints


@kernel
def count_instances(new: int, parts: Parts, arrived: Arrived, stores: Stores, walk: Walk) -> int:
    """Number of instances that end in row `new` of the last part or a later one. Time of `construct` without starts."""
    instances = 0
    depth = _begin(new, parts, stores, walk)
    while depth < len(parts.store):
        depth = _descend(depth, parts, arrived, stores, walk)
        if depth == 0:
            instances += walk.stop[0] - walk.cursor[0]
            depth = 1
    return instances


@kernel
def construct(new: int, into: int, parts: Parts, arrived: Arrived, stores: Stores, walk: Walk) -> None:
    """Adds the instances that end in row `new` of the last part or a later one to store `into`, which needs space.

    Every part is one event. O(l) per instance.
    """
    length = len(parts.store)
    first = parts.store[0]
    depth = _begin(new, parts, stores, walk)
    while depth < length:
        depth = _descend(depth, parts, arrived, stores, walk)
        if depth == 0:
            end = arrived.time[stores.events[walk.chosen[length - 1]] - arrived.counters[0].base]
            for r in range(walk.cursor[0], walk.stop[0]):
                walk.chosen[0] = stores.cells[first] + r
                size = stores.size[into]
                stores.last[stores.begin[into] + size] = end
                stores.bucket[stores.begin[into] + size] = stores.bucket[stores.begin[first] + r]
                for j in range(length):
                    stores.events[stores.cells[into] + size * length + j] = stores.events[walk.chosen[j]]
                stores.size[into] = size + 1
            depth = 1


@kernel
def join(
    new: int, parts: Parts, counted: CountedEvents, arrived: Arrived, stores: Stores, walk: Walk, buckets: Cells
) -> int:
    """Constructs every sequence that ends in row `new` of the last part or a later one, and adds it to its bucket.

    A sequence is joined by reference to a row of each part, and belongs to the bucket of its first row. Returns the
    number of sequences. O(1) per sequence, and per event of it that counts for an aggregate.
    """
    joined = 0
    first = parts.store[0]
    width = stores.width[first]
    plain = counts_only(buckets)
    depth = _begin(new, parts, stores, walk)
    while depth < len(parts.store):
        depth = _descend(depth, parts, arrived, stores, walk)
        if depth == 0:
            for r in range(walk.cursor[0], walk.stop[0]):
                walk.chosen[0] = stores.cells[first] + r * width
                b = stores.bucket[stores.begin[first] + r]
                begin(buckets, b)
                if not plain:
                    _aggregate(counted, arrived, stores, walk, buckets, b)
            joined += walk.stop[0] - walk.cursor[0]
            depth = 1
    return joined


@inner
def _begin(new: int, parts: Parts, stores: Stores, walk: Walk) -> int:
    """Opens the last part; returns it, or the number of parts if there are no sequences.

    `ready` is computed greedily; it excludes rows that no sequence can reach, ignoring negation: O(l log n).
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
    """Chooses the next rows of all parts but the first; returns 0 if its rows are open, or the number of parts."""
    units = len(parts.store)
    while 0 < depth < units:
        r = walk.cursor[depth]
        if r >= walk.stop[depth]:
            depth += 1
            continue
        walk.cursor[depth] = r + 1
        s = parts.store[depth]
        at = stores.cells[s] + r * stores.width[s]
        v = stores.events[at] - arrived.counters[0].base
        start = arrived.time[v]
        if start <= walk.ready[parts.offset[depth]]:
            continue
        walk.chosen[depth] = at
        before = parts.store[depth - 1]
        begin = stores.begin[before]
        since = begin + walk.since[depth - 1]
        stop = _first_from(stores.last, since, begin + stores.size[before], start)
        gap = parts.gap[depth]
        if gap != NO_GAP:
            since = _first_from(stores.last, since, stop, arrived.barrier[gap, v])
        depth -= 1
        walk.cursor[depth] = since - begin
        walk.stop[depth] = stop - begin
    return depth


@inlined
def _first_from(times: Ints, low: int, high: int, time: int) -> int:
    """The first index of the sorted `times[low:high]` whose time is not before `time`; `high` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if times[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _aggregate(counted: CountedEvents, arrived: Arrived, stores: Stores, walk: Walk, buckets: Cells, b: int) -> None:
    """The second step: adds the events of one constructed sequence to the other aggregates of bucket b."""
    for c in range(ONE, buckets.words.real):
        for k in range(counted.ptr[c], counted.ptr[c + 1]):
            weight = ONE
            if counted.column[c] >= 0:
                weight = np.uint64(arrived.ints[counted.column[c], _bound(k, counted, arrived, stores, walk)])
            add_ring(buckets, b, c, buckets.counts.dtype.type(weight))
    for c in range(buckets.words.real, buckets.words.least):
        for k in range(counted.ptr[c], counted.ptr[c + 1]):
            buckets.reals[b, c] += arrived.reals[counted.column[c], _bound(k, counted, arrived, stores, walk)]
    for c in range(buckets.words.least, buckets.words.end):
        for k in range(counted.ptr[c], counted.ptr[c + 1]):
            key = arrived.ints[counted.column[c], _bound(k, counted, arrived, stores, walk)]
            buckets.ints[b, c] = min(buckets.ints[b, c], key)


@inlined
def _bound(k: int, counted: CountedEvents, arrived: Arrived, stores: Stores, walk: Walk) -> int:
    """The k-th of the events that count, as an index into `arrived`."""
    return stores.events[walk.chosen[counted.part[k]] + counted.within[k]] - arrived.counters[0].base
