"""Where events lie on the axis of a window: at their times, or at their numbers where it counts events."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window


class Points:
    """The points of the events of one key, batch by batch. O(1) time per event."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.seen = 0

    def of(self, events: EventBatch) -> Ints:
        """int64[n]: the points of the next batch, which do not decrease."""
        before, self.seen = self.seen, self.seen + len(events)
        return np.arange(before, self.seen) if self.window.counts_events else events.time

    def reached(self, events: EventBatch) -> int | None:
        """The point before which no event lies after this batch, the latest one, if anything is known."""
        return self.seen if self.window.counts_events else events.watermark

    def first_windows(self, points: Ints) -> Ints:
        """int64[n]: the first window that holds each point."""
        return np.maximum(0, (points - self.window.within) // self.window.slide + 1)

    def last_windows(self, points: Ints) -> Ints:
        """int64[n]: the last window that holds each point; before the first one where it lies in none."""
        return points // self.window.slide
