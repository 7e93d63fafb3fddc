"""Parallel evaluation of slices of time: an optional protocol in addition to `base.Algorithm`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from cepbench.algorithms.base import Algorithm, Executor, PerKey, Plan
from cepbench.algorithms.rows import Rows
from cepbench.events.windows import TimeSlice


class SliceExecutor(Executor):
    """Evaluates a plan on the events of one key in one slice of time.

    `process` and `finish` return the rows of windows that lie entirely in the slice.
    """

    @abstractmethod
    def crossing(self) -> Any:
        """After `finish`: the partial results of windows that cross the slice's ends, for `Slicing.join`. Picklable."""


class Slicing(ABC):
    """Evaluates slices of time of one key in parallel, at most `slices`. All events with the same time lie in one."""

    slices: int

    @abstractmethod
    def executor(self, plan: Plan, part: TimeSlice) -> SliceExecutor:
        """A fresh executor for one slice of one key."""

    @abstractmethod
    def join(self, plan: Plan, crossings: Sequence[Any]) -> Rows:
        """Rows of the windows that cross slices, from the partial results of a key's slices in time order.

        Slices without events are left out.
        """


@runtime_checkable
class Sliceable(Protocol):
    """An algorithm that can evaluate slices of time."""

    def slicing(self) -> Slicing | None:
        """How time is cut; None if it is not."""


def slicing_of(algorithm: Algorithm) -> Slicing | None:
    """How an algorithm cuts time; None if it does not."""
    return algorithm.slicing() if isinstance(algorithm, Sliceable) else None


class SliceOperator(PerKey):
    """Evaluates one slice of time for all keys."""

    def __init__(self, slicing: Slicing, plan: Plan, part: TimeSlice) -> None:
        super().__init__(partial(slicing.executor, plan, part), plan.workload)
        self._crossings: dict[int, Any] = {}

    def crossings(self) -> Mapping[int, Any]:
        """After `finish`: `SliceExecutor.crossing` of each key."""
        slices = {key: one for key, one in self.executors.items() if isinstance(one, SliceExecutor)}
        return {**self._crossings, **{key: one.crossing() for key, one in slices.items()}}

    def _end(self, key: int) -> Rows:
        executor = self.executors[key]
        rows = super()._end(key)
        assert isinstance(executor, SliceExecutor)
        self._crossings[key] = executor.crossing()
        return rows
