"""The executor of a sharing plan (Section 3.2): its loop is `kernels.stream`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.trends.gloria.compilation import CompiledPlan, compile_sets
from cepbench.algorithms.trends.gloria.kernels.state import (
    Expressions,
    GloriaState,
    OutgoingState,
    QSetState,
    WorkRecord,
)
from cepbench.algorithms.trends.gloria.kernels.stream import run_events
from cepbench.algorithms.trends.gloria.kernels.windows import note_state
from cepbench.algorithms.trends.gloria.plan import GloriaPlan, PlannedSet
from cepbench.algorithms.trends.online.kernels.records import PendingRecord
from cepbench.algorithms.trends.online.template import offsets
from cepbench.algorithms.trends.snapshots.growth import SetState
from cepbench.algorithms.trends.snapshots.kernels.vertices import VertexRecord
from cepbench.algorithms.trends.snapshots.members import SetMember
from cepbench.algorithms.trends.snapshots.sets import SetExecutor
from cepbench.queries.records import records_of

DETAILS = {
    "event_visits": "visits", "edges": "edges", "snapshots": "snapshots", "event_snapshots": "event_snapshots",
    "expression_additions": "additions", "evaluations": "evaluations",
}  # fmt: skip
"""Counted work, and its field in `WorkRecord`: events times the states that they match; events before that were
visited; snapshots, and those of them that only some queries of a Q-set needed; coefficients that were added to a sum;
evaluations of an expression, for one query and window.
"""

FIRST_ROOM = 8
"""Snapshots that a Q-set has room for at least."""

_COMPILED: WeakKeyDictionary[PlannedSet, dict[str, tuple[CompiledPlan, ...]]] = WeakKeyDictionary()
"""Compiled sets by granularity, since the executors of all keys run the same plan."""


def _once(planned: PlannedSet, plan: GloriaPlan) -> tuple[CompiledPlan, ...]:
    compiled = _COMPILED.setdefault(planned, {})
    if plan.granularity not in compiled:
        compiled[plan.granularity] = compile_sets(planned, plan.workload.schema, plan.granularity)
    return compiled[plan.granularity]


class PlanState(SetState):
    """The state of a sharable set that carries out a plan."""

    compiled: CompiledPlan

    def __init__(self, compiled: CompiledPlan, arithmetic: str) -> None:
        tables = compiled.program.template
        super().__init__(compiled, arithmetic, tables, WorkRecord, VertexRecord, len(tables.outgoing))
        q_sets = np.zeros(len(tables.q_set), records_of(QSetState))
        q_sets["starting"] = -1
        outgoing = np.zeros(len(tables.outgoing), records_of(OutgoingState))
        outgoing["last"] = -1
        self.shared = Expressions(
            cells=self.cells(0),
            times=np.zeros(0, np.int64),
            q_set=q_sets,
            outgoing=outgoing,
            pending=np.zeros(len(tables.outgoing), records_of(PendingRecord)),
            passed=np.zeros(len(tables.lists), np.bool_),
            last_passed=np.zeros(len(tables.lists), np.bool_),
            for_snapshot=np.zeros(len(tables.position), np.bool_),
            latest=np.full(len(tables.state), -1, np.int64),
        )

    @property
    def arrays(self) -> GloriaState:
        """The state as kernels know it."""
        return GloriaState(self.totals, self.graph, self.vertices, self.shared)

    def make_room(self) -> None:
        """Makes room for all that the next event may leave behind; Q-sets with too many snapshots get twice as much."""
        kind, q_set = self.compiled.program.template.kind, self.shared.q_set
        needed = 2 * (q_set["count"] - q_set["oldest"] + 2 * (kind["state_end"] - kind["state"]).max())
        short = needed > q_set["room"]
        if short.any():
            self._arrange(np.maximum(needed, (1 + short) * q_set["room"]).clip(FIRST_ROOM))
        super().make_room()

    def _arrange(self, rooms: NDArray[np.int64]) -> None:
        """Gives each Q-set room for so many snapshots, and keeps the live ones."""
        q_set_rows, shared = self.compiled.program.template.q_set["rows"], self.shared
        bases, starts = offsets(q_set_rows * rooms), offsets(rooms)
        cells, times = self.cells(bases[-1]), np.zeros(starts[-1], np.int64)
        for g, (rows, room) in enumerate(zip(q_set_rows.tolist(), rooms.tolist(), strict=True)):
            q_set = shared.q_set[g]
            live, first, old = q_set["count"] - q_set["oldest"], q_set["oldest"] - q_set["shift"], q_set["room"]
            for before, after in zip(shared.cells.planes, cells.planes, strict=True):
                kept = before[q_set["base"] : q_set["base"] + rows * old].reshape(rows, old, *before.shape[1:])
                moved = after[bases[g] : bases[g + 1]].reshape(rows, room, *after.shape[1:])
                moved[:, :live] = kept[:, first : first + live]
            times[starts[g] : starts[g] + live] = shared.times[q_set["times"] + first :][:live]
            q_set["base"], q_set["room"], q_set["times"], q_set["shift"] = bases[g], room, starts[g], q_set["oldest"]
        self.shared = shared._replace(cells=cells, times=times)

    def note(self, buffered: int) -> None:
        """As `SetState.note`."""
        note_state(self.compiled.program.template, self.totals, self.shared.q_set, self.graph.size)


class GloriaExecutor(SetExecutor):
    """Executes the plan of one sharable set on one key.

    An event of Ej has, for a Q-set that shares a transition from Ej, one expression over the Q-set's snapshots. If the
    snapshots are those of Ej, it is a new snapshot, whose values are the trends that end at the event's predecessors,
    for each query and window; otherwise it is the sum of the predecessors' expressions. Queries that do not continue
    with the Q-set evaluate that sum.
    Example 3.2: q1 = SEQ(C, (SEQ(A, B))+, D) and q2, the same without D, share (1, 2)^C; s is the snapshot of c0:

        event         c0   a1   b2   a3   b4   d5
        expression    s    s    s    2s   3s
        q2 ends                 s         3s          4s = 4 when its window closes
        q1 ends                                4s     4

    Departures from Section 3.2; the first, and the first half of the second, at the coarsest granularity only:

    - Per transition and Q-set the sum of the expressions of earlier events is kept, so that an event does not visit
      them, unless predicates on adjacent events select some. In the paper, as in GRETA, events always visit them.
    - Consecutive events with the same predecessors have one snapshot, and so have events that start trends between two
      times at which windows open.
    - Trends that end are summed as expressions, and evaluated when a window closes.
    - An event that only some queries of a Q-set match, or for which their predecessors differ, has a snapshot of its
      own (Hamlet's snapshots at event level).

    For s snapshots that are live, and u queries times windows of a Q-set, an event costs O(s) per transition that it is
    shared on, O(u) per snapshot that is made of sums, O(u s) per expression that is evaluated, and O(u) unshared; n
    times as much for n events that are visited. Space: O(s u) for the values of snapshots, O(s) for each sum, and
    O(n s) or O(n u) for events that are visited.
    """

    def __init__(self, compiled: CompiledPlan, arithmetic: str) -> None:
        super().__init__(compiled, arithmetic, int(compiled.program.template.whole["open"][0]))
        self.program, self.set_state = compiled.program, PlanState(compiled, arithmetic)

    def details(self) -> Mapping[str, float]:
        return {name: float(self.set_state.counts[field]) for name, field in DETAILS.items()}

    def run(self, events: KernelEvents, now: int) -> Rows:
        return self.call(run_events, now, events, self.program)


def gloria_sets(plan: GloriaPlan) -> list[tuple[Sequence[SetMember], Callable[[], GloriaExecutor]]]:
    """The members of each sharable set, and a function that creates its executor of a key."""
    return [
        (compiled.members, partial(GloriaExecutor, compiled, plan.workload.arithmetic))
        for planned in plan.sets
        for compiled in _once(planned, plan)
    ]
