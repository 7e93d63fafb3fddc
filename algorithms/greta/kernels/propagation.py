"""The GRETA graph: a cell per vertex and window, edges that are visited and not stored (dissertation Section 11.1), and
mixed-grained aggregation on top of it (Section 15.2, Algorithm 8).

Positions that are not kept per event use the cells of `algorithms.kernels.windows`.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.greta.kernels.panes import advance_graph
from cepbench.algorithms.greta.kernels.vertices import (
    EDGES,
    LIVE,
    NO_BLOCK,
    PENDING,
    Blocks,
    KeyGraph,
    select,
)
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import Cells, add, clear, copy
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, has_ended
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, fits, keep_columns
from cepbench.algorithms.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.windows import Windowed, append
from cepbench.queries.tables import Tables


@inner
def propagate(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: Windowed,
    blocks: Blocks,
    own: KeyGraph,
    out: RowCells,
    size: int,
) -> tuple[int, int, int]:
    """Inserts the events of one key into its graph (`kernels.lanes`).

    Each event visits every vertex that may precede it, in every window that both share: O(n**2 k) for n events per
    window of which each lies in k windows, O(n k) space (Theorem 11.5).
    """
    tables, window, state = fixed.tables, fixed.window, own.windows
    span = len(state.final.over)
    clock = state.clock
    for i in range(first, len(events.time)):
        now = events.time[i]
        if now != clock[NOW]:
            if size + span > len(out.window):
                return i, size, ROWS
            size = advance_graph(now, events.negated[i], fixed, blocks, own, out, size)
        if blocks.left[0] < tables.binding_ptr[events.kind[i] + 1] - tables.binding_ptr[events.kind[i]]:
            return i, size, ROOM
        low, high = clock[LOW], now // window.slide
        if low > high:
            continue
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if fits(p, i, events, tables):
                _insert(i, p, low, high, events, fixed, blocks, own)
    n = len(events.time)
    if has_ended(clock[LOW], clock[HIGH], until, window):
        if size + span > len(out.window):
            return n, size, ROWS
        size = advance_graph(until, events.negated[n], fixed, blocks, own, out, size)
    return n, size, DONE


@kernel
def propagate_keys(
    at: int, done: int, calls: Calls, fixed: Windowed, blocks: Blocks, lanes: KeyGraph, rows: RowCells
) -> tuple[int, int, int, int]:
    """`propagate` over keys."""
    return over_keys(propagate, at, done, calls, fixed, blocks, lanes, rows)


@inlined
def _insert(
    i: int, p: int, low: int, high: int, events: KernelEvents, fixed: Windowed, blocks: Blocks, own: KeyGraph
) -> None:
    """Event i at position p: collects the cells of its predecessors in windows low..high and becomes a vertex."""
    tables, slots, window, state = fixed.tables, fixed.slots, fixed.window, own.windows
    span = len(state.final.over)
    size = len(state.touched)
    for k in range(high - low + 1):
        clear(state.reached, k)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        q = tables.source[e]
        if own.position[q].kept:
            floor = np.int64(-1)
            for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
                floor = max(floor, events.negated[i, tables.between[k]])
            _visit(i, e, low, floor, events, tables, blocks, own)
        else:
            for k in range(low, high + 1):
                add(state.reached, k - low, state.cells, (k % span) * size + slots.read[e])
    found = append(i, p, low, high, events, tables, slots, window, state)
    if found and own.position[p].kept:
        block = _block_for(p, events.time[i] // window.pane, low, high, blocks, own)
        v = blocks.block[block].size
        blocks.block[block].size = v + 1
        own.counters[LIVE] += 1
        width = blocks.time.shape[1]
        blocks.time[block, v] = events.time[i]
        keep_columns(i, events, blocks.ints, blocks.reals, block * width + v)
        for k in range(low, high + 1):
            copy(blocks.cells, (block * span + k % span) * width + v, state.reached, k - low)


@inlined
def _block_for(p: int, pane: int, low: int, high: int, blocks: Blocks, own: KeyGraph) -> int:
    """The last block of position p if it is of this pane and has room, else a new one."""
    width = blocks.time.shape[1]
    block = own.position[p].tail
    fresh = block == NO_BLOCK or blocks.block[block].pane != pane or blocks.block[block].size == width
    if fresh:
        last = block
        blocks.left[0] -= 1
        block = blocks.free[blocks.left[0]]
        blocks.block[block].size, blocks.block[block].shown = 0, 0
        blocks.block[block].low, blocks.block[block].high, blocks.block[block].pane = low, high, pane
        blocks.block[block].next = NO_BLOCK
        own.position[p].tail = block
        if last == NO_BLOCK:
            own.position[p].head = block
        else:
            blocks.block[last].next = block
    listed = False
    for w in range(own.counters[PENDING]):
        listed |= own.waiting[w] == p
    if not listed:
        own.waiting[own.counters[PENDING]] = p
        own.counters[PENDING] += 1
    return block


@inlined
def _visit(
    i: int, e: int, low: int, floor: np.int64, events: KernelEvents, tables: Tables, blocks: Blocks, own: KeyGraph
) -> None:
    """Adds the cells of all predecessors of event i over transition e to `reached` of the windows."""
    state = own.windows
    span = len(state.final.over)
    width = blocks.time.shape[1]
    checked = tables.adjacent.ptr[e + 1] > tables.adjacent.ptr[e]
    plain = blocks.cells.ring.shape[1] == 1 and blocks.cells.real.shape[1] == 0 and blocks.cells.least.shape[1] == 0
    block = own.position[tables.source[e]].head
    while block != NO_BLOCK:
        shown = blocks.block[block].shown
        if shown > 0 and blocks.block[block].high >= low and blocks.time[block, shown - 1] >= floor:
            whole = not checked and blocks.time[block, 0] >= floor
            found = shown
            if not whole:
                found = select(i, e, block, floor, events, tables, blocks, own.position)
            own.counters[EDGES] += found
            for k in range(max(low, blocks.block[block].low), blocks.block[block].high + 1):
                base = (block * span + k % span) * width
                if whole and plain:
                    _sum_counts(state.reached, k - low, blocks.cells, base, found)
                elif whole:
                    _sum_cells(state.reached, k - low, blocks.cells, base, found)
                elif plain:
                    _sum_selected_counts(state.reached, k - low, blocks.cells, blocks.selected, base, found)
                else:
                    _sum_selected_cells(state.reached, k - low, blocks.cells, blocks.selected, base, found)
        block = blocks.block[block].next


@inner
def _sum_cells(cells: Cells, to: int, vertices: Cells, base: int, found: int) -> None:
    """`add` of `found` consecutive cells."""
    for v in range(found):
        add(cells, to, vertices, base + v)


@inner
def _sum_selected_cells(cells: Cells, to: int, vertices: Cells, selected: Ints, base: int, found: int) -> None:
    """`add` of the cells of the `found` selected vertices."""
    for s in range(found):
        add(cells, to, vertices, base + selected[s])


@inner
def _sum_counts(cells: Cells, to: int, vertices: Cells, base: int, found: int) -> None:
    """`add` of `found` consecutive cells that hold COUNT(*) alone."""
    total = cells.ring[to, 0]
    over = cells.over[to]
    carried = False
    for v in range(np.uint64(base), np.uint64(base + found)):
        more = vertices.ring[v, 0]
        total += more
        carried |= total < more
        over |= vertices.over[v]
    cells.ring[to, 0] = total
    cells.over[to] = over | np.uint64(1) if carried else over


@inlined
def _sum_selected_counts(cells: Cells, to: int, vertices: Cells, selected: Ints, base: int, found: int) -> None:
    """`add` of the cells of the `found` selected vertices, which hold COUNT(*) alone."""
    total = cells.ring[to, 0]
    over = cells.over[to]
    carried = False
    for s in range(np.uint64(found)):
        v = np.uint64(base + selected[s])
        more = vertices.ring[v, 0]
        total += more
        carried |= total < more
        over |= vertices.over[v]
    cells.ring[to, 0] = total
    cells.over[to] = over | np.uint64(1) if carried else over
