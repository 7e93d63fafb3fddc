"""The trends that end at an event, from the cells of the positions before its own: the algebra of Algorithm 7.

`sums` applies it window by window, COGRA's panes row by row of a map. It is almost free of branches: event types
are unpredictable, and a misprediction costs as much as a channel. So lists of predecessors are equally long
(`type_tables`), and where nothing applies, an empty cell is read or 0 is added.

Each caller has its own `tables`: a named tuple with some fields of `type_tables.TypeTables`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Place, number
from cepbench.algorithms.engine.kernels.cells import ONE, ZERO, Cells, sum_exceeds, weighted
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import END
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.trends.online.kernels.type_tables import TypeTables
from cepbench.queries.aggregates import NO_VALUE


class Target(NamedTuple):
    """The cells that an event at a position reads and sets.

    Cell `at` becomes cell `held` with the trends that end at the event, which extend the trends of the cells `base + q`
    of the positions q before. They are added to cell `final`, too, if the position `finishes` trends.
    """

    base: np.uint64
    at: np.uint64
    held: np.uint64
    final: np.uint64
    finishes: bool


@inlined
def first_of(p: np.uint64, tables: TypeTables) -> np.uint64:
    """The first entry of the list of the predecessors of position p."""
    if tables.sources:
        return p * np.uint64(len(tables.sources) + 1)
    return tables.first_source[p]


@inlined
def is_source(e: np.uint64, first: np.uint64, tables: TypeTables) -> bool:
    """Whether entry e of the list that begins at `first` is one of its predecessors."""
    if tables.sources:
        return bool(e < first + np.uint64(len(tables.sources)))
    return bool(tables.source[e] != END)


@inlined
def append(i: Place, p: np.uint64, begun: Any, to: Target, events: KernelEvents, tables: Any, cells: Cells) -> None:
    """Adds the trends that end at event i, bound to position p: they extend the trends of the positions before it, and
    `begun` (0 or 1) more.

    It goes channel by channel in registers: with a cell between them it took up to twice as long.

    Algorithm 7 for SEQ(A+, B), where `count` is e.count and cell `at` is A.count or B.count:

        event     a1  a2  b3  a4  b5
        e.count    1   2   3   4   7     Lines 4-5
        A.count    1   3   3   7   7     Line 6
        B.count    0   0   3   3  10     Line 6, and final_count
    """
    base, at, held, final = to.base, to.at, to.held, to.final
    first = first_of(p, tables)
    count = begun
    over = ZERO
    e = first
    while is_source(e, first, tables):
        q = base + tables.source[e]
        addend = cells.counts[q, 0]
        count += addend
        over |= cells.over[q] | np.uint64(sum_exceeds(count, addend))
        e += ONE
    count_over = over & ONE
    extends = count != 0 or count_over != ZERO
    total = cells.counts[held, 0] + count
    total_over = cells.over[held] | np.uint64(sum_exceeds(total, count))
    cells.counts[at, 0] = total
    final_over = ZERO
    if to.finishes:
        total = cells.counts[final, 0] + count
        final_over = cells.over[final] | np.uint64(sum_exceeds(total, count))
        cells.counts[final, 0] = total
    for c in range(ONE, number(cells.words.real)):
        wrapped = False
        summed = cells.counts.dtype.type(0)
        e = first
        while is_source(e, first, tables):
            addend = cells.counts[base + tables.source[e], c]
            summed += addend
            wrapped |= sum_exceeds(summed, addend)
            e += ONE
        addend, beyond = weighted(cells, tables.ring.column[c], events.ints, i, count, count_over)
        bound = tables.ring.bound[c, p]
        addend = addend if bound else cells.counts.dtype.type(0)
        summed += addend
        wrapped |= (bound and beyond) or sum_exceeds(summed, addend)
        over |= np.uint64(wrapped) << c
        total = cells.counts[held, c] + summed
        total_over |= np.uint64(sum_exceeds(total, summed)) << c
        cells.counts[at, c] = total
        if to.finishes:
            total = cells.counts[final, c] + summed
            final_over |= np.uint64(sum_exceeds(total, summed)) << c
            cells.counts[final, c] = total
    cells.over[at] = over | total_over
    if to.finishes:
        cells.over[final] = over | final_over
    for c in range(number(cells.words.real), number(cells.words.least)):
        n = c - number(cells.words.real)
        real = 0.0
        e = first
        while is_source(e, first, tables):
            real += cells.reals[base + tables.source[e], c]
            e += ONE
        value = events.reals[np.uint64(tables.real.column[n]), i] * float(count)
        real += value if extends and tables.real.bound[n, p] else 0.0  # zero trends add nothing, not even 0 * inf
        cells.reals[at, c] = cells.reals[held, c] + real
        if to.finishes:
            cells.reals[final, c] += real
    for c in range(number(cells.words.least), number(cells.words.end)):
        n = c - number(cells.words.least)
        key = events.ints[np.uint64(tables.least.column[n]), i]
        least = key if extends and tables.least.bound[n, p] else NO_VALUE
        e = first
        while is_source(e, first, tables):
            least = min(least, cells.ints[base + tables.source[e], c])
            e += ONE
        cells.ints[at, c] = min(cells.ints[held, c], least)
        if to.finishes:
            cells.ints[final, c] = min(cells.ints[final, c], least)
