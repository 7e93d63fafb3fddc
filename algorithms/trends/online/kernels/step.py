"""An event at a position: the trends that it extends, and the sums that it adds to (docs/semantics.md, rules 2-5).

Only events of later times read what an event adds. If no event of the same time that could read it follows, it is added
`at_once`; otherwise it waits until the time moves on.

A step is `collect_sums` and visits of events that are kept (`visits`), then `append_run`, then `deliver`.
"""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.cells import Cells, Weighing, add, begin, clear, extend, is_empty
from cepbench.algorithms.engine.kernels.clock import row_of
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import NEXT
from cepbench.algorithms.engine.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.engine.kernels.negation import first_free, latest_start
from cepbench.algorithms.trends.online.kernels.store import State, keep_vertex
from cepbench.algorithms.trends.online.kernels.template import Template, Totals


@inlined
def collect_sums(
    i: int, p: int, at: int, at_once: bool, events: KernelEvents, template: Template, totals: Totals
) -> None:
    """Sets cell `at + k - low` to the trends in window k, of the open ones from `low` on, that event i starts at a
    position, or extends, by sums.

    O(l) per window for l transitions into the position. Under skip-till-next-match it empties the slots that it
    reads: at once if `at_once`, since then no other position reads them at this time.
    """
    position, cells = template.position[p], totals.cells
    kind = totals.open[position.window]
    low, high, oldest = kind.low, kind.high, kind.oldest
    span, semantics = template.window[position.window].span, template.whole[0].semantics
    for j in range(high - low + 1):
        clear(cells, at + j)
    if position.start:
        for k in range(first_begun(i, p, events, template, totals), high + 1):
            begin(cells, at + k - low)
    for e in range(position.enter, position.enter_end):
        if template.transition[e].visited:
            continue
        s = template.transition[e].read
        base = template.slot[s].cell
        if semantics == NEXT and len(totals.seen) == 0 and is_empty(cells, base + oldest):
            continue  # a trend of a later window is one of the oldest, too, unless leading negations forbid that
        for k in range(low, high + 1):
            row = base + row_of(k, low, oldest, span)
            add(cells, at + k - low, cells, row)
            if semantics == NEXT and at_once:
                clear(cells, row)
        if semantics == NEXT and not at_once:
            totals.pending[s].consumed = True


@inlined
def first_begun(i: int, p: int, events: KernelEvents, template: Template, totals: Totals) -> int:
    """The lowest open window, or the next one, without an earlier match of a leading negation of START position p."""
    position = template.position[p]
    opened = totals.open[position.window]
    latest = latest_start(events.negated[i], template.lists, position.leading, position.leading_end)
    return first_free(opened.low, opened.high, template.window[position.window].slide, latest)


@inlined
def append_run(i: int, p: int, cells: Cells, first: int, count: int, events: KernelEvents, weights: Weighing) -> None:
    """Appends event i, bound to position p, to the trends of `count` cells from cell `first` on."""
    for n in range(first, first + count):
        if not is_empty(cells, n):
            extend(cells, n, weights, p, events.ints, events.reals, i)


@inlined
def deliver(i: int, p: int, at: int, at_once: bool, events: KernelEvents, template: Template, state: State) -> None:
    """Adds the trends that end with event i at a position, cell `at + k - low` for window k, to slots and finished
    trends, and keeps the event if it is visited later.
    """
    position, totals, cells = template.position[p], state.totals, state.totals.cells
    kind = totals.open[position.window]
    low, high, oldest = kind.low, kind.high, kind.oldest
    span, in_trend = template.window[position.window].span, False
    for k in range(low, high + 1):
        if not is_empty(cells, at + k - low):
            in_trend = True
            feed(p, row_of(k, low, oldest, span), at + k - low, at_once, template, totals)
    if in_trend and not at_once:
        mark(p, template, totals)
    if in_trend and position.kept:
        kept = keep_vertex(events.time[i], p, high, at, template, state)
        keep_columns(i, events, state.graph.ints, state.graph.reals, kept)


@inlined
def feed(p: int, row: int, j: int, at_once: bool, template: Template, totals: Totals) -> None:
    """Adds cell j, trends that end at a position, to slots and finished trends in a row.

    Unless `at_once`, it is added to the pending cells of slots, which the caller has to `mark`.
    """
    position, cells = template.position[p], totals.cells
    for n in range(position.feed, position.feed_end):
        slot = template.slot[template.lists[n]]
        add(cells, (slot.cell if at_once else slot.pending) + row, cells, j)
    if position.direct:
        add(cells, template.member[position.member].final + row, cells, j)


@inlined
def mark(p: int, template: Template, totals: Totals) -> None:
    """Notes that slots of a position have pending cells."""
    counts = totals.counts[0]
    for n in range(template.position[p].feed, template.position[p].feed_end):
        s = template.lists[n]
        if not totals.pending[s].marked:
            totals.pending[s].marked = True
            totals.pending[counts.touched].touched = s
            counts.touched += 1
