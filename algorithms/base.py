"""The interface between the pipeline and an algorithm (docs/architecture.md, The operator interface)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.growth import with_room
from cepbench.algorithms.rows import QueryRows, Rows, joined
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.metrics.details import merged
from cepbench.queries.compile import Workload
from cepbench.queries.model import Aggregates, Query

NO_DETECTION = "it aggregates the trends of windows, and detects no matches within a span of their own"
"""Why an algorithm that evaluates windows refuses a detection query."""


class UnsupportedQuery(CepbenchError):
    """An algorithm cannot evaluate a query; the message gives its reason."""


class NotEnoughMemory(CepbenchError):
    """An algorithm would exceed its memory limit; the message says how much memory it needs."""


class WrongRows(CepbenchError):
    """A call of an algorithm returned something that is no rows; the message names its file and line."""

    def __init__(self, call: Callable[..., object], value: object, right: str) -> None:
        code = call.__code__ if hasattr(call, "__code__") else None
        place = "" if code is None else f"{Path(code.co_filename).name}, line {code.co_firstlineno}: "
        kind = "None" if value is None else f"a value of type {type(value).__name__}"
        super().__init__(f"{place}`{call.__qualname__}` returned {kind} instead of {right}")


class PlanningTooLong(CepbenchError):
    """An optimizer exceeded its time limit of `seconds` and has no plan to fall back on."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class OutOfOrder(CepbenchError):
    """An executor received an older event than an earlier one."""


@dataclass(frozen=True)
class Plan:
    """What an algorithm decided about a workload; subclassed by optimizers.

    Attributes
    ----------
    workload
        The queries.
    details
        Statistics of the optimizer's search by name: seconds, bytes, candidates, plans.
    notices
        What users should know about the plan, one line each.
    unanswered
        Executors of this plan detect nothing on purpose, so that answers are empty.
    cut_off
        Executors of this plan leave matches out; their answers are not compared.
    """

    workload: Workload
    details: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    notices: tuple[str, ...] = field(default=(), kw_only=True)
    unanswered: bool = field(default=False, kw_only=True)
    cut_off: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class StateSize:
    """Live state of an operator or executor.

    Attributes
    ----------
    bytes
        Bytes in use (not reserved).
    kinds
        Number of live objects by kind: events, edges, aggregates, snapshots, partial matches, trends.
    reserved
        Bytes of an operator's arrays, including the space of idle keys.
    """

    bytes: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    reserved: int = 0

    def __add__(self, other: "StateSize") -> "StateSize":
        kinds = dict(self.kinds)
        for kind, count in other.kinds.items():
            kinds[kind] = kinds.get(kind, 0) + count
        return StateSize(self.bytes + other.bytes, kinds, self.reserved + other.reserved)


