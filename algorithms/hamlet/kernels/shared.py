"""Shared graphlets: a burst is propagated once for all queries that share it (Section 3.3, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import NONE, Groups, HamletProgram
from cepbench.algorithms.hamlet.kernels.snapshots import end_graphlet, new_snapshot
from cepbench.algorithms.hamlet.kernels.state import FRESH, ROW, SUMS, HamletState
from cepbench.algorithms.hamlet.kernels.windows import note
from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.cells import begin
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.cells import add_run, append_run, clear_run, copy, copy_run, follows
from cepbench.algorithms.snapshots.kernels.vertices import add_expression, keep
from cepbench.queries.records import Records

NOBODY, SOME, ALL = 0, 1, 2


@inner
def propagate_shared(
    g: int,
    first: int,
    stop: int,
    size: int,
    scans: Records,
    events: KernelEvents,
    matches: Flags,
    program: HamletProgram,
    state: HamletState,
    modular: bool,
) -> None:
    """Builds the graphlet of a burst of group g for the units that share it; `scans` are those of the burst.

    One snapshot x is created where the graphlet begins; its value is, per query and window, what the events before it,
    and START, let each of its events extend (Equation 5). An event that all queries match, after the same events, has
    an expression over the snapshots so far, the sum of theirs and x. One that only some queries match, or after other
    events than others, is a snapshot of its own (Definition 9).

    O(s) per event for s snapshots, since the running sum of expressions is kept. O(n s) if the loop has predicates (for
    n events before), or at event granularity (for n events of the graphlet before). O(u) per snapshot for u queries
    times windows, or O(u n s).
    """
    totals, graphlets, groups = state.totals, state.graphlets, program.groups
    counts, cells, most = totals.counts[0], graphlets.cells, len(graphlets.snapshot)
    stored, loops, mixed, own = _needs(g, size, scans, program, state)
    begin_at = counts.vertices
    x = new_snapshot(g, first, np.int64(NONE), events, matches, program, state, modular)
    counts.graphlet_snapshots += 1
    for u in range(len(graphlets.unit)):
        graphlets.among[u, x] = graphlets.unit[u].now
    oldest = counts.oldest_snapshot if loops else x
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
        matched = _match(i, g, groups, graphlets.sharing, matches) if mixed else ALL
        if matched == NOBODY:
            continue
        counts.visits += 1
        alike = matched == ALL and not own
        if alike and loops:
            alike = _alike_before(i, g, begin_at, oldest, events, program, state)
        elif alike and program.template.whole[0].every:
            _visit_graphlet(begin_at, oldest, events.time[i], state)
        elif alike:
            copy_run(cells, row, sums, counts.snapshots - oldest)
        if alike:
            begin(cells, ROW * most + x)
            length, bound = counts.snapshots - oldest, len(program.template.position)
            append_run(cells, row, length, program.weights, bound, events.ints, events.reals, i)
        else:
            z = new_snapshot(g, i, x, events, matches, program, state, modular)
            counts.event_snapshots += 1
            clear_run(cells, row, z + 1 - oldest)
            begin(cells, ROW * most + z)
        add_run(cells, fresh, row, counts.snapshots - oldest)
        if stored:  # for those that visit it
            length = counts.snapshots - oldest
            v = keep(i, len(program.template.position) + g, length, events, totals, state.vertices)
            event = state.vertices.event[v]
            event.graphlet, event.first, event.size = x, oldest, length
            counts.stored += 1
            counts.expressions += length
            for n in range(length):
                copy(state.vertices.cells, event.cell + n, cells, row + n)
    counts.now = shown
    note(size, program.template, totals)
    waits = events.time[first] == counts.last or stop == len(events.time) or events.time[stop] == shown
    if not waits:  # no other event has the time of the last ones
        add_run(cells, sums, fresh, counts.snapshots - oldest)
    end_graphlet(g, oldest, waits, program, totals, graphlets, modular)
    if counts.vertices == begin_at:  # nothing refers to them later
        counts.snapshots = x


@inner
def fits_burst(
    g: int,
    first: int,
    stop: int,
    size: int,
    sharing: int,
    scans: Records,
    events: KernelEvents,
    matches: Flags,
    program: HamletProgram,
    state: HamletState,
) -> bool:
    """Whether there is room for all that a burst may leave behind, once it is known how many units share it.

    Each event has a coefficient for each snapshot before it. If all units follow the same events, the snapshots at
    event level are at most the events that only some of them match.
    """
    groups, counts, graphlets, kind = program.groups, state.totals.counts[0], state.graphlets, events.kind[first]
    kept = program.template.kind[kind].kept
    counts.more_expressions = 0
    if sharing > 0:
        group = groups.group[g]
        several = group.alike_end - group.alike > 1 or groups.alike[group.alike].loop != NONE
        if counts.snapshots + (size + 1 if several else 1) > len(graphlets.snapshot):
            return False  # one snapshot is enough if the events are alike for all
        stored, loops, mixed, differ = _needs(g, size, scans, program, state)
        for c in range(group.alike, group.alike_end):
            differ |= loops and graphlets.sharing[c] > 0 and not groups.alike[c].same_loop
        created = np.int64(size if differ else 0)
        if stored and mixed and not differ:
            for i in range(first, stop):
                created += events.kind[i] == kind and _match(i, g, groups, graphlets.sharing, matches) == SOME
        if stored:
            kept += 1
            before = counts.snapshots - (counts.oldest_snapshot if loops else counts.snapshots) + 1
            counts.more_expressions = size * before + created * size - created * (created - 1) // 2
    cells = size * program.template.kind[kind].kept * program.template.whole[0].most + counts.more_expressions
    if counts.vertices + size * kept > len(state.vertices.event):
        return False
    return bool(counts.vertex_cells + cells <= len(state.vertices.cells.over))


@inlined
def _needs(
    g: int, size: int, scans: Records, program: HamletProgram, state: HamletState
) -> tuple[bool, bool, bool, bool]:
    """Whether some query that shares the graphlet visits its events later; has predicates on adjacent events of it;
    does not match all of them; and visits events of its own, since it was apart in an earlier burst.
    """
    groups, group = program.groups, program.groups.group[g]
    stored, loops, mixed, own = False, False, False, False
    for u in range(group.unit, group.unit_end):
        if state.graphlets.unit[u].now:
            c = groups.unit[u].alike
            stored |= program.template.position[groups.unit[u].position].kept
            mixed |= scans[c - group.alike].matched < size
            if groups.alike[c].loop != NONE:
                loops = True
                own |= was_apart(u, state)
    return stored, loops, mixed, own


@inlined
def was_apart(u: int, state: HamletState) -> bool:
    """Whether unit u has not shared a burst whose events may still be visited."""
    first, vertices = state.totals.counts[0].oldest_vertex, state.vertices.event
    return bool(first < state.totals.counts[0].vertices and vertices[first].time <= state.graphlets.unit[u].apart)


@inner
def _match(i: int, g: int, groups: Groups, sharing: Ints, matches: Flags) -> int:
    """Which of the classes that share match event i: NOBODY, SOME or ALL."""
    yes, no = False, False
    for c in range(groups.group[g].alike, groups.group[g].alike_end):
        if sharing[c] > 0:
            if matches[i, c]:
                yes = True
            else:
                no = True
    return NOBODY if not yes else SOME if no else ALL


@inner
def _alike_before(
    i: int, g: int, begin_at: int, oldest: int, events: KernelEvents, program: HamletProgram, state: HamletState
) -> bool:
    """Whether event i follows the same events for all that share; if so ROW is the sum of their expressions.

    Vertices from `begin_at` on are in the graphlet; where a loop has no predicates, earlier ones are in its snapshot.
    """
    groups, graphlets, vertices = program.groups, state.graphlets, state.vertices
    counts, cells, now = state.totals.counts[0], graphlets.cells, events.time[i]
    row = ROW * len(graphlets.snapshot) + oldest
    clear_run(cells, row, counts.snapshots - oldest)
    v = vertices.last[len(program.template.position) + g]
    while v >= counts.oldest_vertex:
        if vertices.event[v].time < now:
            yes, no = False, False
            for c in range(groups.group[g].alike, groups.group[g].alike_end):
                if graphlets.sharing[c] > 0:
                    e = groups.alike[c].loop
                    if e == NONE:
                        after = v >= begin_at
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
                add_expression(v, cells, row, oldest, vertices)
        v = vertices.event[v].before
    return True


@inlined
def _visit_graphlet(first: int, oldest: int, now: int, state: HamletState) -> None:
    """Sets ROW to the sum of the expressions of a graphlet's events before `now`, from vertex `first` on.

    Those of earlier graphlets are in its snapshot. O(n s) for n events; backward, as where predicates select some of
    them, it took a seventh longer.
    """
    counts, cells = state.totals.counts[0], state.graphlets.cells
    row = ROW * len(state.graphlets.snapshot) + oldest
    clear_run(cells, row, counts.snapshots - oldest)
    v = first
    while v < counts.vertices and state.vertices.event[v].time < now:
        add_expression(v, cells, row, oldest, state.vertices)
        v += 1
    counts.edges += v - first
