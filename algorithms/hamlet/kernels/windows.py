"""Time stamps end, windows close and open (Section 3.1; docs/semantics.md, rules 2, 5 and 6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.hamlet.kernels.cells import add, clear, copy, is_empty
from cepbench.algorithms.hamlet.kernels.program import HamletProgram
from cepbench.algorithms.hamlet.kernels.state import (
    GRAPHLETS,
    NOW,
    OLDEST_GRAPHLET,
    OLDEST_SNAPSHOT,
    OLDEST_STORED,
    OLDEST_VERTEX,
    PEAK,
    PEAK_BUFFERED,
    PEAK_SNAPSHOTS,
    PEAK_STORED,
    PEAK_VERTICES,
    PEAK_WINDOWS,
    SNAPSHOTS,
    STORED,
    TOUCHED,
    VERTICES,
    GraphletStore,
    Totals,
    Vertices,
)
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.kernels.cells import add as unite
from cepbench.algorithms.kernels.cells import clear as empty
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel


class MemberRows(NamedTuple):
    """Rows of closed windows: `member[N]`, `window[N]` and a cell each."""

    member: Ints
    window: Ints
    cells: Cells


class Sizes(NamedTuple):
    """Bytes of an open window of each kind, `windows[W]`; of things, `each[4]`: a vertex, an event of a shared
    graphlet without coefficients, a cell, and a buffered event; contexts of a snapshot, `contexts[0]`.
    """

    windows: Ints
    each: Ints
    contexts: Ints


@kernel
def note_state(buffered: int, sizes: Sizes, totals: Totals) -> None:
    """Notes the state if it is the largest since it was told."""
    counts = totals.counts
    windows = np.int64(0)
    for w in range(len(totals.low)):
        windows += (totals.high[w] - totals.low[w] + 1) * sizes.windows[w]
    vertices = counts[VERTICES] - counts[OLDEST_VERTEX]
    stored, snapshots = counts[STORED] - counts[OLDEST_STORED], counts[SNAPSHOTS] - counts[OLDEST_SNAPSHOT]
    size = windows + vertices * sizes.each[0] + buffered * sizes.each[3]
    size += stored * (sizes.each[1] + snapshots * sizes.each[2]) + snapshots * sizes.contexts[0] * sizes.each[2]
    if size > counts[PEAK]:
        counts[PEAK], counts[PEAK_WINDOWS], counts[PEAK_VERTICES] = size, windows, vertices
        counts[PEAK_STORED], counts[PEAK_SNAPSHOTS], counts[PEAK_BUFFERED] = stored, snapshots, buffered


@inlined
def commit(negated: Ints, program: HamletProgram, totals: Totals) -> None:
    """Lets later events see the trends that ended at the current time, and empties what negated events forbid.

    `negated[J]`: as a row of `KernelEvents.negated`.
    """
    members, places = program.members, program.places
    for j in range(len(negated)):
        if negated[j] > totals.seen[j]:
            totals.seen[j] = negated[j]
            for at in range(places.void_ptr[j], places.void_ptr[j + 1]):
                slot = places.void[at]
                w = members.windows[members.slot_member[slot]]
                for k in range(totals.low[w], totals.high[w] + 1):
                    empty(totals.cells, members.slot_base[slot] + k % members.span[w])
    for t in range(totals.counts[TOUCHED]):
        slot = totals.touched[t]
        totals.marked[slot] = False
        w = members.windows[members.slot_member[slot]]
        for k in range(totals.low[w], totals.high[w] + 1):
            at = members.slot_base[slot] + k % members.span[w]
            unite(totals.cells, at, totals.pending, at)
            empty(totals.pending, at)
    totals.counts[TOUCHED] = 0


@kernel
def close_until(
    now: int,
    negated: Ints,
    program: HamletProgram,
    sizes: Sizes,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
    rows: MemberRows,
    size: int,
) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window.
    """
    members = program.members
    due = False
    for w in range(len(totals.low)):
        end = totals.low[w] * members.slide[w] + members.within[w]
        due |= totals.low[w] <= totals.high[w] and end <= now
    if not due:
        return size
    note_state(0, sizes, totals)
    if now > totals.counts[NOW]:
        commit(negated, program, totals)
        totals.counts[NOW] = now
    for w in range(len(totals.low)):
        while totals.low[w] <= totals.high[w] and totals.low[w] * members.slide[w] + members.within[w] <= now:
            k = totals.low[w]
            for at in range(members.kind_ptr[w], members.kind_ptr[w + 1]):
                size = _close(members.kind[at], k, k % members.span[w], negated, program, totals, vertices, rows, size)
            totals.low[w] += 1
            if w == members.longest[0]:
                for g in range(len(graphlets.in_window)):
                    graphlets.in_window[g] *= max(0.0, 1.0 - members.slide[w] / members.within[w])
    _forget(program, totals, vertices, graphlets)
    return size


