"""Repeats a short run until its time is known well enough (docs/measurement.md, Repeated runs)."""

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
"""More of a run's time than this spent in the system is spent on memory that was never touched before."""

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h

Run = TypeVar("Run")


def _nothing() -> None:
    """Looks at nothing."""


def repeated(
    run: Callable[[], Run], seconds_of: Callable[[Run], float], seconds: float, look: Callable[[], None] = _nothing
) -> list[Run]:
    """Calls `run`, and returns the runs that count, at least one.

    - `seconds_of`: the time of a run that the clock saw; the median of these is to be known.
    - `seconds`: what all calls together may take; the next one begins only if it should fit. With 0 there is one call.
    - `look`: is called before each run and after the last one, outside of all clocks.

    A first run warms memory and caches, and does not count, unless it took so long that it remains the only one. If the
    system spent much of such a long run on fresh memory, there is a second one all the same, and that counts.
    """
    look()
    began, system = time.perf_counter(), _system_seconds()
    only = run()
    took = time.perf_counter() - began
    look()
    if seconds == 0 or (2 * took > seconds and _system_seconds() - system <= FRESH * seconds_of(only)):
        return [only]
    runs: list[Run] = []
    while True:
        started = time.perf_counter()
        runs.append(run())
        ended = time.perf_counter()
        look()
        enough = len(runs) >= LEAST and is_narrow([seconds_of(one) for one in runs])
        if enough or len(runs) == MOST or 2 * ended - started - began > seconds:
            return runs


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection, which would charge a run of milliseconds for all objects of the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def is_narrow(values: Sequence[float]) -> bool:
    """Whether the interval of the median is at most `WIDTH` of it to either side; not known of fewer than six."""
    found = estimate(values)
    if found.low is None or found.high is None:
        return False
    return found.high - found.low <= 2 * WIDTH * found.median


def keep_memory() -> None:
    """Has the allocator keep what is freed for the next time, and take nothing from the system in pieces of its own.

    By default glibc gives large arrays back at once, so that each window would pay for fresh pages. Elsewhere than on
    glibc nothing happens.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, -1)


def release_memory() -> None:
    """Has the allocator give back what is freed, where it can, as if nothing had run before."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _system_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_stime
