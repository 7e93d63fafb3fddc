"""Vertices of the GRETA graph in blocks, and the sorted index for edge predicates (dissertation Section 11.4).

Vertices of one position in the same windows lie in blocks of `B` slots; a position's blocks form a chain in time order.
For edge predicates a block keeps the `order` of its vertices by one attribute, so that a range predicate finds its
vertices in O(log B + r) for r of them.

Vertices of the current time stamp are in their blocks but not yet visible (`shown` < `size`): a stream transaction ends
with its time stamp. The next event that looks at their position makes them visible. Under skip-till-next-match and
contiguous semantics vertices leave the `order` one by one, and a block goes with the last of them.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.cells import Cells, add, copy
from cepbench.algorithms.engine.kernels.clock import row_of
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import ANY, NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.predicates import hold, leaves_64_bits
from cepbench.algorithms.trends.online.kernels.records import TransitionRecord
from cepbench.algorithms.trends.online.kernels.template import Template, Totals
from cepbench.queries.records import Records
from cepbench.queries.tables import (
    EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    UNEQUAL,
    PredicateRecord,
    Predicates,
)


class GraphSizeRecord:
    """The numbers of live vertices of a graph, and of their cells."""

    vertices: int
    cells: int


class GraphPositionRecord:
    """A position, and the chain of its blocks.

    - `cells` of a vertex. `prunable`: it leads only over negated transitions, so that invalid vertices may be dropped.
    - `extended`: whether events at the current time may extend its vertices, which leave then if they are extended.
    - `sort_column`, `sort_real`: the attribute by which its blocks are sorted, or -1.
    - `head`, `tail`: ends of the chain.
    """

    cells: int
    prunable: bool
    extended: bool
    sort_real: bool
    sort_column: int
    head: int
    tail: int


class BlockRecord:
    """A block: the `next` one of its chain; its vertices (`size`), those before the current time (`shown`), and those
    of them that have not left (`live`). All are in windows `low` to `high`.
    """

    next: int
    size: int
    shown: int
    live: int
    low: int
    high: int


class Blocks(NamedTuple):
    """N blocks of B vertices, those of all keys; window k of block b has cells from `(b * K + k % K) * B` on.

    - `block[N]` (`BlockRecord`); `free[N]`: a stack of free blocks, of which there are `left[0]`.
    - `time[N, B]`: of a vertex, or, under skip-till-next-match, of the event that extended it; `order[N, B]`: the
      `live` ones, sorted or as they came; `ints[I, N * B]`, `reals[F, N * B]`.
    - `selected[B]`: work space of `select`.
    """

    block: Records
    free: Ints
    left: Ints
    time: Ints
    order: Ints
    ints: Ints
    reals: Reals
    cells: Cells
    selected: Ints


class KeyGraph(NamedTuple):
    """The graph of a key: the chains of its blocks, and its open windows.

    `position[P]` (`GraphPositionRecord`), `size[1]` (`GraphSizeRecord`).
    """

    position: Records
    size: Records
    totals: Totals


class Graph(NamedTuple):
    """The graph of a key with the blocks of all: the fields of `Blocks` and of `KeyGraph`.

    In one flat tuple without the windows: handing over both took up to 1.6 times as long.
    """

    position: Records
    block: Records
    free: Ints
    left: Ints
    time: Ints
    order: Ints
    ints: Ints
    reals: Reals
    cells: Cells
    size: Records
    selected: Ints


class State(Protocol):
    """Aggregates of the open windows and the graph, of a key or of a sharable set, which has more fields."""

    @property
    def totals(self) -> Totals: ...
    @property
    def graph(self) -> Graph: ...


class KeyState(NamedTuple):
    """The `State` of a key."""

    totals: Totals
    graph: Graph


@inlined
def state_of(blocks: Blocks, key: KeyGraph) -> KeyState:
    """The state of a key."""
    graph = Graph(
        key.position, blocks.block, blocks.free, blocks.left, blocks.time, blocks.order, blocks.ints, blocks.reals,
        blocks.cells, key.size, blocks.selected,
    )  # fmt: skip
    return KeyState(key.totals, graph)


@inlined
def keep_vertex(time: int, p: int, high: int, at: int, template: Template, state: State) -> int:
    """Makes an event a vertex of position p in the open windows up to `high`, whose cells begin with cell `at`.

    Returns the place of its attributes, which the caller sets.
    """
    graph, low, span = state.graph, state.totals.open[template.position[p].window].low, template.whole[0].span
    show_before(p, time, graph)
    width, block = graph.time.shape[1], _block_for(p, low, high, graph)
    v = graph.block[block].size
    graph.block[block].size = v + 1
    graph.size[0].vertices += 1
    graph.size[0].cells += graph.position[p].cells
    graph.time[block, v] = time
    row = low % span
    for k in range(low, high + 1):
        copy(graph.cells, (block * span + row_of(k, low, row, span)) * width + v, state.totals.cells, at + k - low)
    return int(block * width + v)


@inlined
def _block_for(p: int, low: int, high: int, graph: Graph) -> int:
    """The last block of position p if it is of these windows and has room, otherwise a new one."""
    width = graph.time.shape[1]
    block = graph.position[p].tail
    fresh = block == NONE or graph.block[block].size == width
    if fresh or graph.block[block].low != low or graph.block[block].high != high:
        last = block
        graph.left[0] -= 1
        block = graph.free[graph.left[0]]
        graph.block[block].size, graph.block[block].shown, graph.block[block].live = 0, 0, 0
        graph.block[block].low, graph.block[block].high = low, high
        graph.block[block].next = NONE
        graph.position[p].tail = block
        if last == NONE:
            graph.position[p].head = block
        else:
            graph.block[last].next = block
    return block


@inlined
def release(p: int, before: int, graph: Graph) -> int:
    """Frees the block of position p behind block `before`, or the first one if there is none; returns the next."""
    block = graph.position[p].head if before == NONE else graph.block[before].next
    following = graph.block[block].next
    _forget(graph.block[block].live, p, graph)
    graph.free[graph.left[0]] = block
    graph.left[0] += 1
    if before == NONE:
        graph.position[p].head = following
    else:
        graph.block[before].next = following
    if following == NONE:
        graph.position[p].tail = before
    return following


@inlined
def _forget(gone: int, p: int, graph: Graph) -> None:
    """Subtracts `gone` vertices of position p from the size of the graph."""
    graph.size[0].vertices -= gone
    graph.size[0].cells -= gone * graph.position[p].cells


@inlined
def purge(p: int, floor: int, semantics: int, low: int, graph: Graph) -> None:
    """Frees the blocks of a position whose pane has left all windows from `low` on, or whose vertices have left or are
    all invalid, which those before `floor` are. Under skip-till-any-match those are the oldest ones.
    """
    before, block = NONE, graph.position[p].head
    while block != NONE:
        last, live = graph.block[block].size - 1, graph.block[block].live
        if graph.block[block].high >= low and live > 0 and graph.time[block, last] >= floor:
            if semantics == ANY:
                break
            before, block = block, graph.block[block].next
        else:
            block = release(p, before, graph)


@inlined
def leave(p: int, passed: bool, ended: int, graph: Graph) -> None:
    """Removes the vertices of position p that events at time `ended` extended, or all before that time (`passed`)."""
    show_before(p, ended, graph)
    block = graph.position[p].head
    while block != NONE:
        live, stay = graph.block[block].live, 0
        for s in range(live):
            v = graph.order[block, s]
            if not passed and graph.time[block, v] != ended:
                graph.order[block, stay] = v
                stay += 1
        graph.block[block].live = stay
        _forget(live - stay, p, graph)
        block = graph.block[block].next


@inlined
def add_window(p: int, k: int, floor: int, span: int, cells: Cells, to: int, graph: Graph) -> None:
    """Adds the vertices of position p in window k, from time `floor` on, to cell `to`."""
    width, row = graph.time.shape[1], k % span
    block = graph.position[p].head
    while block != NONE:
        if graph.block[block].low <= k <= graph.block[block].high:
            for v in range(graph.block[block].size):
                if graph.time[block, v] >= floor:
                    add(cells, to, graph.cells, (block * span + row) * width + v)
        block = graph.block[block].next


@inlined
def select(
    i: int, edge: TransitionRecord, block: int, floor: int, events: KernelEvents, adjacent: Predicates, graph: Graph
) -> int:
    """Writes to `graph.selected` the vertices of a block that event i may follow over a transition; returns how many.

    Compiled in: a call takes as long as it does for a few vertices.
    """
    q, which, width = edge.source, edge.predicates, graph.time.shape[1]
    base = block * width
    begin_at, end_at = 0, graph.block[block].live
    sorted_by = -1
    if graph.position[q].sort_column >= 0:
        for k in range(adjacent.ptr[which], adjacent.ptr[which + 1]):
            predicate = adjacent.one[k]
            same = (
                predicate.left_column == graph.position[q].sort_column and predicate.real == graph.position[q].sort_real
            )
            if same and predicate.op != UNEQUAL and (not predicate.real or predicate.left_factor > 0.0):
                sorted_by = k
                begin_at, end_at = _range(predicate, block, i, events, graph)
                break
    if sorted_by >= 0 and adjacent.ptr[which + 1] - adjacent.ptr[which] == 1 and graph.time[block, 0] >= floor:
        chosen = graph.order[block, begin_at:end_at]
        for s in range(len(chosen)):  # the range decides alone
            graph.selected[s] = chosen[s]
        return end_at - begin_at
    selected = 0
    for s in range(begin_at, end_at):
        v = graph.order[block, s]
        if graph.time[block, v] >= floor and hold(
            adjacent, which, graph.ints, graph.reals, base + v, events.ints, events.reals, i
        ):
            graph.selected[selected] = v
            selected += 1
    return selected


@inlined
def _range(predicate: PredicateRecord, block: int, i: int, events: KernelEvents, graph: Graph) -> tuple[int, int]:
    """The range of a block's sorted order in which a predicate may hold: its left side does not decrease there."""
    begin_at, end_at = 0, graph.block[block].live
    if predicate.op in (GREATER, GREATER_OR_EQUAL, EQUAL):  # all but the prefix left <= right, or left < right
        begin_at = _first_not(predicate.op == GREATER, predicate, block, i, events, graph)
    if predicate.op in (LESS, LESS_OR_EQUAL, EQUAL):
        end_at = _first_not(predicate.op != LESS, predicate, block, i, events, graph)
    return begin_at, end_at


