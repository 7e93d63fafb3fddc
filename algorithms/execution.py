"""What executors of independent queries share: windows that count events, conjunctions, order, sums of state.

An algorithm that evaluates each query on its own supplies an `Evaluator` for one automaton over time windows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from algorithms.base import Executor, OutOfOrder, StateSize
from algorithms.rows import AggregateRows, QueryRows, Rows, concatenate
from events.batch import EventBatch
from events.windows import FOREVER, Window
from metrics.details import merged
from queries.compile import CompiledQuery, Part, Workload

WHOLE_STREAM = Window(FOREVER, FOREVER)


class Evaluator(ABC):
    """Evaluates one automaton on one sub-stream over windows of time."""

    @abstractmethod
    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of the windows that `events` and their `until` closed."""

    @abstractmethod
    def finish(self) -> QueryRows | None:
        """Rows of the windows that are still open."""

    @abstractmethod
    def state(self) -> StateSize:
        """As `Executor.state`."""

    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""
        return {}


MakeEvaluator = Callable[[CompiledQuery, Part, Window], Evaluator]


class IndependentQueries(Executor):
    """Runs an evaluator per query, without sharing. Raises `OutOfOrder`."""

    def __init__(self, workload: Workload, make: MakeEvaluator) -> None:
        self.evaluators = {query.index: _evaluator(query, make) for query in workload}
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        return _present({index: evaluator.process(events) for index, evaluator in self.evaluators.items()})

    def finish(self) -> Rows:
        return _present({index: evaluator.finish() for index, evaluator in self.evaluators.items()})

    def state(self) -> StateSize:
        return reduce(StateSize.__add__, (evaluator.state() for evaluator in self.evaluators.values()), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(evaluator.details() for evaluator in self.evaluators.values())


def check_order(events: EventBatch, now: int) -> int:
    """The time after a batch that came at time `now`. Raises `OutOfOrder`."""
    if len(events):
        if events.time[0] < now or (len(events) > 1 and np.any(events.time[1:] < events.time[:-1])):
            raise OutOfOrder(f"an event at time {events.time.min()} came after one at time {now}")
        now = int(events.time[-1])
    return max(now, events.until or 0)


def _present(rows: dict[int, QueryRows | None]) -> Rows:
    return {index: found for index, found in rows.items() if found is not None and len(found)}


def _evaluator(query: CompiledQuery, make: MakeEvaluator) -> Evaluator:
    if query.window is not None and query.window.counts_events:
        return CountWindows(query, make)
    return _over_time(query, make, query.window or WHOLE_STREAM)


def _over_time(query: CompiledQuery, make: MakeEvaluator, window: Window) -> Evaluator:
    if query.analysis.conjunction:
        return Conjunction(query, make, window)
    return make(query, query.parts[0], window)


class CountWindows(Evaluator):
    """Windows of n consecutive events: each is a whole stream of its own to an evaluator.

    `largest` is the largest state when a window closed since the last call of `state`, and `closed_bytes` the share of
    that window: the others are only asked when it is a new maximum, since that takes time.
    """

    def __init__(self, query: CompiledQuery, make: MakeEvaluator) -> None:
        assert query.window is not None
        self.query, self.make, self.window = query, make, query.window
        self.open: dict[int, Evaluator] = {}
        self.closed_details: dict[str, float] = {}
        self.largest = StateSize()
        self.closed_bytes = 0
        self.seen = 0

    def process(self, events: EventBatch) -> QueryRows | None:
        parts: list[QueryRows] = []
        stop = self.seen + len(events)
        last = self.window.last_at(stop - 1) if len(events) else -1
        for k in range(self.window.first_at(self.seen), last + 1):
            start, end = max(self.window.start(k), self.seen), min(self.window.end(k), stop)
            if start >= end:
                continue
            if k not in self.open:
                self.open[k] = _over_time(self.query, self.make, WHOLE_STREAM)
            self.open[k].process(events.slice(start - self.seen, end - self.seen))
            if end == self.window.end(k):
                parts.extend(self._close(k))
        self.seen = stop
        return concatenate(parts) if parts else None

    def finish(self) -> QueryRows | None:
        parts = [rows for k in sorted(self.open) for rows in self._close(k)]
        return concatenate(parts) if parts else None

    def state(self) -> StateSize:
        found = max(self.largest, self._open_state(), key=lambda state: state.bytes)
        self.largest, self.closed_bytes = StateSize(), 0
        return found

    def details(self) -> Mapping[str, float]:
        return merged([self.closed_details, *(evaluator.details() for evaluator in self.open.values())])

    def _close(self, k: int) -> list[QueryRows]:
        evaluator = self.open.pop(k)
        self._note(evaluator.state())
        rows = evaluator.finish()
        self._note(evaluator.state())
        self.closed_details = merged([self.closed_details, evaluator.details()])
        return [] if rows is None else [rows.renumbered(k)]

    def _note(self, closing: StateSize) -> None:
        """Looks at the state while a window closes, which is not open any more."""
        if closing.bytes > self.closed_bytes:
            self.closed_bytes = closing.bytes
            self.largest = max(self.largest, closing + self._open_state(), key=lambda state: state.bytes)

    def _open_state(self) -> StateSize:
        return reduce(StateSize.__add__, (evaluator.state() for evaluator in self.open.values()), StateSize())


class Conjunction(Evaluator):
    """COUNT of pairs of distinct trends, one of each side (dissertation Chapter 12, Hamlet Section 5).

    With N1, N2 trends of the sides and c common ones: `N1 * N2 - c - c * (c - 1) / 2`. A pair of common trends would
    be counted twice. Where one of the three counts overflowed the pairs overflow, and their residue is 0.
    """

    def __init__(self, query: CompiledQuery, make: MakeEvaluator, window: Window) -> None:
        self.sides = [make(query, part, window) for part in query.parts]
        self.modular = query.arithmetic == "modular"

    def process(self, events: EventBatch) -> QueryRows | None:
        return self._pairs([side.process(events) for side in self.sides])

    def finish(self) -> QueryRows | None:
        return self._pairs([side.finish() for side in self.sides])

    def state(self) -> StateSize:
        return reduce(StateSize.__add__, (side.state() for side in self.sides), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(side.details() for side in self.sides)

    def _pairs(self, rows: list[QueryRows | None]) -> AggregateRows | None:
        counts = [_counts(side) for side in rows]
        kept = []
        for k in sorted(counts[0].keys() & counts[1].keys()):
            (one, over), (other, more), (both, most) = (side.get(k, (0, False)) for side in counts)
            overflow = over or more or most
            pairs = 0 if overflow else one * other - both - both * (both - 1) // 2
            overflow = overflow or pairs >= (2**64 if self.modular else 2**1023)
            if pairs or overflow:
                kept.append((k, pairs, overflow))
        if not kept:
            return None
        if self.modular:
            ring = np.array([[pairs % 2**64] for _, pairs, _ in kept], np.uint64)
        else:
            ring = np.array([[np.inf if over else float(pairs)] for _, pairs, over in kept])
        return AggregateRows(
            np.array([k for k, _, _ in kept], np.int64),
            ring,
            np.array([over for _, _, over in kept], np.uint64),
            np.empty((len(kept), 0)),
            np.empty((len(kept), 0), np.int64),
        )


def _counts(rows: QueryRows | None) -> dict[int, tuple[int, bool]]:
    """COUNT(*) and its overflow by window."""
    if rows is None:
        return {}
    assert isinstance(rows, AggregateRows)
    finite = np.isfinite(rows.ring[:, 0].astype(np.float64))
    counts = [int(count) if ok else 0 for count, ok in zip(rows.ring[:, 0], finite, strict=True)]
    overflow = (rows.overflow & np.uint64(1)).astype(bool) | ~finite
    return dict(zip(rows.window.tolist(), zip(counts, overflow.tolist(), strict=True), strict=True))
