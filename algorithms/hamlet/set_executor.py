"""Evaluates one sharable set of queries on one sub-stream."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.hamlet.compilation import CompiledSet
from cepbench.algorithms.hamlet.kernels.bursts import FIELDS, SIZE, find_bursts, scan_bursts
from cepbench.algorithms.hamlet.kernels.state import (
    BURSTS,
    EDGES,
    EVENT_SNAPSHOTS,
    GRAPHLET_SNAPSHOTS,
    LAST,
    MERGES,
    SHARED_BURSTS,
    SPLITS,
    VISITS,
)
from cepbench.algorithms.hamlet.kernels.stream import DYNAMIC, OUTPUT, ROOM, run_bursts
from cepbench.algorithms.hamlet.kernels.windows import MemberRows, close_until
from cepbench.algorithms.hamlet.sharing import Sharing, told
from cepbench.algorithms.hamlet.state import SetState
from cepbench.algorithms.kernels.arrays import readonly
from cepbench.algorithms.kernels.cells import empty_cells
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.running.batches import ROWS, kernel_events
from cepbench.algorithms.running.negation import Negation, largest_state, latest_starts
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER

END_OF_TIME = 2 * FOREVER - 1
DETAILS = {
    "event_visits": VISITS,
    "edges": EDGES,
    "bursts": BURSTS,
    "shared_bursts": SHARED_BURSTS,
    "graphlet_snapshots": GRAPHLET_SNAPSHOTS,
    "event_snapshots": EVENT_SNAPSHOTS,
    "splits": SPLITS,
    "merges": MERGES,
}

MemberAnswers = dict[int, AggregateRows]
"""Rows by the number of a member in its set."""


class SetExecutor:
    """Buffers the last, incomplete burst of a sharable type, and hands complete ones to the kernels.

    Events of a batch are read where they lie, unless a burst was buffered before it: then they are copied once.
    """

    def __init__(self, compiled: CompiledSet, arithmetic: str, sharing: Sharing) -> None:
        self.compiled, self.arithmetic, self.sharing = compiled, arithmetic, sharing
        self.state = SetState(compiled, arithmetic)
        groups = compiled.program.groups
        self.decisions = sharing.decisions(len(groups.position), len(groups.sample))
        self.units = [slice(int(a), int(b)) for a, b in zip(groups.unit_ptr[:-1], groups.unit_ptr[1:], strict=True)]
        columns = compiled.columns
        self.negations = [
            Negation(part, None if window.within >= FOREVER else window.within, len(columns.ints), len(columns.reals))
            for part, window in compiled.negations
        ]
        members = compiled.program.members
        capacity = max(ROWS, 2 * int(members.span[members.windows].sum()))
        self.rows = MemberRows(
            np.empty(capacity, np.int64),
            np.empty(capacity, np.int64),
            empty_cells(capacity, compiled.channels.layout, arithmetic),
        )
        self.buffered: KernelEvents | None = None
        self.deciding = 0.0
        self.traces: list[NDArray[np.float64]] = []

    def process(self, events: EventBatch) -> MemberAnswers:
        """Rows of the windows that these events and their `until` closed."""
        batch = kernel_events(self.compiled.columns, events, self.negations)
        now = max(int(events.time[-1]) if len(events) else -1, -1 if events.until is None else events.until)
        return self._run(self._with_buffered(batch), now)

    def finish(self) -> MemberAnswers:
        """Rows of the windows that are still open."""
        if self.buffered is None:
            return self._run(None, END_OF_TIME)
        events, self.buffered = self.buffered, None
        return self._run(events, END_OF_TIME)

    def size(self) -> StateSize:
        """As `Executor.state`."""
        waiting = 0 if self.buffered is None else len(self.buffered.time)
        return self.state.tell(waiting) + largest_state(self.negations)

    def details(self) -> Mapping[str, float]:
        """Counted work, and the seconds that finding bursts and weighing their benefit took."""
        counts = self.state.totals.counts
        return {name: float(counts[at]) for name, at in DETAILS.items()} | {"deciding_seconds": self.deciding}

    def trace(self) -> NDArray[np.float64]:
        """float64[n, 8]: the decisions so far, with columns as `kernels.stream` names them, if they were traced."""
        return np.concatenate([np.zeros((0, 8)), *self.traces])

    def _with_buffered(self, batch: KernelEvents) -> KernelEvents:
        before, self.buffered = self.buffered, None
        if before is None:
            return batch
        return _readonly(
            *(
                np.concatenate([one, other], axis=1 if name in ("ints", "reals") else 0)
                for name, one, other in zip(KernelEvents._fields, before, batch, strict=True)
            )
        )

    def _run(self, events: KernelEvents | None, now: int) -> MemberAnswers:
        """Processes the complete bursts of some events, keeps the rest, and closes windows that end by `now`."""
        found: dict[int, list[AggregateRows]] = {}
        if events is not None and len(events.time):
            self._run_bursts(events, now, found)
        program, state = self.compiled.program, self.state
        if self.buffered is not None:  # no window ends between its events and now, or it were complete
            now = min(now, int(self.buffered.time[0]))
        size = close_until(
            now, latest_starts(self.negations), program, state.sizes, state.totals, state.vertices, state.graphlets,
            self.rows, 0,
        )  # fmt: skip
        self._take(size, found)
        return {m: AggregateRows.concatenate(rows) for m, rows in found.items()}

    def _run_bursts(self, events: KernelEvents, now: int, found: dict[int, list[AggregateRows]]) -> None:
        program, state = self.compiled.program, self.state
        bursts = np.empty((FIELDS, len(events.time)), np.int64)
        started = time.perf_counter()
        count, rest = find_bursts(events, state.totals.counts[LAST], now, program, bursts)
        classes = len(program.groups.sample)
        dynamic = self.decisions.mode[0] == DYNAMIC
        scans = np.empty((3, count if dynamic else 0, classes), np.int64)
        if dynamic and classes:
            scan_bursts(count, events, program, bursts, scans, np.zeros(classes, np.int64))
        self.deciding += time.perf_counter() - started
        decisions = self.decisions._replace(trace=np.zeros((count, 8)))
        if self.sharing.decide is not None:
            given = told(self.sharing.decide, count, bursts, events.kind, events.time, self.units)
            decisions = decisions._replace(given=given)
        done, stopped = 0, OUTPUT
        while done < count:
            done, size, stopped = run_bursts(
                done, count, bursts, scans, events, program, state.sizes, decisions, state.totals, state.vertices,
                state.graphlets, self.rows, self.arithmetic == "modular",
            )  # fmt: skip
            self._take(size, found)
            if stopped == ROOM:
                state.make_room(int(bursts[SIZE, done]))
        if self.sharing.traced:
            self.traces.append(decisions.trace[bursts[3, :count] >= 0])
        if rest < len(events.time):
            self._keep(events, rest)

    def _keep(self, events: KernelEvents, rest: int) -> None:
        """Buffers what may belong to the incomplete burst."""
        kept = rest + np.flatnonzero(self.compiled.program.groups.relevant[events.kind[rest:]])
        self.buffered = _readonly(
            events.time[kept], events.kind[kept], events.ints[:, kept], events.reals[:, kept], events.negated[kept]
        )

    def _take(self, size: int, found: dict[int, list[AggregateRows]]) -> None:
        """Takes rows out of the buffer, by member."""
        if size == 0:
            return
        order = np.argsort(self.rows.member[:size], kind="stable")
        numbers, first = np.unique(self.rows.member[order], return_index=True)
        for m, chosen in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
            rows = self.compiled.channels.rows(m, self.rows.window, self.rows.cells, chosen)
            found.setdefault(m, []).append(rows)


def _readonly(*arrays: NDArray[Any]) -> KernelEvents:
    """Events as kernels know those of a batch: Numba compiles a kernel per kind of array."""
    return KernelEvents(*(readonly(np.ascontiguousarray(array)) for array in arrays))
