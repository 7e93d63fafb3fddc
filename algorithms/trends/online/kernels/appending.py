"""How an event extends the trends of the cells before a position: the algebra of type-grained aggregation.

`reach.sums` applies it window by window, COGRA's panes row by row of a map. Next to no branch depends on the
event, since types follow each other as they like and each wrong guess takes as long as a channel: lists of
predecessors are equally long (`type_tables`), and what does not apply reads an empty cell or adds nothing.

Each caller has `tables` and a `shape` of its own: named tuples with fields of `type_tables.TypeTables` and of `Shape`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Place
from cepbench.algorithms.engine.kernels.cells import ONE, ZERO, Cells, sum_exceeds, weighted
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.trends.online.kernels.type_tables import END, Shape, TypeTables
from cepbench.queries.aggregates import NO_VALUE


@inlined
def first_of(p: np.uint64, tables: TypeTables, shape: Shape) -> np.uint64:
    """Where the list of the predecessors of position p begins."""
    if len(shape.sources) > 0:
        return p * np.uint64(len(shape.sources) + 1)
    return tables.first_source[p]


@inlined
def lasts(e: np.uint64, first: np.uint64, tables: TypeTables, shape: Shape) -> bool:
    """Whether entry e of the list that begins at `first` is one of its predecessors."""
    if len(shape.sources) > 0:
        return bool(e < first + np.uint64(len(shape.sources)))
    return bool(tables.source[e] != END)


@inlined
def append(
    i: Place, p: np.uint64, begun: Any, base: np.uint64, own: np.uint64, held: np.uint64, finishes: bool,
    final: np.uint64, events: KernelEvents, tables: Any, shape: Any, cells: Cells,
) -> None:  # fmt: skip
    """Sets cell `own` to the trends of cell `held` and those that end at event i, bound to position p.

    The latter extend the trends of the cells `base + q` of the positions q before p, and `begun` (0 or 1) more; they
    are added to cell `final`, too, if it `finishes`. Channel by channel in registers: with a cell between them it took
    up to twice as long.

    Algorithm 7 for SEQ(A+, B), where `count` is e.count and cell `own` is A.count or B.count:

        event     a1  a2  b3  a4  b5
        e.count    1   2   3   4   7     Lines 4-5
        A.count    1   3   3   7   7     Line 6
        B.count    0   0   3   3  10     Line 6, and final_count
    """
    first = first_of(p, tables, shape)
    count = begun
    over = ZERO
    e = first
    while lasts(e, first, tables, shape):
        q = base + tables.source[e]
        more = cells.ring[q, 0]
        count += more
        over |= cells.over[q] | np.uint64(sum_exceeds(count, more))
        e += ONE
    many = over & ONE
    found = count != 0 or many != ZERO
    total = cells.ring[held, 0] + count
    kept = cells.over[held] | np.uint64(sum_exceeds(total, count))
    cells.ring[own, 0] = total
    finished = ZERO
    if finishes:
        total = cells.ring[final, 0] + count
        finished = cells.over[final] | np.uint64(sum_exceeds(total, count))
        cells.ring[final, 0] = total
    for c in range(ONE, np.uint64(len(shape.ring))):
        wrapped = False
        reached = cells.ring.dtype.type(0)
        e = first
        while lasts(e, first, tables, shape):
            more = cells.ring[base + tables.source[e], c]
            reached += more
            wrapped |= sum_exceeds(reached, more)
            e += ONE
        more, beyond = weighted(cells, tables.ring.column[c], events.ints, i, count, many)
        bound = tables.ring.bound[c, p]
        more = more if bound else cells.ring.dtype.type(0)
        reached += more
        wrapped |= (bound and beyond) or sum_exceeds(reached, more)
        over |= np.uint64(wrapped) << c
        total = cells.ring[held, c] + reached
        kept |= np.uint64(sum_exceeds(total, reached)) << c
        cells.ring[own, c] = total
        if finishes:
            total = cells.ring[final, c] + reached
            finished |= np.uint64(sum_exceeds(total, reached)) << c
            cells.ring[final, c] = total
    cells.over[own] = over | kept
    if finishes:
        cells.over[final] = over | finished
    for c in range(np.uint64(len(shape.real))):
        real = 0.0
        e = first
        while lasts(e, first, tables, shape):
            real += cells.real[base + tables.source[e], c]
            e += ONE
        value = events.reals[np.uint64(tables.real.column[c]), i] * float(count)
        real += value if found and tables.real.bound[c, p] else 0.0  # no trend times infinity is none
        cells.real[own, c] = cells.real[held, c] + real
        if finishes:
            cells.real[final, c] += real
    for c in range(np.uint64(len(shape.least))):
        key = events.ints[np.uint64(tables.least.column[c]), i]
        least = key if found and tables.least.bound[c, p] else NO_VALUE
        e = first
        while lasts(e, first, tables, shape):
            least = min(least, cells.least[base + tables.source[e], c])
            e += ONE
        cells.least[own, c] = min(cells.least[held, c], least)
        if finishes:
            cells.least[final, c] = min(cells.least[final, c], least)
