"""What the kernels of Hamlet write: aggregates of windows, non-shared and shared graphlets, snapshots."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.cells import Cells

NOW, LAST, TOUCHED, VERTICES, OLDEST_VERTEX, STORED, OLDEST_STORED = range(7)
SNAPSHOTS, OLDEST_SNAPSHOT, GRAPHLETS, OLDEST_GRAPHLET = range(7, 11)
"""Current time; time of the last relevant event; slots with pending cells; ends of the queues of vertices of non-shared
graphlets, of events of shared ones, of snapshots and of shared graphlets, each of which leaves at its oldest end."""
PEAK, PEAK_WINDOWS, PEAK_VERTICES, PEAK_STORED, PEAK_SNAPSHOTS, PEAK_BUFFERED = range(11, 17)
"""The most bytes since they were told, and what they were made of (`PEAK_WINDOWS`: bytes)."""
VISITS, EDGES, BURSTS, SHARED_BURSTS, GRAPHLET_SNAPSHOTS, EVENT_SNAPSHOTS, SPLITS, MERGES = range(17, 25)
"""Counted work: events times graphlets that they are put into, events before that are visited, bursts of sharable
types, snapshots, and bursts at which a query left the others or joined them again."""
COUNTERS = 25


class Totals(NamedTuple):
    """Aggregates of the open windows.

    `cells`, `pending`: of slots, before the current time and at it; `final`: of members; `reached`: one per window, to
    work with. `touched[S]` lists slots with pending cells, `marked[S]` tells whether a slot is listed. `seen[J]`:
    negation starts known. `low`, `high` [W]: open windows of each kind. `counts[COUNTERS]`.
    """

    cells: Cells
    pending: Cells
    final: Cells
    reached: Cells
    touched: Ints
    marked: Flags
    seen: Ints
    low: Ints
    high: Ints
    counts: Ints


class Vertices(NamedTuple):
    """Events of non-shared graphlets that later ones visit, in time order; those of a position are linked.

    `time[V]`, `before[V]` (the vertex before, or below the oldest one), `last[P]`; `ints[I, V]`, `reals[F, V]`;
    window k of vertex v has cell `v * most + k % span`, for `most[0]` windows at most.
    """

    time: Ints
    before: Ints
    last: Ints
    ints: Ints
    reals: Reals
    cells: Cells
    most: Ints


class GraphletStore(NamedTuple):
    """Shared graphlets: expressions of events over snapshots, and values of the snapshots.

    - `share[U]`: units that share the graphlet being built; `shared_before[U]`: those of the last one of the group;
      `sharing[K]`: how many there are of each class.
    - `sums`, `fresh`, `row` [N]: coefficients per snapshot: the running sum over the events of the graphlet before the
      current time, at it, and of one event. `value`: of snapshot s in context c, cell `s * contexts + c`.
    - `snapshot_group[N]`, `snapshot_time[N]`.
    - Events that are visited later, linked by group: `time[V]`, `before[V]`, `last[G]`, `ints`, `reals`, `graphlet[V]`,
      `snapshots[V]`: how many there were, `coefficients`: cell `v * N + s`.
    - `among[L, U]`: units of each graphlet. `in_window[G]`: events of a group in the longest window, about.
    """

    share: Flags
    shared_before: Flags
    sharing: Ints
    sums: Cells
    fresh: Cells
    row: Cells
    value: Cells
    snapshot_group: Ints
    snapshot_time: Ints
    time: Ints
    before: Ints
    last: Ints
    ints: Ints
    reals: Reals
    graphlet: Ints
    snapshots: Ints
    coefficients: Cells
    among: Flags
    in_window: Reals
