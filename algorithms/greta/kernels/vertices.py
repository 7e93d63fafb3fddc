"""Vertices of the GRETA graph in blocks, and the sorted index for edge predicates (dissertation Section 11.4).

Vertices of one position and one pane lie in blocks of `B` slots; a position's blocks form a chain in time order. For
edge predicates a block keeps its vertices sorted by one attribute, so that a range predicate finds its vertices in
O(log B + found).

Vertices of the current time stamp are in their blocks but not yet visible (`shown` < `size`): a stream transaction ends
with its time stamp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.predicates import compare, hold
from cepbench.queries.tables import Predicates, Tables

NO_BLOCK = -1
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

    kept: Flags
    late: Flags
    prunable: Flags
    sort_column: Ints
    sort_real: Flags
    head: Ints
    tail: Ints
    next: Ints
    free: Ints
    free_blocks: Ints
    size: Ints
    shown: Ints
    low: Ints
    high: Ints
    pane: Ints
    time: Ints
    order: Ints
    ints: Ints
    reals: Reals
    cells: Cells
    counters: Ints
    waiting: Ints
    selected: Ints


LESS, LESS_OR_EQUAL = np.int64(0), np.int64(1)
"""Codes of `queries.tables.OPERATORS`."""


@inner
def select(i: int, e: int, block: int, floor: np.int64, events: KernelEvents, tables: Tables, graph: Graph) -> int:
    """Writes to `graph.selected` the vertices of a block that event i may follow over e; returns how many."""
    adjacent = tables.adjacent
    q = tables.source[e]
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
                begin_at, end_at = _range(k, block, i, events, adjacent, graph)
                break
    if sorted_by >= 0 and adjacent.ptr[e + 1] - adjacent.ptr[e] == 1 and graph.time[block, 0] >= floor:
        for s in range(begin_at, end_at):  # the range decides alone
            graph.selected[s - begin_at] = graph.order[block, s]
        return end_at - begin_at
    found = 0
    for s in range(begin_at, end_at):
        v = graph.order[block, s] if sorted_by >= 0 else s
        if graph.time[block, v] >= floor and hold(
            adjacent, e, graph.ints, graph.reals, base + v, events.ints, events.reals, i
        ):
            graph.selected[found] = v
            found += 1
    return found


@inlined
def _range(k: int, block: int, i: int, events: KernelEvents, adjacent: Predicates, graph: Graph) -> tuple[int, int]:
    """Where in a block's sorted order predicate k may hold: its left side does not decrease along the order."""
    shown = graph.shown[block]
    op = np.int64(adjacent.op[k])
    if op <= LESS_OR_EQUAL:  # left < right, left <= right: a prefix
        return 0, _first_not(op, k, block, i, events, adjacent, graph)
    if op == 2:  # left > right: all but the prefix left <= right
        return _first_not(LESS_OR_EQUAL, k, block, i, events, adjacent, graph), shown
    if op == 3:
        return _first_not(LESS, k, block, i, events, adjacent, graph), shown
    return (
        _first_not(LESS, k, block, i, events, adjacent, graph),
        _first_not(LESS_OR_EQUAL, k, block, i, events, adjacent, graph),
    )


@inner
def _first_not(
    op: np.int64, k: int, block: int, i: int, events: KernelEvents, adjacent: Predicates, graph: Graph
) -> int:
    """The first place in a block's order where `left op right` fails, for op < or <=, by binary search."""
    base = block * graph.time.shape[1]
    lowest, highest = 0, graph.shown[block]
    while lowest < highest:
        middle = (lowest + highest) // 2
        v = base + graph.order[block, middle]
        if adjacent.real[k]:
            a = adjacent.left_factor[k] * graph.reals[adjacent.left_column[k], v]
            b = adjacent.right_factor[k] * events.reals[adjacent.right_column[k], i]
            holds = compare(op, a, b)
        else:
            holds = compare(op, graph.ints[adjacent.left_column[k], v], events.ints[adjacent.right_column[k], i])
        if holds:
            lowest = middle + 1
        else:
            highest = middle
    return lowest


@inlined
def show(p: int, graph: Graph) -> None:
    """Makes the vertices of the time stamp that ended visible, and inserts them into the sorted order."""
    width = graph.time.shape[1]
    block = graph.head[p]
    if graph.shown[graph.tail[p]] > 0 or graph.head[p] == graph.tail[p]:
        block = graph.tail[p]  # the usual case: only the last block has new vertices
    while block != NO_BLOCK:
        for v in range(graph.shown[block], graph.size[block]):
            if graph.sort_column[p] >= 0:
                place = v
                while place > 0 and _key_less(
                    p, block * width + v, block * width + graph.order[block, place - 1], graph
                ):
                    graph.order[block, place] = graph.order[block, place - 1]
                    place -= 1
                graph.order[block, place] = v
        graph.shown[block] = graph.size[block]
        block = graph.next[block]


@inlined
def _key_less(p: int, v: int, u: int, graph: Graph) -> bool:
    """Whether vertex v sorts before vertex u."""
    if graph.sort_real[p]:
        return graph.reals[graph.sort_column[p], v] < graph.reals[graph.sort_column[p], u]
    return graph.ints[graph.sort_column[p], v] < graph.ints[graph.sort_column[p], u]
