"""Bursts one after another: a decision, then a graphlet for the units that share it and graphlets for the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.hamlet.kernels.alone import propagate_alone
from cepbench.algorithms.hamlet.kernels.benefit import BenefitCosts, KnownBurst, choose
from cepbench.algorithms.hamlet.kernels.bursts import BurstRecord
from cepbench.algorithms.hamlet.kernels.program import NONE, GroupRecord, Groups, HamletProgram, TemplateTables
from cepbench.algorithms.hamlet.kernels.shared import fits_expressions, propagate_shared
from cepbench.algorithms.hamlet.kernels.state import GraphletStore, HamletState
from cepbench.algorithms.hamlet.kernels.summing import propagate_sums
from cepbench.algorithms.hamlet.kernels.windows import arrive, close_until, note
from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.template import MemberRows
from cepbench.algorithms.snapshots.kernels.windows import commit, void
from cepbench.queries.records import Records

STATIC, DYNAMIC, GIVEN = 0, 1, 2
"""How bursts are decided. STATIC: all units share all; DYNAMIC: by benefit; GIVEN: from outside."""
DONE, OUTPUT, ROOM = 0, 1, 2
COLUMNS = 8
TIME, EVENTS, OF_GROUP, EXPECTED, SHARED, NON_SHARED, QUERIES, CREATED = range(COLUMNS)
"""Columns of the trace of decisions: the burst's first time, its events and group; the events on which units differ;
the costs of the best plan that shares and of sharing nothing, 0 where costs are not weighed; units that share, and the
snapshots at event level that were created."""


class Decisions(NamedTuple):
    """How bursts are decided, and the trace of decisions.

    - `mode`; `paper`: whether costs are those of Equation 8 instead of `costs`.
    - `given[N, U]`: whether a unit shares a burst, where decisions come from outside.
    - `classes[K]`: `ClassRecord`s to work with.
    - `matches[N, K]`: which events a class of units matches, as `scan_bursts` found; without a row if not weighed.
    - `trace[N, COLUMNS]`: a row per burst of a sharable type, or no row at all.
    """

    mode: int
    paper: bool
    costs: BenefitCosts
    given: Flags
    classes: Records
    matches: Flags
    trace: Reals


@kernel
def run_bursts(
    first: int,
    count: int,
    now: int,
    negated: Ints,
    bursts: Records,
    scans: Records,
    events: KernelEvents,
    program: HamletProgram,
    decisions: Decisions,
    state: HamletState,
    rows: MemberRows,
    modular: bool,
) -> tuple[int, int, int]:
    """Processes bursts `first..count`, then closes windows that end by `now`, when negations started as `negated` says.

    Returns (next burst, number of `rows`, why it stopped: DONE, OUTPUT or ROOM).
    """
    template, groups, counts = program.template, program.groups, state.totals.counts[0]
    written = int(np.int64(0))  # no literal, for which `close_until` would be compiled once more
    for n in range(first, count):
        burst = bursts[n]
        begin, end, size, g = burst.begin, burst.end, burst.size, burst.group
        if written + template.whole[0].open > len(rows.closed):
            return n, written, OUTPUT
        if not _fits(size, g, template.kind[events.kind[begin]].kept, template, groups, state):
            return n, written, ROOM
        if events.time[begin] >= counts.edge:
            written = close_until(events.time[begin], events.negated[begin], template, state, rows, written)
            arrive(events.time[begin], events.negated[begin], template, groups, state.totals, state.graphlets)
        elif events.time[begin] > counts.now:
            if counts.touched > 0 or len(template.negation) > 0:
                commit(events.negated[begin], template, state.totals)
            counts.now = events.time[begin]
        else:
            void(events.negated[begin], template, state.totals)  # by negated events within the burst before
        kind, sharing = template.kind[events.kind[begin]], 0
        elsewhere = kind.binding_end - kind.binding
        if g != NONE:
            note(size, template, state.totals)
            sharing = counts.decided
            if sharing == 0:
                sharing = _decide(n, burst, scans, program, decisions, state)
                counts.alone_graphlets += elsewhere - sharing
            counts.decided = 0
            if sharing > 0 and not fits_expressions(g, begin, end, size, events, decisions.matches, program, state):
                counts.decided = sharing
                return n, written, ROOM
        if elsewhere > sharing and kind.summed:
            propagate_sums(begin, end, events, decisions.matches, program, state)
        elif elsewhere > sharing:
            propagate_alone(begin, end, events, decisions.matches, program, state, modular)
        if sharing > 0:
            before = counts.event_snapshots
            mixed = decisions.mode != DYNAMIC or _is_mixed(groups.group[g], scans[n], size, state.graphlets.sharing)
            propagate_shared(g, begin, end, size, mixed, events, decisions.matches, program, state, modular)
            counts.shared_bursts += 1
            if len(decisions.trace) > 0:
                decisions.trace[n, CREATED] = counts.event_snapshots - before
            for u in range(groups.group[g].unit, groups.group[g].unit_end):
                state.graphlets.unit[u].now = False
        note(0 if g == NONE else size, template, state.totals)
        last = end - 1
        while events.kind[last] != events.kind[begin]:
            last -= 1
        counts.now = counts.last = events.time[last]
    if written + template.whole[0].open > len(rows.closed):
        return count, written, OUTPUT
    written = close_until(now, negated, template, state, rows, written)
    return count, written, DONE


@inner
def _fits(size: int, g: int, kept: int, template: TemplateTables, groups: Groups, state: HamletState) -> bool:
    """Whether there is room for all that a burst may leave behind but expressions, with `kept` vertices per event."""
    counts, graphlets = state.totals.counts[0], state.graphlets
    if counts.vertex_cells + size * kept * template.whole[0].most > len(state.vertices.cells.over):
        return False
    kept += g != NONE and groups.group[g].stores
    if counts.vertices + size * kept > len(state.vertices.event):
        return False
    if g == NONE:
        return True
    group = groups.group[g]
    several = group.alike_end - group.alike > 1 or groups.alike[group.alike].loop != NONE
    most = size + 1 if several else 1  # one snapshot if the events are alike for all
    return counts.snapshots + most <= len(graphlets.snapshot) and counts.graphlets < len(graphlets.among)


@inlined
def _decide(
    n: int, burst: BurstRecord, scans: Records, program: HamletProgram, decisions: Decisions,
    state: HamletState,
) -> int:  # fmt: skip
    """Decides which units share burst n, splitting or merging graphlets; returns how many do."""
    groups, counts, graphlets, mode = program.groups, state.totals.counts[0], state.graphlets, decisions.mode
    group, classes = groups.group[burst.group], decisions.classes
    counts.bursts += 1
    shared, alone = 0.0, 0.0
    if mode == DYNAMIC:
        classes = classes[: group.alike_end - group.alike]
        known = _known(burst, scans[n], classes, program, state)
        shared, alone = choose(classes, known, decisions.costs, decisions.paper)
    sharing = 0
    for c in range(group.alike, group.alike_end):
        graphlets.sharing[c] = 0
    for u in range(group.unit, group.unit_end):
        c = groups.unit[u].alike
        shares = mode == STATIC
        if mode == DYNAMIC:
            shares = classes[c - group.alike].chosen
        elif mode == GIVEN:
            shares = decisions.given[n, u]
        graphlets.unit[u].now = shares
        graphlets.sharing[c] += shares
        sharing += shares
    if sharing == 1 and mode == DYNAMIC:  # no other to share with
        sharing = 0
        for u in range(group.unit, group.unit_end):
            graphlets.unit[u].now = False
    _note_changes(group.unit, group.unit_end, graphlets, state.totals.counts)
    trace = decisions.trace
    if len(trace) > 0:
        trace[n, TIME] = counts.now
        trace[n, EVENTS], trace[n, OF_GROUP], trace[n, EXPECTED] = burst.size, burst.group, burst.mixed
        trace[n, SHARED], trace[n, NON_SHARED], trace[n, QUERIES], trace[n, CREATED] = shared, alone, sharing, 0
    return sharing


@inlined
def _is_mixed(group: GroupRecord, scans: Records, size: int, sharing: Ints) -> bool:
    """Whether a class that shares does not match all events of a burst."""
    found = False
    for c in range(group.alike, group.alike_end):
        found |= sharing[c] > 0 and scans[c - group.alike].matched < size
    return found


@inlined
def _note_changes(first: int, stop: int, graphlets: GraphletStore, count: Records) -> None:
    """Counts a split if one of these units left the others, and a merge if one joined them."""
    split, merged = False, False
    for u in range(first, stop):
        unit = graphlets.unit[u]
        split |= unit.before and not unit.now
        merged |= unit.now and not unit.before
        unit.before = unit.now
    count[0].splits += split
    count[0].merges += merged


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
        one.separate |= one.selects and state.vertices.last[p] >= counts.oldest_vertex
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
