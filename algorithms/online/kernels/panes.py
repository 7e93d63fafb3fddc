"""The end of a time stamp in the GRETA graph: windows close, panes are purged, invalid vertices are pruned
(dissertation Sections 11.2 and 11.4).
"""

from __future__ import annotations

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import add
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, has_ended, opened
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import RowCells, Sliding
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.online.kernels.lifecycle import ANY, OpenWindows, Slots, close_window, commit
from cepbench.algorithms.online.kernels.store import LIVE, NO_BLOCK, PENDING, Graph, show
from cepbench.queries.tables import Tables


@inner
def advance_graph(
    now: int,
    negated: Ints,
    tables: Tables,
    slots: Slots,
    window: Sliding,
    graph: Graph,
    state: OpenWindows,
    out: RowCells,
    size: int,
) -> int:
    """Ends the current time stamp, closes windows that end by `now` and drops their panes; returns rows in `out`."""
    clock = state.clock
    note(graph.counters[LIVE], clock)
    commit(negated, slots, ANY, state)
    for w in range(graph.counters[PENDING]):
        show(graph.waiting[w], graph)
    graph.counters[PENDING] = 0
    clock[NOW] = now
    closed = False
    while has_ended(clock[LOW], clock[HIGH], now, window):
        for p in range(len(graph.position)):
            if graph.position[p].late:
                _add_valid_ends(p, negated, tables, graph, state)
        size = close_window(slots, state, out, size)
        closed = True
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    for p in range(len(graph.position)):
        if closed or graph.position[p].prunable:
            _purge(p, negated, tables, graph, clock[LOW])
    return size


@inlined
def _add_valid_ends(p: int, negated: Ints, tables: Tables, graph: Graph, state: OpenWindows) -> None:
    """Adds the END events of position p that no trailing negation invalidates to the lowest open window's result."""
    span = len(state.final.over)
    width = graph.time.shape[1]
    k = state.clock[LOW]
    floor = -1
    for n in range(tables.trailing_ptr[p], tables.trailing_ptr[p + 1]):
        floor = max(floor, negated[tables.trailing[n]])
    block = graph.position[p].head
    while block != NO_BLOCK:
        if graph.block[block].low <= k <= graph.block[block].high:
            for v in range(graph.block[block].size):
                if graph.time[block, v] >= floor:
                    add(state.final, k % span, graph.cells, (block * span + k % span) * width + v)
        block = graph.block[block].next


@inlined
def _purge(p: int, negated: Ints, tables: Tables, graph: Graph, low: int) -> None:
    """Frees the oldest blocks of a position whose pane has left all windows, or whose vertices are all invalid."""
    floor = -1
    if graph.position[p].prunable:
        floor = 2**62
        for e in range(len(tables.source)):
            if tables.source[e] == p:
                latest = -1
                for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
                    latest = max(latest, negated[tables.between[k]])
                floor = min(floor, latest)
    block = graph.position[p].head
    while block != NO_BLOCK:
        size = graph.block[block].size
        if graph.block[block].high >= low and (size == 0 or graph.time[block, size - 1] >= floor):
            break
        following = graph.block[block].next
        graph.counters[LIVE] -= size
        graph.free[graph.left[0]] = block
        graph.left[0] += 1
        block = following
    graph.position[p].head = block
    if block == NO_BLOCK:
        graph.position[p].tail = NO_BLOCK
