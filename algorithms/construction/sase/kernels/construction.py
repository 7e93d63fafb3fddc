"""Trend construction by depth-first search over the stacks of SASE: each constructed trend goes to a sink
(Wu et al., SIGMOD 2006, sequence construction; dissertation 13.1).

The search goes from the last event of a trend back to the first, and no further than `lowest`, the first event in the
window or in the span of the match. The type of its state, `Search` or `OperandSearch`, selects what may come before an
event: the sources of its transitions or, in an AND, any operand that is not bound yet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import LATEST, NONE
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.algorithms.engine.kernels.sinks import Sink, by_type, emit, has_room, variant_of
from cepbench.algorithms.engine.kernels.stacks import ALONE, Stacks
from cepbench.algorithms.engine.kernels.trend_hash import Hashes
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables

LIVE, FIRST, LAST = 1, 2, 4
"""Roles of an event in complete matches (`mark_roles`)."""


class ProgressRecord:
    """Place and counted work of a search: the event that it starts from, or the next one; `depth` of the path, and its
    greatest, `longest`; `updates`: events in all trends. Number of the operands of an AND that are `missing`.
    """

    root: int
    depth: int
    longest: int
    updates: int
    missing: int


class Search(NamedTuple):
    """The trend under construction, from its last event backwards.

    The events of the path are the last `depth` of `path`, in the order of time. `pointer[d]`, `candidate[d]`: the next
    pointer and event to try before the event at depth d, which is `path[-1 - d]`. `role[V]`: roles of the events in
    complete matches, empty if all trends are wanted. `progress[1]`: `ProgressRecord`.

    Where matches lie within a span, `point[V]`: time or number of each event; `term[V]`: its hash, to digest matches.
    """

    path: Ints
    pointer: Ints
    candidate: Ints
    role: Ints
    point: Ints
    term: Hashes
    progress: Records


class OperandSearch(NamedTuple):
    """The match of an AND under construction, as in `Search`.

    - `oldest[P]`: the time of the oldest event of each operand, LATEST if there is none; `saved[d]`: its value before
      the event at depth d. `kleene[P]`: whether an operand may bind several events.
    """

    path: Ints
    pointer: Ints
    candidate: Ints
    saved: Ints
    point: Ints
    term: Hashes
    oldest: Ints
    kleene: Flags
    progress: Records


@kernel
def construct(
    earliest: int, lowest: int, ends_from: Ints, tables: Tables, stacks: Stacks, search: Search, sink: Sink
) -> bool:
    """Constructs every trend of one window; False when the sink is full: call again to continue.

    `earliest`: start of the window, whose first event is `lowest`; `ends_from[P]`: END events before this time are
    invalid. O(l) time per trend of length l.
    """
    progress, role = search.progress[0], search.role
    progress.root = max(progress.root, lowest)
    while progress.root < stacks.counters[0].events:
        v = progress.root
        ends = tables.end[stacks.position[v]] and stacks.time[v] >= ends_from[stacks.position[v]]
        if ends and (len(role) == 0 or role[v] & LAST) and not extend(earliest, lowest, tables, stacks, search, sink):
            return False
        progress.root = v + 1
    return True


@inlined
def extend(
    earliest: int, lowest: int, tables: Tables, stacks: Stacks, search: Search | OperandSearch, sink: Any
) -> bool:
    """Constructs the trends that end with the root for a `Sink`, or one of spans; False when the sink is full.

    An event that a leading negation precedes since `earliest` begins no trend.
    """
    progress = search.progress[0]
    top = len(search.path) - 1
    depth, longest, updates = progress.depth, progress.longest, 0
    v = NONE if depth > 0 else progress.root
    ended = True
    while depth > 0 or v != NONE:
        if not has_room(sink, depth + 1):
            ended = False
            break
        if depth > 0:
            v = next_event(search, search.path[top + 1 - depth], depth - 1, lowest, stacks)
            if v == NONE:
                depth -= 1
                unbind(search, depth, stacks)
                continue
        search.path[top - depth] = v
        if len(tables.pairwise.one) > 0 and not _pairs_hold(depth, tables, stacks, search):
            continue
        search.pointer[depth], search.candidate[depth] = stacks.pointer_ptr[v], NONE
        bind(search, depth, lowest, stacks)
        depth += 1
        longest = max(longest, depth)
        if is_whole(search, v, earliest, tables, stacks):
            emit(sink, search.path, top + 1 - depth, top + 1)
            updates += depth
        v = NONE
    progress.depth, progress.longest = depth, longest
    progress.updates += updates
    return ended


@by_type
def next_event(search: Search | OperandSearch, last: int, d: int, lowest: int, stacks: Stacks) -> int:
    """The next event from `lowest` on that can precede the event `last`, at depth d of the path, or NONE."""
    raise NotImplementedError


@by_type
def bind(search: Search | OperandSearch, d: int, lowest: int, stacks: Stacks) -> None:
    """Completes the step to the event at depth d."""
    raise NotImplementedError


@by_type
def unbind(search: Search | OperandSearch, d: int, stacks: Stacks) -> None:
    """Undoes the step to the event at depth d."""
    raise NotImplementedError


@by_type
def is_whole(search: Search | OperandSearch, first: int, earliest: int, tables: Tables, stacks: Stacks) -> bool:
    """Whether the path, which begins with the event `first`, is a trend."""
    raise NotImplementedError


@variant_of(next_event, Search)
def _next_source(search: Search, last: int, d: int, lowest: int, stacks: Stacks) -> int:
    stop = stacks.pointer_ptr[last + 1]
    while search.pointer[d] < stop:
        at = search.pointer[d]
        floor = stacks.floor[at]
        u = search.candidate[d]
        if u == NONE:
            u = stacks.target[at]
        if u < lowest or stacks.time[u] < floor:
            search.pointer[d] = at + 1
            search.candidate[d] = NONE
            continue
        below = NONE if floor == ALONE else stacks.below[u]
        search.candidate[d] = below
        if below == NONE:
            search.pointer[d] = at + 1
        if len(search.role) == 0 or search.role[u] & LIVE:
            return u
    return NONE


@variant_of(next_event, OperandSearch)
def _next_operand(search: OperandSearch, last: int, d: int, lowest: int, stacks: Stacks) -> int:
    stop = stacks.pointer_ptr[last + 1]
    while search.pointer[d] < stop:
        at = search.pointer[d]
        q = stacks.position[stacks.target[at]]
        oldest = search.oldest[q]
        u = search.candidate[d]
        if u == NONE and (oldest == LATEST or search.kleene[q]):
            u = stacks.target[at]
        while u >= lowest and stacks.time[u] >= oldest:
            u = stacks.below[u]
        below = NONE if u < lowest else stacks.below[u]
        search.candidate[d] = below
        if below == NONE:
            search.pointer[d] = at + 1
        if u >= lowest:
            return u
    return NONE


@variant_of(bind, Search)
def _bind_event(search: Search, d: int, lowest: int, stacks: Stacks) -> None:
    pass


@variant_of(unbind, Search)
def _unbind_event(search: Search, d: int, stacks: Stacks) -> None:
    pass


@variant_of(bind, OperandSearch)
def _bind_operand(search: OperandSearch, d: int, lowest: int, stacks: Stacks) -> None:
    """An event before which operands are still missing, and none of one of them is in the span, leads nowhere."""
    progress = search.progress[0]
    v = search.path[len(search.path) - 1 - d]
    q = stacks.position[v]
    search.saved[d] = search.oldest[q]
    progress.missing -= search.oldest[q] == LATEST
    search.oldest[q] = stacks.time[v]
    present = 0
    for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
        u = stacks.target[at]
        present += u >= lowest and search.oldest[stacks.position[u]] == LATEST
    if present < progress.missing:
        search.pointer[d] = stacks.pointer_ptr[v + 1]


@variant_of(unbind, OperandSearch)
def _unbind_operand(search: OperandSearch, d: int, stacks: Stacks) -> None:
    q = stacks.position[search.path[len(search.path) - 1 - d]]
    search.oldest[q] = search.saved[d]
    search.progress[0].missing += search.saved[d] == LATEST


@variant_of(is_whole, Search)
def _is_from_start(search: Search, first: int, earliest: int, tables: Tables, stacks: Stacks) -> bool:
    if len(search.role) > 0:
        return search.role[first] & FIRST != 0
    return tables.start[stacks.position[first]] and stacks.barrier[first] < earliest


@variant_of(is_whole, OperandSearch)
def _has_all_operands(search: OperandSearch, first: int, earliest: int, tables: Tables, stacks: Stacks) -> bool:
    return search.progress[0].missing == 0


@inner
def _pairs_hold(depth: int, tables: Tables, stacks: Stacks, search: Search | OperandSearch) -> bool:
    """Whether the earliest event of the path satisfies the pairwise predicates with all later ones."""
    top = len(search.path) - 1
    e = search.path[top - depth]
    for n in range(len(tables.pairwise.one)):
        if not tables.pair_left[n, stacks.position[e]]:
            continue
        for d in range(depth):
            f = search.path[top - d]
            if tables.pair_right[n, stacks.position[f]] and not hold(
                tables.pairwise, n, stacks.ints, stacks.reals, e, stacks.ints, stacks.reals, f
            ):
                return False
    return True


@kernel
def mark_roles(number: Ints, stacks: Stacks, role: Ints) -> None:
    """Sets `role[V]` of the events, of which those with a `number[V]` are live (`number_live`). O(V + E).

    A live event is FIRST (LAST) if it has no live predecessor (successor). A complete match leads from a FIRST to a
    LAST event.
    """
    for v in range(len(number)):
        role[v] = 0 if number[v] == NONE else LIVE | FIRST | LAST
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u = stacks.target[at]
            if role[v] and u != NONE and role[u]:
                role[v] &= ~FIRST
                role[u] &= ~LAST
