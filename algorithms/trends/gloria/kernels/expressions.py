"""Expressions over the snapshots of a group: room for them, their sums, and their values (Section 3.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import Cells, begin
from cepbench.algorithms.engine.kernels.cells import clear as empty
from cepbench.algorithms.engine.kernels.compilation import in_python, inlined, inner
from cepbench.algorithms.trends.gloria.kernels.program import GloriaTables
from cepbench.algorithms.trends.gloria.kernels.state import Expressions, GroupState
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels import cells as runs
from cepbench.algorithms.trends.snapshots.kernels.cells import Index
from cepbench.queries.records import Records

add_run, clear_run = inner(in_python(runs.add_run)), inner(in_python(runs.clear_run))
append_run, copy_run = inner(in_python(cells.append_run)), inner(in_python(runs.copy_run))
"""Compiled once each, and not into their callers, of which there are many."""


@inner
def cell_of(group: GroupState, row: Index, snapshot: Index) -> int:
    """The cell of a snapshot in a row of its group."""
    return int(group.base + row * group.room + snapshot - group.shift)


@inner
def time_of(group: GroupState, snapshot: Index, times: Ints) -> int:
    """The time of a snapshot of a group."""
    return int(times[group.times + snapshot - group.shift])


@inner
def same_run(cells: Cells, i: int, j: int, count: Index) -> bool:
    """Whether `count` cells from cell i on are those from cell j on."""
    same = True
    for n in range(count):
        same &= cells.over[i + n] == cells.over[j + n]
        for c in range(cells.ring.shape[1]):
            same &= cells.ring[i + n, c] == cells.ring[j + n, c]
        for c in range(cells.real.shape[1]):
            same &= cells.real[i + n, c] == cells.real[j + n, c]
        for c in range(cells.least.shape[1]):
            same &= cells.least[i + n, c] == cells.least[j + n, c]
    return same


@inner
def first_in(group: GroupState, times: Ints, start: int) -> int:
    """The first snapshot of a group since time `start`, by halving: O(log s)."""
    low, high = group.oldest, group.count
    while low < high:
        middle = (low + high) // 2
        if time_of(group, middle, times) < start:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def new_snapshot(g: int, time: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> int:
    """The number of a further snapshot of group g, in no expression yet; its values are to be set."""
    group = shared.group[g]
    s = group.count
    group.count += 1
    shared.times[group.times + s - group.shift] = time
    for row in range(tables.group[g].fresh, tables.group[g].rows):
        empty(shared.cells, cell_of(group, row, s))
    totals.counts[0].snapshots += 1
    return s


@inner
def snapshot_of_one(g: int, time: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> int:
    """The snapshot of group g that is one trend for each member in each open window: an event that starts trends.

    It is made once between two times at which windows open.
    """
    group, counts = shared.group[g], totals.counts[0]
    if group.one >= group.oldest and time_of(group, group.one, shared.times) >= counts.opened:
        return group.one
    s = new_snapshot(g, time, tables, totals, shared)
    for n in range(tables.group[g].share, tables.group[g].share_end):
        share = tables.share[n]
        w = tables.position[share.place].window
        for k in range(totals.open[w].low, totals.open[w].high + 1):
            cell = cell_of(group, share.value + k % tables.window[w].span, s)
            empty(shared.cells, cell)
            begin(shared.cells, cell)
    group.one = s
    return s


@inlined
def has_room(g: int, more: Index, tables: GloriaTables, shared: Expressions) -> bool:
    """Whether group g has room for `more` snapshots, perhaps in that of those that no window has any more."""
    group = shared.group[g]
    if group.count - group.shift + more <= group.room:
        return True
    live, gone = group.count - group.oldest, group.oldest - group.shift
    if 2 * (live + more) > group.room:
        return False
    for row in range(tables.group[g].rows):
        first = group.base + row * group.room
        copy_run(shared.cells, first, shared.cells, first + gone, live)
    for n in range(live):
        shared.times[group.times + n] = shared.times[group.times + gone + n]
    group.shift = group.oldest
    return True


@inner
def forget_before(g: int, tables: GloriaTables, opened: Records, shared: Expressions) -> None:
    """Drops the snapshots of group g that have left all windows of its members; `opened` as `Totals.open`."""
    group, floor = shared.group[g], np.int64(2**62)
    for n in range(tables.group[g].share, tables.group[g].share_end):
        w = tables.position[tables.share[n].place].window
        floor = min(floor, opened[w].low * tables.window[w].slide)
    while group.oldest < group.count and time_of(group, group.oldest, shared.times) < floor:
        group.oldest += 1
