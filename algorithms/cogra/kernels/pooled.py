"""Type-grained aggregation of many sub-streams: `type_count` and `type_grained` on one state after another.

The arrays of a state have a first axis of sub-streams here; those that kernels get are views of one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.cogra.kernels.type_count import CountRows, Template, TypeCounts, close, count_trends
from cepbench.algorithms.cogra.kernels.type_grained import TypeCells, aggregate_trends
from cepbench.algorithms.cogra.kernels.type_tables import Shape, TypeTables
from cepbench.algorithms.kernels.arrays import Codes, Ints
from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.kernels.clock import HIGH, LOW, has_ended
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding
from cepbench.algorithms.kernels.lanes import NO_END, lane, last_end, own, until_place

AT_FIRST: Any = np.int64(0)
NEVER: Any = np.int64(-1)
"""Not literals, for which Numba would compile the inner kernel anew."""


@kernel
def count_pooled(
    at: int,
    done: int,
    number: Ints,
    begin: Ints,
    time: Ints,
    kind: Codes,
    template: Template,
    window: Sliding,
    counts: TypeCounts,
    ends: Ints,
    rows: CountRows,
    owner: Ints,
) -> tuple[int, int, int]:
    """Processes keys `at..` of a batch, the first of them from event `done` on; returns (next key, next event,
    rows written): it stops where `rows` might not suffice. O(1) per piece beside its events.
    """
    written = 0
    for j in range(at, len(number)):
        s, stop, before = number[j], begin[j + 1], written
        first = max(done, begin[j])
        done, written = count_trends(first, time[:stop], kind, template, window, lane(counts, s), rows, written)
        own(owner, before, written, s)
        if done < stop:
            return j, done, written
        ends[s] = last_end(time[stop - 1], window)
    return len(number), done, written


@kernel
def close_counts(
    at: int,
    until: int,
    template: Template,
    window: Sliding,
    counts: TypeCounts,
    ends: Ints,
    rows: CountRows,
    owner: Ints,
) -> tuple[int, int]:
    """Closes the windows that end by `until` in sub-streams `at..`; returns the next sub-stream and rows written."""
    written = 0
    span = counts.trends.shape[1] // counts.waiting.shape[1]
    for s in range(at, len(ends)):
        if ends[s] != NO_END and has_ended(counts.clock[s, LOW], counts.clock[s, HIGH], until, window):
            if written + span > len(rows.window):
                return s, written
            before = written
            written = close(until, template, window, lane(counts, s), rows, written)
            own(owner, before, written, s)
            if ends[s] <= until:
                ends[s] = NO_END
    return len(ends), written


@kernel
def aggregate_pooled(
    at: int,
    done: int,
    number: Ints,
    begin: Ints,
    events: KernelEvents,
    template: TypeTables,
    shape: Shape,
    span: int,
    window: Sliding,
    states: TypeCells,
    ends: Ints,
    out: RowCells,
    owner: Ints,
) -> tuple[int, int, int]:
    """As `count_pooled`, for all aggregates and semantics."""
    written = 0
    for j in range(at, len(number)):
        s, stop = number[j], begin[j + 1]
        first = max(done, begin[j])
        done, more = aggregate_trends(
            first, NEVER, until_place(events, stop), template, shape, span, window, lane(states, s),
            _from(out, written),
        )  # fmt: skip
        own(owner, written, written + more, s)
        written += more
        if done <= stop:
            return j, done, written
        done = stop
        ends[s] = last_end(events.time[stop - 1], window)
    return len(number), done, written


@kernel
def close_cells(
    at: int,
    until: int,
    events: KernelEvents,
    template: TypeTables,
    shape: Shape,
    span: int,
    window: Sliding,
    states: TypeCells,
    ends: Ints,
    out: RowCells,
    owner: Ints,
) -> tuple[int, int]:
    """As `close_counts`, for all aggregates and semantics; `events` has none."""
    written = 0
    for s in range(at, len(ends)):
        if ends[s] != NO_END and has_ended(states.clock[s, LOW], states.clock[s, HIGH], until, window):
            if written + span > len(out.window):
                return s, written
            _, more = aggregate_trends(
                AT_FIRST, until, until_place(events, 0), template, shape, span, window, lane(states, s),
                _from(out, written),
            )  # fmt: skip
            own(owner, written, written + more, s)
            written += more
            if ends[s] <= until:
                ends[s] = NO_END
    return len(ends), written


@inlined
def _from(out: RowCells, written: int) -> RowCells:
    """The rows behind those that are written."""
    cells = out.cells
    rest = Cells(cells.ring[written:], cells.over[written:], cells.real[written:], cells.least[written:])
    return RowCells(out.window[written:], rest)
