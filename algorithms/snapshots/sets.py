"""Evaluates a workload set by set: sharable sets of members, and queries whose windows count events beside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.rows import AggregateRows, QueryRows, Rows
from cepbench.algorithms.running.batches import kernel_events, no_events
from cepbench.algorithms.running.conjunction import pairs
from cepbench.algorithms.running.count_windows import CountWindows
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.running.per_query import check_order
from cepbench.algorithms.snapshots.channels import MemberChannels
from cepbench.algorithms.snapshots.members import SetMember, counts_events
from cepbench.algorithms.snapshots.rows import MemberAnswers, RowBuffer
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.metrics.details import merged
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import CompiledQuery, Part, Workload


@dataclass(frozen=True)
class CompiledMembers:
    """What all kernels of a sharable set read: the columns that its tables refer to, and its channels.

    `negations` are the negated sub-patterns of all members, as they are numbered, with the length of their windows.
    """

    members: tuple[SetMember, ...]
    columns: ColumnSet
    channels: MemberChannels
    negations: tuple[tuple[Part, Window], ...]


class SetRunner(ABC):
    """Evaluates one sharable set on one key: hands batches to kernels, and takes the rows of windows that they close.

    `most` windows may be open at a time.
    """

    def __init__(self, compiled: CompiledMembers, arithmetic: str, most: int) -> None:
        self.members, self.columns, self.modular = compiled.members, compiled.columns, arithmetic == "modular"
        self.negations = [
            negation
            for part, window in compiled.negations
            for negation in negations_of([part], window, compiled.columns)
        ]
        self.rows = RowBuffer(compiled.channels, arithmetic, most)

    def process(self, events: EventBatch) -> MemberAnswers:
        """Rows of the windows that these events and their watermark closed."""
        now = max(int(events.time[-1]) if len(events) else -1, -1 if events.watermark is None else events.watermark)
        return self.run(kernel_events(self.columns, events, self.negations), now)

    def finish(self) -> MemberAnswers:
        """Rows of the windows that are still open."""
        return self.run(no_events(len(self.columns.ints), len(self.columns.reals)), 2 * FOREVER - 1)

    @abstractmethod
    def run(self, events: KernelEvents, now: int) -> MemberAnswers:
        """Processes some events, and closes windows that end by `now`."""

    @abstractmethod
    def size(self) -> StateSize:
        """As `Executor.state`."""

    @abstractmethod
    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""


class SharableSets:
    """Rows of some queries by their index, from the sets that their members are in."""

    def __init__(self, queries: Sequence[CompiledQuery], runners: Sequence[SetRunner], arithmetic: str) -> None:
        self.queries, self.runners, self.arithmetic = tuple(queries), tuple(runners), arithmetic

    def process(self, events: EventBatch) -> dict[int, QueryRows | None]:
        return self._rows([one.process(events) for one in self.runners])

    def finish(self) -> dict[int, QueryRows | None]:
        return self._rows([one.finish() for one in self.runners])

    def state(self) -> StateSize:
        return sum((one.size() for one in self.runners), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(one.details() for one in self.runners)

    def _rows(self, answers: Sequence[MemberAnswers]) -> dict[int, QueryRows | None]:
        found = {
            one.members[m].place: rows
            for one, answer in zip(self.runners, answers, strict=True)
            for m, rows in answer.items()
        }
        return {query.index: _of_query(query, found, self.arithmetic) for query in self.queries}


class OneQuery(Evaluator):
    """A query over a whole stream, by the sets of it alone."""

    def __init__(self, query: CompiledQuery, runners: Sequence[SetRunner]) -> None:
        self.index = query.index
        self.sets = SharableSets([query], runners, query.arithmetic)

    def process(self, events: EventBatch) -> QueryRows | None:
        return self.sets.process(events)[self.index]

    def finish(self) -> QueryRows | None:
        return self.sets.finish()[self.index]

    def state(self) -> StateSize:
        return self.sets.state()

    def details(self) -> Mapping[str, float]:
        return self.sets.details()


class SetsExecutor(Executor):
    """Runs each sharable set; a window that counts events is a stream of its own. Raises `OutOfOrder`.

    `fresh` makes the evaluator of one such window, by the index of its query.
    """

    def __init__(
        self, workload: Workload, runners: Sequence[SetRunner], fresh: Mapping[int, Callable[[], OneQuery]]
    ) -> None:
        by_time = [query for query in workload if not counts_events(query)]
        self.sets = SharableSets(by_time, runners, workload.arithmetic)
        self.counting: dict[int, Evaluator] = {
            query.index: CountWindows(query.window, fresh[query.index])
            for query in workload
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

    def details(self) -> Mapping[str, float]:
        return merged([self.sets.details(), *(evaluator.details() for evaluator in self.counting.values())])


def _of_query(
    query: CompiledQuery, found: Mapping[tuple[int, int], AggregateRows], arithmetic: str
) -> AggregateRows | None:
    sides = [found.get((query.index, side)) for side in range(len(query.parts))]
    return pairs(sides, arithmetic) if query.analysis.conjunction else sides[0]


def _present(rows: Mapping[int, QueryRows | None]) -> Rows:
    return {index: found for index, found in rows.items() if found is not None and len(found)}
