"""Ends of time stamps, and ends and beginnings of windows, of a set of queries (docs/semantics.md, rules 2-6).

Events of one time stamp never precede one another. So the trends that end at them wait in `pending` cells until the
time moves on, unless no later event of that time could read them (`step`).
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import add, clear, copy, is_empty
from cepbench.algorithms.engine.kernels.clock import has_ended, next_boundary, opened, row_of
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.engine.kernels.constants import ANY, CONTIGUOUS, LATEST
from cepbench.algorithms.engine.kernels.negation import latest_start
from cepbench.algorithms.trends.online.kernels.store import State, add_window
from cepbench.algorithms.trends.online.kernels.template import MemberRows, Template, Totals
from cepbench.queries.records import Records


@inlined
def void(negated: Ints, template: Template, totals: Totals) -> None:
    """Empties the slots whose trends new matches of negations forbid; `negated[J]`: a row of `KernelEvents.negated`."""
    for j in range(len(negated)):
        if negated[j] > totals.seen[j]:
            totals.seen[j] = negated[j]
            for n in range(template.negation[j].void, template.negation[j].void_end):
                empty(template.lists[n], template, totals)


@inlined
def empty(s: int, template: Template, totals: Totals) -> None:
    """Empties a slot, in all windows."""
    slot = template.slot[s]
    span, kind = template.window[slot.window].span, totals.open[slot.window]
    first, low, oldest = slot.cell, kind.low, kind.oldest
    for k in range(low, kind.high + 1):
        clear(totals.cells, first + row_of(k, low, oldest, span))


@inlined
def commit(negated: Ints, template: Template, totals: Totals) -> None:
    """Ends the current time: empties slots whose trends negated events forbid, or that its events extended (next) or
    passed by (contiguous); then shows later events the trends that ended at it.
    """
    counts, semantics = totals.counts[0], template.whole[0].semantics
    void(negated, template, totals)
    if semantics != ANY:
        passed = semantics == CONTIGUOUS and counts.occupied
        for s in range(len(template.slot)):
            if totals.pending[s].consumed or (passed and not template.slot[s].late):
                empty(s, template, totals)
                totals.pending[s].consumed = False
    for n in range(counts.touched):
        s = totals.pending[n].touched
        totals.pending[s].marked = False
        show(s, template, totals)
    counts.touched = 0


@inlined
def show(s: int, template: Template, totals: Totals) -> None:
    """Shows later events the pending trends of a slot."""
    slot, cells = template.slot[s], totals.cells
    span, kind = template.window[slot.window].span, totals.open[slot.window]
    first, pending, low, oldest = slot.cell, slot.pending, kind.low, kind.oldest
    for k in range(low, kind.high + 1):
        row = row_of(k, low, oldest, span)
        add(cells, first + row, cells, pending + row)
        clear(cells, pending + row)


@inner
def next_edge(time: int, window: Records) -> int:
    """The first time after `time` at which a window begins or ends."""
    edge = LATEST
    for w in range(len(window)):
        low, high = opened(int(np.int64(0)), int(np.int64(-1)), time, window[w])  # compiled anew for literals
        edge = min(edge, next_boundary(low, high, window[w]))
    return edge


@inner
def any_ends(now: int, window: Records, kinds: Records) -> bool:
    """Whether some window ends by `now`; `kinds` as `Totals.open`."""
    ends = False
    for w in range(len(window)):
        ends |= has_ended(kinds[w].low, kinds[w].high, now, window[w])
    return ends


@inlined
def close_windows(now: int, negated: Ints, template: Template, state: State, rows: MemberRows, size: int) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window.
    """
    for w in range(len(state.totals.open)):
        window, kind = template.window[w], state.totals.open[w]
        while has_ended(kind.low, kind.high, now, window):
            for n in range(window.member, window.member_end):
                size = close_member(template.lists[n], kind.low, negated, template, state, rows, size)
            kind.low += 1
        kind.oldest = kind.low % window.span
    return size


@inlined
def open_windows(now: int, template: Template, totals: Totals) -> bool:
    """Opens the windows of an event at `now`, once those that end by then are closed; returns whether any opens."""
    any_opens = False
    for w in range(len(totals.open)):
        kind, high = totals.open[w], totals.open[w].high
        kind.low, kind.high = opened(kind.low, high, now, template.window[w])
        kind.oldest = kind.low % template.window[w].span
        any_opens |= kind.high > high
    totals.counts[0].edge = next_edge(now, template.window)
    return any_opens


@inner
def close_member(m: int, k: int, negated: Ints, template: Template, state: State, rows: MemberRows, size: int) -> int:
    """Writes the row of a member's window k, if it has a trend, and clears the window; returns the number of rows."""
    member, cells = template.member[m], state.totals.cells
    row = k % template.window[member.window].span
    final = member.final + row
    for n in range(member.late, member.late_end):
        add(cells, final, cells, template.slot[template.lists[n]].cell + row)
    for n in range(
        member.late_position, member.late_position_end
    ):  # END events that no trailing negated sequence invalidates
        position = template.position[template.lists[n]]
        floor = latest_start(negated, template.lists, position.trailing, position.trailing_end)
        add_window(template.lists[n], k, floor, template.whole[0].span, cells, final, state.graph)
    if not is_empty(cells, final):
        rows.member[size], rows.window[size] = m, k
        copy(rows.cells, size, cells, final)
        size += 1
    clear(cells, final)
    for s in range(member.slot, member.slot_end):
        clear(cells, template.slot[s].cell + row)
    return size


@inlined
def note_size(
    size: int, events: int, aggregates: int, snapshots: int | np.int64, template: Template, totals: Totals
) -> None:
    """Notes the state if it is the largest since the last report: `size` bytes, and parts, besides the open windows."""
    windows, counts = np.int64(0), totals.counts[0]
    for w in range(len(totals.open)):
        windows += (totals.open[w].high - totals.open[w].low + 1) * template.window[w].bytes
    if windows + size > counts.peak:
        counts.peak, counts.peak_events, counts.peak_snapshots = windows + size, events, snapshots
        counts.peak_aggregates = aggregates + windows // template.whole[0].cell_bytes
