"""Non-shared graphlets: each query computes its own aggregates of an event, window by window (Section 3.2).

Where no position of a burst precedes another one, the events at a position extend, of the burst, only events at the
same position. Then each position processes the whole burst before the next one does, and an event whose time stamp ends
with it adds to the sums at once. Where events extend sums only, COGRA's algebra does it (`propagate_sums`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Index, Static
from cepbench.algorithms.engine.kernels.cells import ONE, ZERO
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits
from cepbench.algorithms.trends.hamlet.kernels.program import HamletProgram, TemplateTables, UnitPositionRecord
from cepbench.algorithms.trends.hamlet.kernels.state import HamletState
from cepbench.algorithms.trends.hamlet.kernels.visiting import visit_all
from cepbench.algorithms.trends.online.kernels.appending import Target, append
from cepbench.algorithms.trends.online.kernels.lifecycle import commit, show
from cepbench.algorithms.trends.online.kernels.step import append_run, collect_sums, deliver, first_begun, mark
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.cells import add
from cepbench.queries.records import Records
from cepbench.queries.tables import Weights

WORK_CELLS = 2
"""Cells that follow those of `collect_sums`: the trends that end at one event, where a position feeds no slot or
several; and a cell that stays empty.
"""


class Predecessors(NamedTuple):
    """The sums that the events at each position extend, and its weights, as `online.kernels.appending` reads them."""

    first_source: Index
    source: Index
    sources: Static
    ring: Weights
    real: Weights
    least: Weights


@inlined
def propagate_sums(
    first: int, stop: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState
) -> None:
    """Inserts a burst into a graphlet of each position that does not share it (Equations 1-3).

    An event that is alone at its time feeds slots at once; trends of other events wait until the time moves on. O(l)
    per event and window for l transitions into the position.
    """
    template, totals, counts, weights = program.template, state.totals, state.totals.counts[0], program.weights
    cells, kind, within = totals.cells, events.kind[first], events.time[first] == counts.last
    before = Predecessors(template.first_source, template.source, (), weights.ring, weights.real, weights.least)
    trends, empty = np.uint64(template.whole[0].span), np.uint64(template.whole[0].span) + ONE
    for b in range(template.kind[kind].binding, template.kind[kind].binding_end):
        p = template.lists[b]
        position = template.position[p]
        low, high = totals.open[position.window].low, totals.open[position.window].high
        if low > high or _shares(position, state.graphlets.unit):
            continue
        span = np.uint64(template.window[position.window].span)
        free = first_begun(first, p, events, template, totals)
        oldest = np.uint64(totals.open[position.window].oldest)
        place, final = np.uint64(p), np.uint64(template.member[position.member].final)
        sole, cell, pending = position.feed_end - position.feed == 1, ZERO, ZERO
        if sole:
            slot = template.slot[template.lists[position.feed]]
            cell, pending = np.uint64(slot.cell), np.uint64(slot.pending)
        shown, waits = events.time[first], False
        for i in range(first, stop):
            if events.kind[i] != kind:
                continue
            if events.time[i] != shown:
                shown = events.time[i]
                if waits:
                    _show(p, template, totals)
                waits = False
            if not _matched(i, position, events, matches, template.unit):
                continue
            counts.visits += 1
            at_once = not within and i + 1 < len(events.time) and events.time[i + 1] != shown
            waits |= not at_once
            to, row = cell if at_once else pending, oldest
            for k in range(low, high + 1):
                begun = cells.counts.dtype.type(position.start and k >= free)
                at, held = (to + row, to + row) if sole else (trends, empty)
                target = Target(row, at, held, final + row, position.direct)
                append(np.uint64(i), place, begun, target, events, before, cells)
                if not sole:
                    for f in range(position.feed, position.feed_end):
                        fed = template.slot[template.lists[f]]
                        add(cells, (fed.cell if at_once else fed.pending) + np.int64(row), cells, np.int64(trends))
                row += ONE
                if row == span:
                    row = np.uint64(0)
        if waits:
            mark(p, template, totals)


@inner
def propagate_alone(
    first: int, stop: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState
) -> None:
    """Inserts a burst into a graphlet of each position that does not share it (Equations 1-3).

    O(l) per event and window for l transitions into its position, whose sums are kept; O(n) for one that is visited.
    Each of several independent positions processes the whole burst before the next one does: the events that an event
    visits are in the cache since the event before visited them.
    """
    template, totals, counts = program.template, state.totals, state.totals.counts[0]
    kind, within = template.kind[events.kind[first]], events.time[first] == counts.last
    together = 1 if kind.independent else kind.binding_end - kind.binding
    for begin in range(kind.binding, kind.binding_end, together):
        shown, waits = events.time[first], False
        for i in range(first, stop):
            if events.kind[i] != events.kind[first]:
                continue
            if events.time[i] > shown:
                shown = events.time[i]
                if not kind.independent:
                    commit(events.negated[i], template, totals)
                elif waits:
                    _show(template.lists[begin], template, totals)
                waits = False
            at_once = kind.independent and not within and i + 1 < len(events.time) and events.time[i + 1] != shown
            waits |= not at_once
            for b in range(begin, begin + together):
                p = template.lists[b]
                position = template.position[p]
                low, high = totals.open[position.window].low, totals.open[position.window].high
                if low > high or _shares(position, state.graphlets.unit):
                    continue
                if not _matched(i, position, events, matches, template.unit):
                    continue
                counts.visits += 1
                collect_sums(i, p, 0, False, events, template, totals)
                for e in range(position.enter, position.enter_end):
                    if template.transition[e].visited:
                        visit_all(i, e, events, program, state)
                append_run(i, p, totals.cells, 0, high - low + 1, events, program.weights)
                deliver(i, p, 0, at_once, events, template, state)


@inlined
def _show(p: int, template: TemplateTables, totals: Totals) -> None:
    """Lets later events see the trends that end at a position."""
    for f in range(template.position[p].feed, template.position[p].feed_end):
        show(template.lists[f], template, totals)


@inlined
def _shares(position: UnitPositionRecord, sharing: Records) -> bool:
    """Whether a position shares the current burst."""
    return bool(position.unit != NONE and sharing[position.unit].now)


@inlined
def _matched(i: int, position: UnitPositionRecord, events: KernelEvents, matches: Flags, unit: Records) -> bool:
    """Whether event i passes the condition of a position; `matches` has the result for the class of a unit."""
    if position.unit != NONE:
        tested: bool = matches[i, unit[position.unit].predicate_class]
        return tested
    return fits(position.condition, i, events)
