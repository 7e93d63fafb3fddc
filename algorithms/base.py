"""Everything that the pipeline knows of an algorithm (docs/architecture.md, The operator interface)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.rows import KeyedRows, Rows, with_keys
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.metrics.details import merged
from cepbench.queries.compile import Workload
from cepbench.queries.model import Aggregates, Query

NO_DETECTION = "it aggregates the trends of windows, and detects no matches within a span of their own"
"""Why an algorithm for windows refuses a query of detection."""


class UnsupportedQuery(CepbenchError):
    """An algorithm cannot evaluate a query; the message gives its reason."""


class NotEnoughMemory(CepbenchError):
    """An algorithm cannot keep within the memory limit that it was given; the message says what it would need."""


class PlanningTooLong(CepbenchError):
    """An optimiser did not end within the `seconds` that it was given, and has no plan to fall back on."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class OutOfOrder(CepbenchError):
    """An executor was handed an older event than it has seen."""


@dataclass(frozen=True)
class Plan:
    """What an algorithm decided about a workload; optimisers subclass it.

    `details` are numbers that the optimiser tells of its search, by name: seconds, bytes, candidates, plans. `notices`
    are what users should know of the plan, one line each. Executors of a plan that is `unanswered` detect nothing on
    purpose, so that answers are empty; those of a plan that is `cut_off` leave matches out, and answers are compared
    with none.
    """

    workload: Workload
    details: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    notices: tuple[str, ...] = field(default=(), kw_only=True)
    unanswered: bool = field(default=False, kw_only=True)
    cut_off: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class StateSize:
    """Live state of an operator or executor: `bytes` in use (not reserved), and live things by kind.

    Kinds are events, edges, aggregates, snapshots, partial matches, trends. `reserved` are the bytes of the arrays of a
    operator, in which keys have their room also while they are idle.
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
    """Events ordered by key and then by time, as an operator takes them.

    A key is a combination of values of the attributes that split the stream (a sub-stream of the papers). Keys are
    numbered from 0 in the order in which they appear; a stream that nothing splits has one key.

    Attributes
    ----------
    events
        The events. `events.watermark` is the watermark: no later event of any key is older. None is no watermark.
    keys
        int64[m], the keys that have events in the batch.
    offsets
        int64[m + 1]; the events of `keys[j]` are `offsets[j]..offsets[j + 1] - 1`, in time order.
    known
        How many keys there are so far, those of this batch included.
    last
        Whether no event follows. An operator may then end its keys one by one; `finish` is called all the same.
    """

    events: EventBatch
    keys: NDArray[np.int64]
    offsets: NDArray[np.int64]
    known: int
    last: bool = False

    @classmethod
    def of_one_key(cls, events: EventBatch) -> "KeyedBatch":
        """Events that all have the same key, the only one."""
        size = len(events)
        keys = np.zeros(1 if size else 0, np.int64)
        return cls(events, keys, np.array([0, size] if size else [0], np.int64), 1)

    @property
    def watermark(self) -> int | None:
        """No later event is older; None if nothing is known."""
        return self.events.watermark

    def pieces(self) -> Iterator[tuple[int, EventBatch]]:
        """Each key with its events, which bear the watermark."""
        events, watermark = self.events, self.events.watermark
        if len(self.keys) == 1:
            yield int(self.keys[0]), events
            return
        bounds = self.offsets.tolist()
        for key, start, stop in zip(self.keys.tolist(), bounds, bounds[1:], strict=False):
            yield key, events.slice(start, stop, watermark)


class Operator(ABC):
    """Evaluates a plan on all keys of one partition of a stream, batch by batch.

    Only `process` and `finish` are timed. An operator can be pickled between two batches.
    """

    @abstractmethod
    def process(self, batch: KeyedBatch) -> KeyedRows:
        """Rows of every window that these events closed, and that the watermark closed for any key.

        Raises
        ------
        OutOfOrder
            An event is older than an earlier one of its key, or than an earlier watermark.
        """

    @abstractmethod
    def finish(self) -> KeyedRows:
        """Rows of all windows that are still open; the operator is spent."""

    @abstractmethod
    def state(self) -> StateSize:
        """Live state of all keys; of each the largest that it had since the last call, if it was larger than now."""

    def details(self) -> Mapping[str, float]:
        """Numbers of the work so far by name, such as counted operations; none by default.

        Those of several operators are added up, except names that end in `_peak`, of which the largest counts.
        """
        return {}

    def load(self) -> None:
        """Calls the kernels that a run on a few events may not reach, so that none is loaded under the clock."""
        return

    def idle(self) -> "Operator":
        """A fresh operator that spends what this one spends beside the algorithm: the baseline of measured times."""
        return Idle()


class Idle(Operator):
    """Does nothing."""

    def process(self, batch: KeyedBatch) -> KeyedRows:
        return {}

    def finish(self) -> KeyedRows:
        return {}

    def state(self) -> StateSize:
        return StateSize()


class Executor(ABC):
    """Evaluates a plan on the events of one key: what `PerKey` makes an operator of."""

    @abstractmethod
    def process(self, events: EventBatch) -> Rows:
        """Rows of every window that these events (and their watermark) closed. Raises `OutOfOrder`."""

    @abstractmethod
    def finish(self) -> Rows:
        """Rows of all windows that are still open; the executor is spent."""

    @abstractmethod
    def state(self) -> StateSize:
        """Live state now; if it was larger inside the calls since the last `state`, the largest."""

    def details(self) -> Mapping[str, float]:
        """As `Operator.details`; none by default."""
        return {}

    def load(self) -> None:
        """As `Operator.load`; nothing by default."""
        return


class PerKey(Operator):
    """Runs an executor for each key: all that an algorithm needs which looks at one key at a time.

    A key without events in a batch is called where the watermark ends one of its windows. Keys that have events in the
    last batch come to their ends one after another, so that those which have all of their events in it need no room
    at the same time. O(1) time per key in a batch beside its executor.

    Parameters
    ----------
    make
        A fresh executor for a key; can be pickled.
    workload
        The queries that it evaluates.
    """

    def __init__(self, make: Callable[[], Executor], workload: Workload) -> None:
        self.executors: dict[int, Executor] = {}
        self._make, self._workload = make, workload
        self._ends = np.empty(0, np.int64)  # by key: the end of the last window that holds an event of it
        self._closed = 0  # windows that end by then are closed
        self._called: set[int] = set()  # keys whose states may have changed
        self._sizes: dict[int, StateSize] = {}
        self._spent: dict[str, float] = {}  # details of keys that have come to their ends

    def process(self, batch: KeyedBatch) -> KeyedRows:
        events, watermark = batch.events, batch.watermark
        self._note_ends(batch)
        found: list[tuple[int, Rows]] = []
        for key, piece in batch.pieces():
            executor = self.executors.get(key)
            if executor is None:
                executor = self.executors[key] = self._make()
            found.append((key, executor.process(piece)))
            if batch.last:
                found.append((key, self._end(key)))
        self._called.update(batch.keys.tolist())
        if watermark is not None and not batch.last:
            nothing = events.slice(len(events), len(events), watermark)
            waiting = self._waiting(batch, watermark)
            found += [(key, self.executors[key].process(nothing)) for key in waiting]
            self._called.update(waiting)
            self._closed = max(self._closed, watermark)
        while batch.last and self.executors:
            key = next(reversed(self.executors))
            found.append((key, self._end(key)))
        return with_keys(found)

    def finish(self) -> KeyedRows:
        self._called.update(self.executors)
        return with_keys([(key, executor.finish()) for key, executor in self.executors.items()])

    def state(self) -> StateSize:
        for key in self._called & self.executors.keys():
            self._sizes[key] = self.executors[key].state()
        self._called.clear()
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

    def idle(self) -> Operator:
        """The same calls of executors that do nothing."""
        return PerKey(IdleExecutor, self._workload)

    def _note_ends(self, batch: KeyedBatch) -> None:
        if batch.known > len(self._ends):
            more = np.zeros(max(batch.known, len(self._ends) * 3 // 2) - len(self._ends), np.int64)
            self._ends = np.concatenate([self._ends, more])
        if len(batch.keys):
            latest = batch.events.time[batch.offsets[1:] - 1]
            for window in self._workload.closing:
                ends = latest // window.slide * window.slide + window.within
                self._ends[batch.keys] = np.maximum(self._ends[batch.keys], ends)

    def _waiting(self, batch: KeyedBatch, watermark: int) -> list[int]:
        """Keys without events in the batch that have a window which may end by the watermark, if any ends by it."""
        if not any(window.ends_between(self._closed, watermark) for window in self._workload.closing):
            return []
        waits = self._ends > self._closed
        waits[batch.keys] = False
        found: list[int] = np.flatnonzero(waits).tolist()
        return found

    def _end(self, key: int) -> Rows:
        """The last rows of a key, which is forgotten."""
        executor = self.executors.pop(key)
        self._sizes.pop(key, None)
        rows = executor.finish()
        self._spent = merged([self._spent, executor.details()])
        return rows


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

    Facts that tests and random cases heed:

    - `enumerates`: it constructs every match, so that its time is at least their number.
    - `flattens`: it evaluates a Kleene pattern as sequences of every length, so that long matches are dear.
    - `detects`: it is for queries of detection; what else it supports is too little to be drawn at random.
    - `narrow`: it is for few kinds of queries, and need not evaluate a quarter of the papers' examples.
    - `starts`: it starts a process of its own, which no other process can get ready for it.
    - `counts_matches`: it evaluates COUNT(*) of matches within a span of their own (`PER MATCH`); one that was written
      before there were such queries does not know of them.
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
        """What keeps the algorithm from running here at all, in one line, or None: it needs an optional extra."""
        return None

    @abstractmethod
    def unsupported(self, query: Query) -> str | None:
        """Why the query cannot be evaluated, in words, or None."""

    def refusal(self, query: Query) -> str | None:
        """`unsupported`, and what an algorithm need not know of."""
        counts = query.span is not None and isinstance(query.returns, Aggregates)
        return self.unsupported(query) or (NO_DETECTION if counts and not self.counts_matches else None)

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """The optimiser; by default there is nothing to decide."""
        return Plan(workload)

    def operator(self, plan: Plan) -> Operator:
        """A fresh operator for the keys of one partition of the stream; by default an executor for each key."""
        return PerKey(partial(self.executor, plan), plan.workload)

    def executor(self, plan: Plan) -> Executor:
        """A fresh executor for one key, where there is one; otherwise `operator` is overridden."""
        raise NotImplementedError(f"{self.name} has neither an executor nor an operator")
