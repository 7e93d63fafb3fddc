"""Windows of n consecutive events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.evaluator import Evaluator
from cepbench.algorithms.engine.peak import Peak
from cepbench.algorithms.rows import QueryRows, concatenate
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.metrics.details import merged


class CountWindows(Evaluator):
    """Windows of n consecutive events. A `fresh` evaluator processes each of them as a whole stream.

    When a window closes, the state is recorded only if this window is the largest closed one since the last call of
    `state` (`closed_bytes`), since computing the state of all open windows takes time.
    """

    def __init__(self, window: Window, fresh: Callable[[], Evaluator]) -> None:
        self.window, self.fresh = window, fresh
        self.open: dict[int, Evaluator] = {}
        self.closed_details: dict[str, float] = {}
        self.peak = Peak()
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
        self.closed_bytes = 0
        return self.peak.report(self._open_state())

    def details(self) -> Mapping[str, float]:
        return merged([self.closed_details, *(evaluator.details() for evaluator in self.open.values())])

    def _close(self, k: int) -> list[QueryRows]:
        evaluator = self.open.pop(k)
        rows = evaluator.finish()
        closing = evaluator.state()
        if closing.bytes > self.closed_bytes:
            self.closed_bytes = closing.bytes
            self.peak.note(closing + self._open_state())
        self.closed_details = merged([self.closed_details, evaluator.details()])
        return [] if rows is None else [rows.renumbered(k)]

    def _open_state(self) -> StateSize:
        return reduce(StateSize.__add__, (evaluator.state() for evaluator in self.open.values()), StateSize())
