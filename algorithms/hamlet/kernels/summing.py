"""A burst of a position that shares it with nobody, where sums tell what its events extend: COGRA's loop for a burst.

Nothing else of the burst's type comes next to the position, so that what leads to its events does not change within a
burst, but for the position's own trends. Slots are read once, and fed once, for each window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.hamlet.kernels.alone import matches_alone, reach, wait
from cepbench.algorithms.hamlet.kernels.program import HamletProgram
from cepbench.algorithms.hamlet.kernels.state import HamletState
from cepbench.algorithms.kernels.arrays import Flags, Index, Ints
from cepbench.algorithms.kernels.compilation import inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.online.kernels.appending import append
from cepbench.algorithms.snapshots.kernels.cells import add, clear
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
    p: int, first: int, stop: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState
) -> None:
    """Inserts a burst into a graphlet of position p: O(1) per event and window, O(l) per window for l transitions."""
    template, totals, counts = program.template, state.totals, state.totals.counts[0]
    position, cells, weights, most = template.position[p], totals.cells, program.weights, template.whole[0].most
    low, high = totals.open[position.window].low, totals.open[position.window].high
    if low > high:
        return
    span, windows = template.window[position.window].span, high - low + 1
    reach(first, p, low, high, events, template, cells)
    clear(cells, TRENDS * most, windows)
    clear(cells, WAITING * most, windows)
    before = Predecessors(template.sources, template.sources, weights.ring, weights.real, weights.least)
    channels = Channels(weights.ring.column, weights.real.column, weights.least.column, (False, False))
    shown, kind, waits = events.time[first], events.kind[first], False
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if events.time[i] != shown:
            shown = events.time[i]
            if waits:
                for n in range(windows):
                    add(cells, TRENDS * most + n, cells, WAITING * most + n)
                clear(cells, WAITING * most, windows)
            waits = False
        if position.selective and not matches_alone(i, p, events, matches, program):
            continue
        counts.visits += 1
        last = i + 1 < stop and events.time[i + 1] != shown  # no later event has its time
        waits |= not last
        for n in range(windows):
            own = np.uint64((TRENDS if last else WAITING) * most + n)
            final = np.uint64(template.member[position.member].final + (low + n) % span)
            append(
                np.uint64(i), np.uint64(p), cells.ring.dtype.type(0), np.uint64(n), own, own, position.direct, final,
                events, before, channels, cells,
            )  # fmt: skip
    for n in range(windows):
        row = (low + n) % span
        for f in range(position.feed, position.feed_end):
            add(cells, template.slot[template.lists[f]].cell + row, cells, TRENDS * most + n)
        if waits:
            wait(p, row, WAITING * most + n, template, totals)
