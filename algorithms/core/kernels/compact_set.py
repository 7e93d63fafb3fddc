"""The timed enumerable compact set (tECS): all runs of the automaton, shared (CORE, Sections 5.2 and 5.3).

A *cell* is an output node and the union of it with an older set: the matches of `left`, each with the event of the
cell, and besides them the set `next`. A *union* joins a list of cells (`left`) with a set (`next`). Every node has
`latest`, the latest start among its matches, and none of its successors has a later one.

          union 9 ---------> union 9'                latest(left) = latest >= latest(next)
            | left             | left
            v                  v
      b: cell 7 -> cell 4    cell 5 -> cell 2        `->` is next; `left` of a cell leads to the sets that it extends
           |left    |left      |left

The runs that reach a state from one source are a list of their own. Those of a later event never start before those of
an earlier one, so a new cell stands at the head of its list: O(1), and no node is ever changed. The runs of a state are
the lists of its sources, in order of their latest starts, joined by unions. So at most one union comes before a cell.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.core.kernels.automaton import Cea
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.queries.records import Records

NONE = -1

(NEXT, LIVE, KEPT, SEEN, NOW, POINT, PENDING, FINALS, STEPS, NODES, PEAK, ASKED, STOPPED) = range(13)
COUNTERS = 13
"""See `CompactSet.counters`."""
NODE_BYTES = 48


class SpanRecord:
    """`reach` of the span, in time or, if it `counts`, in events."""

    reach: int
    counts: bool


class NodeRecord:
    """A cell, or a union, whose `place` is `NONE`.

    - `place`, `time`: of the event of a cell, its position in the input and its time; `born`: where the event that made
      the node lies on the axis of the span: its time, or its number among those of its key.
    - `left`, `next`: nodes, or `NONE`; `left` of a cell is `NONE` if its event begins a match.
    - `latest`: the latest start of its matches, on the axis of the span.
    """

    place: int
    left: int
    next: int
    latest: int
    born: int
    time: int


class CompactSet(NamedTuple):
    """Nodes are numbered as they are made. Node n is at `node[n & (len(node) - 1)]`, whose length is a power of two.

    A node that was made before the span of the next event began has no live match, whichever node refers to it. A new
    one takes its place, so only the nodes of one span are kept.

    - `head[R]`: the newest cell of each list; `merged[Q]`: the set of all runs of a state.
    - `pending[K, 2]`: list and cell of what the events of the present time stamp made, which none of them extends.
    - `touched[Q]`: states whose lists have a new head, `stamp[Q]`: when they were found.
    - `final[F]`: cells that complete matches, which are yet to be enumerated.
    - `counters`: NEXT node; nodes from LIVE on are live, those from KEPT on are kept for the matches of `final`; events
      SEEN; time NOW and POINT of the latest event that fitted anything; PENDING; FINALS; counted STEPS and NODES; PEAK
      of live nodes; what a decision ASKED; how often time moved on (STOPPED).
    """

    node: Records
    head: Ints
    merged: Ints
    pending: Ints
    touched: Ints
    stamp: Ints
    final: Ints
    counters: Ints


@inlined
def is_live(n: int, first: int, floor: int, runs: CompactSet) -> bool:
    """Whether a set has a match that starts at `floor` or later; nodes before `first` have none. O(1)."""
    return n >= first and runs.node[n & (len(runs.node) - 1)].latest >= floor


@inlined
def room(runs: CompactSet) -> int:
    """How many more nodes there is room for."""
    count = runs.counters
    first = count[KEPT] if count[FINALS] > 0 else count[LIVE]
    return len(runs.node) - (count[NEXT] - first)


@inlined
def expire(floor: int, runs: CompactSet) -> None:
    """Nodes that were made before `floor` are live no more. O(1) per node, once."""
    count = runs.counters
    mask = len(runs.node) - 1
    while count[LIVE] < count[NEXT] and runs.node[count[LIVE] & mask].born < floor:
        count[LIVE] += 1


@inlined
def new_cell(left: int, latest: int, place: int, time: int, point: int, runs: CompactSet) -> int:
    """`extend`: the matches of `left` with an event; or, if that is `NONE`, `new-bottom` and its event."""
    n = runs.counters[NEXT]
    runs.counters[NEXT] = n + 1
    node = runs.node[n & (len(runs.node) - 1)]
    node.place, node.left, node.next = place, left, NONE
    node.latest, node.born, node.time = latest, point, time
    return n


@inlined
def commit(floor: int, cea: Cea, runs: CompactSet) -> None:
    """Time moves on: what the events of the last time stamp made takes effect. O(1) per cell and list."""
    count = runs.counters
    mask = len(runs.node) - 1
    touched = 0
    count[STOPPED] += 1
    for k in range(count[PENDING]):
        which, cell = runs.pending[k, 0], runs.pending[k, 1]
        if is_live(runs.head[which], count[LIVE], floor, runs):
            runs.node[cell & mask].next = runs.head[which]
        runs.head[which] = cell
        state = cea.target[which]
        if runs.stamp[state] != count[STOPPED]:
            runs.stamp[state] = count[STOPPED]
            runs.touched[touched] = state
            touched += 1
    count[STEPS] += count[PENDING]
    count[PENDING] = 0
    for k in range(touched):
        state = runs.touched[k]
        runs.merged[state] = _merge(cea.list_ptr[state], cea.list_ptr[state + 1], floor, cea, runs)


@inlined
def _merge(begin: int, end: int, floor: int, cea: Cea, runs: CompactSet) -> int:
    """The union of some lists, by their latest starts. O(lists) as they are nearly in order; they stay so."""
    count = runs.counters
    mask = len(runs.node) - 1
    live = begin
    for at in range(begin, end):
        which = cea.list[at]
        n = runs.head[which]
        count[STEPS] += 1
        if not is_live(n, count[LIVE], floor, runs):
            continue
        latest = runs.node[n & mask].latest
        to = live
        while to > begin and runs.node[runs.head[cea.list[to - 1]] & mask].latest < latest:
            to -= 1
        for back in range(at, to, -1):
            cea.list[back] = cea.list[back - 1]
        cea.list[to] = which
        live += 1
    if live == begin:
        return NONE
    whole = runs.head[cea.list[live - 1]]
    for at in range(live - 2, begin - 1, -1):
        left = runs.head[cea.list[at]]
        n = new_cell(left, runs.node[left & mask].latest, NONE, 0, count[POINT], runs)
        runs.node[n & mask].next = whole
        whole = n
        count[STEPS] += 1
    return whole