@dataclass(frozen=True, eq=False)
class KeyedBatch:
    """Events ordered by key and then by time: the input of an operator.

    A key is a combination of values of the attributes that split the stream (a sub-stream in the papers). Keys are
    numbered from 0 in the order of their first events; an unsplit stream has one key.

    Attributes
    ----------
    events
        The events. `events.watermark`: no later event of any key is older; None means no watermark.
    keys
        int64[m], the keys with events in the batch.
    offsets
        int64[m + 1]; the events of `keys[j]` are `offsets[j]..offsets[j + 1] - 1`, in time order.
    known
        Number of keys so far, including those of this batch.
    last
        Whether this is the last batch. An operator can then finish its keys one by one; `finish` is still called.
    checked
        Whether the order of the events has been checked.
    """

    events: EventBatch
    keys: NDArray[np.int64]
    offsets: NDArray[np.int64]
    known: int
    last: bool = False
    checked: bool = False

    @classmethod
    def of_one_key(cls, events: EventBatch) -> "KeyedBatch":
        """A batch of events that all have the same, only key."""
        size = len(events)
        keys = np.zeros(1 if size else 0, np.int64)
        return cls(events, keys, np.array([0, size] if size else [0], np.int64), 1)

    @property
    def watermark(self) -> int | None:
        """No later event is older; None means no watermark."""
        return self.events.watermark

    @cached_property
    def pieces(self) -> Sequence[tuple[int, EventBatch]]:
        """Each key with its events; each piece carries the watermark."""
        events, watermark = self.events, self.events.watermark
        if len(self.keys) == 1:
            return [(int(self.keys[0]), events)]
        bounds = self.offsets.tolist()
        return [
            (key, events.slice(start, stop, watermark))
            for key, start, stop in zip(self.keys.tolist(), bounds, bounds[1:], strict=False)
        ]

    @cached_property
    def without_events(self) -> EventBatch:
        """The watermark alone, for keys that have no events in this batch."""
        return self.events.slice(len(self.events), len(self.events), self.events.watermark)

    def latest(self, now: int) -> int:
        """The latest time after this batch, before which the latest event or watermark was at time `now`.

        Raises `OutOfOrder` if an event is older than one before it of its key, or than `now`, unless it was `checked`.
        """
        if len(self.events) and not self.checked:
            earliest, latest, ordered = self._times
            if earliest < now or not ordered:
                raise OutOfOrder(f"an event at time {earliest} came after a later one of its key")
            now = max(now, latest)
        return max(now, self.events.watermark or 0)

    @cached_property
    def _times(self) -> tuple[int, int, bool]:
        """The earliest and the latest time, and whether the events of each key are in order; of a batch with events."""
        time, begins = self.events.time, self.offsets[:-1]
        back = np.flatnonzero(time[1:] < time[:-1]) + 1
        ordered = not len(back) or bool(np.isin(back, begins).all())
        return int(time[begins].min()), int(time.max()), ordered


class Operator(ABC):
    """Evaluates a plan on all keys of one partition of a stream, batch by batch.

    Only `process` and `finish` are timed. An operator can be pickled between two batches.
    """

    @abstractmethod
    def process(self, batch: KeyedBatch) -> Rows:
        """Returns the rows of the windows that these events or the watermark closed, for all keys.

        Raises
        ------
        OutOfOrder
            An event is older than an earlier one of its key, or than an earlier watermark.
        """

    @abstractmethod
    def finish(self) -> Rows:
        """Returns the rows of all windows that are still open. The operator is not used afterwards."""

    @abstractmethod
    def state(self) -> StateSize:
        """Live state of all keys. Of each key, the peak since the last call counts if it exceeds the current size."""

    def details(self) -> Mapping[str, float]:
        """Numbers about the work so far by name, such as counted operations; empty by default.

        The numbers of several operators are summed; of names that end in `_peak`, the maximum is taken.
        """
        return {}

    def load(self) -> None:
        """Calls the kernels that a run on a few events may not reach, so that their loading is not timed."""
        return

    def idle(self) -> "Operator":
        """A fresh operator with the overhead of this one, without the algorithm: the baseline of measurements."""
        return Idle()


class KeyedOperator(Operator):
    """An operator that can also end single keys: what combinators are made of (`algorithms.compose`)."""

    @abstractmethod
    def end(self, keys: NDArray[np.int64]) -> tuple[Rows, StateSize]:
        """Returns the rows of the windows of some keys that are still open, and the largest state of one of these keys
        since the last call of `state`. Later events of these keys begin anew.
        """

    def idle(self) -> "KeyedOperator":
        return Idle()


class Idle(KeyedOperator):
    """Does nothing."""

    def process(self, batch: KeyedBatch) -> Rows:
        return {}

    def finish(self) -> Rows:
        return {}

    def end(self, keys: NDArray[np.int64]) -> tuple[Rows, StateSize]:
        return {}, StateSize()

    def state(self) -> StateSize:
        return StateSize()


