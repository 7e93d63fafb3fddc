"""Time stamps end, windows close and open (Section 3.1; docs/semantics.md, rules 2, 5 and 6)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import Groups, TemplateTables
from cepbench.algorithms.hamlet.kernels.state import GraphletStore, HamletState, Totals
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.snapshots.kernels.cells import Index, clear
from cepbench.algorithms.snapshots.kernels.panes import next_edge
from cepbench.algorithms.snapshots.kernels.rows import MemberRows
from cepbench.algorithms.snapshots.kernels.windows import (
    any_ends,
    close_member,
    commit,
    ends,
    forget_vertices,
    opened_at,
)
from cepbench.queries.records import Records


@kernel
def note_state(buffered: Index, whole: Records, window: Records, opened: Records, count: Records) -> None:
    """Notes the state if it is the largest since the last report.

    `whole` and `window` as in `TemplateTables`, `opened` and `count` as `open` and `counts` in `Totals`.
    """
    sizes, counts = whole[0], count[0]
    windows = np.int64(0)
    for w in range(len(window)):
        windows += (opened[w].high - opened[w].low + 1) * window[w].bytes
    vertices = counts.vertices - counts.oldest_vertex
    stored, snapshots = counts.stored - counts.oldest_stored, counts.snapshots - counts.oldest_snapshot
    size = windows + vertices * sizes.vertex_bytes + buffered * sizes.event_bytes
    expressions = counts.expressions - counts.oldest_expression
    size += stored * sizes.stored_bytes + (expressions + snapshots * sizes.contexts) * sizes.cell_bytes
    if size > counts.peak:
        counts.peak, counts.peak_windows, counts.peak_vertices = size, windows, vertices
        counts.peak_stored, counts.peak_snapshots, counts.peak_buffered = stored, snapshots, buffered
        counts.peak_expressions = expressions


@inlined
def note(buffered: int, template: TemplateTables, totals: Totals) -> None:
    """As `note_state`."""
    note_state(np.int64(buffered), template.whole, template.window, totals.open, totals.counts)


@inner
def close_until(
    now: int, negated: Ints, template: TemplateTables, state: HamletState, rows: MemberRows, size: int
) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window.
    """
    totals = state.totals
    opened, counts = totals.open, totals.counts[0]
    if not any_ends(now, template.window, opened):
        return size
    note(0, template, totals)
    if now > counts.now:
        commit(negated, template, totals)
        counts.now = now
    for w in range(len(opened)):
        window = template.window[w]
        while ends(w, now, template.window, opened):
            for n in range(window.member, window.member_end):
                m, k = template.lists[n], opened[w].low
                size = close_member(m, k, negated, template, totals, state.vertices, rows, size)
            opened[w].low += 1
            if w == template.whole[0].longest:
                for g in range(len(state.graphlets.group)):
                    state.graphlets.group[g].in_window *= max(0.0, 1.0 - window.slide / window.within)
    _forget(forget_vertices(template, totals, state.vertices), totals, state.graphlets)
    return size


@inlined
def _forget(oldest: np.int64, totals: Totals, graphlets: GraphletStore) -> None:
    """Drops snapshots and graphlets that have left all windows, the oldest of which begins at time `oldest`."""
    counts = totals.counts[0]
    while counts.oldest_stored < counts.stored and graphlets.event[counts.oldest_stored].time < oldest:
        counts.oldest_stored += 1
    while counts.oldest_snapshot < counts.snapshots and graphlets.snapshot[counts.oldest_snapshot].time < oldest:
        counts.oldest_snapshot += 1
    counts.oldest_graphlet, counts.oldest_expression = counts.graphlets, counts.expressions
    if counts.oldest_stored < counts.stored:
        counts.oldest_graphlet = graphlets.event[counts.oldest_stored].graphlet
        counts.oldest_expression = graphlets.event[counts.oldest_stored].cell


@inner
def arrive(
    now: int, negated: Ints, template: TemplateTables, groups: Groups, totals: Totals, graphlets: GraphletStore
) -> None:
    """Moves on to the time of an event, after windows were closed until then: opens windows.

    Snapshots have no value in them: no trend of theirs lies there.
    """
    counts = totals.counts[0]
    if now > counts.now:
        commit(negated, template, totals)
        counts.now = now
    for w in range(len(totals.open)):
        window, opened = template.window[w], totals.open[w]
        low, high = opened_at(w, now, template.window, totals.open)
        if counts.snapshots > counts.oldest_snapshot:
            for k in range(max(low, opened.high + 1), high + 1):
                for u in range(len(groups.unit)):
                    if template.position[groups.unit[u].position].window == w:
                        row = (groups.unit[u].value + k % window.span) * len(graphlets.snapshot)
                        for s in range(counts.oldest_snapshot, counts.snapshots):
                            if graphlets.snapshot[s].group == groups.unit[u].group:  # other groups have these rows, too
                                clear(graphlets.cells, row + s, np.int64(1))
        opened.low, opened.high = low, high
    counts.edge = next_edge(now, template.window)
