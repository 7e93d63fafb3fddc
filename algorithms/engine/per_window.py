"""Queries that share their window are evaluated together; those of different windows share nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cepbench.algorithms.base import Executor
from cepbench.algorithms.engine.evaluator import WHOLE_STREAM, Together
from cepbench.algorithms.engine.per_query import check_order
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery


def window_of(query: CompiledQuery) -> Window:
    """The window of a query, be it the whole stream."""
    return query.window or WHOLE_STREAM


def by_window(queries: Iterable[CompiledQuery]) -> dict[Window, list[CompiledQuery]]:
    """The queries of each window, in their order; windows as they appear."""
    found: dict[Window, list[CompiledQuery]] = {}
    for query in queries:
        found.setdefault(window_of(query), []).append(query)
    return found


class PerWindow(Together, Executor):
    """Runs an executor per window, or set of queries; each query is in one. Raises `OutOfOrder` for all of them."""

    def __init__(self, sets: Sequence[Executor]) -> None:
        self.parts = sets
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        return _union([shared.process(events) for shared in self.parts])

    def finish(self) -> Rows:
        return _union([shared.finish() for shared in self.parts])

    def load(self) -> None:
        for shared in self.parts:
            shared.load()


def _union(parts: Iterable[Rows]) -> Rows:
    return {query: rows for part in parts for query, rows in part.items()}
