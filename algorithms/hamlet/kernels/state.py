"""What the kernels of Hamlet write: aggregates of windows, non-shared and shared graphlets, snapshots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.cells import Cells
from cepbench.queries.records import Records

SUMS, FRESH, ROW, VALUES = range(4)
"""Rows of `GraphletStore.cells`."""


class CountRecord:
    """Where the state is, and work that is counted.

    - `now`: current time; `edge`: the next time at which a window begins or ends; `last`: that of the last relevant
      event; `touched`: slots with pending cells.
    - Ends of the queues of vertices of non-shared graphlets and of their cells, of `stored` events of shared ones and
      the cells of their expressions, of snapshots and of shared graphlets, each of which leaves at its oldest end;
      `more_expressions`: cells that the next burst may need; `decided`: the units that share it, if there was no room.
    - `peak`: the most bytes since the last report, and what they consist of; `peak_windows` are bytes.
    - `visits`: events times graphlets that they are put into; `edges`: events before that are visited; `bursts` of
      sharable types, the `shared_bursts` of them, which have a shared graphlet each, and the graphlets that single
      queries have of them; snapshots; and bursts at which a query left the others (`splits`) or joined them again
      (`merges`).
    """

    now: int
    edge: int
    last: int
    touched: int
    vertices: int
    oldest_vertex: int
    vertex_cells: int
    stored: int
    oldest_stored: int
    expressions: int
    oldest_expression: int
    more_expressions: int
    decided: int
    snapshots: int
    oldest_snapshot: int
    graphlets: int
    oldest_graphlet: int
    peak: int
    peak_windows: int
    peak_vertices: int
    peak_stored: int
    peak_expressions: int
    peak_snapshots: int
    peak_buffered: int
    visits: int
    edges: int
    bursts: int
    shared_bursts: int
    alone_graphlets: int
    graphlet_snapshots: int
    event_snapshots: int
    splits: int
    merges: int


class Totals(NamedTuple):
    """Aggregates of the open windows.

    `cells`: first one per window of an event, to work with: the trends that *reach* it; then those of slots and of
    members, as their records say. `pending[S]`; `seen[J]`: negation starts known; `open[W]`; `counts[1]`.
    """

    cells: Cells
    pending: Records
    seen: Ints
    open: Records
    counts: Records


class Vertices(NamedTuple):
    """Events of non-shared graphlets that later ones visit, in time order; those of a position are linked.

    `event[V]`, `last[P]`; `ints[I, V]`, `reals[F, V]`.
    """

    event: Records
    last: Ints
    ints: Ints
    reals: Reals
    cells: Cells


class StoredRecord:
    """An event of a shared `graphlet`, the one `before` it in its group, and its expression: coefficient of snapshot s,
    `first` to `stop`, is cell `cell + s - first` of `GraphletStore.expressions`.
    """

    time: int
    before: int
    graphlet: int
    first: int
    stop: int
    cell: int


class SnapshotRecord:
    """The group and the time of a snapshot."""

    group: int
    time: int


class LatestRecord:
    """The `last` stored event of a group, and about how many events of it the longest window has."""

    last: int
    in_window: np.float64


class SharingRecord:
    """Whether a unit shares the graphlet being built, and whether it did the last one of its group."""

    now: np.bool_
    before: np.bool_


class GraphletStore(NamedTuple):
    """Shared graphlets: expressions of events over snapshots, and values of the snapshots.

    - `cells`: row r has cell `r * N + s` for snapshot s of N. Coefficients of an expression: SUMS, the running sum over
      the events of the graphlet before the current time; FRESH, that of the events at it; ROW, one event. From VALUES
      on: values, a row per context.
    - `snapshot[N]`. `group[G]`. `unit[U]`. `sharing[K]`: units that share, of each class.
    - `among[L, U]`: units of each graphlet.
    - Stored events, which are visited later, linked by group: `event[V]`, `ints[I, V]`, `reals[F, V]`; `expressions`.
    """

    cells: Cells
    snapshot: Records
    group: Records
    unit: Records
    sharing: Ints
    among: Flags
    event: Records
    ints: Ints
    reals: Reals
    expressions: Cells


class HamletState(NamedTuple):
    """The state of a sharable set."""

    totals: Totals
    vertices: Vertices
    graphlets: GraphletStore
