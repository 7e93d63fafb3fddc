"""Bursts of a batch, and what is locally known of them (Definition 10, Section 4.1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import NONE, Groups
from cepbench.algorithms.kernels.arrays import Codes, Flags, Ints
from cepbench.algorithms.kernels.compilation import kernel
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.predicates import hold
from cepbench.algorithms.snapshots.kernels.windows import next_edge
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

MOST = 4096
"""Events per burst: what is buffered is bounded."""


class BurstRecord:
    """A burst: its first event and the one after the last (with irrelevant ones between), events of the type, its
    group or NONE, and how many events some units match and others do not.
    """

    begin: int
    end: int
    size: int
    group: int
    mixed: int


class ScanRecord:
    """Events of a burst that a class matches; that only one of it and the reference matches; and those where no other
    class differs.
    """

    matched: int
    differs: int
    alone: int


@kernel
def find_bursts(
    time: Ints, kind: Codes, last: int, until: int, types: Records, window: Records, bursts: Records
) -> tuple[int, int]:
    """Writes the complete bursts to `bursts[n]`; returns their number and the first event of the rest.

    `last` is the time of the last relevant event before; no event comes before `until` any more. A burst ends before an
    event of another relevant type, at the edge of a pane at which a window begins or ends, and after MOST events. One
    that begins within a time stamp that others have a part in ends with it, since what these add is seen later. Only
    bursts of sharable types have to be complete. O(n).
    """
    count, i, size = 0, 0, len(time)
    edge = -1
    while i < size:
        if not types[kind[i]].relevant:
            i += 1
            continue
        if time[i] >= edge:
            edge = next_edge(time[i], window)
        within_time_stamp, complete = time[i] == last, False
        j, end, found = i + 1, i + 1, 1
        last = time[i]
        while j < size and not complete:
            if time[j] >= edge or (within_time_stamp and time[j] != time[i]):
                complete = True
            elif not types[kind[j]].relevant:
                j += 1
            elif kind[j] == kind[i] and found < MOST:
                found += 1
                last = time[j]
                end = j + 1
                j += 1
            else:
                complete = True
        g = types[kind[i]].group
        if not complete and g != NONE and until < edge:
            return count, i
        burst = bursts[count]
        burst.begin, burst.end, burst.size, burst.group, burst.mixed = i, end, found, g, 0
        count += 1
        i = end
    return count, size


@kernel
def scan_bursts(
    count: int, events: KernelEvents, groups: Groups, predicates: Predicates, bursts: Records, scans: Records,
    matches: Flags,
) -> None:  # fmt: skip
    """What the optimizer knows of each burst: on how many of its events the classes of units differ.

    `scans[count, K]`, zero at first, by number of class within its group. `matches[N, K]`, true at first: which
    events a class matches, for the graphlets. O(b c) for bursts of b events and c classes.
    """
    for n in range(count):
        g = bursts[n].group
        if g == NONE:
            continue
        first, classes = groups.group[g].alike, groups.group[g].alike_end - groups.group[g].alike
        reference = groups.group[g].reference - first
        begin, end, kind = bursts[n].begin, bursts[n].end, events.kind[bursts[n].begin]
        most, least = np.int64(0), bursts[n].size
        for c in range(first, first + classes):
            sample, fails = groups.alike[c].sample, 0
            if predicates.ptr[sample] < predicates.ptr[sample + 1]:
                for i in range(begin, end):
                    if events.kind[i] == kind and not hold(
                        predicates, sample, events.ints, events.reals, i, events.ints, events.reals, i
                    ):
                        matches[i, c] = False
                        fails += 1
            scans[n, c - first].matched = bursts[n].size - fails
            most = max(most, scans[n, c - first].matched)
            least = min(least, scans[n, c - first].matched)
        if most == 0 or least == bursts[n].size:
            continue  # all classes match the same events
        for i in range(begin, end):
            if events.kind[i] != kind:
                continue
            different, which = 0, 0
            for c in range(classes):
                if matches[i, first + c] != matches[i, first + reference]:
                    scans[n, c].differs += 1
                    different += 1
                    which = c
            if different == 1:
                scans[n, which].alone += 1
            if different > 0:
                bursts[n].mixed += 1
