"""The update phase: reads an event and updates all runs that it can extend or end (CORE, Algorithm 1)."""

from __future__ import annotations

from cepbench.algorithms.detection.core.kernels.automaton import (
    NOTHING,
    START,
    UNKNOWN,
    Cea,
    Lack,
    classified,
    letter_of,
    undecided,
)
from cepbench.algorithms.detection.core.kernels.compact_set import (
    CompactSet,
    commit,
    expire,
    is_live,
    new_cell,
    room,
)
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.queries.records import Records


@kernel
def update(
    begin: int, events: KernelEvents, places: Ints, span: Records, local: Ints, cea: Cea, runs: CompactSet
) -> tuple[int, int]:
    """Reads events `begin..`; returns the next event, and what is lacking to read it, or 0 at the end.

    O(predicates + states) per event, regardless of the number of runs, their lengths and the span: an event creates one
    cell for each state from which a run takes it, and one union for each further source of a target state.
    """
    count = runs.counters[0]
    for i in range(begin, len(events.time)):
        decision = classified(i, events, local, cea)
        if decision == UNKNOWN:
            count.asked = undecided(i, events, local, cea)
            return i, Lack.DECISION
        if decision == NOTHING:
            count.seen += 1
            continue
        letter = letter_of(decision)
        time = events.time[i]
        point = count.seen if span[0].counts else time
        floor = point - span[0].reach
        first, last = cea.edge_ptr[letter], cea.edge_ptr[letter + 1]
        expire(floor, runs)
        if room(runs) < last - first + len(runs.head):
            return i, Lack.NODES
        if count.pending + last - first > len(runs.pending):
            return i, Lack.PENDING
        if count.finals + last - first > len(runs.final):
            return i, Lack.FINALS
        if time > count.now:
            commit(floor, cea, runs)
            count.now = time
        if cea.open[letter]:
            edge = _open_edge(first, last, floor, cea, runs)
            if edge != UNKNOWN:
                count.asked = edge
                return i, Lack.TARGET
        count.point = point
        count.seen += 1
        before = count.next_node
        for at in range(first, last):
            _take(at, places[i], time, point, floor, cea, runs)
        count.steps += last - first
        count.nodes += count.next_node - before
        count.peak = max(count.peak, count.next_node - count.live)
    return len(events.time), 0


@inlined
def _open_edge(first: int, last: int, floor: int, cea: Cea, runs: CompactSet) -> int:
    """An edge with an unknown target that a run takes now; or `UNKNOWN`."""
    for at in range(first, last):
        edge = cea.edge[at]
        if edge.target == UNKNOWN and (
            edge.source == START or is_live(runs.merged[edge.source], runs.counters[0].live, floor, runs)
        ):
            return at
    return UNKNOWN


@inlined
def _take(at: int, place: int, time: int, point: int, floor: int, cea: Cea, runs: CompactSet) -> None:
    """Extends the runs of a state by the event: creates a cell, which ends matches, can be extended later, or both."""
    count = runs.counters[0]
    edge = cea.edge[at]
    left, latest = -1, point
    if edge.source != START:
        left = runs.merged[edge.source]
        if not is_live(left, count.live, floor, runs):
            return
        latest = runs.node[left & (len(runs.node) - 1)].latest
    cell = new_cell(left, latest, place, time, point, runs)
    if edge.final:
        if count.finals == 0:
            count.kept = count.live
        runs.final[count.finals] = cell
        count.finals += 1
    if edge.goes_on:
        runs.pending[count.pending].list, runs.pending[count.pending].cell = edge.list, cell
        count.pending += 1
