"""What evaluates one automaton over windows of time: all that an algorithm without sharing has to supply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.rows import QueryRows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery, Part

WHOLE_STREAM = Window(FOREVER, FOREVER)


class Evaluator(ABC):
    """Evaluates one automaton on one key over windows of time."""

    @abstractmethod
    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of the windows that `events` and their watermark closed."""

    @abstractmethod
    def finish(self) -> QueryRows | None:
        """Rows of the windows that are still open."""

    @abstractmethod
    def state(self) -> StateSize:
        """As `Executor.state`."""

    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""
        return {}


MakeEvaluator = Callable[[CompiledQuery, Part, Window], Evaluator]


class Together:
    """What is made of parts that share nothing: executors, evaluators or lanes."""

    parts: Collection[Any]

    def state(self) -> StateSize:
        """The sum of the states of all parts."""
        return sum((part.state() for part in self.parts), StateSize())

    def details(self) -> Mapping[str, float]:
        """The combined details of all parts."""
        return merged(part.details() for part in self.parts)
