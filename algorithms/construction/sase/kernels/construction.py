"""Trend construction by depth-first search over the stacks of SASE, and the aggregation of each constructed trend
(Wu et al., SIGMOD 2006, sequence construction; dissertation 13.1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import Cells, add_trend
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.algorithms.engine.kernels.stacks import ALONE, EVENTS, NOBODY, Stacks, is_continued
from cepbench.algorithms.engine.kernels.trend_hash import BASE, Hashes, finished, mixed
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables

LIVE, FIRST, LAST = 1, 2, 4
"""Roles of an event in complete matches (`mark_roles`)."""


class ProgressRecord:
    """Place and counted work of a search.

    `cursor`: the next END event to start from; `depth` of the path, and its greatest, `longest`; `trends` and `written`
    events of the output; `updates`: events in all trends.
    """

    cursor: int
    depth: int
    longest: int
    trends: int
    written: int
    updates: int


class Search(NamedTuple):
    """The trend under construction, from its END event backwards.

    `path[d]` is an event, with the next pointer and candidate to try, and its hash. `progress[1]`: `ProgressRecord`.
    """

    path: Ints
    pointer: Ints
    candidate: Ints
    term: Hashes
    progress: Records


class FoundMatches(NamedTuple):
    """Matches as output: `offsets[m + 1]` and `positions`, or their digest in `digest[1]`. Unused arrays are empty;
    all are when trends are aggregated.
    """

    offsets: Ints
    positions: Ints
    digest: Hashes


@kernel
def construct(
    earliest: int,
    ends_from: Ints,
    role: Ints,
    tables: Tables,
    stacks: Stacks,
    search: Search,
    total: Cells,
    output: FoundMatches,
) -> bool:
    """Constructs every trend of one window and adds it to cell 0 of `total` or to `output`.

    `earliest`: start of the window; `ends_from[P]`: END events before this time are invalid; `role[V]`: roles of the
    events in complete matches, empty if all trends are wanted. Returns False when `output` is full; call again to
    continue. O(l) time per trend of length l.
    """
    progress = search.progress[0]
    writing, digesting = len(output.offsets) > 0, len(output.digest) > 0
    updates = 0  # in a register: updating memory took a tenth of the search time
    while True:
        if progress.depth == 0:
            v = _next_end(earliest, ends_from, role, tables, stacks, progress)
            if v == NOBODY:
                progress.updates += updates
                return True
        else:
            v = _next_predecessor(earliest, role, stacks, search)
            if v == NOBODY:
                progress.depth -= 1
                continue
        depth = progress.depth
        if writing and (
            progress.trends + 2 > len(output.offsets) or progress.written + depth + 1 > len(output.positions)
        ):
            _step_back(search, progress, v)
            progress.updates += updates
            return False
        search.path[depth] = v
        if len(tables.pairwise.one) > 0 and not _pairs_hold(depth, tables, stacks, search):
            continue
        search.pointer[depth] = stacks.pointer_ptr[v]
        search.candidate[depth] = NOBODY
        progress.depth = depth + 1
        progress.longest = max(progress.longest, depth + 1)
        if digesting:
            search.term[depth] = mixed(stacks.place[v])
        if role[v] & FIRST if len(role) > 0 else tables.start[stacks.position[v]] and stacks.barrier[v] < earliest:
            updates += depth + 1
            if writing:
                _write(depth + 1, stacks, search, output)
            elif digesting:
                _digest(depth + 1, search, output)
            else:
                add_trend(total, 0, tables, search.path, depth + 1, stacks.position, stacks.ints, stacks.reals)


@inner
def _next_end(
    earliest: int, ends_from: Ints, role: Ints, tables: Tables, stacks: Stacks, progress: ProgressRecord
) -> int:
    """The next END event of the window, or NOBODY."""
    while progress.cursor < stacks.counters[EVENTS]:
        v = progress.cursor
        progress.cursor = v + 1
        p = stacks.position[v]
        if len(role) > 0 and role[v] & LAST == 0:
            continue
        if tables.end[p] and stacks.time[v] >= earliest and stacks.time[v] >= ends_from[p]:
            return v
    return NOBODY


@inlined
def _next_predecessor(earliest: int, role: Ints, stacks: Stacks, search: Search) -> int:
    """The next event that can precede the last one of the path, or NOBODY."""
    d = search.progress[0].depth - 1
    stop = stacks.pointer_ptr[search.path[d] + 1]
    while search.pointer[d] < stop:
        at = search.pointer[d]
        floor = stacks.floor[at]
        u = search.candidate[d]
        if u == NOBODY:
            u = stacks.target[at]
        if u == NOBODY or stacks.time[u] < earliest or stacks.time[u] < floor:
            search.pointer[d] = at + 1
            search.candidate[d] = NOBODY
            continue
        below = NOBODY if floor == ALONE else stacks.below[u]
        search.candidate[d] = below
        if below == NOBODY:
            search.pointer[d] = at + 1
        if len(role) == 0 or role[u] & LIVE:
            return u
    return NOBODY


@inner
def _step_back(search: Search, progress: ProgressRecord, v: int) -> None:
    """Undoes the choice of event v, so that the search can find it again."""
    if progress.depth == 0:
        progress.cursor = v
        return
    d = progress.depth - 1
    if search.candidate[d] == NOBODY:
        search.pointer[d] -= 1
    search.candidate[d] = v


@inner
def _pairs_hold(depth: int, tables: Tables, stacks: Stacks, search: Search) -> bool:
    """Whether the earliest event of the path satisfies the pairwise predicates with all later ones."""
    e = search.path[depth]
    for n in range(len(tables.pairwise.one)):
        if not tables.pair_left[n, stacks.position[e]]:
            continue
        for d in range(depth):
            f = search.path[d]
            if tables.pair_right[n, stacks.position[f]] and not hold(
                tables.pairwise, n, stacks.ints, stacks.reals, e, stacks.ints, stacks.reals, f
            ):
                return False
    return True


@inner
def _write(length: int, stacks: Stacks, search: Search, output: FoundMatches) -> None:
    progress = search.progress[0]
    at = progress.written
    for d in range(length):
        output.positions[at + d] = stacks.place[search.path[length - 1 - d]]
    progress.written = at + length
    progress.trends += 1
    output.offsets[progress.trends] = at + length


@kernel
def _digest(length: int, search: Search, output: FoundMatches) -> None:
    h = np.uint64(0)
    for d in range(length - 1, -1, -1):
        h = h * BASE + search.term[d]
    output.digest[0] += finished(h)
    search.progress[0].trends += 1


@kernel
def mark_roles(earliest: int, tables: Tables, stacks: Stacks, role: Ints) -> None:
    """Sets `role[V]` in the window that starts at `earliest`; O(V + E) for V events and E pointers.

    An event is LIVE if some match binds it: a path leads to it from a START event, and from it to an END event. It is
    FIRST (LAST) if it has no live predecessor (successor). A complete match leads from a FIRST to a LAST event.
    """
    for v in range(stacks.counters[EVENTS]):
        role[v] = 0
        if stacks.time[v] < earliest:
            continue
        first = True
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            first = first and not _is_live(stacks.target[at], role)
        if not first or (tables.start[stacks.position[v]] and not is_continued(v, role, stacks)):
            role[v] = LIVE | LAST | (FIRST if first else 0)
    for v in range(stacks.counters[EVENTS] - 1, -1, -1):
        if role[v] & LAST and not tables.end[stacks.position[v]]:
            role[v] = 0
        if role[v]:
            for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
                if _is_live(stacks.target[at], role):
                    role[stacks.target[at]] &= ~LAST


@inlined
def _is_live(u: int, role: Ints) -> bool:
    return u != NOBODY and role[u] & LIVE != 0
