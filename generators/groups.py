"""Groups of events inside one slice, without a loop over them: bursts, and what belongs to a company, passenger or job.

A burst is a run of consecutive events. `codes` is int64[n], the group of each event in stream order, from 0.
"""

import numpy as np
from numpy.typing import NDArray


def burst_numbers(random: np.random.Generator, n: int, mean: float) -> NDArray[np.int64]:
    """The burst number (0, 0, .., 1, ..) of each of n > 0 events, int64[n]. Lengths are memoryless, >= 1, with this
    mean.

    With mean 1, every burst has one event. The last burst is cut.
    """
    begins = random.random(n) < 1 / mean
    begins[0] = True
    return np.cumsum(begins, dtype=np.int64) - 1


def by_group(codes: NDArray[np.int64], groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The events' rows sorted by group (stream order within a group), int64[n], and counts per group, int64[groups]."""
    # Numpy sorts 16-bit integers by radix: about ten times faster than any other width.
    narrow = codes.astype(np.uint16) if groups <= 2**16 else codes
    return np.argsort(narrow, kind="stable"), np.bincount(codes, minlength=groups)


def ranks(codes: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """The number of events of its group before each event in the slice, int64[n]."""
    order, counts = by_group(codes, groups)
    result = np.empty(len(codes), dtype=np.int64)
    result[order] = _ranks_in_order(counts)
    return result


def stages(codes: NDArray[np.int64], groups: int, length: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Stage 0..length-1 of each event in its group's endless cycle, int64[n].

    Consecutive events of a group are at consecutive stages. The stage of a group at the beginning of the slice is drawn
    at random: an exact continuation would need the number of the group's events in all earlier slices.
    """
    phases = random.integers(length, size=groups, dtype=np.int64)
    return (phases[codes] + ranks(codes, groups)) % length


def bridges(
    codes: NDArray[np.int64],
    steps: NDArray[np.float64],
    first: NDArray[np.float64],
    last: NDArray[np.float64],
) -> NDArray[np.float64]:
    """A walk per group from `first` to `last`, float64[groups] each, by the events' `steps`; values, float64[n].

    `first` is the value before the group's first event of the slice, `last` the value at its last one. The sum of the
    group's steps is subtracted evenly and the difference of last and first is added (a Brownian bridge if steps are
    normal), so slices join: the next slice starts from this one's `last`.
    """
    groups = len(first)
    order, counts = by_group(codes, groups)
    walk = np.cumsum(steps[order])
    ends = np.cumsum(counts)
    totals = np.concatenate(([0.0], walk))
    before = totals[ends - counts]
    correction = (last - first - (totals[ends] - before)) / np.maximum(counts, 1)
    walk += np.repeat(first - before, counts)
    walk += (_ranks_in_order(counts) + 1) * np.repeat(correction, counts)
    result = np.empty(len(codes), dtype=np.float64)
    result[order] = walk
    return result


def _ranks_in_order(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, .. within each group, for events sorted by group."""
    starts = np.cumsum(counts) - counts
    return np.arange(counts.sum(), dtype=np.int64) - np.repeat(starts, counts)
