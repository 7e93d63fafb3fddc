"""Evaluates one sharable set of members on one key."""

from __future__ import annotations

from collections.abc import Mapping

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.gloria.compilation import CompiledPlan
from cepbench.algorithms.gloria.kernels.stream import DONE, OUTPUT, ROOM, run_events
from cepbench.algorithms.gloria.state import PlanState
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.running.negation import largest_state, latest_starts
from cepbench.algorithms.snapshots.rows import MemberAnswers
from cepbench.algorithms.snapshots.sets import SetRunner

DETAILS = {
    "event_visits": "visits", "edges": "edges", "snapshots": "snapshots", "event_snapshots": "event_snapshots",
    "expression_additions": "additions", "evaluations": "evaluations",
}  # fmt: skip
"""Counted work: the name under which it is told, and its field in `WorkRecord`."""


class PlanExecutor(SetRunner):
    """A plan, whose kernels take batches as they come."""

    def __init__(self, compiled: CompiledPlan, arithmetic: str) -> None:
        super().__init__(compiled, arithmetic, int(compiled.program.tables.whole["open"][0]))
        self.program, self.state = compiled.program, PlanState(compiled, arithmetic)

    def size(self) -> StateSize:
        """As `Executor.state`."""
        return self.state.tell() + largest_state(self.negations)

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
        return self.rows.tell()
