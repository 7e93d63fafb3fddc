"""Detects complete event trends over time windows: the graph grows with the events, and windows close in order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.cet.detector import Detector
from cepbench.algorithms.cet.graph import CetGraph
from cepbench.algorithms.kernels.arrays import readonly
from cepbench.algorithms.rows import QueryRows, concatenate
from cepbench.algorithms.running.batches import kernel_events
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.compile import CompiledQuery, Part


class CetEvaluator(Evaluator):
    """The CET graph of one key, and a detector that reads it when a window closes.

    The whole state respects the detector's limit: if the graph needs the space, trends kept for the next window are
    dropped.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, detector: Detector) -> None:
        self.query, self.window, self.detector = query, window, detector
        self.graph = CetGraph(query, part, connected=detector.connected)
        self.low = 0

    def process(self, events: EventBatch) -> QueryRows | None:
        """Returns the rows of the windows that these events closed."""
        batch, place = kernel_events(self.query.columns, events), readonly(events.position)
        time = batch.time
        parts: list[QueryRows] = []
        done = 0
        while done < len(time):
            now = int(time[done])
            parts += self._close(now)
            self._open(max(self.low, self.window.first_at(now)))
            start, end = self.window.start(self.low), self.window.end(self.low)
            last = int(np.searchsorted(time, end, side="left"))
            while done < last:
                most = self.detector.limit.bytes - self.detector.bytes
                done = self.graph.insert(done, last, batch, place, start, most)
                self._hold_graph()
        if events.watermark is not None:
            parts += self._close(events.watermark)
        return concatenate(parts) if parts else None

    def finish(self) -> QueryRows | None:
        """Returns the rows of the windows that are still open."""
        parts = self._close(2 * FOREVER - 1)
        return concatenate(parts) if parts else None

    def state(self) -> StateSize:
        """The graph and stored trends: the peak since the last call, including the closing of windows."""
        return self.detector.limit.peak.report(StateSize(self.graph.bytes + self.detector.bytes, self._kinds()))

    def details(self) -> Mapping[str, float]:
        """Details of the detector."""
        return self.detector.details()

    def _kinds(self) -> dict[str, int]:
        return {"events": self.graph.vertices, "edges": self.graph.edges, "trends": self.detector.trends}

    def _hold_graph(self) -> None:
        if self.graph.bytes + self.detector.bytes > self.detector.limit.bytes:
            self.detector.forget()
        kinds = self._kinds()
        what = f"a graph of {kinds['events']} events and {kinds['edges']} edges"
        self.detector.limit.hold(self.graph.bytes + self.detector.bytes, kinds, what)

    def _close(self, now: int) -> list[QueryRows]:
        """Closes all windows that end by `now` and returns their rows."""
        parts: list[QueryRows] = []
        while self.window.end(self.low) <= now and self.graph.vertices > 0:
            parts += self.detector.detect(self.graph, self.low, self.window.start(self.low + 1))
            self._open(self.low + 1)
        return parts

    def _open(self, low: int) -> None:
        """Advances to window `low`."""
        if low > self.low:
            self.low = low
            self.graph.drop_before(self.window.start(low))
            if self.graph.vertices == 0:
                self.detector.forget()
