"""A burst that a position does not share, where its events extend sums: COGRA's loop, once per burst.

No other position of the burst's type precedes this one, so within a burst only the position's own trends change what
its events extend. Slots are read once, and fed once, for each window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.hamlet.kernels.alone import matches_alone
from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import HamletState
from cepbench.algorithms.kernels.arrays import Flags, Index, Ints
from cepbench.algorithms.kernels.cells import ONE, counts_only
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.online.kernels.appending import append
from cepbench.algorithms.snapshots.kernels.alone import reach, wait
from cepbench.algorithms.snapshots.kernels.counts import add_cell, clear_cell
from cepbench.queries.tables import Weights

TRENDS, WAITING, NOTHING, ROWS = 1, 2, 3, 4
"""Rows of a cell per window: in row 0 the trends that the burst's first event extends; then those that end at its
events before the current time, and at it; and one that stays empty."""


class Predecessors(NamedTuple):
    """What an event extends, and the weights of its position, as `online.kernels.appending` reads them."""

    first_source: Index
    source: Index
    ring: Weights
    real: Weights
    least: Weights


class Channels(NamedTuple):
    """Numbers of channels, and of predecessors, as lengths."""

    ring: Ints
    real: Ints
    least: Ints
    sources: tuple[bool, bool]


@inner
def propagate_sums(
    first: int, stop: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState
) -> None:
    """Inserts a burst into a graphlet of each position that does not share it (Equations 1-3).

    O(1) per event and window, and O(l) per window for l transitions into the position.
    """
    template = program.template
    bound = template.kind[events.kind[first]]
    for b in range(bound.binding, bound.binding_end):
        unit = template.position[template.lists[b]].unit
        if unit == NONE or not state.graphlets.unit[unit].now:
            _propagate(template.lists[b], first, stop, events, matches, program, state)


@inlined
def _propagate(
    p: int, first: int, stop: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState
) -> None:
    """Inserts a burst into a graphlet of position p."""
    template, totals, counts = program.template, state.totals, state.totals.counts[0]
    position, cells, weights, most = template.position[p], totals.cells, program.weights, template.whole[0].most
    low, high = totals.open[position.window].low, totals.open[position.window].high
    if low > high:
        return
    span, windows, only = template.window[position.window].span, high - low + 1, counts_only(cells)
    reach(first, p, 0, low, high, events, template, totals, only)
    for n in range(windows):
        clear_cell(cells, TRENDS * most + n, only)
        clear_cell(cells, WAITING * most + n, only)
    before = Predecessors(template.sources, template.sources, weights.ring, weights.real, weights.least)
    channels = Channels(weights.ring.column, weights.real.column, weights.least.column, (False, False))
    shown, kind, waits = events.time[first], events.kind[first], False
    place, nothing = np.uint64(p), cells.ring.dtype.type(0)
    finals, oldest = np.uint64(template.member[position.member].final), np.uint64(low % span)
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if events.time[i] != shown:
            shown = events.time[i]
            if waits:
                for n in range(windows):
                    add_cell(cells, TRENDS * most + n, cells, WAITING * most + n, only)
                    clear_cell(cells, WAITING * most + n, only)
            waits = False
        if position.selective and not matches_alone(i, p, events, matches, program):
            continue
        counts.visits += 1
        last = i + 1 < stop and events.time[i + 1] != shown  # no later event has its time
        waits |= not last
        row = np.uint64((TRENDS if last else WAITING) * most)
        final = finals + oldest
        for n in range(windows):
            at = np.uint64(n)
            append(
                np.uint64(i), place, nothing, at, row + at, row + at, position.direct, final, events, before, channels,
                cells,
            )  # fmt: skip
            final += ONE
            if final == finals + np.uint64(span):
                final = finals
    for n in range(windows):
        row = (low + n) % span
        for f in range(position.feed, position.feed_end):
            add_cell(cells, template.slot[template.lists[f]].cell + row, cells, TRENDS * most + n, only)
        if waits:
            wait(p, row, WAITING * most + n, template, totals, only)
