"""Repeats a short run until its time is known precisely enough (docs/measurement.md, Repeated runs)."""

from __future__ import annotations

import ctypes
import gc
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from cepbench.metrics.statistics import estimate

LEAST = 5
MOST = 50
WIDTH = 0.05
"""Runs suffice when the interval of their median reaches at most this share of it to either side."""
FRESH = 0.05
"""A run that spends more than this share of its time in the system has used memory for the first time."""

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h

Run = TypeVar("Run")


def repeated(
    run: Callable[[], Run],
    seconds_of: Callable[[Run], float],
    seconds: float,
    look: Callable[[], object] = lambda: None,
) -> list[Run]:
    """Calls `run`, and returns the runs that count, at least one.

    - `seconds_of`: the time of a run; its median is estimated.
    - `seconds`: the limit of all calls together; the next one begins only if it is expected to fit. With 0 there is one
      call.
    - `look`: called before each run and after the last one, outside of all clocks.

    A first run warms memory and caches, and does not count, unless it took so long that it remains the only one. If the
    system spent much of such a long run on fresh memory, there is a second run, which counts.
    """
    look()
    began, system = time.perf_counter(), _system_seconds()
    only = run()
    elapsed = time.perf_counter() - began
    look()
    if seconds == 0 or (2 * elapsed > seconds and _system_seconds() - system <= FRESH * seconds_of(only)):
        return [only]
    runs: list[Run] = []
    while True:
        started = time.perf_counter()
        runs.append(run())
        ended = time.perf_counter()
        look()
        enough = len(runs) >= LEAST and is_narrow([*map(seconds_of, runs)])
        if enough or len(runs) == MOST or 2 * ended - started - began > seconds:
            return runs


@contextmanager
def uncollected() -> Iterator[None]:
    """Disables garbage collection, which would charge a short run for all objects of the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def is_narrow(values: Sequence[float]) -> bool:
    """Whether the interval of the median is at most `WIDTH` of it to either side; False for fewer than six."""
    interval = estimate(values)
    if interval.low is None or interval.high is None:
        return False
    return interval.high - interval.low <= 2 * WIDTH * interval.median


def keep_memory() -> None:
    """Lets the allocator keep freed memory for later, and not map large arrays one by one.

    By default glibc returns large arrays to the system immediately, so that each window would pay for fresh pages.
    Without glibc this has no effect.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, -1)


def release_memory() -> None:
    """Lets the allocator return freed memory, if possible, as if nothing had run before."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _system_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_stime
