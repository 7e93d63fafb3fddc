"""Shared graphlets: a burst is propagated once for all queries that share it (Section 3.3, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags
from cepbench.algorithms.engine.kernels.cells import add_run, begin, clear, clear_run, copy_run
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.trends.hamlet.kernels.benefit import most_created
from cepbench.algorithms.trends.hamlet.kernels.bursts import BurstRecord
from cepbench.algorithms.trends.hamlet.kernels.program import GroupRecord, HamletProgram
from cepbench.algorithms.trends.hamlet.kernels.snapshots import end_graphlet, event_snapshot, graphlet_snapshot
from cepbench.algorithms.trends.hamlet.kernels.state import ROW, HamletState
from cepbench.algorithms.trends.online.kernels.step import append_run
from cepbench.algorithms.trends.snapshots.kernels.cells import follows
from cepbench.algorithms.trends.snapshots.kernels.vertices import add_expressions, has_space, keep
from cepbench.queries.records import Records

NO_CLASS, SOME_CLASSES, ALL_CLASSES = range(3)
"""The classes that share a burst of which one event matches the predicates."""


@inner
def propagate_shared(
    burst: BurstRecord, classes: Records, events: KernelEvents, matches: Flags, program: HamletProgram,
    state: HamletState,
) -> None:  # fmt: skip
    """Builds the graphlet of a burst for the units that share it; `classes` are those of the burst.

    One snapshot x is created where the graphlet begins (Definition 8). An event that all queries match, with the same
    predecessors in the graphlet, has an expression: x plus the sum of the predecessors' expressions. An event that only
    some queries match, or whose predecessors differ, is a snapshot of its own (Definition 9). As in Figure 5 (c), for
    B+:

        event          b3    b4    b5          b6
        sums before    0     x     3x          3x + z
        row of event   x     2x    z           4x + z     x + sums; queries differ at b5: it is snapshot z

    O(s) per event for s snapshots, since the running sum of expressions is kept. O(n s) if the loop has predicates (for
    n events before), or where events visit their graphlet (for n events of it before). O(u) per snapshot for u queries
    times windows, or O(u n s).
    """
    totals, graphlets, template = state.totals, state.graphlets, program.template
    counts, cells, room = totals.counts[0], graphlets.cells, len(graphlets.snapshot)
    first, stop, group = burst.begin, burst.end, template.group[burst.group]
    stored, selects, partial, apart = burst.stored, burst.selects, burst.partial, burst.apart
    begin_at = counts.vertices
    x = graphlet_snapshot(burst.group, first, events, program, state)
    counts.graphlet_snapshots += 1
    for u in range(len(graphlets.unit)):
        graphlets.among[u, x] = graphlets.unit[u].now
    oldest = counts.oldest_snapshot if selects else x
    sums, fresh, row = ROW.sums * room + oldest, ROW.fresh * room + oldest, ROW.event * room + oldest
    length, bound = counts.snapshots - oldest, len(template.position)
    plain = False  # whether some of those that share extend all events of the graphlet
    for c in range(group.predicate_class, group.predicate_class_end):
        plain |= classes[c - group.predicate_class].chosen and template.predicate_class[c].loop == NONE
    for s in range(oldest, x):
        clear(cells, ROW.sums * room + s)
        clear(cells, ROW.fresh * room + s)
    shown, kind, visits = burst.time, events.kind[first], template.whole[0].within
    within = waits = burst.time == counts.last
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if waits and events.time[i] != shown:
            add_run(cells, sums, fresh, length)
            clear_run(cells, fresh, length)
            waits = False
        shown = events.time[i]
        matched = _match(i, group, classes, matches) if partial else ALL_CLASSES
        if matched == NO_CLASS:
            continue
        counts.visits += 1
        same_events = matched == ALL_CLASSES and not apart
        if same_events and selects:
            same_events = _sum_same_events(i, burst.group, begin_at, classes, events, program, state)
        if plain and not (same_events and selects):
            if visits:
                _visit_graphlet(begin_at, oldest, events.time[i], state)
            else:
                copy_run(cells, row, cells, sums, length)
        if same_events:
            begin(cells, ROW.event * room + x)
            append_run(i, bound, cells, row, length, events, program.weights)
        else:
            z = event_snapshot(burst.group, i, x, events, matches, program, state)
            burst.created += 1
            length += 1
            clear_run(cells, row, length)
            begin(cells, ROW.event * room + z)
        at_once = not within and i + 1 < len(events.time) and events.time[i + 1] != shown
        waits |= not at_once
        add_run(cells, sums if at_once else fresh, row, length)
        if stored:  # for queries that visit it later
            v = keep(i, burst.group, length, events, totals, state.vertices)
            event = state.vertices.event[v]
            event.graphlet, event.first, event.size = x, oldest, length
            if v > begin_at and state.vertices.event[v - 1].size == length:
                event.run += state.vertices.event[v - 1].run
            copy_run(state.vertices.cells, event.cell, cells, row, length)
    counts.event_snapshots += burst.created
    end_graphlet(burst.group, oldest, waits, program, totals, graphlets)


@inner
def fits_burst(
    burst: BurstRecord, classes: Records, events: KernelEvents, program: HamletProgram, state: HamletState
) -> bool:
    """Whether there is room for all that a burst may leave behind, once it is known how many units share it.

    Each event has a coefficient for each snapshot before it.
    """
    template, counts, size = program.template, state.totals.counts[0], burst.size
    width, stored = state.graph.time.shape[1], counts.vertices - counts.oldest_vertex
    blocks = template.kind[events.kind[burst.begin]].kept * ((size + width - 1) // width)
    blocks += burst.splits * (stored // width + min(stored, 2 * template.whole[0].span))  # of as many sets of windows
    kept = cells = int(np.int64(0))
    counts.more_snapshots = 0
    if burst.queries > 0:
        group = template.group[burst.group]
        created = most_created(classes[: group.predicate_class_end - group.predicate_class], burst)
        counts.more_snapshots = 1 + created
        if burst.stored:
            before = counts.snapshots - (counts.oldest_snapshot if burst.selects else counts.snapshots) + 1
            kept = size
            cells = size * before + created * size - created * (created - 1) // 2
    fits = counts.snapshots + counts.more_snapshots <= len(state.graphlets.snapshot)
    return has_space(kept, cells, blocks, state.totals, state.vertices, state.graph) and fits


@inner
def _match(i: int, group: GroupRecord, classes: Records, matches: Flags) -> int:
    """Whether event i matches NO_CLASS, SOME_CLASSES or ALL_CLASSES of the group's classes that share."""
    any_matches, any_fails = False, False
    for c in range(group.predicate_class, group.predicate_class_end):
        if classes[c - group.predicate_class].chosen:
            any_matches |= matches[i, c]
            any_fails |= not matches[i, c]
    return NO_CLASS if not any_matches else SOME_CLASSES if any_fails else ALL_CLASSES


