"""Bursts one after another: a decision, then a graphlet for those who share and graphlets for the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.hamlet.kernels.alone import propagate_alone
from cepbench.algorithms.hamlet.kernels.benefit import BenefitCosts, KnownBurst, choose
from cepbench.algorithms.hamlet.kernels.bursts import ALONE, BEGIN, DIFFERS, END, GROUP, MATCHED, MIXED, SIZE
from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.shared import propagate_shared
from cepbench.algorithms.hamlet.kernels.state import (
    BURSTS,
    EVENT_SNAPSHOTS,
    GRAPHLETS,
    LAST,
    MERGES,
    NOW,
    OLDEST_SNAPSHOT,
    OLDEST_STORED,
    OLDEST_VERTEX,
    SHARED_BURSTS,
    SNAPSHOTS,
    SPLITS,
    STORED,
    VERTICES,
    GraphletStore,
    Totals,
    Vertices,
)
from cepbench.algorithms.hamlet.kernels.windows import MemberRows, Sizes, arrive, close_until, note_state
from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents

NEVER, STATIC, DYNAMIC, GIVEN = 0, 1, 2, 3
"""How bursts are decided: none is shared, all are by all, by their benefit, or as told from outside."""
DONE, OUTPUT, ROOM = 0, 1, 2
TIME, EVENTS, OF_GROUP, EXPECTED, SHARED, NON_SHARED, QUERIES, CREATED = range(8)
"""Columns of the trace of decisions: the burst's first time, its events and group; the events on which units differ;
the costs of the plan and of sharing nothing; units that share, and the snapshots at event level that were created."""


class Decisions(NamedTuple):
    """How bursts are decided, and what is told of it.

    - `mode[0]`; `paper[0]`: whether costs are those of Equation 8 instead of `costs`.
    - `given[N, U]`: whether a unit shares a burst, where decisions come from outside.
    - `chosen`, `trial`, `separate`, `visits`, `contexts`, `reads` [K]: to work with.
    - `trace[N, 8]`: a row per burst of a sharable type.
    """

    mode: Ints
    paper: Flags
    costs: BenefitCosts
    given: Flags
    chosen: Flags
    trial: Flags
    separate: Flags
    visits: Flags
    contexts: Reals
    reads: Reals
    trace: Reals


@kernel
def run_bursts(
    first: int,
    count: int,
    bursts: Ints,
    scans: Ints,
    events: KernelEvents,
    program: HamletProgram,
    sizes: Sizes,
    decisions: Decisions,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
    rows: MemberRows,
    modular: bool,
) -> tuple[int, int, int]:
    """Processes bursts `first..count`; returns (next burst, number of `rows`, why it stopped: DONE, OUTPUT or ROOM)."""
    counts, groups = totals.counts, program.groups
    written, open_rows = 0, 0
    for m in range(len(program.members.windows)):
        open_rows += program.members.span[program.members.windows[m]]
    for n in range(first, count):
        begin, end, size, g = bursts[BEGIN, n], bursts[END, n], bursts[SIZE, n], bursts[GROUP, n]
        if written + open_rows > len(rows.window):
            return n, written, OUTPUT
        if not _fits(size, g, events.kind[begin], program, totals, vertices, graphlets):
            return n, written, ROOM
        time, negated = events.time[begin], events.negated[begin]
        written = close_until(time, negated, program, sizes, totals, vertices, graphlets, rows, written)
        arrive(time, negated, program, totals, graphlets)
        sharing, units = 0, 0
        if g != NONE:
            note_state(size, sizes, totals)
            units = groups.unit_ptr[g + 1] - groups.unit_ptr[g]
            sharing = _decide(n, g, size, bursts, scans, program, decisions, totals, vertices, graphlets)
        elsewhere = (
            program.template.binding_ptr[events.kind[begin] + 1] - program.template.binding_ptr[events.kind[begin]]
        )
        if elsewhere > sharing:
            propagate_alone(begin, end, events, program, totals, vertices, graphlets, modular)
        if sharing > 0:
            before = counts[EVENT_SNAPSHOTS]
            propagate_shared(g, begin, end, size, events, program, sizes, totals, vertices, graphlets, modular)
            counts[SHARED_BURSTS] += 1
            decisions.trace[n, CREATED] = counts[EVENT_SNAPSHOTS] - before
            for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
                graphlets.share[u] = False
        note_state(0 if units == 0 else size, sizes, totals)
        last = end - 1
        while events.kind[last] != events.kind[begin]:
            last -= 1
        counts[LAST] = events.time[last]
    return count, written, DONE


@inner
def _fits(
    size: int, g: int, kind: int, program: HamletProgram, totals: Totals, vertices: Vertices, graphlets: GraphletStore
) -> bool:
    """Whether there is room for all that a burst may leave behind."""
    counts, groups = totals.counts, program.groups
    enough = counts[VERTICES] + size * groups.kept_of[kind] <= len(vertices.time)
    if g != NONE:
        if groups.stores[g]:
            enough &= counts[STORED] + size <= len(graphlets.time)
        enough &= counts[SNAPSHOTS] + _most_snapshots(size, g, program) <= len(graphlets.snapshot_time)
        enough &= counts[GRAPHLETS] < len(graphlets.among)
    return enough


@inner
def _most_snapshots(size: int, g: int, program: HamletProgram) -> int:
    """Snapshots that a burst may need: one if its events are alike for all."""
    groups = program.groups
    several = groups.class_ptr[g + 1] - groups.class_ptr[g] > 1 or groups.loop[groups.class_ptr[g]] != NONE
    return size + 1 if several else 1


@inner
def _decide(
    n: int,
    g: int,
    size: int,
    bursts: Ints,
    scans: Ints,
    program: HamletProgram,
    decisions: Decisions,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
) -> int:
    """Decides who shares burst n, splitting or merging graphlets; returns how many units do."""
    counts, groups, mode = totals.counts, program.groups, decisions.mode[0]
    first, classes = groups.class_ptr[g], groups.class_ptr[g + 1] - groups.class_ptr[g]
    counts[BURSTS] += 1
    plan, nothing = 0.0, 0.0
    if mode == DYNAMIC:
        burst = _known(n, g, size, bursts, scans, program, decisions, totals, vertices, graphlets)
        chosen, trial = decisions.chosen[:classes], decisions.trial[:classes]
        plan, nothing = choose(burst, decisions.costs, decisions.paper[0], chosen, trial)
    sharing, split, merged = 0, False, False
    for c in range(first, first + classes):
        graphlets.sharing[c] = 0
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        c = groups.class_of[u]
        shares = mode == STATIC
        if mode == DYNAMIC:
            shares = decisions.chosen[c - first]
        elif mode == GIVEN:
            shares = decisions.given[n, u]
        graphlets.share[u] = shares
        graphlets.sharing[c] += shares
        sharing += shares
    if sharing == 1 and mode == DYNAMIC:  # nobody to share with
        sharing = 0
        for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
            graphlets.share[u] = False
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        split |= graphlets.shared_before[u] and not graphlets.share[u]
        merged |= graphlets.share[u] and not graphlets.shared_before[u]
        graphlets.shared_before[u] = graphlets.share[u]
    counts[SPLITS] += split
    counts[MERGES] += merged
    trace = decisions.trace
    trace[n, TIME] = totals.counts[NOW]
    trace[n, EVENTS], trace[n, OF_GROUP], trace[n, EXPECTED] = size, g, bursts[MIXED, n]
    trace[n, SHARED], trace[n, NON_SHARED], trace[n, QUERIES], trace[n, CREATED] = plan, nothing, sharing, 0
    return sharing


@inner
def _known(
    n: int,
    g: int,
    size: int,
    bursts: Ints,
    scans: Ints,
    program: HamletProgram,
    decisions: Decisions,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
) -> KnownBurst:
    """What is locally known of a burst."""
    counts, groups, members = totals.counts, program.groups, program.members
    first, classes = groups.class_ptr[g], groups.class_ptr[g + 1] - groups.class_ptr[g]
    before = np.int64(0)
    for c in range(classes):
        decisions.contexts[c] = decisions.reads[c] = 0.0
        decisions.visits[c] = groups.loop[first + c] != NONE
        decisions.separate[c] = not groups.same_loop[first + c]
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        p, c = groups.position[u], groups.class_of[u] - first
        w = members.windows[members.of[p]]
        open_windows = totals.high[w] - totals.low[w] + 1
        decisions.contexts[c] += open_windows
        decisions.reads[c] += open_windows * (program.template.enter_ptr[p + 1] - program.template.enter_ptr[p])
        if decisions.visits[c]:
            decisions.separate[c] |= vertices.last[p] >= counts[OLDEST_VERTEX]
            live = max(counts[STORED] - counts[OLDEST_STORED], counts[VERTICES] - counts[OLDEST_VERTEX])
            before = max(before, live + size // 2)
    graphlets.in_window[g] += size
    return KnownBurst(
        size,
        groups.reference[g] - first,
        decisions.contexts[:classes],
        decisions.reads[:classes],
        scans[MATCHED, n, :classes],
        scans[DIFFERS, n, :classes],
        scans[ALONE, n, :classes],
        bursts[MIXED, n],
        decisions.separate[:classes],
        int(before),
        graphlets.in_window[g],
        counts[SNAPSHOTS] - counts[OLDEST_SNAPSHOT],
        decisions.visits[:classes],
    )
