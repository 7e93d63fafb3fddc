"""Expressions over the snapshots of a group: room for them, their sums, and their values (Section 3.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.gloria.kernels.program import GloriaTables, QSetRecord
from cepbench.algorithms.gloria.kernels.state import Expressions, GroupState
from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.cells import Cells, begin, is_empty
from cepbench.algorithms.kernels.cells import add as unite
from cepbench.algorithms.kernels.cells import clear as empty
from cepbench.algorithms.kernels.cells import copy as put
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.snapshots.kernels.cells import Index, Weighing, append
from cepbench.algorithms.snapshots.kernels.template import SetTotals
from cepbench.queries.records import Records

FIRST_ROOM = 8
"""Snapshots that a group has room for at first."""


@inner
def cell_of(group: GroupState, row: Index, snapshot: Index) -> int:
    """The cell of a snapshot in a row of its group."""
    return int(group.base + row * group.room + snapshot - group.shift)


@inner
def add_run(cells: Cells, i: int, j: int, count: Index) -> None:
    """Adds `count` cells from cell j on to those from cell i on."""
    for n in range(count):
        unite(cells, i + n, cells, j + n)


@inner
def copy_run(cells: Cells, i: int, other: Cells, j: int, count: Index) -> None:
    """Sets `count` cells from cell i on to those of `other` from cell j on."""
    for n in range(count):
        put(cells, i + n, other, j + n)


@inner
def clear_run(cells: Cells, i: int, count: Index) -> None:
    """Makes `count` cells those of no trend, from cell i on."""
    for n in range(i, i + count):
        empty(cells, n)


@inner
def append_run(
    cells: Cells, i: int, count: Index, weights: Weighing, s: int, ints: Ints, reals: Reals, event: int
) -> None:
    """Appends an event of state s to the trends of `count` cells from cell i on; those of none stay so."""
    for n in range(i, i + count):
        if not is_empty(cells, n):
            append(cells, n, weights, s, ints, reals, event)


@inner
def first_in(group: GroupState, times: Ints, start: int) -> int:
    """The first snapshot of a group since time `start`, by halving: O(log s)."""
    low, high = group.oldest, group.count
    while low < high:
        middle = (low + high) // 2
        if times[group.times + middle - group.shift] < start:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def new_snapshot(g: int, time: int, tables: GloriaTables, totals: SetTotals, shared: Expressions) -> int:
    """The number of a further snapshot of group g, in no expression yet; its values are to be set."""
    group, known = shared.group[g], tables.group[g]
    s = group.count
    group.count += 1
    shared.times[group.times + s - group.shift] = time
    for n in range(known.fresh, known.fresh_end):
        empty(shared.cells, cell_of(group, tables.lists[n], s))
    totals.counts[0].snapshots += 1
    return s


@inner
def snapshot_of_one(g: int, time: int, tables: GloriaTables, totals: SetTotals, shared: Expressions) -> int:
    """The snapshot of group g that is one trend for each member in each open window: an event that starts trends.

    It is made once between two times at which windows open.
    """
    group, known, counts = shared.group[g], tables.group[g], totals.counts[0]
    if group.one >= group.oldest and group.opened == counts.opened:
        return group.one
    s = new_snapshot(g, time, tables, totals, shared)
    for n in range(known.context, known.context_end):
        context = tables.context[n]
        span = tables.window[context.window].span
        for k in range(totals.open[context.window].low, totals.open[context.window].high + 1):
            cell = cell_of(group, context.value + k % span, s)
            empty(shared.cells, cell)
            begin(shared.cells, cell)
    group.one, group.opened = s, counts.opened
    return s


@inner
def make_room(g: int, more: Index, tables: GloriaTables, totals: SetTotals, shared: Expressions) -> bool:
    """Makes room for `more` snapshots of group g; False if the caller has to widen the arrays first.

    Snapshots that no window has any more make room for new ones; a group that has too many moves behind all others.
    """
    group, known, counts = shared.group[g], tables.group[g], totals.counts[0]
    live = group.count - group.oldest
    if group.count - group.shift + more <= group.room:
        return True
    if 2 * (live + more) <= group.room:
        _move(group, known, group.base, group.room, group.times, live, shared)
        return True
    room = max(2 * group.room, 2 * (live + more), FIRST_ROOM)
    counts.more_cells, counts.more_times = known.rows * room, room
    if counts.used_cells + counts.more_cells > len(shared.cells.over):
        return False
    if counts.used_times + room > len(shared.times):
        return False
    base, times = counts.used_cells, counts.used_times
    counts.used_cells += known.rows * room
    counts.used_times += room
    _move(group, known, base, room, times, live, shared)
    return True


@inlined
def _move(
    group: GroupState, known: QSetRecord, base: int, room: int, times: int, live: int, shared: Expressions
) -> None:
    """Moves the live snapshots of a group to the begin of its rows, or of rows elsewhere."""
    first = group.oldest - group.shift
    for row in range(known.rows):
        copy_run(shared.cells, base + row * room, shared.cells, group.base + row * group.room + first, live)
    for n in range(live):
        shared.times[times + n] = shared.times[group.times + first + n]
    group.base, group.room, group.times, group.shift = base, room, times, group.oldest


@inner
def forget_before(group: GroupState, known: QSetRecord, tables: GloriaTables, opened: Records, times: Ints) -> None:
    """Drops the snapshots of a group that have left all windows of its members; `opened` as `SetTotals.open`."""
    floor = np.int64(2**62)
    for n in range(known.window, known.window_end):
        w = tables.lists[n]
        floor = min(floor, opened[w].low * tables.window[w].slide)
    while group.oldest < group.count and times[group.times + group.oldest - group.shift] < floor:
        group.oldest += 1
