"""The timed enumerable compact set (tECS): all runs of the automaton, shared (CORE, Sections 5.2 and 5.3).

A *cell* is an output node combined with a union: it represents the matches of `left`, each extended by the event of the
cell, and also those of the set `next`. A *union* joins a list of cells (`left`) with a set (`next`). The field `latest`
of a node is the latest start among its matches; no successor of a node has a later one.

          union 9 ---------> union 9'                latest(left) = latest >= latest(next)
            | left             | left
            v                  v
      b: cell 7 -> cell 4    cell 5 -> cell 2        `->` is next; `left` of a cell leads to the sets that it extends
           |left    |left      |left

The runs that reach a state from one source form one list. Runs of a later event never start before those of an earlier
event, so a new cell is put at the head of its list: O(1), and no node is ever changed. The runs of a state are the
lists of its sources, ordered by latest start and joined by unions. So at most one union precedes a cell.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.detection.core.kernels.automaton import Cea
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.queries.records import Records


class SpanRecord:
    """`reach`: the span, in time or, if it `counts`, in events."""

    reach: int
    counts: bool


class NodeRecord:
    """A cell, or a union, whose `place` is `NONE`.

    - `place`, `time`: of the cell's event: its position in the input and its time; `born`: the coordinate of the event
      that created the node, in the unit of the span: its time, or its number among the events of its key.
    - `left`, `next`: nodes, or `NONE`; `left` of a cell is `NONE` if its event begins a match.
    - `latest`: the latest start of its matches, in the unit of the span.
    """

    place: int
    left: int
    next: int
    latest: int
    born: int
    time: int


class PendingRecord:
    """A cell that the current time has created, and its list."""

    list: int
    cell: int


class CountersRecord:
    """Numbers of a compact set.

    - `next_node`: the number of the next node. Nodes from `live` on are live, those from `kept` on are kept for the
      matches of `final`.
    - `seen`: events so far; `now` and `point`: time and point of the latest matching event; `time_steps` so far.
    - numbers of items of `pending` and `final`: `pending` and `finals`.
    - `asked`: the decision or target that the automaton lacks.
    - `steps` and `nodes` so far; `peak`: the largest number of live nodes.
    """

    next_node: int
    live: int
    kept: int
    seen: int
    now: int
    point: int
    time_steps: int
    pending: int
    finals: int
    asked: int
    steps: int
    nodes: int
    peak: int


class CompactSet(NamedTuple):
    """Nodes are numbered in the order of creation. Node n is at `node[n & (len(node) - 1)]`; the length is a power
    of two.

    A node created before the span of the next event has no live match, even if other nodes refer to it. New nodes
    overwrite such nodes, so only the nodes of one span are kept.

    - `head[R]`: the newest cell of each list; `merged[Q]`: the set of all runs of a state.
    - `pending[K]` (`PendingRecord`): what the events of the current time created; these events cannot extend it.
    - `touched[Q]`: states whose lists have a new head; `stamp[Q]`: when they were found.
    - `final[F]`: cells that complete matches and have not been enumerated yet.
    - `counters[1]`: `CountersRecord`.
    """

    node: Records
    head: Ints
    merged: Ints
    pending: Records
    touched: Ints
    stamp: Ints
    final: Ints
    counters: Records


@inlined
def is_live(n: int, first: int, floor: int, runs: CompactSet) -> bool:
    """Whether a set has a match that starts at `floor` or later; nodes before `first` have none. O(1)."""
    return n >= first and runs.node[n & (len(runs.node) - 1)].latest >= floor


@inlined
def room(runs: CompactSet) -> int:
    """Number of nodes for which there is space."""
    count = runs.counters[0]
    first = count.kept if count.finals > 0 else count.live
    return len(runs.node) - (count.next_node - first)


@inlined
def expire(floor: int, runs: CompactSet) -> None:
    """Marks nodes created before `floor` as not live. Amortized O(1) per node."""
    count = runs.counters[0]
    mask = len(runs.node) - 1
    while count.live < count.next_node and runs.node[count.live & mask].born < floor:
        count.live += 1


@inlined
def new_cell(left: int, latest: int, place: int, time: int, point: int, runs: CompactSet) -> int:
    """`extend`: the matches of `left`, extended by an event; if `left` is `NONE`, `new-bottom` with its event."""
    n = runs.counters[0].next_node
    runs.counters[0].next_node = n + 1
    node = runs.node[n & (len(runs.node) - 1)]
    node.place, node.left, node.next = place, left, NONE
    node.latest, node.born, node.time = latest, point, time
    return n


@inlined
def commit(floor: int, cea: Cea, runs: CompactSet) -> None:
    """Advances time: what the events of the last time created takes effect. O(1) per cell and list."""
    count = runs.counters[0]
    mask = len(runs.node) - 1
    touched = 0
    count.time_steps += 1
    for k in range(count.pending):
        which, cell = runs.pending[k].list, runs.pending[k].cell
        if is_live(runs.head[which], count.live, floor, runs):
            runs.node[cell & mask].next = runs.head[which]
        runs.head[which] = cell
        state = cea.target[which]
        if runs.stamp[state] != count.time_steps:
            runs.stamp[state] = count.time_steps
            runs.touched[touched] = state
            touched += 1
    count.steps += count.pending
    count.pending = 0
    for k in range(touched):
        state = runs.touched[k]
        runs.merged[state] = _merge(cea.list_ptr[state], cea.list_ptr[state + 1], floor, cea, runs)


@inlined
def _merge(begin: int, end: int, floor: int, cea: Cea, runs: CompactSet) -> int:
    """The union of some lists, sorted by latest start. O(lists), as they are almost sorted; the order is kept."""
    count = runs.counters[0]
    mask = len(runs.node) - 1
    live = begin
    for at in range(begin, end):
        which = cea.list[at]
        n = runs.head[which]
        count.steps += 1
        if not is_live(n, count.live, floor, runs):
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
        n = new_cell(left, runs.node[left & mask].latest, NONE, 0, count.point, runs)
        runs.node[n & mask].next = whole
        whole = n
        count.steps += 1
    return whole
