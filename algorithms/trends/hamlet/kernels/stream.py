"""Bursts one after another: a decision, then a graphlet for the units that share it and graphlets for the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags
from cepbench.algorithms.engine.kernels.cells import is_empty
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS
from cepbench.algorithms.trends.hamlet.kernels.alone import propagate_alone, propagate_sums
from cepbench.algorithms.trends.hamlet.kernels.benefit import BenefitCosts, choose, defer_join, defer_split, plan_cost
from cepbench.algorithms.trends.hamlet.kernels.bursts import BurstRecord
from cepbench.algorithms.trends.hamlet.kernels.program import HamletProgram, TemplateTables
from cepbench.algorithms.trends.hamlet.kernels.shared import fits_burst, propagate_shared
from cepbench.algorithms.trends.hamlet.kernels.state import HamletState
from cepbench.algorithms.trends.hamlet.kernels.visiting import split
from cepbench.algorithms.trends.hamlet.kernels.windows import arrive, close_until, note_state
from cepbench.algorithms.trends.online.kernels.lifecycle import commit, void
from cepbench.algorithms.trends.online.kernels.template import MemberRows, Totals
from cepbench.queries.records import Records


class Decisions(NamedTuple):
    """Bursts, and the way in which they are decided.

    - `bursts[N]`, and `classes[N, K]`: the classes of each burst, numbered within its group (`kernels.bursts`).
    - `matches[n, K]`: the events that a class of units matches.
    - `dynamic`: by their benefit; `paper`: with the costs of Equation 8. Otherwise `costs` has those of groups whose
      events extend sums, and of groups that visit events.
    - `forced[N, U]`: if not `dynamic`, whether a unit shares a burst; without a row, all units do.
    - `weighs`: adds up the costs of what was decided.
    """

    bursts: Records
    classes: Records
    matches: Flags
    dynamic: bool
    paper: bool
    costs: tuple[BenefitCosts, BenefitCosts]
    forced: Flags
    weighs: bool


@kernel
def run_bursts(
    first: int, now: int, events: KernelEvents, program: HamletProgram, decisions: Decisions, state: HamletState,
    rows: MemberRows,
) -> tuple[int, int, int]:  # fmt: skip
    """Processes bursts from number `first` on; then closes windows that end by `now`.

    Returns (next burst, number of `rows`, why it stopped: DONE, ROWS or ROOM).
    """
    template, counts = program.template, state.totals.counts[0]
    bursts, matches = decisions.bursts, decisions.matches
    written = int(np.int64(0))  # no literal, for which `close_until` would be compiled once more
    for n in range(first, len(bursts)):
        burst, classes = bursts[n], decisions.classes[n]
        begin, end = burst.begin, burst.end
        if written + template.whole[0].open > len(rows.window):
            return n, written, ROWS
        if burst.time > counts.now:
            if counts.touched > 0 or len(template.negation) > 0:
                commit(events.negated[begin], template, state.totals)
            counts.now = burst.time
        else:
            void(events.negated[begin], template, state.totals)  # by negated events within the burst before
        if burst.time >= counts.edge:
            written = close_until(burst.time, events.negated[begin], template, state, rows, written)
            arrive(burst.time, template, state.totals, state.graphlets)
        kind = template.kind[events.kind[begin]]
        positions = kind.binding_end - kind.binding
        if burst.group != NONE and burst.queries == NONE:
            _decide(n, program, decisions, state)
            counts.alone_graphlets += positions - burst.queries
        if not fits_burst(burst, classes, events, program, state):
            return n, written, ROOM
        if burst.splits > 0:
            for u in range(template.group[burst.group].unit, template.group[burst.group].unit_end):
                if state.graphlets.unit[u].leaves:
                    split(u, program, state)
                    state.graphlets.unit[u].leaves = False
        if positions > max(burst.queries, 0):
            if kind.summed:
                propagate_sums(begin, end, events, matches, program, state)
            else:
                propagate_alone(begin, end, events, matches, program, state)
        x = counts.snapshots
        if burst.queries > 0:
            propagate_shared(burst, classes, events, matches, program, state)
            counts.shared_bursts += 1
            for u in range(template.group[burst.group].unit, template.group[burst.group].unit_end):
                state.graphlets.unit[u].now = False
        buffered = np.int64(0 if burst.group == NONE else burst.size)
        note_state(buffered, template, state.totals, state.graph.size)
        if not burst.stored:  # nothing refers to its snapshots later
            counts.snapshots = x
        counts.now = counts.last = events.time[end - 1]
    if written + template.whole[0].open > len(rows.window):
        return len(bursts), written, ROWS
    written = close_until(now, events.negated[len(events.time)], template, state, rows, written)
    return len(bursts), written, DONE


@inlined
def _decide(n: int, program: HamletProgram, decisions: Decisions, state: HamletState) -> None:
    """Decides which units share burst n, splitting or merging graphlets."""
    template, counts, graphlets = program.template, state.totals.counts[0], state.graphlets
    burst = decisions.bursts[n]
    group = template.group[burst.group]
    classes = decisions.classes[n, : group.predicate_class_end - group.predicate_class]
    counts.bursts += 1
    _update_statistics(burst, classes, template, state)
    visits = template.whole[0].within
    for c in range(len(classes)):
        visits |= classes[c].visits
    costs = decisions.costs[1] if visits else decisions.costs[0]
    if decisions.dynamic:
        burst.shared, burst.alone = choose(classes, burst, costs, decisions.paper)
        if not decisions.paper:
            history = graphlets.group[burst.group]
            history.missed_gain = defer_join(classes, burst, costs, history.missed_gain)
            history.sharing_loss = defer_split(classes, burst, costs, history.sharing_loss)
    burst.queries = 0
    for u in range(group.unit, group.unit_end):
        shares = len(decisions.forced) == 0 or decisions.forced[n, u]
        if decisions.dynamic:
            shares = classes[template.unit[u].predicate_class - group.predicate_class].chosen
        graphlets.unit[u].now = shares
        burst.queries += shares
    if burst.queries == 1 and decisions.dynamic:  # no other to share with
        burst.queries = 0
    for c in range(len(classes)):
        classes[c].chosen = False
    splits, merged = False, False
    for u in range(group.unit, group.unit_end):
        unit, position = graphlets.unit[u], template.unit[u].position
        queries = classes[template.unit[u].predicate_class - group.predicate_class]
        unit.now = unit.now and burst.queries > 0
        leaves = unit.before and not unit.now
        splits |= leaves
        merged |= unit.now and not unit.before
        unit.before = unit.now
        if unit.now:
            queries.chosen = True
            burst.stored |= template.position[position].kept
            burst.selects |= queries.selects
            burst.partial |= queries.matched < burst.size
            burst.apart |= queries.selects and _was_apart(u, template, state)
        else:
            unit.apart = counts.now
            unit.leaves = leaves and template.position[position].visited
            burst.splits += unit.leaves
    if decisions.weighs:
        counts.model_cost += plan_cost(classes, burst, costs, decisions.paper)
    counts.splits += splits
    counts.merges += merged


@inlined
def _update_statistics(burst: BurstRecord, classes: Records, template: TemplateTables, state: HamletState) -> None:
    """Sets the statistics of a burst, and of the classes of its group, that depend on the state."""
    counts = state.totals.counts[0]
    group, active = template.group[burst.group], 0
    for u in range(group.unit, group.unit_end):
        p = template.unit[u].position
        predicates = template.predicate_class[template.unit[u].predicate_class]
        queries = classes[template.unit[u].predicate_class - group.predicate_class]
        opened = state.totals.open[template.position[p].window]
        windows = opened.high - opened.low + 1
        queries.contexts += windows
        queries.reads += windows * (template.position[p].enter_end - template.position[p].enter)
        queries.selects = predicates.loop != NONE
        queries.visits = template.transition[template.unit[u].loop].visited
        queries.separate |= (queries.selects and _was_apart(u, template, state)) or not predicates.same_loop
        if state.graphlets.unit[u].before and template.position[p].visited:
            queries.leaving += windows * (counts.vertices - counts.oldest_vertex)
        if queries.visits and _extends(p, template, state.totals, state.graph.position):
            queries.active += windows
            active += 1
    non_shared = state.graph.size[0].vertices // max(active, 1)  # events that a query visits
    burst.before = max(counts.vertices - counts.oldest_vertex, non_shared) + burst.size // 2
    history = state.graphlets.group[burst.group]
    history.in_window += burst.size
    burst.in_window = history.in_window
    burst.snapshots = counts.snapshots - counts.oldest_snapshot
    burst.within = template.whole[0].within


@inlined
def _extends(p: int, template: TemplateTables, totals: Totals, graph: Records) -> bool:
    """Whether events at position p have trends to extend, or start some; `graph[P]`: positions of the graph."""
    position = template.position[p]
    extends = bool(position.start)
    for e in range(position.enter, position.enter_end):
        edge = template.transition[e]
        if edge.visited and edge.source != p:
            extends |= graph[edge.source].head != NONE
        elif edge.source != p:
            for k in range(totals.open[position.window].low, totals.open[position.window].high + 1):
                row = k % template.window[position.window].span
                extends |= not is_empty(totals.cells, template.slot[edge.read].cell + row)
    return extends


@inlined
def _was_apart(u: int, template: TemplateTables, state: HamletState) -> bool:
    """Whether unit u has events in its own graph that may still be visited, or did not share a burst of such events."""
    counts, shared = state.totals.counts[0], state.vertices.event
    oldest = counts.oldest_vertex
    alone = state.graph.position[template.unit[u].position].head != NONE
    return bool(alone or (oldest < counts.vertices and shared[oldest].time <= state.graphlets.unit[u].apart))
