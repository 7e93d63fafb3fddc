"""Trend construction by depth-first search over the stacks of SASE: each constructed trend goes to a sink
(Wu et al., SIGMOD 2006, sequence construction; dissertation 13.1).
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.algorithms.engine.kernels.sinks import Sink, emit, has_room
from cepbench.algorithms.engine.kernels.stacks import ALONE, Stacks, is_continued
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables

LIVE, FIRST, LAST = 1, 2, 4
"""Roles of an event in complete matches (`mark_roles`)."""


class ProgressRecord:
    """Place and counted work of a search: the END event that it starts from, or the next one; `depth` of the path, and
    its greatest, `longest`; `updates`: events in all trends.
    """

    root: int
    depth: int
    longest: int
    updates: int


class Search(NamedTuple):
    """The trend under construction, from its END event backwards.

    The events of the path are the last `depth` of `path`, in the order of time. `pointer[d]`, `candidate[d]`: the next
    pointer and event to try before the event at depth d, which is `path[-1 - d]`. `progress[1]`: `ProgressRecord`.
    """

    path: Ints
    pointer: Ints
    candidate: Ints
    progress: Records


@kernel
def construct(
    earliest: int, ends_from: Ints, role: Ints, tables: Tables, stacks: Stacks, search: Search, sink: Sink
) -> bool:
    """Constructs every trend of one window; False when the sink is full: call again to continue.

    `earliest`: start of the window; `ends_from[P]`: END events before this time are invalid; `role[V]`: roles of the
    events in complete matches, empty if all trends are wanted. O(l) time per trend of length l.
    """
    progress = search.progress[0]
    while progress.root < stacks.counts[0].events:
        v = progress.root
        p = stacks.position[v]
        ends = tables.end[p] and stacks.time[v] >= earliest and stacks.time[v] >= ends_from[p]
        if ends and (len(role) == 0 or role[v] & LAST) and not _search(earliest, role, tables, stacks, search, sink):
            return False
        progress.root = v + 1
    return True


@inner
def _search(earliest: int, role: Ints, tables: Tables, stacks: Stacks, search: Search, sink: Sink) -> bool:
    """Constructs the trends that end with the root; False when the sink is full."""
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
            v = _next_predecessor(search.path[top + 1 - depth], depth - 1, earliest, role, stacks, search)
            if v == NONE:
                depth -= 1
                continue
        search.path[top - depth] = v
        if len(tables.pairwise.one) > 0 and not _pairs_hold(depth, tables, stacks, search):
            continue
        search.pointer[depth], search.candidate[depth] = stacks.pointer_ptr[v], NONE
        depth += 1
        longest = max(longest, depth)
        if role[v] & FIRST if len(role) > 0 else tables.start[stacks.position[v]] and stacks.barrier[v] < earliest:
            emit(sink, search.path, top + 1 - depth, top + 1)
            updates += depth
        v = NONE
    progress.depth, progress.longest = depth, longest
    progress.updates += updates
    return ended


@inlined
def _next_predecessor(last: int, d: int, earliest: int, role: Ints, stacks: Stacks, search: Search) -> int:
    """The next event that can precede the event `last`, at depth d of the path, or NONE."""
    stop = stacks.pointer_ptr[last + 1]
    while search.pointer[d] < stop:
        at = search.pointer[d]
        floor = stacks.floor[at]
        u = search.candidate[d]
        if u == NONE:
            u = stacks.target[at]
        if u == NONE or stacks.time[u] < earliest or stacks.time[u] < floor:
            search.pointer[d] = at + 1
            search.candidate[d] = NONE
            continue
        below = NONE if floor == ALONE else stacks.below[u]
        search.candidate[d] = below
        if below == NONE:
            search.pointer[d] = at + 1
        if len(role) == 0 or role[u] & LIVE:
            return u
    return NONE


@inner
def _pairs_hold(depth: int, tables: Tables, stacks: Stacks, search: Search) -> bool:
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
def mark_roles(earliest: int, tables: Tables, stacks: Stacks, role: Ints) -> None:
    """Sets `role[V]` in the window that starts at `earliest`; O(V + E) for V events and E pointers.

    An event is LIVE if some match binds it: a path leads to it from a START event, and from it to an END event. It is
    FIRST (LAST) if it has no live predecessor (successor). A complete match leads from a FIRST to a LAST event.
    """
    for v in range(stacks.counts[0].events):
        role[v] = 0
        if stacks.time[v] < earliest:
            continue
        first = True
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            first = first and not _is_live(stacks.target[at], role)
        if not first or (tables.start[stacks.position[v]] and not is_continued(v, role, stacks)):
            role[v] = LIVE | LAST | (FIRST if first else 0)
    for v in range(stacks.counts[0].events - 1, -1, -1):
        if role[v] & LAST and not tables.end[stacks.position[v]]:
            role[v] = 0
        if role[v]:
            for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
                if _is_live(stacks.target[at], role):
                    role[stacks.target[at]] &= ~LAST


@inlined
def _is_live(u: int, role: Ints) -> bool:
    return u != NONE and role[u] & LIVE != 0
