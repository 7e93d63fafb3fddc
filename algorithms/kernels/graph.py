"""The GRETA graph: vertices by pane and type, a cell per vertex and window, edges that are visited and not stored
(dissertation Sections 11.1-11.4), and mixed-grained aggregation on top of it (Section 15.2, Algorithm 8).

Vertices of one position and one pane lie in blocks of `B` slots; a position's blocks form a chain in time order. A
whole block is freed once its pane has left all open windows. For edge predicates a block keeps its vertices sorted by
one attribute, so that a range predicate finds its vertices in O(log B + found).

Vertices of the current time stamp are in their blocks but not yet visible (`shown` < `size`): a stream transaction
ends with its time stamp (Section 11.4). Positions that are not kept per event use the cells of
`algorithms.kernels.type_grained`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from algorithms.kernels.cells import Cells, add, begin, clear, copy, extend, is_empty
from algorithms.kernels.predicates import compare, hold
from algorithms.kernels.type_grained import HIGH, LOW, NOW, close_window, commit, feed, first_free_window

NO_BLOCK = -1
ROOM, OUTPUT, DONE = 0, 1, 2
EDGES, LIVE, PENDING = 0, 1, 2


class Graph(NamedTuple):
    """N blocks of B vertices; window k of block b has cells from `(b * K + k % K) * B` on.

    - `kept[P]`: positions whose events are vertices; `late[P]`: those of them with a trailing negation.
    - `prunable[P]`: positions that lead only over negated transitions, so invalid vertices may be dropped.
    - `sort_column[P]`, `sort_real[P]`: the attribute by which a position's blocks are sorted, or -1.
    - `head[P]`, `tail[P]`: ends of the chains; `next[N]`; `free[N]`: stack of free blocks, `count[FREE]` of them.
    - `size`, `shown`: vertices in a block, and those before the current time; `low`, `high`: windows of its pane;
      `pane`: its number. `time[N, B]`, `order[N, B]` (first `shown`, sorted), `ints[I, N * B]`, `reals[F, N * B]`.
    - `counters`: edges visited, live vertices, positions with vertices that are not shown; `waiting[P]`: their list.
    """

    kept: NDArray[np.bool_]
    late: NDArray[np.bool_]
    prunable: NDArray[np.bool_]
    sort_column: NDArray[np.int64]
    sort_real: NDArray[np.bool_]
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    next: NDArray[np.int64]
    free: NDArray[np.int64]
    free_blocks: NDArray[np.int64]
    size: NDArray[np.int64]
    shown: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    pane: NDArray[np.int64]
    time: NDArray[np.int64]
    order: NDArray[np.int64]
    ints: NDArray[np.int64]
    reals: NDArray[np.float64]
    cells: Cells
    counters: NDArray[np.int64]
    waiting: NDArray[np.int64]
    selected: NDArray[np.int64]
    reached: Cells


@njit(cache=True)
def propagate(
    first, time, kind, ints, reals, negated, tables, slots, within, slide, pane, graph, state, out_window, out, out_size
):
    """Inserts events `first..`; returns (next event, rows in `out`, why it stopped: ROOM for vertices, OUTPUT, DONE).

    Each event visits every vertex that may precede it, in every window that both share: O(n**2 k) for n events per
    window of which each lies in k windows, O(n k) space (Theorem 11.5).
    """
    span = len(state.final.over)
    clock = state.clock
    for i in range(first, len(time)):
        now = time[i]
        if now != clock[NOW]:
            if out_size + span > len(out_window):
                return i, out_size, OUTPUT
            out_size = advance_graph(
                now, negated[i], tables, slots, within, slide, graph, state, out_window, out, out_size
            )
        if graph.free_blocks[0] < tables.binding_ptr[kind[i] + 1] - tables.binding_ptr[kind[i]]:
            return i, out_size, ROOM
        low, high = clock[LOW], now // slide
        if low > high:
            continue
        for b in range(tables.binding_ptr[kind[i]], tables.binding_ptr[kind[i] + 1]):
            p = tables.binding[b]
            if hold(tables.local, p, ints, reals, i, ints, reals, i):
                _insert(i, p, now, low, high, ints, reals, negated, tables, slots, slide, pane, graph, state)
    return len(time), out_size, DONE


@njit(cache=True)
def _insert(i, p, now, low, high, ints, reals, negated, tables, slots, slide, pane, graph, state):
    """Event i at position p: collects the cells of its predecessors in windows low..high and becomes a vertex."""
    span = len(state.final.over)
    size = len(state.touched)
    for k in range(high - low + 1):
        clear(graph.reached, k)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        q = tables.source[e]
        if graph.kept[q]:
            floor = np.int64(-1)
            for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
                floor = max(floor, negated[i, tables.between[k]])
            _visit(i, e, q, low, floor, ints, reals, tables, graph, span)
        else:
            for k in range(low, high + 1):
                add(graph.reached, k - low, state.cells, (k % span) * size + slots.read[e])
    if tables.start[p]:
        for k in range(first_free_window(p, i, low, high, negated, tables, slide), high + 1):
            begin(graph.reached, k - low)
    found = False
    for k in range(low, high + 1):
        if is_empty(graph.reached, k - low):
            continue
        found = True
        extend(graph.reached, k - low, tables, p, ints, reals, i)
        feed(p, k % span, slots, state, graph.reached, k - low)
    if found and graph.kept[p]:
        block = _block_for(p, now // pane, low, high, graph)
        v = graph.size[block]
        graph.size[block] = v + 1
        graph.counters[LIVE] += 1
        width = graph.time.shape[1]
        graph.time[block, v] = now
        for c in range(ints.shape[0]):
            graph.ints[c, block * width + v] = ints[c, i]
        for c in range(reals.shape[0]):
            graph.reals[c, block * width + v] = reals[c, i]
        for k in range(low, high + 1):
            copy(graph.cells, (block * span + k % span) * width + v, graph.reached, k - low)


@njit(cache=True)
def _block_for(p, pane, low, high, graph):
    """The last block of position p if it is of this pane and has room, else a new one."""
    width = graph.time.shape[1]
    block = graph.tail[p]
    fresh = block == NO_BLOCK or graph.pane[block] != pane or graph.size[block] == width
    if fresh:
        last = block
        graph.free_blocks[0] -= 1
        block = graph.free[graph.free_blocks[0]]
        graph.size[block], graph.shown[block] = 0, 0
        graph.low[block], graph.high[block], graph.pane[block] = low, high, pane
        graph.next[block] = NO_BLOCK
        graph.tail[p] = block
        if last == NO_BLOCK:
            graph.head[p] = block
        else:
            graph.next[last] = block
    listed = False
    for w in range(graph.counters[PENDING]):
        listed |= graph.waiting[w] == p
    if not listed:
        graph.waiting[graph.counters[PENDING]] = p
        graph.counters[PENDING] += 1
    return block


@njit(cache=True)
def _visit(i, e, q, low, floor, ints, reals, tables, graph, span):
    """Adds the cells of all predecessors of event i over transition e, whose source is q, to `graph.reached`."""
    width = graph.time.shape[1]
    checked = tables.adjacent.ptr[e + 1] > tables.adjacent.ptr[e]
    plain = graph.cells.ring.shape[1] == 1 and graph.cells.real.shape[1] == 0 and graph.cells.least.shape[1] == 0
    block = graph.head[q]
    while block != NO_BLOCK:
        shown = graph.shown[block]
        if shown > 0 and graph.high[block] >= low and graph.time[block, shown - 1] >= floor:
            whole = not checked and graph.time[block, 0] >= floor
            found = shown
            if not whole:
                found = _select(i, e, q, block, floor, ints, reals, tables, graph)
            graph.counters[EDGES] += found
            for k in range(max(low, graph.low[block]), graph.high[block] + 1):
                base = (block * span + k % span) * width
                if whole and plain:
                    _sum_counts(graph.reached, k - low, graph.cells, base, found)
                elif whole:
                    for v in range(found):
                        add(graph.reached, k - low, graph.cells, base + v)
                else:
                    for s in range(found):
                        add(graph.reached, k - low, graph.cells, base + graph.selected[s])
        block = graph.next[block]


@njit(cache=True, inline="always")
def _sum_counts(cells, to, vertices, base, found):
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


@njit(cache=True)
def _select(i, e, q, block, floor, ints, reals, tables, graph):
    """Writes the vertices of a block that event i may follow over transition e to `graph.selected`; returns how many."""
    adjacent = tables.adjacent
    width = graph.time.shape[1]
    base = block * width
    shown = graph.shown[block]
    begin_at, end_at = 0, shown
    sorted_by = -1
    if graph.sort_column[q] >= 0:
        for k in range(adjacent.ptr[e], adjacent.ptr[e + 1]):
            same = adjacent.left_column[k] == graph.sort_column[q] and adjacent.real[k] == graph.sort_real[q]
            if same and adjacent.op[k] != 5 and (not adjacent.real[k] or adjacent.left_factor[k] > 0.0):
                sorted_by = k
                begin_at, end_at = _range(k, block, i, ints, reals, adjacent, graph)
                break
    found = 0
    for s in range(begin_at, end_at):
        v = graph.order[block, s] if sorted_by >= 0 else s
        if graph.time[block, v] >= floor and hold(adjacent, e, graph.ints, graph.reals, base + v, ints, reals, i):
            graph.selected[found] = v
            found += 1
    return found


@njit(cache=True)
def _range(k, block, i, ints, reals, adjacent, graph):
    """Where in a block's sorted order predicate k may hold: its left side does not decrease along the order."""
    shown = graph.shown[block]
    op = adjacent.op[k]
    if op <= 1:  # left < right, left <= right: a prefix
        return 0, _first_not(op, k, block, i, ints, reals, adjacent, graph)
    if op == 2:  # left > right: all but the prefix left <= right
        return _first_not(1, k, block, i, ints, reals, adjacent, graph), shown
    if op == 3:
        return _first_not(0, k, block, i, ints, reals, adjacent, graph), shown
    return (
        _first_not(0, k, block, i, ints, reals, adjacent, graph),
        _first_not(1, k, block, i, ints, reals, adjacent, graph),
    )


