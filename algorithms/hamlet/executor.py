"""Evaluates a workload: sharable sets, and queries that share nothing beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.hamlet.compilation import CompiledSet
from cepbench.algorithms.hamlet.kernels.stream import COLUMNS
from cepbench.algorithms.hamlet.plan import HamletPlan
from cepbench.algorithms.hamlet.set_executor import SetExecutor
from cepbench.algorithms.hamlet.sharing import Sharing
from cepbench.algorithms.rows import AggregateRows, QueryRows, Rows
from cepbench.algorithms.running.conjunction import pairs
from cepbench.algorithms.running.count_windows import CountWindows
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.running.per_query import check_order
from cepbench.algorithms.snapshots.members import counts_events
from cepbench.events.batch import EventBatch
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery


class HamletExecutor(Executor):
    """Runs each sharable set; a window that counts events is a stream of its own. Raises `OutOfOrder`."""

    def __init__(self, plan: HamletPlan, sharing: Sharing) -> None:
        by_time = [query for query in plan.workload if not counts_events(query)]
        self.sets = SharableSets(by_time, plan.sets, plan.workload.arithmetic, sharing)
        self.counting: dict[int, Evaluator] = {
            query.index: CountWindows(query.window, partial(OneQuery, query, plan.counting[query.index], sharing))
            for query in plan.workload
            if query.window is not None and counts_events(query)
        }
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        counted = {index: evaluator.process(events) for index, evaluator in self.counting.items()}
        return _present(self.sets.process(events) | counted)

    def finish(self) -> Rows:
        counted = {index: evaluator.finish() for index, evaluator in self.counting.items()}
        return _present(self.sets.finish() | counted)

    def state(self) -> StateSize:
        return sum((evaluator.state() for evaluator in self.counting.values()), self.sets.state())

    def trace(self) -> NDArray[np.float64]:
        """float64[n, COLUMNS]: the newest decisions of each sharable set on windows of time, set by set.

        `kernels.stream` names the columns. None unless decisions are traced.
        """
        return np.concatenate([np.zeros((0, COLUMNS)), *(one.trace.newest for one in self.sets.sets)])

    def details(self) -> Mapping[str, float]:
        """Counted work: `event_visits` (events times the graphlets that they are put into), `edges` (events before that
        were visited one by one), `bursts` of sharable types and the `shared_bursts` of them, their `graphlets` (one
        that is shared, one for each query that does not share), `snapshots` and those of either level, `splits` and
        `merges`; `deciding_seconds`; and, if decisions are traced, their sums by size of burst
        (`DecisionTrace.details`).
        """
        return merged([self.sets.details(), *(evaluator.details() for evaluator in self.counting.values())])


class SharableSets:
    """Rows of some queries by their index, from the sets that their members are in."""

    def __init__(
        self, queries: Sequence[CompiledQuery], sets: Sequence[CompiledSet], arithmetic: str, sharing: Sharing
    ) -> None:
        self.queries, self.arithmetic = tuple(queries), arithmetic
        self.sets = [SetExecutor(compiled, arithmetic, sharing) for compiled in sets]

    def process(self, events: EventBatch) -> dict[int, QueryRows | None]:
        return self._rows([one.process(events) for one in self.sets])

    def finish(self) -> dict[int, QueryRows | None]:
        return self._rows([one.finish() for one in self.sets])

    def state(self) -> StateSize:
        return sum((one.size() for one in self.sets), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(one.details() for one in self.sets)

    def _rows(self, answers: Sequence[Mapping[int, AggregateRows]]) -> dict[int, QueryRows | None]:
        found = {
            one.compiled.members[m].place: rows
            for one, answer in zip(self.sets, answers, strict=True)
            for m, rows in answer.items()
        }
        return {query.index: _of_query(query, found, self.arithmetic) for query in self.queries}


class OneQuery(Evaluator):
    """A query over a whole stream."""

    def __init__(self, query: CompiledQuery, sets: Sequence[CompiledSet], sharing: Sharing) -> None:
        self.index = query.index
        self.sets = SharableSets([query], sets, query.arithmetic, sharing)

    def process(self, events: EventBatch) -> QueryRows | None:
        return self.sets.process(events)[self.index]

    def finish(self) -> QueryRows | None:
        return self.sets.finish()[self.index]

    def state(self) -> StateSize:
        return self.sets.state()

    def details(self) -> Mapping[str, float]:
        return self.sets.details()


def _of_query(
    query: CompiledQuery, found: Mapping[tuple[int, int], AggregateRows], arithmetic: str
) -> AggregateRows | None:
    sides = [found.get((query.index, side)) for side in range(len(query.parts))]
    return pairs(sides, arithmetic) if query.analysis.conjunction else sides[0]


def _present(rows: Mapping[int, QueryRows | None]) -> Rows:
    return {index: found for index, found in rows.items() if found is not None and len(found)}
