"""What the kernels of Gloria write: aggregates of windows, expressions over snapshots, events that are visited."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.snapshots.kernels.records import ProgressRecord
from cepbench.algorithms.snapshots.kernels.template import SetTotals, VertexQueue
from cepbench.queries.records import Records


class WorkRecord(ProgressRecord):
    """Where the state is, and work that is counted.

    - `opened`: how often windows did; `shared`: outlets that have events at the current time.
    - Used cells of groups, and times of their snapshots; what there was no room for.
    - `additions` of coefficients; `evaluations` of expressions, for one query and window; snapshots, and those of them
      for an event that some members of its group match, or extend after other events than the others do.
    """

    opened: int
    shared: int
    used_cells: int
    used_times: int
    more_cells: int
    more_times: int
    more_vertices: int
    more_vertex_cells: int
    additions: int
    evaluations: int
    snapshots: int
    event_snapshots: int


class GroupState:
    """Snapshots `oldest` to `count` of a group, of which `one` is 1 for all members in all windows.

    Row r has cell `base + r * room + s - shift` for snapshot s; entry `times + s - shift` has its time. `one` was made
    when windows had been `opened` so often.
    """

    base: int
    room: int
    times: int
    shift: int
    oldest: int
    count: int
    one: int
    opened: int


class InletState:
    """The expression that reaches an inlet: over the snapshots before `stop`, in row `row`.

    `differs`: members have different ones, as they do not follow the same events. `first` is the first snapshot since
    time `start`, for windows that begin there.
    """

    row: int
    stop: int
    start: int
    first: int
    differs: np.bool_


class OutletState:
    """What becomes of an event at an outlet; and its last snapshot, with the stamps when that was made."""

    mode: int
    last: int
    stamp: int
    opened: int


class Expressions(NamedTuple):
    """Coefficients and values of snapshots; `cells` and `times` hold those of all groups.

    `group[G]`, `inlet[I]`, `outlet[O]`, `pending[O]`; `masks`: the classes that snapshots were for; `ending[E]`: what
    becomes of an event at an ending; `passed`: whether the event matches each test; `wanted`: whether a place needs the
    trends that reach it; `stamp`: by state, how often what leads there has changed.
    """

    cells: Cells
    times: Ints
    group: Records
    inlet: Records
    outlet: Records
    pending: Records
    masks: Flags
    ending: Ints
    passed: Flags
    wanted: Flags
    stamp: Ints


class GloriaState(NamedTuple):
    """The state of a sharable set; `vertices` has the lists of places, then of outlets."""

    totals: SetTotals
    vertices: VertexQueue
    shared: Expressions
