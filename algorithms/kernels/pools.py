"""What kernels of pools share: when the windows of a sub-stream end, and whose rows they wrote."""

from __future__ import annotations

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.algorithms.kernels.events import KernelEvents, Sliding

NO_END = -1
"""Of a sub-stream whose windows with events are closed."""


@inlined
def last_end(time: int, window: Sliding) -> int:
    """When the last window ends that holds an event of this time."""
    return time // window.slide * window.slide + window.within


@inlined
def own(owner: Ints, first: int, stop: int, number: int) -> None:
    """Rows `first..stop - 1` are those of a sub-stream."""
    for row in range(first, stop):
        owner[row] = number


@inlined
def until_place(events: KernelEvents, stop: int) -> KernelEvents:
    """The events before place `stop`."""
    return KernelEvents(events.time[:stop], events.kind, events.ints, events.reals, events.negated)
