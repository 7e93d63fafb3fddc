"""Arrival models (docs/measurement.md, Arrival): how events of a bucket arrive at a worker, and when they are due.

The events that a worker gets together are an *arrival batch*: the events of one slide interval (burst), or a
micro-batch (open). It may consist of several steps, so that a large one is never in memory as a whole; its last step
has its arrival time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import gcd

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.units import seconds
from cepbench.events.windows import Window
from cepbench.metrics.clock import open_arrivals


@dataclass(frozen=True)
class Step:
    """Some events of an arrival batch, possibly none.

    - `arrival`: when the arrival batch was complete, in seconds; None if more steps follow.
    - `events.watermark`: set on the last step only.
    - `before`: position of the last event of earlier steps, -1 if there is none.
    """

    events: EventBatch
    arrival: float | None
    before: int

    @property
    def last(self) -> int:
        """Position of the last event up to and with this step."""
        return int(self.events.position[-1]) if len(self.events) else self.before


def intervals(time: NDArray[np.int64], windows: Sequence[Window | None]) -> NDArray[np.float64] | None:
    """float64[n]: the number of intervals of `Burst` with events up to each event; None without time windows."""
    slides = [window.slide for window in windows if window is not None and not window.counts_events]
    if not slides:
        return None
    return np.cumsum(np.diff(time // gcd(*slides), prepend=-1) > 0).astype(np.float64)


class Burst:
    """The events of each slide interval arrive together at its end: the latency of a window is their service time.

    With several slides, intervals end where any of them ends. An interval without events arrives at its end, as long as
    a window is open. Streams without time windows arrive in groups of the smallest SLIDE of their count windows;
    without any window, all at once.
    """

    def __init__(self, windows: Sequence[Window | None], time_unit: str) -> None:
        self._windows = [window for window in windows if window is not None and not window.counts_events]
        self._interval = gcd(*(window.slide for window in self._windows))
        counted = [window.slide for window in windows if window is not None and window.counts_events]
        self._group = min(counted, default=None)
        self._unit = seconds(1.0, time_unit)

    def steps(self, batches: Iterable[EventBatch]) -> Iterator[Step]:
        """See `ArrivalModel`."""
        if self._windows:
            return self._intervals(batches)
        return self._groups(batches)

    def due(self, step: Step, ends: NDArray[np.int64]) -> NDArray[np.float64]:
        """The end of the interval in which a window ends."""
        closed: NDArray[np.int64] = -(-ends // self._interval) * self._interval
        return closed.astype(np.float64) * self._unit

    def _intervals(self, batches: Iterable[EventBatch]) -> Iterator[Step]:
        before = -1
        end = 0  # of the current interval
        for batch, following in with_next(batches):
            start = 0
            while start < len(batch):
                end = (int(batch.time[start]) // self._interval + 1) * self._interval
                stop = int(np.searchsorted(batch.time, end))
                after = batch if stop < len(batch) else following
                time = None if after is None else int(after.time[stop % len(batch)])
                complete = time is None or time >= end
                events = batch.slice(start, stop, end if complete else None)
                yield Step(events, end * self._unit if complete else None, before)
                before = int(batch.position[stop - 1])
                if complete:
                    yield from self._idle(batch.slice(stop - 1, stop), end, time)
                start = stop

    def _idle(self, last: EventBatch, end: int, following: int | None) -> Iterator[Step]:
        """Intervals without events after `end`, while windows are open and before the interval of the next event."""
        open_until = max(window.end(window.last_at(int(last.time[0]))) for window in self._windows)
        while end < open_until:
            end += self._interval
            if following is not None and following < end:
                return
            yield Step(last.slice(1, 1, end), end * self._unit, int(last.position[0]))

    def _groups(self, batches: Iterable[EventBatch]) -> Iterator[Step]:
        before, missing = -1, self._group
        for batch, following in with_next(batches):
            start = 0
            while start < len(batch):
                stop = len(batch) if missing is None else min(len(batch), start + missing)
                at_end = following is None and stop == len(batch)
                missing = None if missing is None else missing - (stop - start)
                complete = missing == 0 or at_end
                yield Step(
                    batch.slice(start, stop), float(batch.time[stop - 1]) * self._unit if complete else None, before
                )
                before, start = int(batch.position[stop - 1]), stop
                missing = self._group if complete else missing


@dataclass(frozen=True)
class OpenRate:
    """Event i of the whole stream arrives (i + 1) / `rate` seconds after the start, independent of the worker.

    Each `batch` consecutive events of the stream, a micro-batch, are handed over when the last of them has arrived.
    """

    rate: float
    batch: int = 1000

    def steps(self, batches: Iterable[EventBatch]) -> Iterator[Step]:
        """See `ArrivalModel`."""
        before = -1
        for batch, following in with_next(batches):
            start = 0
            while start < len(batch):
                boundary = (int(batch.position[start]) // self.batch + 1) * self.batch
                stop = int(np.searchsorted(batch.position, boundary))
                complete = stop < len(batch) or following is None or int(following.position[0]) >= boundary
                position = batch.position[stop - 1 : stop]
                arrival = float(open_arrivals(position, self.rate)[0]) if complete else None
                yield Step(batch.slice(start, stop, int(batch.time[stop - 1]) if complete else None), arrival, before)
                before, start = int(position[0]), stop

    def due(self, step: Step, ends: NDArray[np.int64]) -> NDArray[np.float64]:
        """The arrival of the last event before a window's end."""
        positions = np.append(step.events.position, step.before)
        rows = np.searchsorted(step.events.time, ends) - 1  # -1, the event before this step, if none is in it
        return open_arrivals(positions[rows], self.rate)


ArrivalModel = Burst | OpenRate
"""A schedule of the events of a bucket: their `steps`, and when rows are `due`.

That is the scheduled arrival in seconds of the last event of windows that end at `ends` and were closed in a step.
"""


def with_next(batches: Iterable[EventBatch]) -> Iterator[tuple[EventBatch, EventBatch | None]]:
    """Each batch with events, with the next one."""
    for batch, following in pairwise(chain((batch for batch in batches if len(batch)), [None])):
        if batch is not None:
            yield batch, following
