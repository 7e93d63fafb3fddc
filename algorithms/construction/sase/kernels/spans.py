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
    NEVER,
    Runs,
    SpanTables,
    note,
    push,
)
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.algorithms.engine.kernels.ticks import ticks
from cepbench.algorithms.engine.kernels.trend_hash import BASE, Hashes, finished, mixed
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
    """Matches as output: `match` (`WaitingRecord`) and `positions`, or digests by `window` (`rows.MatchDigests`)."""

    match: Records
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
    output: SpanMatches,
) -> int:
    """Detects the matches that events `begin..` complete. Returns the next event, with `held` set if `output` is full.

    Stops before an event for which `runs` has no space. `places[n]`: positions of the events in the input. O(1) per
    partial match of a SEQ, O(m) of an AND, plus O(l) for conditions and for each match of l events.
    """
    count = runs.counters[0]
    m = len(tables.kleene)
    i = begin
    started = ticks()
    while True:
        while count.depth > 0 or count.root < count.size:
            if count.depth == 0 and not tables.end[runs.instance[count.root].position]:
                count.root += 1
                continue
            begun = ticks()
            ended = _search(span, tables, runs, search, output)
            count.search_ticks += ticks() - begun
            if not ended:
                count.all_ticks += ticks() - started
                return i
        if i == len(events.time) or count.size + m > len(runs.instance):
            count.all_ticks += ticks() - started
            return i
        push(i, events, places, span, tables, runs, output.match)
        i += 1


@inner
def _search(span: Records, tables: SpanTables, runs: Runs, search: SpanSearch, output: SpanMatches) -> bool:
    """Continues the search, or starts one from the next instance; False if there is no space for a match."""
    count = runs.counters[0]
    m = len(tables.kleene)
    ordered = span[0].ordered
    if count.depth == 0:
        root = count.root
        count.root += 1
        count.missing = m
        _step(root, span, tables, runs, search)
        if _is_whole(span, tables, runs, search) and not _emit(span, tables, runs, search, output):
            count.held = 1
            return False
    elif count.held:
        if not _emit(span, tables, runs, search, output):
            return False
        count.held = 0
    floor = runs.instance[search.path[0]].point - span[0].reach
    while count.depth > 0:
        v = _next_ordered(floor, tables, runs, search) if ordered else _next_unordered(floor, tables, runs, search)
        if v == NONE:
            _step_back(ordered, runs, search)
            continue
        if not _conditions_hold(v, tables, runs, search):
            continue
        _step(v, span, tables, runs, search)
        if _is_whole(span, tables, runs, search) and not _emit(span, tables, runs, search, output):
            count.held = 1
            return False
    return True


@inlined
def _next_ordered(floor: int, tables: SpanTables, runs: Runs, search: SpanSearch) -> int:
    """The next instance that can precede the last one of a path, or NONE."""
    d = runs.counters[0].depth - 1
    v = search.path[d]
    instance = runs.instance[v]
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
        if u != NONE and runs.instance[u].point >= floor and runs.instance[u].time >= oldest:
            search.candidate[d] = runs.instance[u].below
            return u
        search.choice[d] += 1
        search.candidate[d] = UNTRIED
    return NONE


@inlined
def _next_unordered(floor: int, tables: SpanTables, runs: Runs, search: SpanSearch) -> int:
    """The next instance that can precede the last one in an AND, or NONE."""
    d = runs.counters[0].depth - 1
    v = search.path[d]
    while search.choice[d] < len(tables.kleene):
        q = search.choice[d]
        u = search.candidate[d]
        oldest = search.oldest[q]
        if u == UNTRIED:
            u = runs.pointer[v, q] if oldest == UNBOUND or tables.kleene[q] else NONE
        while u != NONE and runs.instance[u].time >= oldest:
            u = runs.instance[u].below
        if u != NONE and runs.instance[u].point >= floor:
            search.candidate[d] = runs.instance[u].below
            return u
        search.choice[d] += 1
        search.candidate[d] = UNTRIED
    return NONE


