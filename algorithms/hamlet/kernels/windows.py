"""Time stamps end, windows close and open (Section 3.1; docs/semantics.md, rules 2, 5 and 6)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import Groups, TemplateTables
from cepbench.algorithms.hamlet.kernels.state import GraphletStore, HamletState, Totals, Vertices
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import add as unite
from cepbench.algorithms.kernels.cells import clear as empty
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.snapshots.kernels.cells import Index, add, clear, copy, is_empty
from cepbench.algorithms.snapshots.kernels.panes import next_edge
from cepbench.algorithms.snapshots.kernels.rows import MemberRows
from cepbench.queries.records import Records


@kernel
def note_state(buffered: Index, whole: Records, window: Records, opened: Records, count: Records) -> None:
    """Notes the state if it is the largest since it was told.

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
def void(negated: Ints, template: TemplateTables, totals: Totals) -> None:
    """Empties what negated events forbid that are new; `negated[J]`: as a row of `KernelEvents.negated`."""
    cells = totals.cells
    for j in range(len(negated)):
        if negated[j] > totals.seen[j]:
            totals.seen[j] = negated[j]
            for n in range(template.negation[j].void, template.negation[j].void_end):
                slot = template.slot[template.lists[n]]
                span = template.window[slot.window].span
                for k in range(totals.open[slot.window].low, totals.open[slot.window].high + 1):
                    empty(cells, slot.cell + k % span)


@inner
def commit(negated: Ints, template: TemplateTables, totals: Totals) -> None:
    """Lets later events see the trends that ended at the current time, after it emptied what negated events forbid."""
    counts, cells = totals.counts[0], totals.cells
    void(negated, template, totals)
    for n in range(counts.touched):
        s = totals.pending[n].touched
        totals.pending[s].marked = False
        slot = template.slot[s]
        span = template.window[slot.window].span
        for k in range(totals.open[slot.window].low, totals.open[slot.window].high + 1):
            row = k % span
            unite(cells, slot.cell + row, cells, slot.pending + row)
            empty(cells, slot.pending + row)
    counts.touched = 0


@inner
def close_until(
    now: int, negated: Ints, template: TemplateTables, state: HamletState, rows: MemberRows, size: int
) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window.
    """
    totals = state.totals
    opened, counts = totals.open, totals.counts[0]
    due = False
    for w in range(len(opened)):
        end = opened[w].low * template.window[w].slide + template.window[w].within
        due |= opened[w].low <= opened[w].high and end <= now
    if not due:
        return size
    note(0, template, totals)
    if now > counts.now:
        commit(negated, template, totals)
        counts.now = now
    for w in range(len(opened)):
        window = template.window[w]
        while opened[w].low <= opened[w].high and opened[w].low * window.slide + window.within <= now:
            for n in range(window.member, window.member_end):
                size = _close(template.lists[n], opened[w].low, negated, template, totals, state.vertices, rows, size)
            opened[w].low += 1
            if window.longest:
                for g in range(len(state.graphlets.group)):
                    state.graphlets.group[g].in_window *= max(0.0, 1.0 - window.slide / window.within)
    _forget(template, totals, state.vertices, state.graphlets)
    return size


@inlined
def _close(
    m: int, k: int, negated: Ints, template: TemplateTables, totals: Totals, vertices: Vertices, rows: MemberRows,
    size: int,
) -> int:  # fmt: skip
    """Writes the row of a member's window k, if it has a trend, and forgets the window."""
    member, cells = template.member[m], totals.cells
    row = k % template.window[member.window].span
    final = member.final + row
    for n in range(member.late, member.late_end):
        add(cells, final, cells, template.slot[template.lists[n]].cell + row)
    for p in range(len(template.position)):
        if template.position[p].late_kept and template.position[p].member == m:
            _add_valid_ends(p, k, row, final, negated, template, totals, vertices)
    if not is_empty(cells, final):
        rows.closed[size].member, rows.closed[size].window = m, k
        copy(rows.cells, size, cells, final)
        size += 1
    clear(cells, final, np.int64(1))
    for s in range(member.slot, member.slot_end):
        clear(cells, template.slot[s].cell + row, np.int64(1))
    return size


@inlined
def _add_valid_ends(
    p: int, k: int, row: int, final: int, negated: Ints, template: TemplateTables, totals: Totals, vertices: Vertices
) -> None:
    """Adds the END events at a position that no trailing negated sequence invalidates."""
    position = template.position[p]
    slide, most = template.window[position.window].slide, template.whole[0].most
    floor = k * slide
    for n in range(position.trailing, position.trailing_end):
        floor = max(floor, negated[template.lists[n]])
    v = vertices.last[p]
    while v >= totals.counts[0].oldest_vertex and vertices.event[v].time >= floor:
        if vertices.event[v].time // slide >= k:
            add(totals.cells, final, vertices.cells, v * most + row)
        v = vertices.event[v].before


@inlined
def _forget(template: TemplateTables, totals: Totals, vertices: Vertices, graphlets: GraphletStore) -> None:
    """Drops events, snapshots and graphlets that have left all windows."""
    counts = totals.counts[0]
    oldest = np.int64(2**62)
    for w in range(len(totals.open)):
        oldest = min(oldest, totals.open[w].low * template.window[w].slide)
    while counts.oldest_vertex < counts.vertices and vertices.event[counts.oldest_vertex].time < oldest:
        counts.oldest_vertex += 1
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
        low = max(opened.low, (now - window.within) // window.slide + 1, 0)
        high = max(opened.high, now // window.slide)
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
