"""Shared graphlets: a burst is propagated once for all queries that share it (Section 3.3, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import NONE, Groups, HamletProgram
from cepbench.algorithms.hamlet.kernels.snapshots import end_graphlet, event_snapshot, graphlet_snapshot
from cepbench.algorithms.hamlet.kernels.state import FRESH, ROW, SUMS, HamletState
from cepbench.algorithms.hamlet.kernels.windows import note
from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.cells import begin, counts_only
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.cells import (
    add_run,
    append_run,
    clear,
    clear_run,
    copy,
    copy_run,
    fits_class,
    follows,
)
from cepbench.algorithms.snapshots.kernels.vertices import add_expression, keep
from cepbench.queries.tables import Predicates

NOBODY, SOME, ALL = 0, 1, 2


@inner
def propagate_shared(
    g: int,
    first: int,
    stop: int,
    size: int,
    mixed: bool,
    events: KernelEvents,
    matches: Flags,
    program: HamletProgram,
    state: HamletState,
    modular: bool,
) -> None:
    """Builds the graphlet of a burst of group g for the units that share it; all match all events unless it is `mixed`.

    One snapshot x is created where the graphlet begins; its value is, per query and window, what the events before it,
    and START, let each of its events extend (Equation 5). An event that all queries match, after the same events, has
    an expression over the snapshots so far, the sum of theirs and x. One that only some queries match, or after other
    events than others, is a snapshot of its own (Definition 9).

    O(s) per event for s snapshots, since the running sum of expressions is kept. O(n s) if the loop has predicates (for
    n events before), or at event granularity (for n events of the graphlet before). O(u) per snapshot for u queries
    times windows, or O(u n s).
    """
    totals, graphlets, groups = state.totals, state.graphlets, program.groups
    counts, cells, group = totals.counts[0], graphlets.cells, groups.group[g]
    stored, loops, selective, own = _needs(g, program, state)
    base, graphlet, most = counts.snapshots, counts.graphlets, len(graphlets.snapshot)
    begin_at = counts.vertices
    oldest = counts.oldest_snapshot if loops else base
    for u in range(len(graphlets.unit)):
        graphlets.among[graphlet, u] = graphlets.unit[u].now and groups.unit[u].group == g
    counts.graphlets += 1
    x = graphlet_snapshot(g, first, events, program, state, modular)
    sums, fresh, row = SUMS * most + oldest, FRESH * most + oldest, ROW * most + oldest
    clear_run(cells, sums, x + 1 - oldest)
    clear_run(cells, fresh, x + 1 - oldest)
    shown, kind = events.time[first], events.kind[first]
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if events.time[i] != shown:
            shown = events.time[i]
            add_run(cells, sums, fresh, counts.snapshots - oldest)
            clear_run(cells, fresh, counts.snapshots - oldest)
        matched = ALL
        if mixed and selective:
            matched = _match(g, groups, graphlets.sharing, matches, program.predicates, events, i)
        if matched == NOBODY:
            continue
        counts.visits += 1
        alike = matched == ALL and not own
        if alike and loops:
            alike = _alike_before(i, g, oldest, graphlet, events, program, state)
        elif alike and program.template.whole[0].every:
            _visit_graphlet(begin_at, oldest, events.time[i], state)
        elif alike:
            copy_run(cells, row, sums, counts.snapshots - oldest)
        if alike:
            begin(cells, ROW * most + x)
            length = counts.snapshots - oldest
            append_run(cells, row, length, program.weights, group.bound, events.ints, events.reals, i)
        else:
            event_snapshot(g, i, x, oldest, events, matches, program, state, modular)
        add_run(cells, fresh, row, counts.snapshots - oldest)
        if stored:
            _store(i, g, graphlet, oldest, events, program, state)
    counts.now = shown
    note(size, program.template, totals)
    waits = events.time[first] == counts.last or stop == len(events.time) or events.time[stop] == shown
    if not waits:  # no other event has the time of the last ones
        add_run(cells, sums, fresh, counts.snapshots - oldest)
    end_graphlet(g, oldest, waits, program, totals, graphlets, modular)
    if counts.vertices == begin_at:  # nothing refers to them later
        counts.snapshots = base
        counts.graphlets = graphlet


@inner
def fits_expressions(
    g: int, first: int, stop: int, size: int, events: KernelEvents, matches: Flags, program: HamletProgram,
    state: HamletState,
) -> bool:  # fmt: skip
    """Whether there is room for the expressions of a burst of group g, once it is known which units share it.

    Each event has a coefficient for each snapshot before it. If all units follow the same events, the snapshots at
    event level are at most the events that only some of them match, which are counted if room for all of them is short.
    """
    groups, counts = program.groups, state.totals.counts[0]
    stored, loops, _, differ = _needs(g, program, state)
    if not stored:
        return True
    before = counts.snapshots - (counts.oldest_snapshot if loops else counts.snapshots) + 1
    alone = size * program.template.kind[events.kind[first]].kept * program.template.whole[0].most
    room, created = len(state.vertices.cells.over) - counts.vertex_cells - alone, np.int64(size)
    if size * before + size * (size + 1) // 2 <= room:
        return True
    sharing, kind = state.graphlets.sharing, events.kind[first]
    for c in range(groups.group[g].alike, groups.group[g].alike_end):
        differ |= loops and sharing[c] > 0 and not groups.alike[c].same_loop
    if not differ:
        created = np.int64(0)
        for i in range(first, stop):
            if events.kind[i] == kind:
                created += _match(g, groups, sharing, matches, program.predicates, events, i) == SOME
    counts.more_expressions = size * before + created * size - created * (created - 1) // 2
    return bool(counts.more_expressions <= room)


@inlined
def _needs(g: int, program: HamletProgram, state: HamletState) -> tuple[bool, bool, bool, bool]:
    """Whether some query that shares the graphlet visits its events later; has predicates on adjacent events of it; has
    predicates on single ones; and visits events of its own, since it has not shared an earlier graphlet.
    """
    groups, counts, graphlets = program.groups, state.totals.counts[0], state.graphlets
    first, stop = groups.group[g].unit, groups.group[g].unit_end
    stored, loops, selective, own = False, False, False, False
    for u in range(first, stop):
        if graphlets.unit[u].now:
            p = groups.unit[u].position
            stored |= program.template.position[p].kept
            selective |= program.template.position[p].selective
            if groups.alike[groups.unit[u].alike].loop != NONE:
                loops = True
                own |= state.vertices.last[p] >= counts.oldest_vertex
                for graphlet in range(counts.oldest_graphlet, counts.graphlets):
                    own |= not graphlets.among[graphlet, u] and _any(graphlets.among, graphlet, first, stop)
    return stored, loops, selective, own


@inner
def _any(among: Flags, graphlet: int, first: int, stop: int) -> bool:
    """Whether one of the units `first` to `stop` shared a graphlet."""
    found = False
    for u in range(first, stop):
        found |= among[graphlet, u]
    return found


@inner
def _match(
    g: int, groups: Groups, sharing: Ints, matches: Flags, predicates: Predicates, events: KernelEvents, i: int
) -> int:
    """Which of the classes that share match event i: NOBODY, SOME or ALL."""
    yes, no = False, False
    for c in range(groups.group[g].alike, groups.group[g].alike_end):
        if sharing[c] > 0:
            if fits_class(matches, c, predicates, groups.alike[c].sample, events.ints, events.reals, i):
                yes = True
            else:
                no = True
    return NOBODY if not yes else SOME if no else ALL


@inner
def _alike_before(
    i: int, g: int, oldest: int, graphlet: int, events: KernelEvents, program: HamletProgram, state: HamletState
) -> bool:
    """Whether event i follows the same events for all that share; if so ROW is the sum of their expressions."""
    groups, graphlets, vertices = program.groups, state.graphlets, state.vertices
    counts, cells, now = state.totals.counts[0], graphlets.cells, events.time[i]
    row = ROW * len(graphlets.snapshot) + oldest
    clear(cells, row, counts.snapshots - oldest)
    v = vertices.last[len(program.template.position) + g]
    while v >= counts.oldest_vertex:
        if vertices.event[v].time < now:
            yes, no = False, False
            for c in range(groups.group[g].alike, groups.group[g].alike_end):
                if graphlets.sharing[c] > 0:
                    e = groups.alike[c].loop
                    if e == NONE:
                        after = vertices.event[v].graphlet == graphlet  # earlier ones are in the snapshot
                    else:
                        after = follows(
                            program.predicates, program.template.transition[e].predicates, vertices.ints,
                            vertices.reals, v, events.ints, events.reals, i,
                        )  # fmt: skip
                    if after:
                        yes = True
                    else:
                        no = True
            if yes and no:
                return False
            if yes:
                counts.edges += 1
                add_expression(v, cells, row, oldest, vertices, counts_only(cells))
        v = vertices.event[v].before
    return True


@inlined
def _visit_graphlet(first: int, oldest: int, now: int, state: HamletState) -> None:
    """Sets ROW to the sum of the expressions of a graphlet's events before `now`, from vertex `first` on.

    Those of earlier graphlets are in its snapshot. O(n s) for n events.
    """
    counts, cells = state.totals.counts[0], state.graphlets.cells
    only, row = counts_only(cells), ROW * len(state.graphlets.snapshot) + oldest
    clear_run(cells, row, counts.snapshots - oldest)
    v = first
    while v < counts.vertices and state.vertices.event[v].time < now:
        add_expression(v, cells, row, oldest, state.vertices, only)
        v += 1
    counts.edges += v - first


@inner
def _store(
    i: int, g: int, graphlet: int, oldest: int, events: KernelEvents, program: HamletProgram, state: HamletState
) -> None:
    """Keeps event i with its expression, for those that visit it."""
    counts, row = state.totals.counts[0], ROW * len(state.graphlets.snapshot) + oldest
    size = counts.snapshots - oldest
    v = keep(i, len(program.template.position) + g, size, events, state.totals, state.vertices)
    event = state.vertices.event[v]
    event.graphlet, event.first, event.size = graphlet, oldest, size
    counts.stored += 1
    counts.expressions += size
    for n in range(size):
        copy(state.vertices.cells, event.cell + n, state.graphlets.cells, row + n)