@inner
def _sum_same_events(
    i: int, g: int, begin_at: int, classes: Records, events: KernelEvents, program: HamletProgram, state: HamletState
) -> bool:
    """Whether event i follows the same events for all queries that share; if so row `event` is the sum of theirs.

    Vertices from `begin_at` on are in the graphlet; where a loop has no predicates, earlier ones are in its snapshot.
    """
    template, graphlets, vertices = program.template, state.graphlets, state.vertices
    counts, cells, now = state.totals.counts[0], graphlets.cells, events.time[i]
    oldest, group = counts.oldest_snapshot, template.group[g]
    row = ROW.event * len(graphlets.snapshot) + oldest
    clear_run(cells, row, counts.snapshots - oldest)
    v = vertices.last[g]
    while v >= counts.oldest_vertex:
        if vertices.event[v].time < now:
            any_follows, any_skips = False, False
            for c in range(group.predicate_class, group.predicate_class_end):
                if classes[c - group.predicate_class].chosen:
                    e = template.predicate_class[c].loop
                    if e == NONE:
                        in_trend = v >= begin_at
                    else:
                        in_trend = follows(
                            program.predicates, template.transition[e].predicates, vertices.ints, vertices.reals, v,
                            events.ints, events.reals, i,
                        )  # fmt: skip
                    any_follows |= in_trend
                    any_skips |= not in_trend
            if any_follows and any_skips:
                return False
            if any_follows:
                counts.edges += 1
                add_expressions(v, v, cells, row, oldest, vertices)
        v = vertices.event[v].before
    return True


@inlined
def _visit_graphlet(first: int, oldest: int, now: int, state: HamletState) -> None:
    """Sets row `event` to the sum of the expressions of a graphlet's events before `now`, from vertex `first` on.

    Those of earlier graphlets are in its snapshot. O(n s) for n events, of which runs are summed snapshot by snapshot.
    """
    counts, cells, vertices = state.totals.counts[0], state.graphlets.cells, state.vertices
    row, stop = ROW.event * len(state.graphlets.snapshot) + oldest, counts.vertices
    clear_run(cells, row, counts.snapshots - oldest)
    while stop > first and vertices.event[stop - 1].time == now:
        stop -= 1
    counts.edges += stop - first
    while stop > first:
        begin = stop - vertices.event[stop - 1].run
        add_expressions(begin, stop - 1, cells, row, oldest, vertices)
        stop = begin
