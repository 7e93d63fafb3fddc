"""What the kernels of Gloria write: aggregates of windows, expressions over snapshots, events that are visited."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.cells import Cells
from cepbench.algorithms.trends.online.kernels.store import Graph
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.vertices import QueueRecord, VertexQueue
from cepbench.queries.records import Records


class WorkRecord(QueueRecord):
    """Where the state is, and work that is counted.

    - `opened`, `voided`: the time since which no windows opened, and no negated events emptied slots.
    - `shared`: outlets that have events at the current time.
    - `additions` of coefficients; `evaluations` of expressions, for one query and window; snapshots, and those of them
      for an event that some members of its group match, or extend after other events than the others do.
    """

    opened: int
    voided: int
    shared: int
    additions: int
    evaluations: int
    snapshots: int
    event_snapshots: int


class GroupState:
    """Snapshots `oldest` to `count` of a group, of which `one` is 1 for all members in all windows.

    Row r has cell `base + r * room + s - shift` for snapshot s; entry `times + s - shift` has its time. `first` is the
    first snapshot since time `start`, for windows that begin there.
    """

    base: int
    room: int
    times: int
    shift: int
    oldest: int
    count: int
    one: int
    start: int
    first: int


class OutletState:
    """What becomes of an event at an outlet; and its last snapshot."""

    mode: int
    last: int


class Expressions(NamedTuple):
    """Coefficients and values of snapshots; `cells` and `times` hold those of all groups.

    `group[G]`, `outlet[O]`, `pending[O]`; `passed`: whether the event matches the predicates in this place of `lists`;
    `masks`: whether that of an outlet's last snapshot did; `wanted`: whether a snapshot has the trends that reach a
    place; `latest`: by state, the time of its last event.
    """

    cells: Cells
    times: Ints
    group: Records
    outlet: Records
    pending: Records
    passed: Flags
    masks: Flags
    wanted: Flags
    latest: Ints


class GloriaState(NamedTuple):
    """The state of a sharable set: `graph` has the kept events of places, `vertices` those of outlets, by list."""

    totals: Totals
    graph: Graph
    vertices: VertexQueue
    shared: Expressions
