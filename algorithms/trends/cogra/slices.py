"""Evaluates one key in parallel slices of time: `cogra[parallel=time]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.base import KeyedBatch, Plan, StateSize
from cepbench.algorithms.compose import pairs, window_of
from cepbench.algorithms.engine.lanes import copies, mapped
from cepbench.algorithms.rows import QueryRows, Rows, rows_of
from cepbench.algorithms.rows import joined as joined_rows
from cepbench.algorithms.slices import SliceExecutor, Slicing
from cepbench.algorithms.trends.cogra.kernels.pane_tables import PaneCells
from cepbench.algorithms.trends.cogra.kernels.panes import join_panes_keys
from cepbench.algorithms.trends.cogra.panes import PaneGrained
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, TimeSlice, Window
from cepbench.queries.compile import CompiledQuery, Part


@dataclass(frozen=True)
class Crossing:
    """The panes of a slice for the windows of one automaton that cross its edges.

    - `cut`: the time when the last window ends that began before the slice, or the end of the slice.
    - `head`: the panes until then, all of them at the back.
    - `tail`: the panes of the windows that are open when the slice ends; None where `head` has the whole slice.
    """

    cut: int
    head: PaneCells
    tail: PaneCells | None


CrossingParts = dict[int, list[Crossing]]
"""The crossings of each query, in the order of its parts."""


@dataclass(frozen=True)
class TimeSlices(Slicing):
    """Slices by panes (`SliceGrained`), which are joined (`joined`)."""

    slices: int

    def executor(self, plan: Plan, part: TimeSlice) -> SliceExecutor:
        return SlicedQueries(plan, part)

    def join(self, plan: Plan, crossings: Sequence[CrossingParts]) -> Rows:
        return joined_rows(
            rows_of_sides(
                query,
                [
                    joined(query, part, window_of(query), [parts[query.index][side] for parts in crossings])
                    for side, part in enumerate(query.parts)
                ],
            )
            for query in plan.workload
        )


def rows_of_sides(query: CompiledQuery, sides: Sequence[QueryRows | None]) -> Rows:
    """The rows of a query, from those of its automata."""
    return rows_of(query.index, [pairs(sides, query.arithmetic) if query.analysis.conjunction else sides[0]])


class SlicedQueries(SliceExecutor):
    """The automata of all queries on one key in the same slice, by panes."""

    def __init__(self, plan: Plan, part: TimeSlice) -> None:
        self.sides = {
            query.index: (
                query,
                [SliceGrained(query, side, window_of(query), part) for side in query.parts],
            )
            for query in plan.workload
        }

    def process(self, events: EventBatch) -> Rows:
        return joined_rows(
            rows_of_sides(query, [side.process(events) for side in sides]) for query, sides in self.sides.values()
        )

    def finish(self) -> Rows:
        return joined_rows(
            rows_of_sides(query, [side.finish() for side in sides]) for query, sides in self.sides.values()
        )

    def state(self) -> StateSize:
        return sum((side.state() for _, sides in self.sides.values() for side in sides), StateSize())

    def crossing(self) -> CrossingParts:
        return {index: [side.crossing() for side in sides] for index, (_, sides) in self.sides.items()}


class SliceGrained:
    """An automaton on the events of one key in a slice of time, by panes.

    Windows that lie in the slice are evaluated as usual. Until the last window ends that began before it, all panes are
    at the back, and a copy of them is kept; those of the windows that it does not end are there at its end.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, time_slice: TimeSlice) -> None:
        self.slice, self.query = time_slice, query
        begun = -(-time_slice.begin // window.slide)  # the first window that begins in the slice
        last_end = window.end(begun - 1) if begun else 0
        self.cut = min(max(time_slice.begin, last_end), time_slice.end)
        self.panes = PaneGrained(query, part, window)
        self.head: PaneCells | None = None
        self.tail: PaneCells | None = None

    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of the windows of the slice that these events closed."""
        watermark, start = events.watermark, 0
        if self.head is None:
            start = int(np.searchsorted(events.time, self.cut))
            if start == len(events) and (watermark is None or watermark < self.cut):
                self._rows(events)
                return None
            self._rows(events.slice(0, start))
            self._end_head()
        until = None if watermark is None else min(watermark, self.slice.end)
        if start or until != watermark:
            events = events.slice(start, len(events), until)
        return self._rows(events)

    def finish(self) -> QueryRows | None:
        """Rows of the windows of the slice that are still open; those that end later stay so."""
        if self.head is None:
            self._end_head()
        rows = self.panes.advance(self.slice.end).get(self.query.index)
        if self.cut < self.slice.end:
            self.tail = self.panes.ended()
        return rows

    def state(self) -> StateSize:
        """That of the panes, and the copy of those at the beginning."""
        maps = self.panes.maps
        panes = 0 if self.head is None else int(self.head.progress["back"][0, 0])
        cells = panes * len(maps.stopped) * len(maps.after)
        return self.panes.state() + StateSize(cells * self.panes.sizes.cell_bytes, {"aggregates": cells})

    def crossing(self) -> Crossing:
        """After `finish`: the panes of the windows that cross the edges of the slice."""
        assert self.head is not None
        return Crossing(self.cut, self.head, self.tail)

    def _end_head(self) -> None:
        """Keeps the panes so far, and closes the windows that began before the slice, which have no rows here."""
        self.head = self.panes.ended()
        self.panes.advance(self.cut)

    def _rows(self, events: EventBatch) -> QueryRows | None:
        return self.panes.process(KeyedBatch.of_one_key(events)).get(self.query.index)


class JoinedPanes(PaneGrained):
    """Evaluates the panes at the back of another state, its `arena`, in place of events."""

    over = staticmethod(join_panes_keys)


def joined(query: CompiledQuery, part: Part, window: Window, crossings: Sequence[Crossing]) -> QueryRows | None:
    """Rows of the windows that lie in no slice whole; slices are in the order of time, and some may be left out.

    O(m C P^2 + w P^2) products of cells for w such windows with m panes, however many events these have.
    """
    panes = JoinedPanes(query, part, window)
    panes.make_room(1)
    panes.ends[0] = END
    parts: list[Rows] = []
    for crossing in crossings:
        panes.arena = crossing.head
        parts.append(panes.advance(crossing.cut))
        if crossing.tail is not None:  # has the windows that began in the slice
            panes.lanes = mapped(np.copy, crossing.tail)
    panes.arena = copies(panes.fresh, size=1)
    parts.append(panes.advance(END))
    return joined_rows(parts).get(query.index)
