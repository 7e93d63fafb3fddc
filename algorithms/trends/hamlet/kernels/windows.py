"""Time stamps end, windows close and open (Section 3.1; docs/semantics.md, rules 2, 5 and 6)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import clear
from cepbench.algorithms.engine.kernels.clock import opened
from cepbench.algorithms.engine.kernels.compilation import inner, kernel
from cepbench.algorithms.trends.hamlet.kernels.program import TemplateTables
from cepbench.algorithms.trends.hamlet.kernels.state import LINK_BYTES, GraphletStore, HamletState
from cepbench.algorithms.trends.online.kernels.lifecycle import any_ends, close_windows, commit, note_size, open_windows
from cepbench.algorithms.trends.online.kernels.template import MemberRows, Totals
from cepbench.algorithms.trends.snapshots.kernels.cells import Index
from cepbench.algorithms.trends.snapshots.kernels.vertices import forget_vertices
from cepbench.queries.records import Records


@kernel
def note_state(buffered: Index, template: TemplateTables, totals: Totals, graph: Records) -> None:
    """Notes the state if it is the largest since the last report; `graph`: `GraphSizeRecord[1]`."""
    sizes, counts = template.whole[0], totals.counts[0]
    snapshots, stored = counts.snapshots - counts.oldest_snapshot, counts.vertices - counts.oldest_vertex
    events = graph[0].vertices + stored + buffered
    aggregates = graph[0].cells + counts.vertex_cells - counts.oldest_cell + snapshots * sizes.contexts
    size = events * sizes.event_bytes + stored * LINK_BYTES + aggregates * sizes.cell_bytes
    note_size(size, events, aggregates, snapshots, template, totals)


@inner
def close_until(
    now: int, negated: Ints, template: TemplateTables, state: HamletState, rows: MemberRows, size: int
) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window. Kept events and snapshots that have left all windows are dropped; the
    events of a graphlet leave together, since bursts are cut where windows begin.
    """
    totals, graph, snapshot = state.totals, state.graph, state.graphlets.snapshot
    counts = totals.counts[0]
    if not any_ends(now, template.window, totals.open):
        return size
    note_state(np.int64(0), template, totals, graph.size)
    if now > counts.now:
        commit(negated, template, totals)
        counts.now = now
    longest = template.whole[0].longest
    window, low = template.window[longest], totals.open[longest].low
    size = close_windows(now, negated, template, state, rows, size)
    left = max(0.0, 1.0 - window.slide / window.within) ** (totals.open[longest].low - low)
    for g in range(len(state.graphlets.group)):
        state.graphlets.group[g].in_window *= left
    oldest = forget_vertices(template, totals, state.vertices, graph)
    while counts.oldest_snapshot < counts.snapshots and snapshot[counts.oldest_snapshot].time < oldest:
        counts.oldest_snapshot += 1
    return size


@inner
def arrive(now: int, template: TemplateTables, totals: Totals, graphlets: GraphletStore) -> None:
    """Opens the windows at the time of an event, after those that end by then were closed.

    No trend of a snapshot lies in a window that opens later, so its values there are empty.
    """
    counts = totals.counts[0]
    for u in range(len(template.unit) if counts.snapshots > counts.oldest_snapshot else 0):
        unit, w = template.unit[u], template.position[template.unit[u].position].window
        window, kind = template.window[w], totals.open[w]
        low, high = opened(kind.low, kind.high, now, window)
        for k in range(max(low, kind.high + 1), high + 1):
            row = (unit.value + k % window.span) * len(graphlets.snapshot)
            for s in range(counts.oldest_snapshot, counts.snapshots):
                if graphlets.snapshot[s].group == unit.group:  # other groups have these rows, too
                    clear(graphlets.cells, row + s)
    open_windows(now, template, totals)
