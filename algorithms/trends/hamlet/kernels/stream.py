"""Bursts one after another: a decision, then a graphlet for the units that share it and graphlets for the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.cells import is_empty
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS
from cepbench.algorithms.trends.hamlet.kernels.alone import propagate_alone, propagate_sums
from cepbench.algorithms.trends.hamlet.kernels.benefit import BenefitCosts, choose, stay, wait
from cepbench.algorithms.trends.hamlet.kernels.bursts import BurstRecord
from cepbench.algorithms.trends.hamlet.kernels.program import NONE, HamletProgram, TemplateTables
from cepbench.algorithms.trends.hamlet.kernels.shared import fits_burst, propagate_shared
from cepbench.algorithms.trends.hamlet.kernels.state import CountRecord, HamletState
from cepbench.algorithms.trends.hamlet.kernels.visiting import split
from cepbench.algorithms.trends.hamlet.kernels.windows import arrive, close_until, note_state
from cepbench.algorithms.trends.online.kernels.lifecycle import commit, void
from cepbench.algorithms.trends.online.kernels.store import LIVE, NO_BLOCK
from cepbench.algorithms.trends.online.kernels.template import MemberRows, Totals
from cepbench.queries.records import Records


class Decisions(NamedTuple):
    """Bursts, and how they are decided.

    - `bursts[N]`, and `classes[N, K]`: what is known of each, by number of class within its group (`kernels.bursts`).
    - `matches[n, K]`: which events a class of units matches.
    - `dynamic`: by their benefit; `paper`: with the costs of Equation 8. Otherwise `costs` has those of groups whose
      events extend sums, and of groups that visit some.
    - `given[N, U]`: otherwise, whether a unit shares a burst, where decisions come from outside; without a row, all do.
    """

    bursts: Records
    classes: Records
    matches: Flags
    dynamic: bool
    paper: bool
    costs: tuple[BenefitCosts, BenefitCosts]
    given: Flags


@kernel
def run_bursts(
    first: int, now: int, negated: Ints, events: KernelEvents, program: HamletProgram, decisions: Decisions,
    state: HamletState, rows: MemberRows,
) -> tuple[int, int, int]:  # fmt: skip
    """Processes bursts from number `first` on; then closes windows that end by `now`, as `negated` says.

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
        note_state(buffered, template, state.totals, state.graph.counters)
        if not burst.stored:  # nothing refers to its snapshots later
            counts.snapshots = x
        counts.now = counts.last = events.time[end - 1]
    if written + template.whole[0].open > len(rows.window):
        return len(bursts), written, ROWS
    written = close_until(now, negated, template, state, rows, written)
    return len(bursts), written, DONE


@inlined
def _decide(n: int, program: HamletProgram, decisions: Decisions, state: HamletState) -> None:
    """Decides which units share burst n, splitting or merging graphlets."""
    template, counts, graphlets = program.template, state.totals.counts[0], state.graphlets
    burst = decisions.bursts[n]
    group = template.group[burst.group]
    classes = decisions.classes[n, : group.alike_end - group.alike]
    counts.bursts += 1
    _know(burst, classes, template, state)
    if decisions.dynamic:
        visits = False
        for c in range(len(classes)):
            visits |= classes[c].visits
        costs = decisions.costs[1] if visits else decisions.costs[0]
        burst.shared, burst.alone = choose(classes, burst, costs, decisions.paper)
        if not decisions.paper:
            past = graphlets.group[burst.group]
            past.missed = wait(classes, burst, costs, past.missed)
            past.paid = stay(classes, burst, costs, past.paid)
    burst.queries = 0
    for u in range(group.unit, group.unit_end):
        shares = len(decisions.given) == 0 or decisions.given[n, u]
        if decisions.dynamic:
            shares = classes[template.unit[u].alike - group.alike].chosen
        graphlets.unit[u].now = shares
        burst.queries += shares
    if burst.queries == 1 and decisions.dynamic:  # no other to share with
        burst.queries = 0
    for c in range(len(classes)):
        classes[c].chosen = False
    splits, merged = False, False
    for u in range(group.unit, group.unit_end):
        unit, one = graphlets.unit[u], classes[template.unit[u].alike - group.alike]
        unit.now = unit.now and burst.queries > 0
        leaves = unit.before and not unit.now
        splits |= leaves
        merged |= unit.now and not unit.before
        unit.before = unit.now
        if unit.now:
            one.chosen = True
            burst.stored |= template.position[template.unit[u].position].kept
            burst.selects |= one.selects
            burst.partial |= one.matched < burst.size
            head = state.graph.position[template.unit[u].position].head
            burst.apart |= one.selects and _was_apart(head, unit.apart, counts, state.vertices.event)
        else:
            unit.apart = counts.now
            unit.leaves = leaves and template.position[template.unit[u].position].kept
            burst.splits += unit.leaves
    counts.splits += splits
    counts.merges += merged


@inlined
def _know(burst: BurstRecord, classes: Records, template: TemplateTables, state: HamletState) -> None:
    """Sets what is locally known of a burst, and of the classes of its group."""
    counts, graph = state.totals.counts[0], state.graph.position
    group, active = template.group[burst.group], 0
    for u in range(group.unit, group.unit_end):
        p, alike = template.unit[u].position, template.alike[template.unit[u].alike]
        one, opened = classes[template.unit[u].alike - group.alike], state.totals.open[template.position[p].window]
        windows = opened.high - opened.low + 1
        one.contexts += windows
        one.reads += windows * (template.position[p].enter_end - template.position[p].enter)
        one.selects = alike.loop != NONE
        one.visits = one.selects or template.whole[0].every
        unit = state.graphlets.unit[u]
        apart = one.selects and _was_apart(graph[p].head, unit.apart, counts, state.vertices.event)
        one.separate |= apart or not alike.same_loop
        if unit.before and template.position[p].kept:
            one.leaving += windows * (counts.vertices - counts.oldest_vertex)
        if one.visits and _extends(p, template, state.totals, graph):
            one.active += windows
            active += 1
    own = state.graph.counters[LIVE] // max(active, 1)
    burst.before = max(counts.vertices - counts.oldest_vertex, own) + burst.size // 2
    past = state.graphlets.group[burst.group]
    past.in_window += burst.size
    burst.in_window = past.in_window
    burst.snapshots = counts.snapshots - counts.oldest_snapshot


@inlined
def _extends(p: int, template: TemplateTables, totals: Totals, graph: Records) -> bool:
    """Whether events at position p have trends to extend, or start some; `graph[P]`: positions of the graph."""
    position = template.position[p]
    found = bool(position.start)
    for e in range(position.enter, position.enter_end):
        edge = template.transition[e]
        if edge.visited and edge.source != p:
            found |= graph[edge.source].head != NO_BLOCK
        elif edge.source != p:
            for k in range(totals.open[position.window].low, totals.open[position.window].high + 1):
                row = k % template.window[position.window].span
                found |= not is_empty(totals.cells, template.slot[edge.read].cell + row)
    return found


@inlined
def _was_apart(head: int, apart: int, counts: CountRecord, shared: Records) -> bool:
    """Whether a unit has events of its own that may still be visited, whose first block is `head`, or has no part in a
    burst whose events may.
    """
    first = counts.oldest_vertex
    return bool(head != NO_BLOCK or (first < counts.vertices and shared[first].time <= apart))
