"""An event at a position that a member has alone: what it extends, and what reads it later (docs/semantics.md)."""

from __future__ import annotations

from cepbench.algorithms.kernels.cells import begin, is_empty
from cepbench.algorithms.kernels.clock import row_of
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.algorithms.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.kernels.negation import first_free, latest_start
from cepbench.algorithms.online.kernels.store import Graph
from cepbench.algorithms.snapshots.kernels.cells import Index, add, clear
from cepbench.algorithms.snapshots.kernels.template import SetTotals, Template
from cepbench.algorithms.snapshots.kernels.vertices import keep_own


@inlined
def reach(
    i: int, p: int, at: int, low: int, high: int, events: KernelEvents, template: Template, totals: SetTotals
) -> None:
    """Sets cell `at + k - low` to the trends in window k that event i starts at a position, or extends, by sums.

    O(l) per window for l transitions into the position.
    """
    position, cells = template.position[p], totals.cells
    span = template.window[position.window].span
    oldest = low % span
    for j in range(high - low + 1):
        clear(cells, at + j)
    if position.start:
        for k in range(first_begun(i, p, low, high, events, template), high + 1):
            begin(cells, at + k - low)
    for e in range(position.enter, position.enter_end):
        if not template.transition[e].visited:
            base = template.slot[template.transition[e].read].cell
            for k in range(low, high + 1):
                add(cells, at + k - low, cells, base + row_of(k, low, oldest, span))


@inlined
def first_begun(i: int, p: int, low: int, high: int, events: KernelEvents, template: Template) -> int:
    """The lowest window in low..high+1 that holds no earlier match of a leading negation of START position p."""
    position = template.position[p]
    latest = latest_start(events.negated[i], template.lists, position.leading, position.leading_end)
    return first_free(low, high, template.window[position.window].slide, latest)


@inlined
def deliver(
    i: int, p: int, at: int, low: int, high: int, at_once: bool, events: KernelEvents, template: Template,
    totals: SetTotals, graph: Graph,
) -> None:  # fmt: skip
    """Adds the trends that end with event i at a position, cell `at + k - low` for window k, to what windows keep, and
    keeps the event if it is visited later. `at_once` if no other event has its time.
    """
    position, cells = template.position[p], totals.cells
    span, found = template.window[position.window].span, False
    oldest = low % span
    for k in range(low, high + 1):
        if not is_empty(cells, at + k - low):
            found = True
            feed(p, row_of(k, low, oldest, span), at + k - low, at_once, template, totals)
    if found and not at_once:
        mark(p, template, totals)
    if found and position.kept:
        kept = keep_own(events.time[i], p, at, low, high, template, totals, graph)
        keep_columns(i, events, graph.ints, graph.reals, kept)


@inlined
def feed(p: int, row: int, j: Index, at_once: bool, template: Template, totals: SetTotals) -> None:
    """Adds cell j, trends that end at a position, to what the windows of a row keep.

    Unless `at_once`, what slots get of it waits until the time moves on: the caller has to `mark` them.
    """
    position, cells = template.position[p], totals.cells
    for n in range(position.feed, position.feed_end):
        slot = template.slot[template.lists[n]]
        add(cells, (slot.cell if at_once else slot.pending) + row, cells, j)
    if position.direct:
        add(cells, template.member[position.member].final + row, cells, j)


@inlined
def mark(p: int, template: Template, totals: SetTotals) -> None:
    """Notes that slots of a position have pending cells."""
    counts = totals.counts[0]
    for n in range(template.position[p].feed, template.position[p].feed_end):
        s = template.lists[n]
        if not totals.pending[s].marked:
            totals.pending[s].marked = True
            totals.pending[counts.touched].touched = s
            counts.touched += 1
