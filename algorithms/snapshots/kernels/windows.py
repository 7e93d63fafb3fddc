"""Time stamps end, windows close and open, of any sharable set (docs/semantics.md, rules 2, 5 and 6)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import add as unite
from cepbench.algorithms.kernels.cells import clear as empty
from cepbench.algorithms.kernels.cells import is_empty
from cepbench.algorithms.kernels.clock import has_ended, next_boundary, opened, row_of
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.negation import latest_start
from cepbench.algorithms.online.kernels.store import Graph, add_window
from cepbench.algorithms.snapshots.kernels.cells import Index, add, clear, copy
from cepbench.algorithms.snapshots.kernels.template import MemberRows, SetTotals, Template, VertexQueue
from cepbench.algorithms.snapshots.kernels.vertices import forget_own
from cepbench.queries.records import Records


@inner
def void(negated: Ints, template: Template, totals: SetTotals) -> None:
    """Empties what negated events forbid that are new; `negated[J]`: as a row of `KernelEvents.negated`."""
    cells = totals.cells
    for j in range(len(negated)):
        if negated[j] > totals.seen[j]:
            totals.seen[j] = negated[j]
            for n in range(template.negation[j].void, template.negation[j].void_end):
                slot = template.slot[template.lists[n]]
                span = template.window[slot.window].span
                for k in range(totals.open[slot.window].low, totals.open[slot.window].high + 1):
                    clear(cells, slot.cell + k % span)


@inner
def commit(negated: Ints, template: Template, totals: SetTotals) -> None:
    """Lets later events see the trends that ended at the current time, after it emptied what negated events forbid."""
    counts = totals.counts[0]
    void(negated, template, totals)
    for n in range(counts.touched):
        s = totals.pending[n].touched
        totals.pending[s].marked = False
        show(s, template, totals)
    counts.touched = 0


@inlined
def show(s: int, template: Template, totals: SetTotals) -> None:
    """Lets later events see the trends that are pending in a slot."""
    slot, cells = template.slot[s], totals.cells
    span, low = template.window[slot.window].span, totals.open[slot.window].low
    oldest = low % span
    for k in range(low, totals.open[slot.window].high + 1):
        row = row_of(k, low, oldest, span)
        unite(cells, slot.cell + row, cells, slot.pending + row)
        empty(cells, slot.pending + row)


@inner
def next_edge(time: int, window: Records) -> int:
    """The first time after `time` at which some window begins or ends: the next edge of a pane that matters."""
    edge = 2**63 - 1
    for w in range(len(window)):
        low, high = opened(int(np.int64(0)), int(np.int64(-1)), time, window[w])  # compiled anew for literals
        edge = min(edge, next_boundary(low, high, window[w]))
    return edge


@inner
def any_ends(now: int, window: Records, open_windows: Records) -> bool:
    """Whether some window ends by `now`."""
    found = False
    for w in range(len(window)):
        found |= has_ended(open_windows[w].low, open_windows[w].high, now, window[w])
    return found


@inner
def close_member(
    m: int, k: int, negated: Ints, template: Template, totals: SetTotals, graph: Graph, rows: MemberRows, size: int
) -> int:
    """Writes the row of a member's window k, if it has a trend, and forgets the window; returns how many rows."""
    member, cells = template.member[m], totals.cells
    row = k % template.window[member.window].span
    final = member.final + row
    for n in range(member.late, member.late_end):
        add(cells, final, cells, template.slot[template.lists[n]].cell + row)
    for n in range(member.place, member.place_end):  # END events that no trailing negated sequence invalidates
        position = template.position[template.lists[n]]
        floor = latest_start(negated, template.lists, position.trailing, position.trailing_end)
        add_window(template.lists[n], k, floor, template.whole[0].most, cells, final, graph)
    if not is_empty(cells, final):
        rows.closed[size].member, rows.closed[size].window = m, k
        copy(rows.cells, size, cells, final)
        size += 1
    clear(cells, final)
    for s in range(member.slot, member.slot_end):
        clear(cells, template.slot[s].cell + row)
    return size


@inlined
def note_size(
    size: int, events: int, aggregates: int, snapshots: Index, cell_bytes: int, window: Records, opened: Records,
    count: Records,
) -> None:  # fmt: skip
    """Notes the state if it is the largest since the last report: so many bytes and parts beside the open windows."""
    windows, counts = np.int64(0), count[0]
    for w in range(len(window)):
        windows += (opened[w].high - opened[w].low + 1) * window[w].bytes
    if windows + size > counts.peak:
        counts.peak, counts.peak_events, counts.peak_snapshots = windows + size, events, snapshots
        counts.peak_aggregates = aggregates + windows // cell_bytes


@inlined
def forget_vertices(template: Template, totals: SetTotals, vertices: VertexQueue, graph: Graph) -> np.int64:
    """Drops vertices that have left all windows; returns the time at which the oldest open window begins."""
    forget_own(template, totals, graph)
    counts = totals.counts[0]
    oldest = np.int64(2**62)
    for w in range(len(totals.open)):
        oldest = min(oldest, totals.open[w].low * template.window[w].slide)
    while counts.oldest_vertex < counts.vertices and vertices.event[counts.oldest_vertex].time < oldest:
        counts.oldest_vertex += 1
    empty = counts.oldest_vertex == counts.vertices
    counts.oldest_cell = counts.vertex_cells if empty else vertices.event[counts.oldest_vertex].cell
    return oldest