@inner
def _close(
    m: int, k: int, row: int, negated: Ints, program: HamletProgram, totals: Totals, vertices: Vertices,
    rows: MemberRows, size: int,
) -> int:  # fmt: skip
    """Writes the row of a member's window k, if it has a trend, and forgets the window."""
    members, places = program.members, program.places
    final = members.final_base[m] + row
    for at in range(places.late_ptr[m], places.late_ptr[m + 1]):
        add(totals.final, final, totals.cells, members.slot_base[places.late[at]] + row)
    for p in range(len(places.late_kept)):
        if places.late_kept[p] and members.of[p] == m:
            _add_valid_ends(p, k, row, final, negated, program, totals, vertices)
    if not is_empty(totals.final, final):
        rows.member[size], rows.window[size] = m, k
        copy(rows.cells, size, totals.final, final)
        size += 1
    clear(totals.final, final)
    for slot in range(members.slot_ptr[m], members.slot_ptr[m + 1]):
        clear(totals.cells, members.slot_base[slot] + row)
    return size


@inner
def _add_valid_ends(
    p: int, k: int, row: int, final: int, negated: Ints, program: HamletProgram, totals: Totals, vertices: Vertices
) -> None:
    """Adds the END events at a position that no trailing negated sequence invalidates."""
    members, tables = program.members, program.template
    slide = members.slide[members.windows[members.of[p]]]
    floor = k * slide
    for n in range(tables.trailing_ptr[p], tables.trailing_ptr[p + 1]):
        floor = max(floor, negated[tables.trailing[n]])
    v = vertices.last[p]
    while v >= totals.counts[OLDEST_VERTEX] and vertices.time[v] >= floor:
        if vertices.time[v] // slide >= k:
            add(totals.final, final, vertices.cells, v * vertices.most[0] + row)
        v = vertices.before[v]


@inner
def _forget(program: HamletProgram, totals: Totals, vertices: Vertices, graphlets: GraphletStore) -> None:
    """Drops events, snapshots and graphlets that have left all windows."""
    counts = totals.counts
    oldest = np.int64(2**62)
    for w in range(len(totals.low)):
        oldest = min(oldest, totals.low[w] * program.members.slide[w])
    while counts[OLDEST_VERTEX] < counts[VERTICES] and vertices.time[counts[OLDEST_VERTEX]] < oldest:
        counts[OLDEST_VERTEX] += 1
    while counts[OLDEST_STORED] < counts[STORED] and graphlets.time[counts[OLDEST_STORED]] < oldest:
        counts[OLDEST_STORED] += 1
    while counts[OLDEST_SNAPSHOT] < counts[SNAPSHOTS] and graphlets.snapshot_time[counts[OLDEST_SNAPSHOT]] < oldest:
        counts[OLDEST_SNAPSHOT] += 1
    needed = counts[GRAPHLETS]
    if counts[OLDEST_STORED] < counts[STORED]:
        needed = graphlets.graphlet[counts[OLDEST_STORED]]
    counts[OLDEST_GRAPHLET] = needed


@inner
def arrive(now: int, negated: Ints, program: HamletProgram, totals: Totals, graphlets: GraphletStore) -> None:
    """Moves on to the time of an event, after windows were closed until then: opens windows.

    Snapshots have no value in them: no trend of theirs lies there.
    """
    members, groups, counts = program.members, program.groups, totals.counts
    if now > counts[NOW]:
        commit(negated, program, totals)
        counts[NOW] = now
    for w in range(len(totals.low)):
        within, slide = members.within[w], members.slide[w]
        low, high = max(totals.low[w], (now - within) // slide + 1, 0), max(totals.high[w], now // slide)
        if counts[SNAPSHOTS] > counts[OLDEST_SNAPSHOT]:
            for k in range(max(low, totals.high[w] + 1), high + 1):
                for u in range(len(groups.position)):
                    if members.windows[members.of[groups.position[u]]] == w:
                        for s in range(counts[OLDEST_SNAPSHOT], counts[SNAPSHOTS]):
                            at = s * groups.contexts[0] + groups.context[u] + k % members.span[w]
                            if graphlets.snapshot_group[s] == groups.of_unit[u]:
                                clear(graphlets.value, at)
        totals.low[w], totals.high[w] = low, high