class Executor(ABC):
    """Evaluates a plan on the events of one key. `PerKey` makes an operator of executors."""

    @abstractmethod
    def process(self, events: EventBatch) -> Rows:
        """Returns the rows of the windows that these events or their watermark closed."""

    @abstractmethod
    def finish(self) -> Rows:
        """Returns the rows of all windows that are still open. The executor is not used afterwards."""

    @abstractmethod
    def state(self) -> StateSize:
        """Live state now, or its peak within the calls since the last `state` if that is larger."""

    def details(self) -> Mapping[str, float]:
        """As `Operator.details`; empty by default."""
        return {}

    def load(self) -> None:
        """As `Operator.load`; does nothing by default."""
        return


class PerKey(KeyedOperator):
    """Runs one executor per key: all that an algorithm needs which evaluates each key separately. Raises `OutOfOrder`.

    A key without events in a batch is only called if the watermark ends one of its windows. In the last batch, keys are
    finished one after another, so that keys whose events all lie in this batch do not need space at the same time.
    O(1) time per key in a batch, plus its executor.

    Parameters
    ----------
    make
        Returns a fresh executor for a key; can be pickled.
    workload
        The queries to evaluate.
    """

    def __init__(self, make: Callable[[], Executor], workload: Workload) -> None:
        self.executors: dict[int, Executor] = {}
        self._make, self._workload = make, workload
        self._ends = np.empty(0, np.int64)  # by key: the end of the last window that holds one of its events
        self._closed = 0  # windows that end at or before this time are closed
        self._called: set[int] = set()  # keys whose state may have changed
        self._reported: set[int] = set()  # keys whose size may be a peak that was reported
        self._sizes: dict[int, StateSize] = {}
        self._spent: dict[str, float] = {}  # details of finished keys
        self._now = 0

    def process(self, batch: KeyedBatch) -> Rows:
        self._now = batch.latest(self._now)
        watermark, parts = batch.watermark, list[Rows]()
        self._note_ends(batch)
        for key, piece in batch.pieces:
            executor = self.executors.get(key)
            if executor is None:
                executor = self.executors[key] = self._make()
            parts.append(_rows(key, executor.process, piece))
            if batch.last:
                parts.append(self._end(key))
        self._called.update(batch.keys.tolist())
        if watermark is not None and not batch.last:
            waiting = self._waiting(batch, watermark)
            parts += [_rows(key, self.executors[key].process, batch.without_events) for key in waiting]
            self._called.update(waiting)
            self._closed = max(self._closed, watermark)
        while batch.last and self.executors:
            parts.append(self._end(next(reversed(self.executors))))
        return joined(parts)

    def finish(self) -> Rows:
        self._called.update(self.executors)
        return joined([_rows(key, executor.finish) for key, executor in self.executors.items()])

    def end(self, keys: NDArray[np.int64]) -> tuple[Rows, StateSize]:
        self._ends[keys] = 0
        executors = [self.executors[key] for key in keys.tolist()]
        rows = joined([self._end(key) for key in keys.tolist()])
        sizes = [executor.state() for executor in executors]
        return rows, max(sizes, key=lambda size: size.bytes, default=StateSize())

    def state(self) -> StateSize:
        for key in (self._called | self._reported) & self.executors.keys():
            self._sizes[key] = self.executors[key].state()
        self._called, self._reported = set(), self._called
        size, reserved, kinds = 0, 0, dict[str, int]()
        for one in self._sizes.values():
            size, reserved = size + one.bytes, reserved + one.reserved
            for kind, count in one.kinds.items():
                kinds[kind] = kinds.get(kind, 0) + count
        return StateSize(size, kinds, reserved)

    def details(self) -> Mapping[str, float]:
        return merged([self._spent, *(executor.details() for executor in self.executors.values())])

    def load(self) -> None:
        self._make().load()

    def idle(self) -> KeyedOperator:
        """As many calls, of executors that do nothing."""
        return PerKey(IdleExecutor, self._workload)

    def _note_ends(self, batch: KeyedBatch) -> None:
        self._ends = with_room(self._ends, batch.known)
        if len(batch.keys):
            latest = batch.events.time[batch.offsets[1:] - 1]
            for window in self._workload.closing:
                ends = latest // window.slide * window.slide + window.within
                self._ends[batch.keys] = np.maximum(self._ends[batch.keys], ends)

    def _waiting(self, batch: KeyedBatch, watermark: int) -> list[int]:
        """Keys without events in the batch which may have a window that ends by the watermark."""
        if not any(window.ends_between(self._closed, watermark) for window in self._workload.closing):
            return []
        waits = self._ends > self._closed
        waits[batch.keys] = False
        found: list[int] = np.flatnonzero(waits).tolist()
        return found

    def _end(self, key: int) -> Rows:
        """Finishes a key, drops its executor and returns its last rows."""
        executor = self.executors.pop(key)
        self._sizes.pop(key, None)
        rows = _rows(key, executor.finish)
        self._spent = merged([self._spent, executor.details()])
        return rows


