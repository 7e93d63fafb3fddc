"""Evaluates one sharable set of members on one key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.gloria.compilation import CompiledPlan
from cepbench.algorithms.gloria.kernels.stream import DONE, OUTPUT, ROOM, run_events
from cepbench.algorithms.gloria.state import PlanState
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.running.batches import kernel_events, no_events
from cepbench.algorithms.running.negation import Negation, largest_state, latest_starts
from cepbench.algorithms.snapshots.members import SetMember
from cepbench.algorithms.snapshots.rows import MemberAnswers, RowBuffer
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER

END_OF_TIME = 2 * FOREVER - 1
DETAILS = {
    "event_visits": "visits", "edges": "edges", "snapshots": "snapshots", "event_snapshots": "event_snapshots",
    "expression_additions": "additions", "evaluations": "evaluations",
}  # fmt: skip
"""Counted work: the name under which it is told, and its field in `WorkRecord`."""


class PlanExecutor:
    """Hands batches to the kernels, and takes the rows of the windows that they close."""

    def __init__(self, compiled: CompiledPlan, arithmetic: str) -> None:
        self.compiled, self.modular = compiled, arithmetic == "modular"
        self.state = PlanState(compiled, arithmetic)
        columns = compiled.columns
        self.negations = [
            Negation(part, None if window.within >= FOREVER else window.within, len(columns.ints), len(columns.reals))
            for part, window in compiled.negations
        ]
        self.rows = RowBuffer(compiled.channels, arithmetic, int(compiled.program.tables.whole["open"][0]))

    @property
    def members(self) -> Sequence[SetMember]:
        return self.compiled.members

    def process(self, events: EventBatch) -> MemberAnswers:
        """Rows of the windows that these events and their watermark closed."""
        batch = kernel_events(self.compiled.columns, events, self.negations)
        return self._run(batch, max(int(events.time[-1]) if len(events) else -1, events.watermark or -1))

    def finish(self) -> MemberAnswers:
        """Rows of the windows that are still open."""
        columns = self.compiled.columns
        return self._run(no_events(len(columns.ints), len(columns.reals)), END_OF_TIME)

    def size(self) -> StateSize:
        """As `Executor.state`."""
        return self.state.tell() + largest_state(self.negations)

    def details(self) -> Mapping[str, float]:
        """As `GloriaExecutor.details`."""
        return {name: float(self.state.counts[field]) for name, field in DETAILS.items()}

    def _run(self, events: KernelEvents, now: int) -> MemberAnswers:
        """Processes some events, and closes windows that end by `now`."""
        done, stopped, negated = 0, OUTPUT, latest_starts(self.negations)
        while stopped != DONE:
            done, size, stopped = run_events(
                done, now, negated, events, self.compiled.program, self.state.arrays, self.rows.arrays, self.modular
            )
            self.rows.take(size)
            if stopped == ROOM:
                self.state.make_room()
        return self.rows.tell()
