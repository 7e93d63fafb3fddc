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
from cepbench.algorithms.kernels.clock import LOW
from cepbench.algorithms.rows import QueryRows, Rows
from cepbench.algorithms.running.conjunction import Conjunction, pairs
from cepbench.algorithms.running.evaluator import WHOLE_STREAM, Evaluator
from cepbench.algorithms.running.lanes import OneLane
from cepbench.algorithms.running.per_query import IndependentQueries
from cepbench.algorithms.slices import SliceExecutor, Slicing
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, FOREVER, TimeSlice, Window
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
    `kernels.slices`; of those that began before, the map of its events up to the end of each window, or of all. These
    maps are updated in addition, event by event: an event costs twice as much if it lies in windows that begin before
    the slice and in windows that begin in it, which is rare if slices are longer than windows. O(w (C P + P)) space in
    addition, for at most w windows that hold an event.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, time_slice: TimeSlice) -> None:
        self.window, self.slice = window, time_slice
        self.low = window.first_at(time_slice.begin)
        self.begun = -(-time_slice.begin // window.slide)  # the first window that begins in the slice
        self.cuts = _cuts(window, time_slice, range(self.low, self.begun))
        self.begins = self.begun * window.slide < time_slice.end
        self.inside, self.prefix = PaneGrained(query, part, window), PaneGrained(query, part, WHOLE_STREAM)
        self.inside.fresh.clock[LOW] = self.begun
        self._inside, self._prefix = OneLane(self.inside), OneLane(self.prefix)
        self.maps: list[Cells] = []
        self.rows = empty_cells(0, query.layout, query.arithmetic)

    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of the windows of the slice that these events closed."""
        until = None if events.watermark is None else min(events.watermark, self.slice.end)
        self._follow(events, until)
        if not self.begins:
            return None
        first = int(np.searchsorted(events.time, self.begun * self.window.slide))
        if first == 0 and until == events.watermark:
            return self._inside.process(events)
        return self._inside.process(events.slice(first, len(events), until))

    def finish(self) -> QueryRows | None:
        """Rows of the windows of the slice that are still open; those that end later stay so."""
        self.maps += [self.prefix.current() for _ in self.cuts[len(self.maps) :]]
        if not self.begins:
            return None
        found = self._inside.advance(self.slice.end)
        if self.slice.end < END:
            first = max(self.begun, self.window.first_at(self.slice.end))
            self.rows = self.inside.open_rows(first, max(0, self.window.last_at(self.slice.end - 1) + 1 - first))
        return found

    def state(self) -> StateSize:
        """That of the panes, and the maps of windows that began before the slice."""
        cells = sum(len(cells.over) for cells in self.maps) + len(self.rows.over)
        kept = StateSize(cells * self.inside.sizes.cell_bytes, {"aggregates": cells})
        return self.inside.state() + self.prefix.state() + kept

    def crossing(self) -> Crossing:
        """After `finish`: what the slice has of windows that reach over its edges."""
        return Crossing(self.slice, self.low, self.begun, tuple(self.maps), self.rows)

    def _follow(self, events: EventBatch, until: int | None) -> None:
        """Notes the map of the slice so far wherever a window ends that began before the slice."""
        start = 0
        while len(self.maps) < len(self.cuts):
            cut = self.cuts[len(self.maps)]
            stop = int(np.searchsorted(events.time, cut))
            if stop == len(events) and (until is None or until < cut):
                self._prefix.process(events.slice(start, stop) if start else events)
                return
            self._prefix.process(events.slice(start, stop, cut))
            self.maps.append(self.prefix.current())
            start = stop


def _cuts(window: Window, time_slice: TimeSlice, windows: range) -> list[int]:
    """Where these windows end in the slice, and its end if one of them continues."""
    cuts = []
    for k in windows:
        cuts.append(min(window.end(k), time_slice.end, FOREVER - 1))
        if window.end(k) >= time_slice.end:
            break
    return cuts
