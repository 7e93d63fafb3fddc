"""BL: stores all complete trends and extends them event by event (dissertation Chapter 4, Algorithm 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.construction.cet.kernels.trends import TRAVERSALS, TRENDS, UPDATES, WRITTEN, FoundTrends, full
from cepbench.algorithms.engine.kernels.arrays import Codes, Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.algorithms.engine.kernels.stacks import EVENTS, Stacks
from cepbench.algorithms.engine.kernels.trend_hash import BASE, Hashes, finished
from cepbench.queries.tables import Tables

EVENT, WORDS, MAX_WORDS, MAX_TRENDS = 0, 1, 2, 3


class StoredTrends(NamedTuple):
    """Trends as records of int32 words: length, then vertices in time order.

    `previous`: the complete trends of the events so far; `new`: space for those with the next event, including
    incomplete ones. `at`: next EVENT, WORDS in `previous`; peaks of words and trends in both together.
    """

    previous: Codes
    new: Codes
    at: Ints


@kernel
def extend_trends(tables: Tables, stacks: Stacks, limit: int, stored: StoredTrends, work: Ints) -> bool:
    """Adds all vertices in turn. False if the space runs out, or if trends exceed `limit` words after an event.

    O(y l r) per event for y trends of length l and r predicates, and O(y^2 l) to eliminate incomplete trends. `work`
    counts tests of adjacency and new trends.
    """
    at, previous, new = stored.at, stored.previous, stored.new
    while at[EVENT] < stacks.counters[EVENTS]:
        if 2 * at[WORDS] + 2 > min(len(previous), len(new)):
            return False
        size, trends = _extend_all(at[EVENT], tables, stacks, stored, work)
        at[MAX_WORDS] = max(at[MAX_WORDS], at[WORDS] + size)
        at[MAX_TRENDS] = max(at[MAX_TRENDS], trends)
        if at[WORDS] + size > limit:
            return False
        at[WORDS] = _eliminate_incomplete(size, previous, new)
        at[EVENT] += 1
    return True


@inner
def _extend_all(v: int, tables: Tables, stacks: Stacks, stored: StoredTrends, work: Ints) -> tuple[int, int]:
    """Applies the three cases to vertex v and every trend; returns the number of words and trends in `new`."""
    previous, new, words = stored.previous, stored.new, stored.at[WORDS]
    size, trends, here = 0, 0, 0
    if words == 0:
        new[0], new[1] = 1, v
        work[UPDATES] += 1
        return 2, 1
    while here < words:
        length = previous[here]
        prefix = length  # the longest compatible prefix (Definition 4.1)
        while prefix > 0:
            work[TRAVERSALS] += 1
            if _precedes(previous[here + prefix], v, tables, stacks):
                break
            prefix -= 1
        if prefix < length:
            for k in range(length + 1):
                new[size + k] = previous[here + k]
            size += length + 1
            trends += 1
        new[size] = prefix + 1
        for k in range(1, prefix + 1):
            new[size + k] = previous[here + k]
        new[size + prefix + 1] = v
        size += prefix + 2
        trends += 1
        work[UPDATES] += 1
        here += length + 1
    return size, trends


@inlined
def _precedes(u: int, v: int, tables: Tables, stacks: Stacks) -> bool:
    """Whether v can follow u in a trend."""
    if stacks.time[u] >= stacks.time[v]:
        return False
    p = stacks.position[v]
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        if tables.source[e] == stacks.position[u]:
            return hold(tables.adjacent, e, stacks.ints, stacks.reals, u, stacks.ints, stacks.reals, v)
    return False


@inner
def _eliminate_incomplete(size: int, previous: Codes, new: Codes) -> int:
    """Copies the trends of `new` that no other contains to `previous`, without duplicates; returns their words."""
    kept, here = 0, 0
    while here < size:
        length = new[here]
        candidate, contained = 0, False
        while candidate < size and not contained:
            longer = new[candidate] > length or (new[candidate] == length and candidate < here)
            contained = longer and _contains(candidate, here, new)
            candidate += new[candidate] + 1
        if not contained:
            for k in range(length + 1):
                previous[kept + k] = new[here + k]
            kept += length + 1
        here += length + 1
    return kept


@inlined
def _contains(container: int, part: int, new: Codes) -> bool:
    """Whether each event of record `part` is in record `container`; vertices are ascending in both."""
    stop = container + new[container] + 1
    at = container + 1
    for k in range(part + 1, part + 1 + new[part]):
        while at < stop and new[at] < new[k]:
            at += 1
        if at == stop or new[at] != new[k]:
            return False
        at += 1
    return True


@kernel
def report_trends(cursor: Ints, place: Ints, terms: Hashes, stored: StoredTrends, output: FoundTrends) -> bool:
    """Writes or digests the stored trends from word `cursor[0]` on; False when `output` is full. O(l) per trend."""
    here = cursor[0]
    trends, written, digest = output.size[TRENDS], output.size[WRITTEN], output.digest[0]
    writing = len(output.offsets) > 0
    while here < stored.at[WORDS]:
        length = stored.previous[here]
        if full(length, trends, written, output):
            break
        h = np.uint64(0)
        for k in range(here + 1, here + 1 + length):
            v = stored.previous[k]
            if writing:
                output.positions[written] = place[v]
                written += 1
            else:
                h = h * BASE + terms[v]
        trends += 1
        if writing:
            output.offsets[trends] = written
        else:
            digest += finished(h)
        here += length + 1
    cursor[0] = here
    output.size[TRENDS], output.size[WRITTEN], output.digest[0] = trends, written, digest
    return here == stored.at[WORDS]
