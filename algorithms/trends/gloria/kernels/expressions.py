"""Expressions over the snapshots of a Q-set: their cells, and their snapshots (Section 3.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import Cells, begin, clear
from cepbench.algorithms.engine.kernels.compilation import in_python, inlined, inner
from cepbench.algorithms.engine.kernels.constants import LATEST
from cepbench.algorithms.trends.gloria.kernels.program import GloriaTables
from cepbench.algorithms.trends.gloria.kernels.state import Expressions, QSetState
from cepbench.algorithms.trends.online.kernels import step
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.cells import Index
from cepbench.queries.records import Records

add_run, clear_run = inner(in_python(cells.add_run)), inner(in_python(cells.clear_run))
append_run, copy_run = inner(in_python(step.append_run)), inner(in_python(cells.copy_run))
"""Compiled once each, and not into their callers, of which there are many."""


@inner
def cell_of(q_set: QSetState, row: Index, snapshot: Index) -> int:
    """The cell of a snapshot in a row of its Q-set."""
    return int(q_set.base + row * q_set.room + snapshot - q_set.shift)


@inner
def time_of(q_set: QSetState, snapshot: Index, times: Ints) -> int:
    """The time of a snapshot of a Q-set."""
    return int(times[q_set.times + snapshot - q_set.shift])


@inner
def same_run(cells: Cells, i: int, j: int, count: Index) -> bool:
    """Whether `count` cells from cell i on are those from cell j on."""
    same = True
    for n in range(count):
        same &= cells.over[i + n] == cells.over[j + n]
        for c in range(cells.ints.shape[1]):
            same &= cells.ints[i + n, c] == cells.ints[j + n, c]
    return same


@inner
def first_in(q_set: QSetState, times: Ints, start: int) -> int:
    """The first snapshot of a Q-set since time `start`, by binary search: O(log s)."""
    low, high = q_set.oldest, q_set.count
    while low < high:
        middle = (low + high) // 2
        if time_of(q_set, middle, times) < start:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def new_snapshot(g: int, time: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> int:
    """Adds a snapshot of Q-set g that is in no expression yet, and returns its number; the caller sets its values."""
    q_set = shared.q_set[g]
    s = q_set.count
    q_set.count += 1
    shared.times[q_set.times + s - q_set.shift] = time
    for row in range(tables.q_set[g].fresh, tables.q_set[g].rows):
        clear(shared.cells, cell_of(q_set, row, s))
    totals.counts[0].snapshots += 1
    return s


@inner
def starting_snapshot(g: int, time: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> int:
    """The snapshot of Q-set g that is one trend for each query in each open window: an event that starts trends.

    It is created once between two times at which windows open.
    """
    q_set, counts = shared.q_set[g], totals.counts[0]
    if q_set.starting >= q_set.oldest and time_of(q_set, q_set.starting, shared.times) >= counts.opened:
        return q_set.starting
    s = new_snapshot(g, time, tables, totals, shared)
    for n in range(tables.q_set[g].sharing_query, tables.q_set[g].sharing_query_end):
        query = tables.sharing_query[n]
        w = tables.position[query.position].window
        for k in range(totals.open[w].low, totals.open[w].high + 1):
            cell = cell_of(q_set, query.value + k % tables.window[w].span, s)
            clear(shared.cells, cell)
            begin(shared.cells, cell)
    q_set.starting = s
    return s


@inlined
def has_room(g: int, needed: Index, tables: GloriaTables, shared: Expressions) -> bool:
    """Whether Q-set g has room for `needed` snapshots, reusing the space of expired snapshots if needed."""
    q_set = shared.q_set[g]
    if q_set.count - q_set.shift + needed <= q_set.room:
        return True
    live, gone = q_set.count - q_set.oldest, q_set.oldest - q_set.shift
    if 2 * (live + needed) > q_set.room:
        return False
    for row in range(tables.q_set[g].rows):
        first = q_set.base + row * q_set.room
        copy_run(shared.cells, first, shared.cells, first + gone, live)
    for n in range(live):
        shared.times[q_set.times + n] = shared.times[q_set.times + gone + n]
    q_set.shift = q_set.oldest
    return True


@inner
def forget_before(g: int, tables: GloriaTables, opened: Records, shared: Expressions) -> None:
    """Drops the snapshots of Q-set g that have left all windows of its queries; `opened` as `Totals.open`."""
    q_set, floor = shared.q_set[g], np.int64(LATEST)
    for n in range(tables.q_set[g].sharing_query, tables.q_set[g].sharing_query_end):
        w = tables.position[tables.sharing_query[n].position].window
        floor = min(floor, opened[w].low * tables.window[w].slide)
    while q_set.oldest < q_set.count and time_of(q_set, q_set.oldest, shared.times) < floor:
        q_set.oldest += 1
