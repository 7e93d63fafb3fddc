"""Slices of time that are evaluated side by side: what an algorithm may offer beside `base.Algorithm`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from cepbench.algorithms.base import Algorithm, Executor, PerKey, Plan
from cepbench.algorithms.rows import Rows
from cepbench.events.windows import TimeSlice


class SliceExecutor(Executor):
    """Evaluates a plan on the events of one key in a slice of time.

    `process` and `finish` return rows of windows that lie in the slice whole.
    """

    @abstractmethod
    def crossing(self) -> Any:
        """After `finish`: what the slice has of windows that reach over its edges, for `Slicing.join`. Picklable."""


class Slicing(ABC):
    """Evaluates slices of time of one key side by side."""

    @property
    @abstractmethod
    def slices(self) -> int:
        """Into how many slices the events of a key are cut, at most: all events of a time stamp lie in one."""

    @abstractmethod
    def executor(self, plan: Plan, part: TimeSlice) -> SliceExecutor:
        """A fresh executor for one slice of one key."""

    @abstractmethod
    def join(self, plan: Plan, crossings: Sequence[Any]) -> Rows:
        """Rows of the windows of a key that lie in no slice whole, from what slices have of them, in the order of time.

        Slices without events are left out.
        """


@runtime_checkable
class Sliceable(Protocol):
    """An algorithm that may evaluate slices of time."""

    def slicing(self) -> Slicing | None:
        """How time is cut where slices are evaluated side by side; None: it is not."""


def slicing_of(algorithm: Algorithm) -> Slicing | None:
    """How an algorithm cuts time, or None: the events of a key stay whole."""
    return algorithm.slicing() if isinstance(algorithm, Sliceable) else None


class SliceOperator(PerKey):
    """A slice of time of all keys."""

    def __init__(self, slicing: Slicing, plan: Plan, part: TimeSlice) -> None:
        super().__init__(partial(slicing.executor, plan, part), plan.workload)
        self._crossings: dict[int, Any] = {}

    def crossings(self) -> Mapping[int, Any]:
        """After `finish`: the `SliceExecutor.crossing` of each key."""
        slices = {key: one for key, one in self.executors.items() if isinstance(one, SliceExecutor)}
        return {**self._crossings, **{key: one.crossing() for key, one in slices.items()}}

    def _end(self, key: int) -> Rows:
        executor = self.executors[key]
        rows = super()._end(key)
        assert isinstance(executor, SliceExecutor)
        self._crossings[key] = executor.crossing()
        return rows
