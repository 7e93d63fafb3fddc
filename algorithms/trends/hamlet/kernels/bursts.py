"""Bursts of a batch (Definition 10), and the numbers of each by which it is decided (Section 4.1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Codes, Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits
from cepbench.algorithms.trends.online.kernels.lifecycle import next_edge
from cepbench.queries.records import Records

MOST_EVENTS = 4096
"""The most events of a burst, so that the buffer is bounded."""


class BurstRecord:
    """A burst, its statistics, and the decision.

    - `begin`, `end`: its first event and the one after the last, with irrelevant ones between; `size`: events b of the
      type; `group`, or NONE; `mixed`: events on which some class of the group differs from the reference.
    - `time`: that of its first event. `before`: events that are visited per event; `in_window`: events n of the type in
      a window so far, about; `snapshots`: those propagated in addition to the new ones.
    - `shared`, `alone`: costs of the best plan that shares, and of sharing nothing; 0 where costs are not weighed.
      `queries`: units that share, or NONE before the decision; `created`: snapshots at event level; `splits`: units
      that leave shared graphlets whose events they visit. `within`: as in `SetRecord`.
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
    within: bool


class ClassRecord:
    """A class of queries with the same predicates in a burst, and whether it is `chosen` to share the burst.

    - Events that they match (`matched`); that only one of them and the reference match (`differs`); and those where no
      other class differs (`alone`).
    - `contexts`: queries times windows k; `active`: those of them that visit events and have trends to extend;
      `reads`: the sums that an event at their positions reads, over all of them (k p).
    - `leaving`: estimated copies of a split (`visiting.split`) of those that shared the last burst: kept events of
      shared graphlets, times queries and windows.
    - `separate`: each event will be a snapshot if the class shares, since the events before it differ. `visits`: they
      visit the events before; `selects`: some of them, by predicates.
    - `settled`: they share if any do, as the reference, or were tried without. `deferred`: they join the
      others later (`benefit.defer_join`).
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
    deferred: bool
    chosen: bool


@kernel
def find_bursts(
    time: Ints, kind: Codes, last: int, until: int, types: Records, window: Records, bursts: Records
) -> tuple[int, int]:
    """Writes the complete bursts to `bursts[n]`; returns their number and the first event of the rest.

    `last` is the time of the last relevant event before; no event comes before `until` any more. A burst ends before an
    event of another relevant type, at the edge of a pane at which a window begins or ends, and after MOST_EVENTS. A
    burst that starts inside a time stamp with events of other types ends with that time stamp, since what these events
    add is visible later. Only bursts of sharable types have to be complete. O(n).
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
        end, events = i + 1, 1
        for j in range(i + 1, size):
            relevant = types[kind[j]].relevant
            complete = time[j] >= edge or (within_time_stamp and time[j] != time[i])
            complete |= relevant and (kind[j] != kind[i] or events == MOST_EVENTS)
            if complete:
                break
            if relevant:
                end, events = j + 1, events + 1
        last = time[end - 1]
        g = types[kind[i]].group
        if not complete and g != NONE and until < edge:
            return count, i
        burst = bursts[count]
        burst.begin, burst.end, burst.size, burst.group, burst.time, burst.queries = i, end, events, g, time[i], NONE
        burst.mixed = burst.before = burst.snapshots = burst.created = burst.splits = 0
        burst.in_window = burst.shared = burst.alone = 0.0
        burst.stored = burst.selects = burst.partial = burst.apart = burst.within = False
        count += 1
        i = end
    return count, size


@kernel
def scan_bursts(
    events: KernelEvents, group: Records, predicate_class: Records, bursts: Records, classes: Records, matches: Flags
) -> None:  # fmt: skip
    """Counts for the optimizer on how many events of each burst the classes of units differ.

    `group` and `predicate_class` as in `TemplateTables`. `classes[N, K]`, zero at first: classes of each burst,
    numbered within its group. `matches[n, K]`, true at first: the events that a class matches, for the graphlets.
    O(b c) for bursts of b events and c classes.
    """
    for n in range(len(bursts)):
        g = bursts[n].group
        if g == NONE:
            continue
        first, stop, reference = group[g].predicate_class, group[g].predicate_class_end, group[g].reference
        in_burst = classes[n, : stop - first]
        in_burst[reference - first].settled = True
        begin, end, kind = bursts[n].begin, bursts[n].end, events.kind[bursts[n].begin]
        most_matched, fewest_matched = np.int64(0), bursts[n].size
        for c in range(first, stop):
            fails = 0
            if predicate_class[c].condition >= 0:
                for i in range(begin, end):
                    if events.kind[i] == kind and not fits(predicate_class[c].condition, i, events):
                        matches[i, c] = False
                        fails += 1
            matched = bursts[n].size - fails
            in_burst[c - first].matched = matched
            most_matched, fewest_matched = max(most_matched, matched), min(fewest_matched, matched)
        if most_matched == 0 or fewest_matched == bursts[n].size:
            continue  # all classes match the same events
        for i in range(begin, end):
            if events.kind[i] != kind:
                continue
            different, which = 0, 0
            for c in range(first, stop):
                if matches[i, c] != matches[i, reference]:
                    in_burst[c - first].differs += 1
                    different += 1
                    which = c - first
            in_burst[which].alone += different == 1
            bursts[n].mixed += different > 0
