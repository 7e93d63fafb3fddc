"""Evaluates one key in parallel slices of time: `cogra[parallel=time]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from cepbench.algorithms.base import Plan, StateSize
from cepbench.algorithms.cogra.joining import Crossing, joined
from cepbench.algorithms.cogra.panes import PaneGrained
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.rows import QueryRows, Rows
from cepbench.algorithms.running.conjunction import Conjunction, pairs
from cepbench.algorithms.running.evaluator import WHOLE_STREAM, Evaluator
from cepbench.algorithms.running.lanes import OneLane
from cepbench.algorithms.running.per_query import IndependentQueries
from cepbench.algorithms.slices import SliceExecutor, Slicing
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, TimeSlice, Window
from cepbench.queries.compile import CompiledQuery, Part

CrossingParts = dict[int, list[Crossing]]
"""The crossings of each query, in the order of its parts."""


@dataclass(frozen=True)
class TimeSlices(Slicing):
    """Slices by panes (`SliceGrained`), and the products of their maps (`joining`)."""

    count: int

    @property
    def slices(self) -> int:
        return self.count

    def executor(self, plan: Plan, part: TimeSlice) -> SliceExecutor:
        return SlicedQueries(plan, part)

    def join(self, plan: Plan, crossings: Sequence[CrossingParts]) -> Rows:
        found = {}
        for query in plan.workload:
            rows = [
                joined(query, part, query.window or WHOLE_STREAM, [slices[query.index][number] for slices in crossings])
                for number, part in enumerate(query.parts)
            ]
            answer = pairs(rows, query.arithmetic) if query.analysis.conjunction else rows[0]
            if answer is not None and len(answer):
                found[query.index] = answer
        return dict(found)


class SlicedQueries(IndependentQueries, SliceExecutor):
    """One evaluator per query, all on the same slice."""

    def __init__(self, plan: Plan, part: TimeSlice) -> None:
        super().__init__(plan.workload, partial(SliceGrained, time_slice=part))

    def crossing(self) -> CrossingParts:
        return {
            index: [side.crossing() for side in _sides(evaluator) if isinstance(side, SliceGrained)]
            for index, evaluator in self.evaluators.items()
        }


def _sides(evaluator: Evaluator) -> Sequence[Evaluator]:
    return evaluator.sides if isinstance(evaluator, Conjunction) else (evaluator,)


class SliceGrained(Evaluator):
    """The events of one key in a slice of time, by panes.

    Windows that lie in the slice are evaluated as usual. Of those that begin in it and end later it returns the rows of
    `kernels.slices`; of those that began before, the map of its events up to the end of each window, or of all: until
    the last of these windows ends, this is the product of all panes. O(w (C P + P)) space in addition to that of the
    panes, for at most w windows that hold an event.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, time_slice: TimeSlice) -> None:
        self.window, self.slice = window, time_slice
        self.low = window.first_at(time_slice.begin)
        self.begun = -(-time_slice.begin // window.slide)  # the first window that begins in the slice
        ends = range(window.end(self.low), min(window.end(self.begun), time_slice.end), window.slide)
        continues = len(ends) < self.begun - self.low
        self.cuts = [*ends, time_slice.end] if continues else list(ends)
        self.panes = PaneGrained(query, part, window)
        self.lane = OneLane(self.panes)
        self.maps: list[Cells] = []
        self.rows = empty_cells(0, query.layout, query.arithmetic)

    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of the windows of the slice that these events closed."""
        until = None if events.watermark is None else min(events.watermark, self.slice.end)
        start = 0
        for cut in self.cuts[len(self.maps) :]:
            stop = int(np.searchsorted(events.time, cut))
            if stop == len(events) and (until is None or until < cut):
                self.lane.process(events.slice(start, stop) if start else events)
                return None
            self.lane.process(events.slice(start, stop))
            self._note_maps(1)
            start = stop
        if start == 0 and until == events.watermark:
            return self.lane.process(events)
        return self.lane.process(events.slice(start, len(events), until))

    def finish(self) -> QueryRows | None:
        """Rows of the windows of the slice that are still open; those that end later stay so."""
        self._note_maps(len(self.cuts) - len(self.maps))
        found = self.lane.advance(self.slice.end)
        if self.slice.end < END:
            first = max(self.begun, self.window.first_at(self.slice.end))
            self.rows = self.panes.open_rows(first, max(0, self.window.last_at(self.slice.end - 1) + 1 - first))
        return found

    def state(self) -> StateSize:
        """That of the panes, and the maps of windows that began before the slice."""
        cells = sum(len(cells.over) for cells in self.maps) + len(self.rows.over)
        return self.panes.state() + StateSize(cells * self.panes.sizes.cell_bytes, {"aggregates": cells})

    def crossing(self) -> Crossing:
        """After `finish`: what the slice has of windows that reach over its edges."""
        return Crossing(self.slice, self.low, self.begun, tuple(self.maps), self.rows)

    def _note_maps(self, count: int) -> None:
        """Notes the map of the slice so far for so many ends of windows that began before it.

        At the last of them these windows are closed, of which the slice returns no rows.
        """
        if count:
            self.maps += [self.panes.product()] * count
            if len(self.maps) == len(self.cuts):
                self.lane.advance(self.cuts[-1])
