"""Bursts one after another: a decision, then a graphlet for the units that share it and graphlets for the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.hamlet.kernels.alone import propagate_alone, propagate_sums
from cepbench.algorithms.hamlet.kernels.benefit import BenefitCosts, KnownBurst, choose
from cepbench.algorithms.hamlet.kernels.bursts import BurstRecord
from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.shared import fits_burst, propagate_shared, was_apart
from cepbench.algorithms.hamlet.kernels.state import HamletState
from cepbench.algorithms.hamlet.kernels.windows import arrive, close_until, note
from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.template import MemberRows
from cepbench.algorithms.snapshots.kernels.windows import commit, void
from cepbench.queries.records import Records

DONE, OUTPUT, ROOM = 0, 1, 2
COLUMNS = 8
TIME, EVENTS, OF_GROUP, EXPECTED, SHARED, NON_SHARED, QUERIES, CREATED = range(COLUMNS)
"""Columns of the trace of decisions: the burst's first time, its events and group; the events on which units differ;
the costs of the best plan that shares and of sharing nothing, 0 where costs are not weighed; units that share, and the
snapshots at event level that were created."""


class Decisions(NamedTuple):
    """Bursts, how they are decided, and the trace of decisions.

    - `bursts[N]`, and `scans[N, K]`: what is known of each, by number of class within its group (`kernels.bursts`).
    - `matches[n, K]`: which events a class of units matches.
    - `dynamic`: by their benefit; `paper`: with the costs of Equation 8 instead of `costs`.
    - `given[N, U]`: otherwise, whether a unit shares a burst, where decisions come from outside; without a row, all do.
    - `classes[K]`: `ClassRecord`s to work with.
    - `trace[N, COLUMNS]`: a row per burst of a sharable type, or no row at all.
    """

    bursts: Records
    scans: Records
    matches: Flags
    dynamic: bool
    paper: bool
    costs: BenefitCosts
    given: Flags
    classes: Records
    trace: Reals


@kernel
def run_bursts(
    first: int,
    now: int,
    negated: Ints,
    events: KernelEvents,
    program: HamletProgram,
    decisions: Decisions,
    state: HamletState,
    rows: MemberRows,
    modular: bool,
) -> tuple[int, int, int]:
    """Processes bursts from number `first` on; then closes windows that end by `now`, as `negated` says.

    Returns (next burst, number of `rows`, why it stopped: DONE, OUTPUT or ROOM).
    """
    template, groups, counts = program.template, program.groups, state.totals.counts[0]
    bursts, matches = decisions.bursts, decisions.matches
    written = int(np.int64(0))  # no literal, for which `close_until` would be compiled once more
    for n in range(first, len(bursts)):
        begin, end, size, g, scans = bursts[n].begin, bursts[n].end, bursts[n].size, bursts[n].group, decisions.scans[n]
        if written + template.whole[0].open > len(rows.closed):
            return n, written, OUTPUT
        if events.time[begin] > counts.now:
            if counts.touched > 0 or len(template.negation) > 0:
                commit(events.negated[begin], template, state.totals)
            counts.now = events.time[begin]
        else:
            void(events.negated[begin], template, state.totals)  # by negated events within the burst before
        if events.time[begin] >= counts.edge:
            written = close_until(events.time[begin], events.negated[begin], template, state, rows, written)
            arrive(events.time[begin], template, groups, state.totals, state.graphlets)
        kind = template.kind[events.kind[begin]]
        if g != NONE and counts.decided == NONE:
            counts.decided = _decide(n, program, decisions, state)
            counts.alone_graphlets += kind.binding_end - kind.binding - counts.decided
        sharing = max(counts.decided, 0)
        if not fits_burst(g, begin, end, size, sharing, scans, events, matches, program, state):
            return n, written, ROOM
        counts.decided = NONE
        if kind.binding_end - kind.binding > sharing:
            if kind.summed:
                propagate_sums(begin, end, events, matches, program, state)
            else:
                propagate_alone(begin, end, events, matches, program, state, modular)
        if sharing > 0:
            before = counts.event_snapshots
            propagate_shared(g, begin, end, size, scans, events, matches, program, state, modular)
            counts.shared_bursts += 1
            if len(decisions.trace) > 0:
                decisions.trace[n, CREATED] = counts.event_snapshots - before
            for u in range(groups.group[g].unit, groups.group[g].unit_end):
                state.graphlets.unit[u].now = False
        note(0 if g == NONE else size, template, state.totals)
        counts.now = counts.last = events.time[end - 1]
    if written + template.whole[0].open > len(rows.closed):
        return len(bursts), written, OUTPUT
    written = close_until(now, negated, template, state, rows, written)
    return len(bursts), written, DONE


@inlined
def _decide(n: int, program: HamletProgram, decisions: Decisions, state: HamletState) -> int:
    """Decides which units share burst n, splitting or merging graphlets; returns how many do."""
    groups, counts, graphlets = program.groups, state.totals.counts[0], state.graphlets
    burst, classes = decisions.bursts[n], decisions.classes
    group = groups.group[burst.group]
    counts.bursts += 1
    shared, alone, sharing = 0.0, 0.0, 0
    if decisions.dynamic:
        classes = classes[: group.alike_end - group.alike]
        known = _known(burst, decisions.scans[n], classes, program, state)
        shared, alone = choose(classes, known, decisions.costs, decisions.paper)
    for u in range(group.unit, group.unit_end):
        shares = len(decisions.given) == 0 or decisions.given[n, u]
        if decisions.dynamic:
            shares = classes[groups.unit[u].alike - group.alike].chosen
        graphlets.unit[u].now = shares
        sharing += shares
    if sharing == 1 and decisions.dynamic:  # no other to share with
        sharing = 0
    for c in range(group.alike, group.alike_end):
        graphlets.sharing[c] = 0
    split, merged = False, False
    for u in range(group.unit, group.unit_end):
        unit = graphlets.unit[u]
        unit.now = unit.now and sharing > 0
        graphlets.sharing[groups.unit[u].alike] += unit.now
        split |= unit.before and not unit.now
        merged |= unit.now and not unit.before
        unit.before = unit.now
        if not unit.now:
            unit.apart = counts.now
    counts.splits += split
    counts.merges += merged
    trace = decisions.trace
    if len(trace) > 0:
        trace[n, TIME] = counts.now
        trace[n, EVENTS], trace[n, OF_GROUP], trace[n, EXPECTED] = burst.size, burst.group, burst.mixed
        trace[n, SHARED], trace[n, NON_SHARED], trace[n, QUERIES], trace[n, CREATED] = shared, alone, sharing, 0
    return sharing


@inlined
def _known(
    burst: BurstRecord, scans: Records, classes: Records, program: HamletProgram, state: HamletState
) -> KnownBurst:
    """What is locally known of a burst, and of the classes of its group."""
    counts, groups, template = state.totals.counts[0], program.groups, program.template
    group = groups.group[burst.group]
    for c in range(len(classes)):
        one, alike = classes[c], groups.alike[group.alike + c]
        one.contexts, one.reads = 0.0, 0.0
        one.selects, one.separate = alike.loop != NONE, not alike.same_loop
        one.visits = one.selects or template.whole[0].every
        one.matched, one.differs, one.alone = scans[c].matched, scans[c].differs, scans[c].alone
    before = 0
    for u in range(group.unit, group.unit_end):
        p, one = groups.unit[u].position, classes[groups.unit[u].alike - group.alike]
        opened = state.totals.open[template.position[p].window]
        windows = opened.high - opened.low + 1
        one.contexts += windows
        one.reads += windows * (template.position[p].enter_end - template.position[p].enter)
        one.separate |= one.selects and was_apart(u, state)
        if one.visits:
            live = max(counts.stored, counts.vertices - counts.oldest_vertex - counts.stored)
            before = max(before, live + burst.size // 2)
    state.graphlets.in_window[burst.group] += burst.size
    return KnownBurst(
        burst.size,
        group.reference - group.alike,
        burst.mixed,
        before,
        state.graphlets.in_window[burst.group],
        counts.snapshots - counts.oldest_snapshot,
    )
