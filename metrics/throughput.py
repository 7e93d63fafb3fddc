"""Throughput, and the highest rate that a system sustains."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.metrics.clock import open_arrivals, waiting

PRECISION = 1.05
"""A bracket is narrow enough when its upper end is at most this many times its lower end."""

MIN_BATCHES = 12
"""The minimum number of arrival batches to detect growth."""


@dataclass(frozen=True)
class Bracket:
    """The highest sustainable rate lies in [low, high) events per second."""

    low: float
    high: float


@dataclass(frozen=True)
class Replay:
    """The arrival batches of one worker.

    - `last`: int64[n], position in the whole stream of the last event of each batch.
    - `service`: float64[n], measured seconds.
    """

    last: NDArray[np.int64]
    service: NDArray[np.float64]


@dataclass(frozen=True)
class Span:
    """The run of one worker: its host, start and end on that host's clock, and the service time."""

    host: str
    began: float
    ended: float
    service: float


def slot_times(spans: Sequence[Span], slots: int) -> list[float]:
    """The service time of each slot, without the time to start workers unless the spans have it; the longest is the
    makespan.

    Up to `slots` workers have a slot each, even if they did not overlap in time. Of more workers, one that begins after
    another of its host has ended gets the slot of that one.
    """
    if len(spans) <= slots:
        return [span.service for span in spans]
    times: list[float] = []
    free: dict[int, tuple[str, float]] = {}  # slot -> its host, and since when it has been free
    for span in sorted(spans, key=lambda span: (span.host, span.began)):
        left = [slot for slot, (host, since) in free.items() if host == span.host and since < span.began]
        slot = min(left, key=lambda slot: free[slot][1], default=len(times))
        if slot == len(times):
            times.append(0.0)
        times[slot] += span.service
        free[slot] = (span.host, span.ended)
    return times


def throughput(events: int, service: float) -> float | None:
    """Events per second of service time; None if that is zero."""
    return events / service if service > 0 else None


def sustained(replays: Sequence[Replay], rate: float) -> bool:
    """Whether no worker's queue grows when the whole stream arrives at `rate` events per second.

    A queue grows if batches wait longer in the last third of the run than in the middle third, by more than the service
    time of one ordinary batch: a window that closes late in the run may delay those after it, but not permanently.
    """
    for replay in replays:
        wait = waiting(open_arrivals(replay.last, rate), replay.service)
        third = len(wait) // 3
        middle, end = wait[third : 2 * third], wait[2 * third :]
        if third and float(np.median(end)) > float(np.median(middle)) + float(replay.service.mean()):
            return False
    return True


def sustainable(replays: Sequence[Replay], events: int) -> Bracket | None:
    """Bisects the open rate over the virtual clock with the measured service times.

    `events` is the number of events of the whole stream. None if a worker has too few batches. Time O(n log(range)), n
    batches.
    """
    replays = [replay for replay in replays if len(replay.service)]
    if not replays or any(len(r.service) < MIN_BATCHES or not r.service.sum() > 0 for r in replays):
        return None
    # With all events at once no worker keeps up; at a hundredth of the slowest worker's own rate all do, unless a
    # single batch stalls it.
    low = high = min(events / float(replay.service.sum()) for replay in replays)
    for _ in range(64):
        if sustained(replays, low):
            break
        low /= 2
    else:
        return None
    for _ in range(64):
        if not sustained(replays, high):
            break
        low, high = high, high * 2
    else:
        return None
    while high > low * PRECISION:
        middle = (low * high) ** 0.5
        if sustained(replays, middle):
            low = middle
        else:
            high = middle
    return Bracket(low, high)
