"""Algorithms with known behavior, for tests of measurement. All count the events of each window."""

import os
import signal
import time
from typing import ClassVar

import numba
import numpy as np

from cepbench.algorithms.base import Algorithm, Executor, Plan, StateSize
from cepbench.algorithms.engine.kernels.compilation import kernel
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.pipeline.warmup import EVENTS
from cepbench.queries.model import Query


def real(events: EventBatch) -> bool:
    """Whether these are events of a cell; the streams of the warm-up are shorter."""
    return len(events) > 0 and bool(events.position[-1] > EVENTS)


class Counter(Executor):
    def __init__(self, plan: Plan, more: int = 0) -> None:
        self.query = plan.workload.queries[0]
        self.counts: dict[int, int] = {}
        self.more = more

    def process(self, events: EventBatch) -> Rows:
        window = self.query.window
        assert window is not None
        for moment in events.time.tolist():
            for k in range(window.first_at(moment), window.last_at(moment) + 1):
                self.counts[k] = self.counts.get(k, 0) + 1
        now = max([events.watermark or 0, *events.time[-1:].tolist()])
        return self._rows([k for k in sorted(self.counts) if window.end(k) <= now])

    def finish(self) -> Rows:
        return self._rows(sorted(self.counts))

    def state(self) -> StateSize:
        return StateSize(8 * sum(self.counts.values()), {"events": sum(self.counts.values())})

    def _rows(self, closed: list[int]) -> Rows:
        if not closed:
            return {}
        n = len(closed)
        counts = np.array([[self.counts.pop(k) + self.more] for k in closed], np.uint64)
        empty = np.empty((n, 0))
        rows = AggregateRows(np.array(closed), counts, np.zeros(n, np.uint64), empty, empty.astype(np.int64))
        return {self.query.index: rows}


class Counting(Algorithm):
    """Answers immediately, with counts that are too large by `more`."""

    name: ClassVar[str] = "counting"
    paper: ClassVar[str] = "none"

    def __init__(self, more: int = 0) -> None:
        self.more = more

    def unsupported(self, query: Query) -> str | None:
        return None

    def executor(self, plan: Plan) -> Executor:
        return Counter(plan, self.more)


class Picky(Counting):
    name: ClassVar[str] = "picky"

    def unsupported(self, query: Query) -> str | None:
        return "it is picky"


@numba.njit
def spin(n: int) -> int:
    x = 0
    for i in range(n):
        for j in range(n):
            x ^= i * j + x
    return x


class _Stuck(Counter):
    def process(self, events: EventBatch) -> Rows:
        spin(10**9 if real(events) else 3)
        return super().process(events)


class Stuck(Counting):
    """Never returns from compiled code, which holds the interpreter."""

    name: ClassVar[str] = "stuck"

    def executor(self, plan: Plan) -> Executor:
        return _Stuck(plan)


class _Hungry(Counter):
    def process(self, events: EventBatch) -> Rows:
        if real(events):
            self.block = np.ones(10**10)  # 80 GB
        return super().process(events)


class Hungry(Counting):
    """Needs more memory than there is."""

    name: ClassVar[str] = "hungry"

    def executor(self, plan: Plan) -> Executor:
        return _Hungry(plan)


class _Growing(Counter):
    def process(self, events: EventBatch) -> Rows:
        blocks = []
        while real(events):
            blocks.append(np.ones(10**6))
        return super().process(events)


class Growing(Counting):
    """Takes eight megabytes after eight megabytes."""

    name: ClassVar[str] = "growing"

    def executor(self, plan: Plan) -> Executor:
        return _Growing(plan)


class _Holding(Counter):
    def process(self, events: EventBatch) -> Rows:
        self.block = np.ones(25_000_000)  # 200 MB
        time.sleep(0.2)
        return super().process(events)


class Holding(Counting):
    """Holds 200 MB."""

    name: ClassVar[str] = "holding"

    def executor(self, plan: Plan) -> Executor:
        return _Holding(plan)


class _Broken(Counter):
    def process(self, events: EventBatch) -> Rows:
        if real(events):
            raise ZeroDivisionError("one by nothing\nand more")
        return super().process(events)


class Broken(Counting):
    name: ClassVar[str] = "broken"

    def executor(self, plan: Plan) -> Executor:
        return _Broken(plan)


class _Dying(Counter):
    def process(self, events: EventBatch) -> Rows:
        if real(events):
            os._exit(1)
        return super().process(events)


class Dying(Counting):
    name: ClassVar[str] = "dying"

    def executor(self, plan: Plan) -> Executor:
        return _Dying(plan)


class _Endless(Counter):
    """Hangs, or kills its process, when asked for its state, as measurements of memory do between batches."""

    end: ClassVar[int | None] = None

    def process(self, events: EventBatch) -> Rows:
        self.met_events = real(events)
        return super().process(events)

    def state(self) -> StateSize:
        if getattr(self, "met_events", False):
            if self.end is not None:
                os.kill(os.getpid(), self.end)
            spin(10**9)
        return super().state()


class Endless(Counting):
    """Can be timed, but never returns its state."""

    name: ClassVar[str] = "endless"

    def executor(self, plan: Plan) -> Executor:
        return _Endless(plan)


class _Mortal(_Endless):
    end = signal.SIGKILL


class Mortal(Counting):
    """Can be timed, but dies when asked for its state."""

    name: ClassVar[str] = "mortal"

    def executor(self, plan: Plan) -> Executor:
        return _Mortal(plan)


class _Slow(Counter):
    def process(self, events: EventBatch) -> Rows:
        time.sleep(0.001 * len(events))
        return super().process(events)


class Slow(Counting):
    """Takes a millisecond per event."""

    name: ClassVar[str] = "slow"

    def executor(self, plan: Plan) -> Executor:
        return _Slow(plan)


DOUBLES = {cls.name: cls for cls in (Counting, Picky, Stuck, Hungry, Holding, Broken, Dying, Endless, Slow)}


def make(specification: str) -> Algorithm:
    """Makes an algorithm by its name; the counts of `counting2` are too large by two."""
    if specification.startswith("counting"):
        return Counting(int(specification.removeprefix("counting") or 0))
    return DOUBLES[specification]()


class Unforeseen(Counting):
    """Needs a kernel that its warm-up does not."""

    name: ClassVar[str] = "unforeseen"

    def executor(self, plan: Plan) -> Executor:
        return UnforeseenCounter(plan, self.more)


@kernel
def unforeseen(n: int) -> int:
    return n + 1


class UnforeseenCounter(Counter):
    runs: ClassVar[int] = 0

    def process(self, events: EventBatch) -> Rows:
        if real(events) and events.position[0] == 0:
            type(self).runs += 1
            unforeseen(1)
        return super().process(events)
