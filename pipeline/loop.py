"""The one loop that runs executors: batches of a stream go to an executor per sub-stream, whoever asked."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from cepbench.algorithms.base import Executor
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.metrics.details import merged
from cepbench.pipeline.jobs import Job
from cepbench.pipeline.substreams import RawKey, split


@dataclass(frozen=True)
class Family:
    """Queries that split the stream alike.

    - `split`: a batch into sub-streams, with their keys.
    - `executor`: a fresh one for a sub-stream.
    - `windows`: of each query by its index, None for the whole stream.
    - `groups`: of each query by its index, how many leading values of a sub-stream's key are its group.
    - `prompt`: queries that have no rows but those that an event completes, so that no end of a window matters.
    """

    split: Callable[[EventBatch], Iterable[tuple[RawKey, EventBatch]]]
    executor: Callable[[], Executor]
    windows: Mapping[int, Window | None]
    groups: Mapping[int, int]
    prompt: frozenset[int] = field(default=frozenset())

    @property
    def closing(self) -> list[Window]:
        """The windows of time whose ends bring rows."""
        timed = (window for query, window in self.windows.items() if query not in self.prompt)
        return [window for window in timed if window is not None and not window.counts_events]


def family_of(job: Job, executor: Callable[[], Executor]) -> Family:
    """The queries of a job, with what makes an executor for a sub-stream."""
    return Family(
        split=partial(split, attributes=job.partition),
        executor=executor,
        windows={query.index: query.window for query in job.workload},
        groups={query.index: len(query.query.group_by) for query in job.workload},
        prompt=frozenset(query.index for query in job.workload if query.is_prompt),
    )


Call = Callable[[RawKey, Executor, EventBatch | None], Rows]
"""How an executor is called: with events, or with None when the stream ends."""
Emit = Callable[[RawKey, Rows], None]
"""Takes the rows of a sub-stream."""


def plainly(key: RawKey, executor: Executor, events: EventBatch | None) -> Rows:
    """Calls the executor, and nothing else."""
    return executor.finish() if events is None else executor.process(events)


class Loop:
    """Hands batches of a stream, in time order, to a fresh executor per sub-stream of a family.

    - `call` calls an executor, for instance under a clock; `emit` takes the rows that are not empty.
    - A sub-stream without events in a batch hears of its `until` if that ends one of its windows.
    - With `look`, windows are closed in a call of their own, and `look` is called before and after it.

    `executors` are those of the sub-streams so far, without those that have come to their end.
    """

    def __init__(
        self, family: Family, emit: Emit, call: Call = plainly, look: Callable[[], None] | None = None
    ) -> None:
        self.executors: dict[RawKey, Executor] = {}
        self._family, self._emit, self._call, self._look = family, emit, call, look
        self._closing = family.closing
        self._ends: dict[RawKey, int] = {}  # sub-stream -> end of the last window that holds an event of it
        self._closed = 0  # windows that end by then are closed
        self._gone = 0  # sub-streams that have come to their end

    def details(self) -> Mapping[str, float]:
        """What the executors tell of their work, together."""
        return merged(executor.details() for executor in self.executors.values())

    def process(self, events: EventBatch) -> None:
        """The next batch."""
        until, windows = events.until, self._closing
        closing = until is not None and any(ends_between(w, self._closed, until) for w in windows)
        apart = self._look is not None and closing
        waiting = {key for key, end in self._ends.items() if end > self._closed} if closing else set()
        for key, piece in self._family.split(events):
            if key not in self.executors:
                self.executors[key] = self._family.executor()
            self._ends[key] = _last_end(windows, int(piece.time[-1]))
            self._run(key, self.executors[key], piece.slice(0, len(piece), None if apart else until))
            if apart:
                waiting.add(key)
            else:
                waiting.discard(key)
        if self._look is not None:
            self._look()
        nothing = events.slice(len(events), len(events), until)
        for key in waiting:
            self._run(key, self.executors[key], nothing)
        if waiting and self._look is not None:
            self._look()
        if until is not None:
            self._closed = max(self._closed, until)

    def finish(self) -> None:
        """The end of the stream."""
        for key, executor in self.executors.items():
            self._run(key, executor, None)

    def finish_with(self, events: EventBatch, spent: Callable[[RawKey, Executor], None]) -> None:
        """The last batch, and the end of the stream: one sub-stream after another comes to its end.

        So those that have all of their events in this batch need no room at the same time. `spent` gets each executor.
        """
        for key, piece in self._family.split(events):
            executor = self.executors.pop(key) if key in self.executors else self._family.executor()
            self._run(key, executor, piece)
            self._end(key, executor, spent)
        while self.executors:
            self._end(*self.executors.popitem(), spent)

    def pickled(self) -> None:
        """Pickles every executor, and goes on with the copies."""
        self.executors.update(pickle.loads(pickle.dumps(self.executors)))

    @property
    def substreams(self) -> int:
        """How many there are so far."""
        return len(self.executors) + self._gone

    def _end(self, key: RawKey, executor: Executor, spent: Callable[[RawKey, Executor], None]) -> None:
        self._run(key, executor, None)
        self._gone += 1
        spent(key, executor)

    def _run(self, key: RawKey, executor: Executor, events: EventBatch | None) -> None:
        rows = self._call(key, executor, events)
        if rows:
            self._emit(key, rows)


def ends_between(window: Window, after: int, until: int) -> bool:
    """Whether some window ends in (after, until]."""
    if until < window.within:
        return False
    return (until - window.within) // window.slide > (after - window.within) // window.slide


def _last_end(windows: Iterable[Window], time: int) -> int:
    """When the last time window ends that holds an event of this time."""
    return max((window.end(window.last_at(time)) for window in windows), default=0)