@inlined
def _conditions_hold(v: int, tables: SpanTables, runs: Runs, search: SpanSearch) -> bool:
    """Whether instance v satisfies its conditions with all chosen instances, which come after it."""
    p = runs.instance[v].position
    for n in range(len(tables.pairs.one)):
        if not tables.left[n, p]:
            continue
        for d in range(runs.counters[0].depth):
            u = search.path[d]
            if tables.right[n, runs.instance[u].position] and not hold(
                tables.pairs, n, runs.ints, runs.reals, v, runs.ints, runs.reals, u
            ):
                return False
    return True


@inlined
def _step(v: int, span: Records, tables: SpanTables, runs: Runs, search: SpanSearch) -> None:
    """Adds instance v to the path."""
    count = runs.counters[0]
    d = count.depth
    count.depth = d + 1
    search.path[d] = v
    search.choice[d], search.candidate[d] = 0, UNTRIED
    if span[0].digests:
        search.term[d] = mixed(runs.instance[v].place)
    if not span[0].ordered:
        q = runs.instance[v].position
        search.saved[d] = search.oldest[q]
        if search.oldest[q] == UNBOUND:
            count.missing -= 1
        search.oldest[q] = runs.instance[v].time
        floor = runs.instance[search.path[0]].point - span[0].reach
        if count.missing > 0 and not _can_be_whole(v, floor, runs, search):
            search.choice[d] = len(tables.kleene)


@inlined
def _can_be_whole(v: int, floor: int, runs: Runs, search: SpanSearch) -> bool:
    """Whether each missing operand has an instance before v and within the span."""
    for q in range(len(search.oldest)):
        if search.oldest[q] == UNBOUND:
            u = runs.pointer[v, q]
            if u == NONE or runs.instance[u].point < floor:
                return False
    return True


@inlined
def _step_back(ordered: bool, runs: Runs, search: SpanSearch) -> None:
    count = runs.counters[0]
    d = count.depth - 1
    count.depth = d
    if not ordered:
        q = runs.instance[search.path[d]].position
        search.oldest[q] = search.saved[d]
        if search.oldest[q] == UNBOUND:
            count.missing += 1


@inlined
def _is_whole(span: Records, tables: SpanTables, runs: Runs, search: SpanSearch) -> bool:
    """Whether the path is a match."""
    count = runs.counters[0]
    if not span[0].ordered:
        return count.missing == 0
    first, last = runs.instance[search.path[count.depth - 1]], runs.instance[search.path[0]]
    return tables.start[first.position] and first.barrier < last.point - span[0].reach


@inlined
def _emit(span: Records, tables: SpanTables, runs: Runs, search: SpanSearch, output: SpanMatches) -> bool:
    """Writes or digests the match; False if there is no space."""
    count = runs.counters[0]
    length = count.depth
    last = runs.instance[search.path[0]]
    if span[0].digests:
        window = last.point - span[0].reach
        at = count.digest_rows - 1
        if at < 0 or output.window[at] != window:
            at += 1
            if at == len(output.window):
                return False
            output.window[at], output.matches[at], output.digest[at] = window, np.uint64(0), np.uint64(0)
            count.digest_rows = at + 1
        h = np.uint64(0)
        for d in range(length - 1, -1, -1):
            h = h * BASE + search.term[d]
        output.matches[at] += np.uint64(1)
        output.digest[at] += finished(h)
    else:
        at, written = count.matches, count.written
        if at == len(output.match) or written + length > len(output.positions):
            return False
        for d in range(length):
            output.positions[written + d] = runs.instance[search.path[length - 1 - d]].place
        first = runs.instance[search.path[length - 1]]
        match = output.match[at]
        match.first, match.last, match.stop, match.alive = first.time, last.time, written + length, True
        match.end, match.decided = last.position, last.point
        due = NEVER
        for j in range(len(runs.negated)):
            if tables.after[j, last.position]:
                match.decided = due = first.point + span[0].reach
        count.matches, count.written = at + 1, written + length
        count.due = min(count.due, due)
        note(span, runs)
    count.constructed += 1
    count.updates += length
    count.longest = max(count.longest, length)
    return True
