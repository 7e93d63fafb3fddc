"""Evaluates a sharable set of a workload on one key."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.growth import resized
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.trends.hamlet.compilation import CompiledSet
from cepbench.algorithms.trends.hamlet.kernels.bursts import BurstRecord, ClassRecord, find_bursts, scan_bursts
from cepbench.algorithms.trends.hamlet.kernels.state import (
    ROW,
    CountRecord,
    GraphletStore,
    GroupHistoryRecord,
    HamletState,
    SharingRecord,
    SnapshotRecord,
    StoredRecord,
)
from cepbench.algorithms.trends.hamlet.kernels.stream import Decisions, run_bursts
from cepbench.algorithms.trends.hamlet.kernels.windows import note_state
from cepbench.algorithms.trends.hamlet.plan import HamletPlan
from cepbench.algorithms.trends.hamlet.sharing import DecisionTrace, Sharing
from cepbench.algorithms.trends.snapshots.growth import SetState, free_room
from cepbench.algorithms.trends.snapshots.members import SetMember
from cepbench.algorithms.trends.snapshots.sets import SetExecutor
from cepbench.queries.records import records_of

SAME_NAME = (
    "edges", "bursts", "shared_bursts", "graphlet_snapshots", "event_snapshots", "splits", "merges", "model_cost",
)  # fmt: skip
DETAILS = {name: (name,) for name in SAME_NAME} | {
    "event_visits": ("visits",),
    "graphlets": ("shared_bursts", "alone_graphlets"),
    "snapshots": ("graphlet_snapshots", "event_snapshots"),
}
"""Counted work, and the fields of `CountRecord` that it is the sum of."""

FIRST_SNAPSHOTS = 8


class HamletSetState(SetState):
    """The state of a sharable set."""

    compiled: CompiledSet

    def __init__(self, compiled: CompiledSet, arithmetic: str) -> None:
        template = compiled.program.template
        super().__init__(compiled, arithmetic, template, CountRecord, StoredRecord, len(template.group))
        self.counts["last"] = -1
        units = np.zeros(len(template.unit), records_of(SharingRecord))
        units["apart"] = -1
        self.graphlets = GraphletStore(
            cells=self.cells(FIRST_SNAPSHOTS * (ROW.values + int(template.whole["contexts"][0]))),
            snapshot=np.zeros(FIRST_SNAPSHOTS, records_of(SnapshotRecord)),
            group=np.zeros(len(template.group), records_of(GroupHistoryRecord)),
            unit=units,
            among=np.zeros((len(units), FIRST_SNAPSHOTS), np.bool_),
        )

    @property
    def arrays(self) -> HamletState:
        """The state as kernels know it."""
        return HamletState(self.totals, self.graph, self.vertices, self.graphlets)

    def make_room(self) -> None:
        """As `SetState.make_room`; for snapshots, too, to which the kept events refer."""
        super().make_room()
        counts, old, room = self.counts, self.graphlets, len(self.graphlets.snapshot)
        first, stop = int(counts["oldest_snapshot"]), int(counts["snapshots"])
        free = free_room(room, stop - first, int(counts["more_snapshots"]))
        planes = old.cells.planes
        rows = (plane.reshape(len(plane) // room, room, *plane.shape[1:])[:, first:stop] for plane in planes)
        wide = (resized(plane, free, axis=1) for plane in rows)
        cells = old.cells.on(*(plane.reshape(plane.shape[0] * plane.shape[1], *plane.shape[2:]) for plane in wide))
        snapshot, among = resized(old.snapshot[first:stop], free), resized(old.among[:, first:stop], free)
        self.graphlets = old._replace(cells=cells, snapshot=snapshot, among=among)
        for name in ("first", "graphlet"):
            self.vertices.event[name] -= first
        counts["snapshots"], counts["oldest_snapshot"] = stop - first, 0

    def note(self, buffered: int) -> None:
        """As `SetState.note`."""
        note_state(buffered, self.compiled.program.template, self.totals, self.graph.size)


class HamletExecutor(SetExecutor):
    """Runs a sharable set: buffers the last, incomplete burst of a sharable type, and hands complete ones to kernels.

    Events of a batch are read where they lie, unless a burst was buffered before it: then they are copied once.

    Details: `event_visits` (events times the graphlets that they are put into), `edges` (events before that were
    visited one by one), `bursts` of sharable types and the `shared_bursts` of them, their `graphlets` (one that is
    shared, one for each query that does not share), `snapshots` and those of either level, `splits` and `merges`;
    `deciding_seconds`; and, if decisions are traced, their sums by size of burst (`DecisionTrace.details`).
    """

    set_state: HamletSetState

    def __init__(self, compiled: CompiledSet, arithmetic: str, sharing: Sharing) -> None:
        super().__init__(compiled, arithmetic, int(compiled.program.template.whole["open"][0]))
        self.compiled, self.sharing = compiled, sharing
        self.set_state = HamletSetState(compiled, arithmetic)
        self.deciding = 0.0
        self.trace = DecisionTrace(sharing.traced)

    def details(self) -> Mapping[str, float]:
        """Counted work, the seconds to find bursts and scan them for decisions, and the numbers of the trace."""
        counts = self.set_state.counts
        work = {name: float(sum(counts[part] for part in parts)) for name, parts in DETAILS.items()}
        return {**work, "deciding_seconds": self.deciding, **self.trace.details()}

    def run(self, events: KernelEvents, now: int) -> Rows:
        """Processes the complete bursts of some events, keeps the rest, and closes windows that end by `now`."""
        if self.buffered is not None:
            parts = zip(self.buffered, events, (0, 0, 1, 1, 1, 0), strict=True)
            events = _readonly(*(np.concatenate([buffered, added], axis) for buffered, added, axis in parts))
            self.buffered = None
        decisions, rest = self._find_bursts(events, now)
        if rest < len(events.time):
            self._keep(events, rest)
            now = min(now, int(events.time[rest]))  # no window ends in between, or the burst were complete
        answers = self.call(run_bursts, now, events, self.compiled.program, decisions)
        if self.sharing.traced:
            self.trace.add(decisions.bursts[decisions.bursts["group"] >= 0])
        return answers

    def _find_bursts(self, events: KernelEvents, now: int) -> tuple[Decisions, int]:
        """Complete bursts with their statistics, for decisions; and the first event of the rest."""
        template = self.compiled.program.template
        bursts = np.empty(len(events.time), records_of(BurstRecord))
        started = time.perf_counter()
        last = int(self.set_state.counts["last"])
        count, rest = find_bursts(events.time, events.kind, last, now, template.kind, template.window, bursts)
        bursts, number = bursts[:count], len(template.predicate_class)
        classes = np.zeros((count, number), records_of(ClassRecord))
        matches = np.ones((len(events.time), number), np.bool_)
        scan_bursts(events, template.group, template.predicate_class, bursts, classes, matches)
        decisions = self.sharing.decisions(bursts, classes, matches, template)
        self.deciding += time.perf_counter() - started
        return decisions, rest

    def _keep(self, events: KernelEvents, rest: int) -> None:
        """Buffers the events that may belong to the incomplete burst."""
        kept = rest + np.flatnonzero(self.compiled.program.template.kind["relevant"][events.kind[rest:]])
        columns = (events.ints[:, kept], events.reals[:, kept], events.flags[:, kept])
        self.buffered = _readonly(events.time[kept], events.kind[kept], *columns, events.negated[kept])


def hamlet_sets(plan: HamletPlan, sharing: Sharing) -> list[tuple[Sequence[SetMember], Callable[[], HamletExecutor]]]:
    """The members of each sharable set, and a function that creates its executor of a key."""
    arithmetic = plan.workload.arithmetic
    return [(compiled.members, partial(HamletExecutor, compiled, arithmetic, sharing)) for compiled in plan.sets]


def _readonly(*arrays: NDArray[Any]) -> KernelEvents:
    """Events as kernels know those of a batch: Numba compiles a kernel per kind of array."""
    return KernelEvents(*(readonly(np.ascontiguousarray(array)) for array in arrays))
