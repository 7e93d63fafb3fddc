"""Bursts of a batch, and what is locally known of them (Definition 10, Section 4.1)."""

from __future__ import annotations

from cepbench.algorithms.hamlet.kernels.cells import fits
from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram, next_edge
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import kernel
from cepbench.algorithms.kernels.events import KernelEvents

BEGIN, END, SIZE, GROUP, MIXED = range(5)
"""Rows of `bursts`: first event and the one after the last (with irrelevant ones between), events of the type, its
group or NONE, and how many events some units match and others do not."""
FIELDS = 5
MATCHED, DIFFERS, ALONE = range(3)
"""Per class: events that it matches; that only one of it and the reference matches; and no other class differs on."""
MOST = 4096
"""Events per burst: what is buffered is bounded."""


@kernel
def find_bursts(events: KernelEvents, last: int, until: int, program: HamletProgram, bursts: Ints) -> tuple[int, int]:
    """Writes the complete bursts to `bursts[FIELDS, n]`; returns their number and the first event of the rest.

    `last` is the time of the last relevant event before; no event comes before `until` any more. A burst ends before an
    event of another relevant type, at the edge of a pane at which a window begins or ends, and after MOST events. One
    that begins within a time stamp that others have a part in ends with it, since what these add is seen later. Only
    bursts of sharable types have to be complete. O(n).
    """
    relevant, group = program.groups.relevant, program.groups.of
    count, i, size = 0, 0, len(events.time)
    edge = -1
    while i < size:
        kind, time = events.kind[i], events.time[i]
        if not relevant[kind]:
            i += 1
            continue
        if time >= edge:
            edge = next_edge(time, program.members)
        within_time_stamp, complete = time == last, False
        j, end, found = i + 1, i + 1, 1
        last = time
        while j < size and not complete:
            if events.time[j] >= edge or (within_time_stamp and events.time[j] != time):
                complete = True
            elif relevant[events.kind[j]]:
                if events.kind[j] == kind and found < MOST:
                    found += 1
                    last = events.time[j]
                    end = j + 1
                    j += 1
                else:
                    complete = True
            else:
                j += 1
        g = group[kind]
        if not complete and g != NONE and until < edge:
            return count, i
        bursts[BEGIN, count], bursts[END, count], bursts[SIZE, count], bursts[GROUP, count] = i, end, found, g
        bursts[MIXED, count] = 0
        count += 1
        i = end
    return count, size


@kernel
def scan_bursts(count: int, events: KernelEvents, program: HamletProgram, bursts: Ints, scans: Ints, fit: Ints) -> None:
    """What the optimiser knows of each burst: on how many of its events the classes of units differ.

    `scans[3, count, K]` as MATCHED, DIFFERS and ALONE tell, by number of class within its group; `fit[K]` is to work
    with. O(b c) for bursts of b events and c classes.
    """
    groups = program.groups
    for n in range(count):
        g = bursts[GROUP, n]
        if g == NONE:
            continue
        first, classes = groups.class_ptr[g], groups.class_ptr[g + 1] - groups.class_ptr[g]
        reference = groups.reference[g] - first
        kind = events.kind[bursts[BEGIN, n]]
        for c in range(classes):
            scans[MATCHED, n, c] = scans[DIFFERS, n, c] = scans[ALONE, n, c] = 0
        for i in range(bursts[BEGIN, n], bursts[END, n]):
            if events.kind[i] != kind:
                continue
            different, which = 0, 0
            for c in range(classes):
                fit[c] = fits(program.local, groups.sample[first + c], events.ints, events.reals, i)
                scans[MATCHED, n, c] += fit[c]
            for c in range(classes):
                if fit[c] != fit[reference]:
                    scans[DIFFERS, n, c] += 1
                    different += 1
                    which = c
            if different == 1:
                scans[ALONE, n, which] += 1
            if different > 0:
                bursts[MIXED, n] += 1
