"""Detects matches within their span by depth-first search over the stacks, from each event that can be the last one
(Wu et al., SIGMOD 2006, sequence construction with windows pushed down; Zhang et al., SIGMOD 2014, Kleene operands).

The search goes from the last event of a match back to the first. A partial match is a path of instances, each of which
precedes the one chosen before it. A step follows a transition of the automaton backwards. In an AND, it leads to an
instance of any operand that is not bound yet, or to an older instance of a Kleene operand: the automaton of an AND has
one state per set of operands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.construction.sase.kernels.runs import (
    ALL_TICKS,
    DEPTH,
    DUE,
    FOUND,
    HELD,
    LONGEST,
    MATCHES,
    MISSING,
    NEVER,
    NOBODY,
    ROOT,
    ROWS,
    SEARCH_TICKS,
    SIZE,
    UPDATES,
    WRITTEN,
    Runs,
    SpanTables,
    note,
    push,
)
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.algorithms.engine.kernels.ticks import ticks
from cepbench.algorithms.engine.kernels.trend_hash import BASE as FACTOR
from cepbench.algorithms.engine.kernels.trend_hash import Hashes, finished, mixed
from cepbench.queries.records import Records

UNTRIED = -2
"""No candidate of this choice has been tried yet."""
UNBOUND = 2**62
"""Later than every event."""


class SpanSearch(NamedTuple):
    """The partial match under construction, from its last event back.

    - `path[d]`: instances; `choice[d]`, `candidate[d]`: the pointer column and the instance to try next.
    - `term[d]`: hashes of the events.
    - `oldest[m]`: in an AND, the time of the oldest event of each operand, `UNBOUND` if there is none; `saved[d]`: its
      value before step d.
    """

    path: Ints
    choice: Ints
    candidate: Ints
    term: Hashes
    saved: Ints
    oldest: Ints


class SpanMatches(NamedTuple):
    """Matches as output: `one` (`WaitingRecord`) and `positions`, or digests by `window` (`rows.MatchDigests`)."""

    one: Records
    positions: Ints
    window: Ints
    matches: Hashes
    digest: Hashes


@kernel
def detect(
    begin: int,
    events: KernelEvents,
    places: Ints,
    span: Records,
    tables: SpanTables,
    runs: Runs,
    search: SpanSearch,
    found: SpanMatches,
) -> int:
    """Detects the matches that events `begin..` complete. Returns the next event, with `HELD` set if `found` is full.

    Stops before an event for which `runs` has no space. `places[n]`: positions of the events in the input. O(1) per
    partial match of a SEQ, O(m) of an AND, plus O(l) for conditions and for each match of l events.
    """
    count = runs.counters
    m = len(tables.kleene)
    i = begin
    started = ticks()
    while True:
        while count[DEPTH] > 0 or count[ROOT] < count[SIZE]:
            if count[DEPTH] == 0 and not tables.end[runs.one[count[ROOT]].position]:
                count[ROOT] += 1
                continue
            begun = ticks()
            ended = _search(span, tables, runs, search, found)
            count[SEARCH_TICKS] += ticks() - begun
            if not ended:
                count[ALL_TICKS] += ticks() - started
                return i
        if i == len(events.time) or count[SIZE] + m > len(runs.one):
            count[ALL_TICKS] += ticks() - started
            return i
        push(i, events, places, span, tables, runs, found.one)
        i += 1


@inner
def _search(span: Records, tables: SpanTables, runs: Runs, search: SpanSearch, found: SpanMatches) -> bool:
    """Continues the search, or starts one from the next instance; False if there is no space for a match."""
    count = runs.counters
    m = len(tables.kleene)
    ordered = span[0].ordered
    if count[DEPTH] == 0:
        root = count[ROOT]
        count[ROOT] += 1
        count[MISSING] = m
        _step(root, span, tables, runs, search)
        if _is_whole(span, tables, runs, search) and not _emit(span, tables, runs, search, found):
            count[HELD] = 1
            return False
    elif count[HELD]:
        if not _emit(span, tables, runs, search, found):
            return False
        count[HELD] = 0
    floor = runs.one[search.path[0]].point - span[0].reach
    while count[DEPTH] > 0:
        v = _next_ordered(floor, tables, runs, search) if ordered else _next_unordered(floor, tables, runs, search)
        if v == NOBODY:
            _step_back(ordered, runs, search)
            continue
        if not _conditions_hold(v, tables, runs, search):
            continue
        _step(v, span, tables, runs, search)
        if _is_whole(span, tables, runs, search) and not _emit(span, tables, runs, search, found):
            count[HELD] = 1
            return False
    return True


@inlined
def _next_ordered(floor: int, tables: SpanTables, runs: Runs, search: SpanSearch) -> int:
    """The next instance that can precede the last one of a path, or NOBODY."""
    d = runs.counters[DEPTH] - 1
    v = search.path[d]
    instance = runs.one[v]
    first = tables.enter_ptr[instance.position] - 1
    choices = tables.enter_ptr[instance.position + 1] - first
    while search.choice[d] < choices:
        c = search.choice[d]
        u = search.candidate[d]
        oldest = NEVER
        if c == 0:
            oldest = NEVER if tables.kleene[instance.position] else UNBOUND
        elif tables.guarded[first + c]:
            oldest = instance.barrier
        if u == UNTRIED:
            u = runs.pointer[v, c]
        if u != NOBODY and runs.one[u].point >= floor and runs.one[u].time >= oldest:
            search.candidate[d] = runs.one[u].below
            return u
        search.choice[d] += 1
        search.candidate[d] = UNTRIED
    return NOBODY


@inlined
def _next_unordered(floor: int, tables: SpanTables, runs: Runs, search: SpanSearch) -> int:
    """The next instance that can precede the last one in an AND, or NOBODY."""
    d = runs.counters[DEPTH] - 1
    v = search.path[d]
    while search.choice[d] < len(tables.kleene):
        q = search.choice[d]
        u = search.candidate[d]
        oldest = search.oldest[q]
        if u == UNTRIED:
            u = runs.pointer[v, q] if oldest == UNBOUND or tables.kleene[q] else NOBODY
        while u != NOBODY and runs.one[u].time >= oldest:
            u = runs.one[u].below
        if u != NOBODY and runs.one[u].point >= floor:
            search.candidate[d] = runs.one[u].below
            return u
        search.choice[d] += 1
        search.candidate[d] = UNTRIED
    return NOBODY


@inlined
def _conditions_hold(v: int, tables: SpanTables, runs: Runs, search: SpanSearch) -> bool:
    """Whether instance v satisfies its conditions with all chosen instances, which come after it."""
    p = runs.one[v].position
    for n in range(len(tables.pairs.one)):
        if not tables.left[n, p]:
            continue
        for d in range(runs.counters[DEPTH]):
            u = search.path[d]
            if tables.right[n, runs.one[u].position] and not hold(
                tables.pairs, n, runs.ints, runs.reals, v, runs.ints, runs.reals, u
            ):
                return False
    return True


@inlined
def _step(v: int, span: Records, tables: SpanTables, runs: Runs, search: SpanSearch) -> None:
    """Adds instance v to the path."""
    count = runs.counters
    d = count[DEPTH]
    count[DEPTH] = d + 1
    search.path[d] = v
    search.choice[d], search.candidate[d] = 0, UNTRIED
    if span[0].digests:
        search.term[d] = mixed(runs.one[v].place)
    if not span[0].ordered:
        q = runs.one[v].position
        search.saved[d] = search.oldest[q]
        if search.oldest[q] == UNBOUND:
            count[MISSING] -= 1
        search.oldest[q] = runs.one[v].time
        floor = runs.one[search.path[0]].point - span[0].reach
        if count[MISSING] > 0 and not _can_be_whole(v, floor, runs, search):
            search.choice[d] = len(tables.kleene)


@inlined
def _can_be_whole(v: int, floor: int, runs: Runs, search: SpanSearch) -> bool:
    """Whether each missing operand has an instance before v and within the span."""
    for q in range(len(search.oldest)):
        if search.oldest[q] == UNBOUND:
            u = runs.pointer[v, q]
            if u == NOBODY or runs.one[u].point < floor:
                return False
    return True


@inlined
def _step_back(ordered: bool, runs: Runs, search: SpanSearch) -> None:
    count = runs.counters
    d = count[DEPTH] - 1
    count[DEPTH] = d
    if not ordered:
        q = runs.one[search.path[d]].position
        search.oldest[q] = search.saved[d]
        if search.oldest[q] == UNBOUND:
            count[MISSING] += 1


@inlined
def _is_whole(span: Records, tables: SpanTables, runs: Runs, search: SpanSearch) -> bool:
    """Whether the path is a match."""
    count = runs.counters
    if not span[0].ordered:
        return count[MISSING] == 0
    first, last = runs.one[search.path[count[DEPTH] - 1]], runs.one[search.path[0]]
    return tables.start[first.position] and first.barrier < last.point - span[0].reach


@inlined
def _emit(span: Records, tables: SpanTables, runs: Runs, search: SpanSearch, found: SpanMatches) -> bool:
    """Writes or digests the match; False if there is no space."""
    count = runs.counters
    length = count[DEPTH]
    last = runs.one[search.path[0]]
    if span[0].digests:
        window = last.point - span[0].reach
        at = count[ROWS] - 1
        if at < 0 or found.window[at] != window:
            at += 1
            if at == len(found.window):
                return False
            found.window[at], found.matches[at], found.digest[at] = window, np.uint64(0), np.uint64(0)
            count[ROWS] = at + 1
        h = np.uint64(0)
        for d in range(length - 1, -1, -1):
            h = h * FACTOR + search.term[d]
        found.matches[at] += np.uint64(1)
        found.digest[at] += finished(h)
    else:
        at, written = count[MATCHES], count[WRITTEN]
        if at == len(found.one) or written + length > len(found.positions):
            return False
        for d in range(length):
            found.positions[written + d] = runs.one[search.path[length - 1 - d]].place
        first = runs.one[search.path[length - 1]]
        match = found.one[at]
        match.first, match.last, match.stop, match.alive = first.time, last.time, written + length, True
        match.end, match.decided = last.position, last.point
        due = NEVER
        for j in range(len(runs.negated)):
            if tables.after[j, last.position]:
                match.decided = due = first.point + span[0].reach
        count[MATCHES], count[WRITTEN] = at + 1, written + length
        count[DUE] = min(count[DUE], due)
        note(span, runs)
    count[FOUND] += 1
    count[UPDATES] += length
    count[LONGEST] = max(count[LONGEST], length)
    return True
