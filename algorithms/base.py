"""Everything that the pipeline knows of an algorithm (docs/architecture.md, The executor interface)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.rows import PooledRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.events.windows import TimeSlice
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query


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
    purpose, so that answers are empty.
    """

    workload: Workload
    details: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    notices: tuple[str, ...] = field(default=(), kw_only=True)
    unanswered: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class StateSize:
    """Live state of an executor: `bytes` in use (not reserved), and live things by kind.

    Kinds are events, edges, aggregates, snapshots, partial matches, trends. `reserved` are the bytes of the arrays of a
    pool, in which sub-streams have their room also while they are idle.
    """

    bytes: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    reserved: int = 0

    def __add__(self, other: "StateSize") -> "StateSize":
        kinds = dict(self.kinds)
        for kind, count in other.kinds.items():
            kinds[kind] = kinds.get(kind, 0) + count
        return StateSize(self.bytes + other.bytes, kinds, self.reserved + other.reserved)


class Executor(ABC):
    """Evaluates a plan on one sub-stream. Only `process` and `finish` are timed. Can be pickled between batches."""

    @abstractmethod
    def process(self, events: EventBatch) -> Rows:
        """Rows of every window that these events (and their `until`) closed. Raises `OutOfOrder`."""

    @abstractmethod
    def finish(self) -> Rows:
        """Rows of all windows that are still open; the executor is spent."""

    @abstractmethod
    def state(self) -> StateSize:
        """Live state now; if it was larger inside the calls since the last `state`, the largest."""

    def details(self) -> Mapping[str, float]:
        """Numbers that the executor tells of its work so far, by name, such as counted operations; none by default.

        Those of several executors are added up, except names that end in `_peak`, of which the largest counts.
        """
        return {}


class SliceExecutor(Executor):
    """Evaluates a plan on the events of one sub-stream in a slice of time.

    `process` and `finish` return rows of windows that lie in the slice whole.
    """

    @abstractmethod
    def crossing(self) -> Any:
        """After `finish`: what the slice has of windows that reach over its edges, for `Slicing.join`. Picklable."""


class Slicing(ABC):
    """Evaluates slices of time of one sub-stream side by side."""

    @property
    @abstractmethod
    def slices(self) -> int:
        """Into how many slices a sub-stream is cut, at most: all events of a time stamp lie in one."""

    @abstractmethod
    def executor(self, plan: Plan, part: TimeSlice) -> SliceExecutor:
        """A fresh executor for one slice of one sub-stream."""

    @abstractmethod
    def join(self, plan: Plan, crossings: Sequence[Any]) -> Rows:
        """Rows of the windows that lie in no slice whole, from what slices have of them, in the order of time.

        Slices without events are left out.
        """


@dataclass(frozen=True, eq=False)
class Pieces:
    """Where the events of sub-streams lie in a batch that is ordered by sub-stream, and then by time.

    - `number`: int64[m], the sub-streams that have events in the batch; `begin`: int64[m + 1], those of `number[j]` are
      events `begin[j]..begin[j + 1] - 1`.
    - `known`: how many sub-streams there are so far, numbered from 0.
    """

    number: NDArray[np.int64]
    begin: NDArray[np.int64]
    known: int


class ExecutorPool(ABC):
    """Evaluates a plan on all sub-streams at once, in place of an executor for each: what an algorithm may add.

    It returns the rows that the executors would return. As those, it is timed and can be pickled between batches.
    """

    @abstractmethod
    def process(self, events: EventBatch, pieces: Pieces) -> PooledRows:
        """Rows of every window that these events closed, and that `until` closed in any sub-stream; None as `until`
        says nothing. Raises `OutOfOrder`.
        """

    @abstractmethod
    def finish(self) -> PooledRows:
        """Rows of all windows that are still open; the pool is spent."""

    @abstractmethod
    def state(self) -> StateSize:
        """The states of all sub-streams, as `Executor.state`, and what the arrays of the pool take."""

    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""
        return {}


class Algorithm(ABC):
    """One system of a paper. Constructor arguments are its parameters, e.g. `cet[detect=hybrid]`.

    Facts that tests and random cases heed:

    - `enumerates`: it constructs every match, so that its time is at least their number.
    - `flattens`: it evaluates a Kleene pattern as sequences of every length, so that long matches are dear.
    - `detects`: it is for queries of detection; what else it supports is too little to be drawn at random.
    - `narrow`: it is for few kinds of queries, and need not evaluate a quarter of the papers' examples.
    - `starts`: it starts a process of its own, which no other process can get ready for it.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    enumerates: ClassVar[bool] = False
    flattens: ClassVar[bool] = False
    detects: ClassVar[bool] = False
    narrow: ClassVar[bool] = False
    starts: ClassVar[bool] = False

    @classmethod
    def missing(cls) -> str | None:
        """What keeps the algorithm from running here at all, in one line, or None: it needs an optional extra."""
        return None

    @abstractmethod
    def unsupported(self, query: Query) -> str | None:
        """Why the query cannot be evaluated, in words, or None."""

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """The optimiser; by default there is nothing to decide."""
        return Plan(workload)

    @abstractmethod
    def executor(self, plan: Plan) -> Executor:
        """A fresh executor for one sub-stream."""

    def slicing(self) -> Slicing | None:
        """How a sub-stream is cut by time where the pipeline runs slices side by side; None: it stays whole."""
        return None

    def pool(self, plan: Plan) -> ExecutorPool | None:
        """A fresh pool for all sub-streams, or None: each of them has an executor. None by default."""
        return None

    def load(self, plan: Plan) -> None:
        """Calls the kernels that a run on a few events may not reach, so that none is loaded under the clock.

        Those who run a plan under the clock call it before; most algorithms need nothing but the few events.
        """
        return