def _rows(key: int, call: Callable[..., Rows], *events: EventBatch) -> Rows:
    """The rows that a call of the executor of a key returns. Raises `WrongRows`."""
    rows: Any = call(*events)
    if not isinstance(rows, dict) or not all(isinstance(part, QueryRows) for part in rows.values()):
        raise WrongRows(call, rows, "rows by the index of their query (`cepbench.algorithms.rows`)")
    return {query: part.of_key(key) for query, part in rows.items()}


class IdleExecutor(Executor):
    """Does nothing."""

    def process(self, events: EventBatch) -> Rows:
        return {}

    def finish(self) -> Rows:
        return {}

    def state(self) -> StateSize:
        return StateSize()


class Algorithm(ABC):
    """One system of a paper. Constructor arguments are its parameters, e.g. `cet[detect=hybrid]`.

    Attributes
    ----------
    name
        The name in specifications.
    paper
        Short references to the papers.
    enumerates
        It constructs every match, so its time is at least the number of matches.
    flattens
        It evaluates a Kleene pattern as sequences of every length, so long matches are expensive.
    detects
        It is made for detection queries; random tests draw no other queries for it.
    narrow
        It supports few kinds of queries. Tests do not require that it evaluates a quarter of the papers' examples.
    starts
        It starts a separate process, which cannot be prepared by another process.
    counts_matches
        It evaluates COUNT(*) of matches within a span of their own (`PER MATCH`). False by default, since plug-ins may
        be older than these queries.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    enumerates: ClassVar[bool] = False
    flattens: ClassVar[bool] = False
    detects: ClassVar[bool] = False
    narrow: ClassVar[bool] = False
    starts: ClassVar[bool] = False
    counts_matches: ClassVar[bool] = False

    @classmethod
    def missing(cls) -> str | None:
        """Why the algorithm cannot run on this machine, e.g. because an engine is not installed; None if it can."""
        return None

    @abstractmethod
    def unsupported(self, query: Query) -> str | None:
        """Why the algorithm cannot evaluate the query, in words; None if it can."""

    def refusal(self, query: Query) -> str | None:
        """`unsupported`, extended by reasons that follow from the class attributes."""
        counts = query.span is not None and isinstance(query.returns, Aggregates)
        return self.unsupported(query) or (NO_DETECTION if counts and not self.counts_matches else None)

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """Runs the optimizer; by default there is nothing to decide."""
        return Plan(workload)

    def explain(self, plan: Plan) -> str | None:
        """The plan as text that shows how the queries are evaluated, such as SQL; None if there is no such text."""
        return None

    def operator(self, plan: Plan) -> Operator:
        """A fresh operator for the keys of one partition of the stream; by default `PerKey` with `executor`."""
        return PerKey(partial(self.executor, plan), plan.workload)

    def executor(self, plan: Plan) -> Executor:
        """A fresh executor for one key. An algorithm without executors overrides `operator` instead."""
        raise NotImplementedError(f"{self.name} has neither an executor nor an operator")
