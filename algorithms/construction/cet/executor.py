"""Stacks within a memory limit; and complete event trends, which a detector finds in them when a window closes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.construction.cet.detectors import Detector, MemoryLimit
from cepbench.algorithms.construction.cet.graph import CetGraph
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.stacks import drop_before
from cepbench.algorithms.engine.window_stacks import StackExecutor
from cepbench.algorithms.rows import QueryRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class LimitedExecutor(StackExecutor):
    """Stacks of one key that respect a memory limit, which is checked whenever their arrays grow."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window, pointers: int, limit: MemoryLimit) -> None:
        super().__init__(query, part, window, pointers)
        self.limit = limit

    def hold(self) -> None:
        """Records the current state. Raises `NotEnoughMemory` if it exceeds the limit."""
        now = self.held()
        what = f"a graph of {now.kinds['events']} events and {now.kinds['edges']} edges"
        self.limit.hold(now.bytes, now.kinds, what)

    def process(self, events: EventBatch) -> Rows:
        """Returns the rows of the windows that these events closed. Raises `NotEnoughMemory`."""
        rows = super().process(events)
        self.hold()
        return rows

    def before_growth(self, full: int) -> None:
        """Raises `NotEnoughMemory` if the limit is exceeded."""
        self.hold()

    def state(self) -> StateSize:
        """The peak since the last call, including the closing of windows."""
        return self.limit.peak.report(self.held())


class CetExecutor(LimitedExecutor):
    """The CET graph of one key, and a detector that reads it when a window closes.

    The whole state respects the detector's limit: if the graph needs the space, trends kept for the next window are
    dropped. `load` calls the kernels that a few events may not reach.
    """

    def __init__(
        self,
        query: CompiledQuery,
        part: Part,
        window: Window,
        detector: Detector,
        load: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(query, part, window, detector.pointers, detector.limit)
        self.detector = detector
        self._load = load

    def load(self) -> None:
        if self._load is not None:
            self._load()

    @property
    def graph(self) -> CetGraph:
        """The graph of all open windows."""
        return CetGraph(self.tables, self.stacks)

    def held(self) -> StateSize:
        """The graph, and the trends that are kept for the next window."""
        graph, detector = self.graph, self.detector
        kinds = {"events": graph.vertices, "edges": graph.edges, "trends": detector.trends}
        return StateSize(graph.bytes + detector.bytes, kinds)

    def hold(self) -> None:
        """Records the current state, without the kept trends if their space is needed. Raises `NotEnoughMemory`."""
        if self.held().bytes > self.limit.bytes:
            self.detector.forget()
        super().hold()

    def construct(self, k: int, latest: Ints) -> list[QueryRows]:
        """Returns the complete trends of window k. Raises `NotEnoughMemory`."""
        drop_before(self.window.start(k), self.stacks)  # events between two windows
        self.hold()
        return self.detector.detect(self.graph, k, self.window.start(k + 1))

    def details(self) -> Mapping[str, float]:
        """Details of the detector."""
        return self.detector.details()
