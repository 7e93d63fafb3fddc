"""Bursts of a batch, and what is locally known of them (Definition 10, Section 4.1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Codes, Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits
from cepbench.algorithms.trends.hamlet.kernels.program import NONE
from cepbench.algorithms.trends.online.kernels.lifecycle import next_edge
from cepbench.queries.records import Records

MOST = 4096
"""Events per burst: what is buffered is bounded."""


class BurstRecord:
    """A burst, what is known of it, and what was decided.

    - `begin`, `end`: its first event and the one after the last, with irrelevant ones between; `size`: events b of the
      type; `group`, or NONE; `mixed`: events on which some class of the group differs from the reference.
    - `time`: that of its first event. `before`: events that are visited per event; `in_window`: events n of the type in
      a window so far, about; `snapshots`: those propagated in addition to the new ones.
    - `shared`, `alone`: costs of the best plan that shares, and of sharing nothing; 0 where costs are not weighed.
      `queries`: units that share, or NONE before the decision; `created`: snapshots at event level; `splits`: units
      that leave shared graphlets whose events they visit.
    - Whether some units that share visit its events later (`stored`), `selects` adjacent events of it, match it only in
      part (`partial`), or visit events of their own, since they were `apart` in an earlier burst.
    """

    begin: int
    end: int
    size: int
    group: int
    mixed: int
    time: int
    before: int
    in_window: float
    snapshots: int
    shared: float
    alone: float
    queries: int
    created: int
    splits: int
    stored: bool
    selects: bool
    partial: bool
    apart: bool


class ClassRecord:
    """Queries that are alike in a burst, and whether some of them are `chosen` to share it.

    - Events that they match (`matched`); that only one of them and the reference match (`differs`); and those where no
      other class differs (`alone`).
    - `contexts`: queries times windows k; `active`: those of them that visit events and have trends to extend;
      `reads`: the sums that an event at their positions reads, over all of them (k p).
    - `leaving`: what those that shared the last burst would take along (`visiting.split`), about: kept events of shared
      graphlets, times queries and windows.
    - `separate`: each event will be a snapshot if the class shares, since the events before it differ. `visits`: they
      visit the events before; `selects`: some of them, by predicates.
    - `settled`: they share if any do, as the reference, or were tried without. `waits`: they wait to join others
      (`benefit.wait`).
    """

    contexts: float
    active: float
    reads: float
    leaving: float
    matched: int
    differs: int
    alone: int
    separate: bool
    visits: bool
    selects: bool
    settled: bool
    waits: bool
    chosen: bool


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
        end, found = i + 1, 1
        for j in range(i + 1, size):
            relevant = types[kind[j]].relevant
            complete = time[j] >= edge or (within_time_stamp and time[j] != time[i])
            complete |= relevant and (kind[j] != kind[i] or found == MOST)
            if complete:
                break
            if relevant:
                end, found = j + 1, found + 1
        last = time[end - 1]
        g = types[kind[i]].group
        if not complete and g != NONE and until < edge:
            return count, i
        burst = bursts[count]
        burst.begin, burst.end, burst.size, burst.group, burst.time, burst.queries = i, end, found, g, time[i], NONE
        burst.mixed = burst.before = burst.snapshots = burst.created = burst.splits = 0
        burst.in_window = burst.shared = burst.alone = 0.0
        burst.stored = burst.selects = burst.partial = burst.apart = False
        count += 1
        i = end
    return count, size


@kernel
def scan_bursts(
    events: KernelEvents, group: Records, alike: Records, bursts: Records, classes: Records, matches: Flags
) -> None:  # fmt: skip
    """What the optimizer knows of each burst: on how many of its events the classes of units differ.

    `group` and `alike` as in `TemplateTables`. `classes[N, K]`, zero at first, by number of class within its group.
    `matches[n, K]`, true at first: which events a class matches, for the graphlets. O(b c) for bursts of b events and
    c classes.
    """
    for n in range(len(bursts)):
        g = bursts[n].group
        if g == NONE:
            continue
        first, stop, reference = group[g].alike, group[g].alike_end, group[g].reference
        own = classes[n, : stop - first]
        own[reference - first].settled = True
        begin, end, kind = bursts[n].begin, bursts[n].end, events.kind[bursts[n].begin]
        most, least = np.int64(0), bursts[n].size
        for c in range(first, stop):
            fails = 0
            if alike[c].condition >= 0:
                for i in range(begin, end):
                    if events.kind[i] == kind and not fits(alike[c].condition, i, events):
                        matches[i, c] = False
                        fails += 1
            matched = bursts[n].size - fails
            own[c - first].matched = matched
            most, least = max(most, matched), min(least, matched)
        if most == 0 or least == bursts[n].size:
            continue  # all classes match the same events
        for i in range(begin, end):
            if events.kind[i] != kind:
                continue
            different, which = 0, 0
            for c in range(first, stop):
                if matches[i, c] != matches[i, reference]:
                    own[c - first].differs += 1
                    different += 1
                    which = c - first
            own[which].alone += different == 1
            bursts[n].mixed += different > 0
