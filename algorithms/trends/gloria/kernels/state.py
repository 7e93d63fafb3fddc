"""The state that Gloria's kernels write: aggregates of windows, expressions over snapshots, events that are visited."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.cells import Cells
from cepbench.algorithms.trends.online.kernels.store import Graph
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.vertices import QueueRecord, VertexQueue
from cepbench.queries.records import Records


class WorkRecord(QueueRecord):
    """Progress of a sharable set, and counted work.

    - `opened`, `voided`: the time since which no windows opened, and no negated events emptied slots.
    - `pending`: number of outgoing transitions that have events at the current time.
    - `additions` of coefficients; `evaluations` of expressions, for one query and window; snapshots, and those of them
      for an event that only some queries of its Q-set match, or that they let follow different events.
    """

    opened: int
    voided: int
    pending: int
    additions: int
    evaluations: int
    snapshots: int
    event_snapshots: int


class QSetState:
    """Snapshots `oldest` to `count` of a Q-set, of which `starting` is 1 for all queries in all windows.

    Row r has cell `base + r * room + s - shift` for snapshot s; entry `times + s - shift` has its time. `first` is the
    first snapshot since time `start`, for windows that begin there.
    """

    base: int
    room: int
    times: int
    shift: int
    oldest: int
    count: int
    starting: int
    start: int
    first: int


class OutgoingState:
    """Of outgoing transitions: the current event's `mode` (`outgoing.choose_mode`), and the `last` snapshot."""

    mode: int
    last: int


class Expressions(NamedTuple):
    """Coefficients and values of snapshots; `cells` and `times` hold those of all Q-sets.

    `q_set[G]`, `outgoing[O]`, `pending[O]`; `passed`: whether the current event passes the predicates at this place of
    `lists`; `last_passed`: whether the event of the last snapshot did; `for_snapshot`: whether a snapshot takes the
    trends that the event extends at a position; `latest`: by state, the time of its last event.
    """

    cells: Cells
    times: Ints
    q_set: Records
    outgoing: Records
    pending: Records
    passed: Flags
    last_passed: Flags
    for_snapshot: Flags
    latest: Ints


class GloriaState(NamedTuple):
    """The state of a sharable set: `graph` has the kept events of single queries, by position, `vertices` those of
    shared transitions, a list for each set of outgoing ones.
    """

    totals: Totals
    graph: Graph
    vertices: VertexQueue
    shared: Expressions
