"""Executes any valid sharing plan of a workload (Section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.gloria.compilation import CompiledPlan, compile_sets
from cepbench.algorithms.gloria.kernels.stream import DONE, OUTPUT, ROOM, run_events
from cepbench.algorithms.gloria.plan import GloriaPlan, PlannedSet
from cepbench.algorithms.gloria.state import PlanState
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.running.negation import largest_state, latest_starts
from cepbench.algorithms.snapshots.sets import MemberAnswers, SetRunner, SetsExecutor

DETAILS = {
    "event_visits": "visits", "edges": "edges", "snapshots": "snapshots", "event_snapshots": "event_snapshots",
    "expression_additions": "additions", "evaluations": "evaluations",
}  # fmt: skip
"""Counted work: the name under which it is reported, and its field in `WorkRecord`."""


_KNOWN: WeakKeyDictionary[PlannedSet, dict[str, tuple[CompiledPlan, ...]]] = WeakKeyDictionary()
"""Compiled sets by granularity, since the executors of all keys run the same plan."""


class GloriaExecutor(SetsExecutor):
    """Runs each sharable set by its plan, and members that share nothing as COGRA, or GRETA, does. Raises `OutOfOrder`.

    An event of Ej has, for a Q-set that shares a transition from Ej, one expression over the Q-set's snapshots. It is a
    new snapshot of what reaches the event, for each query and window, if the snapshots are those of Ej; otherwise it is
    what reaches it. Queries that do not continue with the Q-set evaluate the expression that reaches the event.

    Departures from Section 3.2 at the coarsest granularity; the last one at event granularity, too:

    - Per transition and Q-set the sum of what the events before have is kept, so that an event does not visit them,
      unless predicates on adjacent events select some: then it does, as GRETA's and all events of the paper do.
    - Consecutive events that the same events precede have one snapshot, and so have those that start trends between two
      times at which windows open.
    - Trends that end are summed as expressions, and evaluated when a window closes.
    - An event that some queries of a Q-set match, or let follow other events than the others do, has a snapshot of its
      own where it is shared (Hamlet's snapshots at event level).

    For s snapshots that are live, and u queries times windows of a Q-set, an event costs O(s) per transition that it is
    shared on, O(u) per snapshot that is made of sums, O(u s) per expression that is evaluated, and O(u) unshared; n
    times as much for n events that are visited. Space: O(s u) for the values of snapshots, O(s) for each sum, and
    O(n s) or O(n u) for events that are visited.
    """

    def __init__(self, plan: GloriaPlan) -> None:
        workload = plan.workload
        sets = [
            PlanExecutor(compiled, workload.arithmetic) for planned in plan.sets for compiled in _once(planned, plan)
        ]
        super().__init__(workload, sets, plan.alone, plan.granularity)

    def details(self) -> Mapping[str, float]:
        """Counted work: `event_visits` (events times the states that they match), `edges` (events before that were
        visited one by one), `snapshots`, and the `event_snapshots` of them that only some queries of a Q-set needed;
        `expression_additions` (coefficients that were added to a sum) and `evaluations` (of an expression, for one
        query and window).
        """
        return super().details()


def _once(planned: PlannedSet, plan: GloriaPlan) -> tuple[CompiledPlan, ...]:
    known = _KNOWN.setdefault(planned, {})
    if plan.granularity not in known:
        known[plan.granularity] = compile_sets(planned, plan.workload.schema, plan.granularity)
    return known[plan.granularity]


class PlanExecutor(SetRunner):
    """Executes the plan of one sharable set on one key."""

    def __init__(self, compiled: CompiledPlan, arithmetic: str) -> None:
        super().__init__(compiled, arithmetic, int(compiled.program.tables.whole["open"][0]))
        self.program, self.state = compiled.program, PlanState(compiled, arithmetic)

    def size(self) -> StateSize:
        """As `Executor.state`."""
        return self.state.largest() + largest_state(self.negations)

    def details(self) -> Mapping[str, float]:
        """As `GloriaExecutor.details`."""
        return {name: float(self.state.counts[field]) for name, field in DETAILS.items()}

    def run(self, events: KernelEvents, now: int) -> MemberAnswers:
        done, stopped, negated = 0, OUTPUT, latest_starts(self.negations)
        while stopped != DONE:
            done, size, stopped = run_events(
                done, now, negated, events, self.program, self.state.arrays, self.rows.arrays, self.modular
            )
            self.rows.take(size)
            if stopped == ROOM:
                self.state.make_room()
        return self.rows.take_all()