@inlined
def _first_not(
    or_equal: bool, predicate: PredicateRecord, block: int, i: int, events: KernelEvents, graph: Graph
) -> int:
    """The first place in a block's order where `left < right`, or also equality, fails, by binary search."""
    base = block * graph.time.shape[1]
    lowest, highest = 0, graph.block[block].live
    while lowest < highest:
        middle = (lowest + highest) // 2
        v = base + graph.order[block, middle]
        if predicate.real:
            a = predicate.left_factor * graph.reals[predicate.left_column, v] + predicate.left_offset
            b = predicate.right_factor * events.reals[predicate.right_column, i] + predicate.right_offset
            holds = a < b or (or_equal and a == b)
        else:
            x, y = graph.ints[predicate.left_column, v], events.ints[predicate.right_column, i]
            beyond = leaves_64_bits(y, predicate.int_offset)
            y += predicate.int_offset
            holds = beyond > 0 or (beyond == 0 and (x < y or (or_equal and x == y)))
        if holds:
            lowest = middle + 1
        else:
            highest = middle
    return lowest


@inlined
def show_before(p: int, now: int, graph: Graph) -> None:
    """Makes the vertices of position p before `now` visible."""
    block = graph.position[p].tail
    if block != NONE:
        v = graph.block[block].size
        if graph.block[block].shown < v and graph.time[block, v - 1] < now:
            show_vertices(p, graph)


@inlined
def show_vertices(p: int, graph: Graph) -> None:
    """Makes the vertices of the time stamp that ended visible, and inserts them into the order of their block."""
    width = graph.time.shape[1]
    block = graph.position[p].tail  # the usual case: only the last block may have new vertices
    if block != NONE and graph.block[block].shown == 0:
        block = graph.position[p].head
    while block != NONE:
        for v in range(graph.block[block].shown, graph.block[block].size):
            place = graph.block[block].live
            while place > 0 and _key_less(p, block * width + v, block * width + graph.order[block, place - 1], graph):
                graph.order[block, place] = graph.order[block, place - 1]
                place -= 1
            graph.order[block, place] = v
            graph.block[block].live += 1
        graph.block[block].shown = graph.block[block].size
        block = graph.block[block].next


@inlined
def _key_less(p: int, v: int, u: int, graph: Graph) -> bool:
    """Whether vertex v sorts before vertex u, if the position has a sorted order."""
    if graph.position[p].sort_column < 0:
        return False
    if graph.position[p].sort_real:
        return graph.reals[graph.position[p].sort_column, v] < graph.reals[graph.position[p].sort_column, u]
    return graph.ints[graph.position[p].sort_column, v] < graph.ints[graph.position[p].sort_column, u]
