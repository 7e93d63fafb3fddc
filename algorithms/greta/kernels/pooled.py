"""GRETA's graphs of many sub-streams: `propagate` on one after another, with blocks that all of them share.

The arrays of `GraphStates` have a first axis of sub-streams; the kernels of a graph get views of one of them.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.greta.kernels.panes import advance_graph
from cepbench.algorithms.greta.kernels.propagation import DONE, propagate
from cepbench.algorithms.greta.kernels.vertices import FREE, Graph
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW, has_ended
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding
from cepbench.algorithms.kernels.lanes import NO_END, lane, last_end, own, until_place
from cepbench.algorithms.kernels.windows import OpenWindows, Slots
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables


class GraphStates(NamedTuple):
    """What each sub-stream has of its own: chains of blocks, their counters (`Graph`), and open windows."""

    position: Records
    counters: Ints
    waiting: Ints
    windows: OpenWindows


@kernel
def propagate_pooled(
    at: int,
    done: int,
    number: Ints,
    begin: Ints,
    events: KernelEvents,
    tables: Tables,
    slots: Slots,
    window: Sliding,
    graph: Graph,
    states: GraphStates,
    ends: Ints,
    out: RowCells,
    owner: Ints,
) -> tuple[int, int, int, int]:
    """Processes keys `at..` of a batch, the first of them from event `done` on; returns (next key, next event,
    rows written, why it stopped as `propagate`). O(1) per piece beside its events.
    """
    written = 0
    for j in range(at, len(number)):
        s, stop, before = number[j], begin[j + 1], written
        alone = lane(states, s)
        mine = _graph(graph, alone)
        mine.counters[FREE] = graph.counters[FREE]
        done, written, stopped = propagate(
            max(done, begin[j]), until_place(events, stop), tables, slots, window, mine, alone.windows,
            out, written,
        )  # fmt: skip
        graph.counters[FREE] = mine.counters[FREE]
        own(owner, before, written, s)
        if done < stop:
            return j, done, written, stopped
        ends[s] = last_end(events.time[stop - 1], window)
    return len(number), done, written, DONE


@kernel
def close_graphs(
    at: int,
    until: int,
    negated: Ints,
    tables: Tables,
    slots: Slots,
    window: Sliding,
    graph: Graph,
    states: GraphStates,
    ends: Ints,
    out: RowCells,
    owner: Ints,
) -> tuple[int, int]:
    """Closes the windows that end by `until` in sub-streams `at..`; returns the next sub-stream and rows written."""
    written = 0
    span = states.windows.final.over.shape[1]
    for s in range(at, len(ends)):
        clock = states.windows.clock[s]
        if ends[s] != NO_END and has_ended(clock[LOW], clock[HIGH], until, window):
            if written + span > len(out.window):
                return s, written
            before = written
            alone = lane(states, s)
            mine = _graph(graph, alone)
            mine.counters[FREE] = graph.counters[FREE]
            written = advance_graph(until, negated, tables, slots, window, mine, alone.windows, out, written)
            graph.counters[FREE] = mine.counters[FREE]
            own(owner, before, written, s)
            if ends[s] <= until:
                ends[s] = NO_END
    return len(ends), written


@inlined
def _graph(graph: Graph, own_states: GraphStates) -> Graph:
    """The graph of a key."""
    return Graph(
        own_states.position, graph.block, graph.free, graph.time, graph.order, graph.ints, graph.reals, graph.cells,
        own_states.counters, own_states.waiting, graph.selected,
    )  # fmt: skip
