"""BL: stores all complete trends and extends them event by event (dissertation Chapter 4, Algorithm 3)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Codes
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.algorithms.engine.kernels.sinks import Sink, emit, has_room
from cepbench.algorithms.engine.kernels.stacks import Stacks
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables

WORDS = 1
"""The table of words (`engine.arena`)."""


class BaselineRecord:
    """Events so far, and words of their complete trends; the most words and trends together; the next word to emit."""

    events: int
    words: int
    most_words: int
    most_trends: int
    cursor: int


class CompleteTrends(NamedTuple):
    """Trends as records of int32 words: length, then vertices in time order.

    `previous`: the complete trends of the events so far; `new`: space for those with the next event, including
    incomplete ones. `counters[1]`: `BaselineRecord`.
    """

    previous: Codes
    new: Codes
    counters: Records


@kernel
def extend_trends(tables: Tables, stacks: Stacks, limit: int, trends: CompleteTrends, work: Records) -> tuple[int, int]:
    """Adds all vertices in turn. Returns their number so far, and WORDS if the space runs out, or if trends exceed
    `limit` words after an event; otherwise 0.

    O(y l r) per event for y trends of length l and r predicates, and O(y^2 l) to eliminate incomplete trends. `work`
    counts tests of adjacency and new trends.
    """
    progress, previous, new = trends.counters[0], trends.previous, trends.new
    while progress.events < stacks.counters[0].events:
        if 2 * progress.words + 2 > len(new):
            return progress.events, WORDS
        size, number = _extend_all(progress.events, tables, stacks, trends, work)
        progress.most_words = max(progress.most_words, progress.words + size)
        progress.most_trends = max(progress.most_trends, number)
        if progress.words + size > limit:
            return progress.events, WORDS
        progress.words = _eliminate_incomplete(size, previous, new)
        progress.events += 1
    return progress.events, 0


@inner
def _extend_all(v: int, tables: Tables, stacks: Stacks, trends: CompleteTrends, work: Records) -> tuple[int, int]:
    """Applies the three cases to vertex v and every trend; returns the number of words and trends in `new`."""
    previous, new, words = trends.previous, trends.new, trends.counters[0].words
    size, number, here = 0, 0, 0
    if words == 0:
        new[0], new[1] = 1, v
        work[0].updates += 1
        return 2, 1
    while here < words:
        length = previous[here]
        prefix = length  # the longest compatible prefix (Definition 4.1)
        while prefix > 0:
            work[0].traversals += 1
            if _precedes(previous[here + prefix], v, tables, stacks):
                break
            prefix -= 1
        if prefix < length:
            for k in range(length + 1):
                new[size + k] = previous[here + k]
            size += length + 1
            number += 1
        new[size] = prefix + 1
        for k in range(1, prefix + 1):
            new[size + k] = previous[here + k]
        new[size + prefix + 1] = v
        size += prefix + 2
        number += 1
        work[0].updates += 1
        here += length + 1
    return size, number


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
def emit_trends(trends: CompleteTrends, sink: Sink) -> bool:
    """Hands over all trends; False when the sink is full: call again to continue. O(l) per trend."""
    progress, previous = trends.counters[0], trends.previous
    while progress.cursor < progress.words:
        first = progress.cursor + 1
        length = previous[first - 1]
        if not has_room(sink, length):
            return False
        emit(sink, previous, first, first + length)
        progress.cursor = first + length
    return True
