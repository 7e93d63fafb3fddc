"""Windows of n consecutive events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.rows import QueryRows, concatenate
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.metrics.details import merged


class CountWindows(Evaluator):
    """Windows of n consecutive events: each is a whole stream of its own to a `fresh` evaluator.

    `largest` is the largest state when a window closed since the last call of `state`, and `closed_bytes` the share of
    that window: the others are only asked when it is a new maximum, since that takes time.
    """

    def __init__(self, window: Window, fresh: Callable[[], Evaluator]) -> None:
        self.window, self.fresh = window, fresh
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
                self.open[k] = self.fresh()
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
