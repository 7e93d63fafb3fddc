"""The end of a time stamp in the GRETA graph: windows close, panes are purged, vertices that are invalid or no longer
wait leave (dissertation Sections 11.2, 11.4 and 16.2).
"""

from __future__ import annotations

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, OCCUPIED, TOUCHED, has_ended, next_boundary, note, opened
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import RowCells
from cepbench.algorithms.kernels.negation import latest_start
from cepbench.algorithms.online.kernels.lifecycle import ANY, CONTIGUOUS, OpenWindows, Windowed, close_window, commit
from cepbench.algorithms.online.kernels.store import LIVE, NO_BLOCK, Graph, add_window, release, show
from cepbench.queries.tables import Tables


@inlined
def advance_graph(
    now: int, negated: Ints, fixed: Windowed, graph: Graph, state: OpenWindows, out: RowCells, size: int
) -> int:
    """Ends the current time stamp, closes windows that end by `now` and drops their panes; returns rows in `out`."""
    clock, semantics = state.clock, fixed.semantics
    positions = len(graph.position) if fixed.keeps else 0
    waiting = clock[TOUCHED] * (clock[HIGH] - clock[LOW] + 1)  # cells with trends of the time stamp that ends
    note(graph.counters[LIVE] if fixed.keeps else waiting, clock)
    if semantics != ANY:
        passed = semantics == CONTIGUOUS and clock[OCCUPIED] == 1
        for p in range(positions):
            if passed or graph.position[p].extended:
                graph.position[p].extended = False
                _leave(p, passed, clock[NOW], graph)
    commit(negated, fixed.slots, semantics, state)
    clock[NOW] = now
    moved = now >= next_boundary(clock[LOW], clock[HIGH], fixed.window)
    if moved:
        size = _move_windows(now, negated, fixed, graph, state, out, size)
    for p in range(positions):
        show(p, graph)
        if moved or semantics != ANY or graph.position[p].prunable:
            _purge(p, negated, fixed.tables, semantics, graph, clock[LOW])
    return size


@inner
def _move_windows(
    now: int, negated: Ints, fixed: Windowed, graph: Graph, state: OpenWindows, out: RowCells, size: int
) -> int:
    """Closes windows that end by `now`, and opens those of `now`; returns rows in `out`."""
    clock, tables, span = state.clock, fixed.tables, len(state.final.over)
    while has_ended(clock[LOW], clock[HIGH], now, fixed.window):
        for p in range(len(graph.position)):
            if fixed.keeps and graph.position[p].late:  # END events that no trailing negated sequence invalidates
                floor = latest_start(negated, tables.trailing, tables.trailing_ptr[p], tables.trailing_ptr[p + 1])
                add_window(p, clock[LOW], floor, span, state.final, clock[LOW] % span, graph)
        size = close_window(fixed.slots, state, out, size)
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, fixed.window)
    return size


@inlined
def _leave(p: int, passed: bool, ended: int, graph: Graph) -> None:
    """Lets the vertices of position p go that events at the time that `ended` extended, or all before it (`passed`)."""
    block = graph.position[p].head
    while block != NO_BLOCK:
        live, stay = graph.block[block].live, 0
        for s in range(live):
            v = graph.order[block, s]
            if not passed and graph.time[block, v] != ended:
                graph.order[block, stay] = v
                stay += 1
        graph.block[block].live = stay
        graph.counters[LIVE] -= live - stay
        block = graph.block[block].next


@inlined
def _purge(p: int, negated: Ints, tables: Tables, semantics: int, graph: Graph, low: int) -> None:
    """Frees the blocks of a position whose pane has left all windows, or whose vertices have left or are all invalid.

    Under skip-till-any-match those are the oldest ones.
    """
    floor = -1
    if graph.position[p].prunable:
        floor = 2**62
        for e in range(len(tables.source)):
            if tables.source[e] == p:
                latest = latest_start(negated, tables.between, tables.between_ptr[e], tables.between_ptr[e + 1])
                floor = min(floor, latest)
    before, block = NO_BLOCK, graph.position[p].head
    while block != NO_BLOCK:
        last, live = graph.block[block].size - 1, graph.block[block].live
        if graph.block[block].high >= low and live > 0 and graph.time[block, last] >= floor:
            if semantics == ANY:
                break
            before, block = block, graph.block[block].next
        else:
            block = release(p, before, graph)
