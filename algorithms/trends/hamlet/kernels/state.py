"""The state that Hamlet's kernels write: aggregates of windows, non-shared and shared graphlets, snapshots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags
from cepbench.algorithms.engine.kernels.cells import Cells
from cepbench.algorithms.trends.online.kernels.store import Graph
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.vertices import QueueRecord, VertexQueue, VertexRecord
from cepbench.queries.records import Records, records_of


class StoreRows(NamedTuple):
    """The rows of `GraphletStore.cells`.

    - Coefficients of an expression: `sums`, the running sum over the events of the graphlet before the current time;
      `fresh`, that of the events at it; `event`, one event; `visited`, what one query visits.
    - From `values` on: the values of snapshots, a row per context.
    """

    sums: int
    fresh: int
    event: int
    visited: int
    values: int


ROW = StoreRows(*range(5))


class CountRecord(QueueRecord):
    """Progress of a sharable set, and counted work.

    - `last`: time of the last relevant event.
    - Ends of the queue of snapshots, which leaves at its oldest end; `more_snapshots`: those that a burst may need.
    - `bursts` of sharable types, the `shared_bursts` of them, which have a shared graphlet each, and the graphlets that
      single queries have of them; snapshots; and bursts at which a query left the others (`splits`) or joined them
      again (`merges`).
    - `model_cost`: of what was decided, by the model that decides, if it is weighed.
    """

    last: int
    snapshots: int
    oldest_snapshot: int
    more_snapshots: int
    bursts: int
    shared_bursts: int
    alone_graphlets: int
    graphlet_snapshots: int
    event_snapshots: int
    splits: int
    merges: int
    model_cost: float


class StoredRecord(VertexRecord):
    """A kept event of the shared graphlet that begins with the snapshot `graphlet`."""

    graphlet: int


LINK_BYTES = records_of(StoredRecord).itemsize - 8
"""As of `VertexRecord`."""


class SnapshotRecord:
    """The group and the time of a snapshot."""

    group: int
    time: int


class SharingRecord:
    """Whether a unit shares the graphlet that is being built (`now`), and whether it shared the last one of its group
    (`before`); whether it `leaves` the shared graphlets before, whose events it visits; the time when it last did not
    share (`apart`), or -1.
    """

    now: np.bool_
    before: np.bool_
    leaves: np.bool_
    apart: int


class GroupHistoryRecord:
    """The estimated number of a group's events in the longest window; the loss accumulated while splits were deferred
    (`benefit.defer_split`), and the gain missed while joins were (`benefit.defer_join`).
    """

    in_window: float
    sharing_loss: float
    missed_gain: float


class GraphletStore(NamedTuple):
    """Shared graphlets: the expression of an event over snapshots, and values of the snapshots.

    - `cells`: row r (`StoreRows`) has cell `r * N + s` for snapshot s of N.
    - `snapshot[N]`, `unit[U]`, and `group[G]` (`GroupHistoryRecord`).
    - `among[U, N]`: units of the graphlet that begins with each snapshot.
    """

    cells: Cells
    snapshot: Records
    group: Records
    unit: Records
    among: Flags


class HamletState(NamedTuple):
    """The state of a sharable set: `graph` has the kept events of non-shared graphlets, by position, `vertices` those
    of shared ones, a list for each group.
    """

    totals: Totals
    graph: Graph
    vertices: VertexQueue
    graphlets: GraphletStore
