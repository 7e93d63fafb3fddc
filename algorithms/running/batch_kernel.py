"""What evaluators share whose kernels read whole batches and write the rows of closed windows to a buffer."""

from __future__ import annotations

from abc import abstractmethod

from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.running.batches import concatenated, first_rows, kernel_events, new_rows, sliding
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.running.negation import negations_of
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.compile import CompiledQuery, Part


class KernelEvaluator(Evaluator):
    """Feeds batches to a kernel, and calls it again where it stopped because rows or room ran out."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.query, self.tables = query, part.tables
        self.window = sliding(window)
        self.negations = negations_of(query, part, window)
        self.rows = new_rows(query, window.overlap)

    @abstractmethod
    def step(self, first: int, events: KernelEvents) -> tuple[int, int]:
        """Processes events `first..`; returns the next event and the number of rows in `self.rows`."""

    @abstractmethod
    def advance(self, now: int) -> int:
        """Closes the windows that end by `now`; returns the number of rows in `self.rows`."""

    @property
    @abstractmethod
    def now(self) -> int:
        """The current time."""

    def process(self, events: EventBatch) -> AggregateRows | None:
        batch = kernel_events(self.query.columns, events, self.negations)
        parts: list[AggregateRows] = []
        done = 0
        while done < len(events):
            done, size = self.step(done, batch)
            parts += first_rows(self.rows, size)
        if events.watermark is not None and events.watermark > self.now:
            parts += first_rows(self.rows, self.advance(events.watermark))
        return concatenated(parts)

    def finish(self) -> AggregateRows | None:
        return concatenated(first_rows(self.rows, self.advance(2 * FOREVER - 1)))