@njit(cache=True)
def _first_not(op, k, block, i, ints, reals, adjacent, graph):
    """The first place in a block's order where `left op right` fails, for op < or <=, by binary search."""
    base = block * graph.time.shape[1]
    lowest, highest = 0, graph.shown[block]
    while lowest < highest:
        middle = (lowest + highest) // 2
        v = base + graph.order[block, middle]
        if adjacent.real[k]:
            a = adjacent.left_factor[k] * graph.reals[adjacent.left_column[k], v]
            b = adjacent.right_factor[k] * reals[adjacent.right_column[k], i]
            holds = compare(op, a, b)
        else:
            holds = compare(op, graph.ints[adjacent.left_column[k], v], ints[adjacent.right_column[k], i])
        if holds:
            lowest = middle + 1
        else:
            highest = middle
    return lowest


@njit(cache=True)
def advance_graph(now, negated, tables, slots, within, slide, graph, state, out_window, out, out_size):
    """Ends the current time stamp, closes windows that end by `now` and drops their panes; returns rows in `out`."""
    clock = state.clock
    commit(negated, slots, 0, state)
    for w in range(graph.counters[PENDING]):
        _show(graph.waiting[w], graph)
    graph.counters[PENDING] = 0
    clock[NOW] = now
    closed = False
    while clock[LOW] <= clock[HIGH] and clock[LOW] * slide + within <= now:
        for p in range(len(graph.late)):
            if graph.late[p]:
                _add_valid_ends(p, negated, tables, graph, state)
        out_size = close_window(slots, state, out_window, out, out_size)
        closed = True
    clock[LOW] = max(clock[LOW], (now - within) // slide + 1, 0)
    clock[HIGH] = max(clock[HIGH], now // slide)
    for p in range(len(graph.head)):
        if closed or graph.prunable[p]:
            _purge(p, negated, tables, graph, clock[LOW])
    return out_size


@njit(cache=True)
def _show(p, graph):
    """Makes the vertices of the time stamp that ended visible, and inserts them into the sorted order."""
    width = graph.time.shape[1]
    block = graph.head[p]
    if graph.shown[graph.tail[p]] > 0 or graph.head[p] == graph.tail[p]:
        block = graph.tail[p]  # the usual case: only the last block has new vertices
    while block != NO_BLOCK:
        for v in range(graph.shown[block], graph.size[block]):
            if graph.sort_column[p] >= 0:
                place = v
                while place > 0 and _key_less(p, block * width + v, block * width + graph.order[block, place - 1], graph):
                    graph.order[block, place] = graph.order[block, place - 1]
                    place -= 1
                graph.order[block, place] = v
        graph.shown[block] = graph.size[block]
        block = graph.next[block]


@njit(cache=True, inline="always")
def _key_less(p, v, u, graph):
    """Whether vertex v sorts before vertex u."""
    if graph.sort_real[p]:
        return graph.reals[graph.sort_column[p], v] < graph.reals[graph.sort_column[p], u]
    return graph.ints[graph.sort_column[p], v] < graph.ints[graph.sort_column[p], u]


@njit(cache=True)
def _add_valid_ends(p, negated, tables, graph, state):
    """Adds the END events of position p that no trailing negation invalidates to the lowest open window's result."""
    span = len(state.final.over)
    width = graph.time.shape[1]
    window = state.clock[LOW]
    floor = np.int64(-1)
    for k in range(tables.trailing_ptr[p], tables.trailing_ptr[p + 1]):
        floor = max(floor, negated[tables.trailing[k]])
    block = graph.head[p]
    while block != NO_BLOCK:
        if graph.low[block] <= window <= graph.high[block]:
            for v in range(graph.size[block]):
                if graph.time[block, v] >= floor:
                    add(state.final, window % span, graph.cells, (block * span + window % span) * width + v)
        block = graph.next[block]


@njit(cache=True)
def _purge(p, negated, tables, graph, low):
    """Frees the oldest blocks of a position whose pane has left all windows, or whose vertices are all invalid."""
    floor = np.int64(-1)
    if graph.prunable[p]:
        floor = np.int64(2**62)
        for e in range(len(tables.source)):
            if tables.source[e] == p:
                latest = np.int64(-1)
                for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
                    latest = max(latest, negated[tables.between[k]])
                floor = min(floor, latest)
    block = graph.head[p]
    while block != NO_BLOCK:
        size = graph.size[block]
        if graph.high[block] >= low and (size == 0 or graph.time[block, size - 1] >= floor):
            break
        following = graph.next[block]
        graph.counters[LIVE] -= size
        graph.free[graph.free_blocks[0]] = block
        graph.free_blocks[0] += 1
        block = following
    graph.head[p] = block
    if block == NO_BLOCK:
        graph.tail[p] = NO_BLOCK
