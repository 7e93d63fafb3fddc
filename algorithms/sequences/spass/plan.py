"""Chooses the sub-sequences that SPASS constructs once (dissertation 21, 26; Kolchinsky and Schuster, SIGMOD 2019)."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, inf, log

from cepbench.algorithms.base import Plan
from cepbench.algorithms.compose import by_window, window_of
from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.sequences.candidates import Candidate, sharing_candidates
from cepbench.algorithms.sequences.spass.tables import SetTables, tables_of
from cepbench.events.statistics import Statistics
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.compile import Workload

TYPICAL = 10.0
"""Assumed number of events of a type in a window without statistics of the stream."""


@dataclass(frozen=True)
class SpassPlan(Plan):
    """`shared` sub-sequences are constructed once for all their occurrences in `sequences`, which do not overlap.

    `max_length` limits the length of Kleene matches; None if no query has a Kleene pattern.
    """

    sequences: tuple[Sequence, ...]
    shared: tuple[Candidate, ...]
    max_length: int | None = field(default=None, kw_only=True)

    @cached_property
    def tables(self) -> dict[Window, SetTables]:
        """The kernel tables of each sharable set, i.e. of the queries of one window. All executors share them."""
        windows = [window_of(self.workload[sequence.query]) for sequence in self.sequences]
        found = {}
        for window in by_window(self.workload):
            members = tuple(i for i, own in enumerate(windows) if own == window)
            shared = tuple(candidate for candidate in self.shared if windows[candidate.sequences[0]] == window)
            found[window] = tables_of(self.workload, self.sequences, members, shared)
        return found


def plan_sharing(
    workload: Workload, sequences: tuple[Sequence, ...], statistics: Statistics, max_length: int | None
) -> SpassPlan:
    """Covers the sequences by sub-sequences of several of them, greedily by redundancy ratio.

    SPASS reduces its problem to the minimum substring cover and approximates that. Here, the sub-sequence with the
    highest ratio is chosen, with all occurrences outside of the places covered so far, as long as some sub-sequence has
    such occurrences in several sequences. O(c log c) for c occurrences of candidates; those in a newly covered sequence
    are examined again.
    """
    begin = time.perf_counter()
    windows = [window_of(workload[sequence.query]) for sequence in sequences]
    candidates = sharing_candidates(sequences, windows)
    work = ConstructionWork(sequences, windows, statistics)
    shared = _cover(candidates, work)
    details = {
        "candidates": float(len(candidates)),
        "shared_patterns": float(len(shared)),
        "shared_occurrences": float(sum(len(pattern.occurrences) for pattern in shared)),
        "plan_seconds": time.perf_counter() - begin,
    }
    return SpassPlan(workload, sequences, shared, max_length=max_length, details=details)


class ConstructionWork:
    """Expected numbers of partial sequences that construction visits in one window, as logarithms.

    With n_i events of the type at place i and independent times, there are n_1 ... n_j / j! sequences of the first j
    places; the work of l places is their sum over j = 1 ... l. Predicates and negation are assumed to hold.
    """

    def __init__(self, sequences: tuple[Sequence, ...], windows: list[Window], statistics: Statistics) -> None:
        self.sequences, self.windows, self.statistics = sequences, windows, statistics
        self.whole = [self.of(sequence.symbols, i) for i, sequence in enumerate(sequences)]

    def of(self, symbols: tuple[Symbol, ...], sequence: int) -> float:
        """The logarithm of the work of some places in the window of a sequence."""
        instances, terms = 0.0, []
        for j, symbol in enumerate(symbols, start=1):
            instances += log(self._events(symbol.type, self.windows[sequence])) - log(j)
            terms.append(instances)
        return _log_sum(terms)

    def redundancy_ratio(self, candidate: Candidate) -> float:
        """The share of the work on the sequences with a sub-sequence that repeats its construction.

        R(p) = (k - 1) work(p) / sum of work(q) over the sequences q with p, where p has k occurrences: with sharing,
        all but one of them need no construction. The papers describe the ratio as the potential gain from sharing the
        computation of a sub-pattern (Kolchinsky and Schuster, 6.2.2), but give no formula.
        """
        if len(candidate.sequences) < 2:
            return 0.0
        repeated = log(len(candidate.occurrences) - 1) + self.of(candidate.pattern, candidate.sequences[0])
        return exp(repeated - _log_sum(self.whole[q] for q in candidate.sequences))

    def _events(self, name: str, window: Window) -> float:
        """Number of events of a type in a window, at least 1."""
        rates: Mapping[str, float] = self.statistics.rates
        total = sum(rates.values())
        if not total:
            return TYPICAL
        if window.counts_events:
            return max(1.0, window.within * rates.get(name, 0.0) / total)
        length = self.statistics.duration if window.within >= FOREVER else window.within
        return max(1.0, length * rates.get(name, 0.0))


def _cover(candidates: tuple[Candidate, ...], work: ConstructionWork) -> tuple[Candidate, ...]:
    """Chooses candidates, each with the occurrences that earlier choices left free; ties go to longer ones."""
    free = list(candidates)
    using: dict[int, list[int]] = {}
    for number, candidate in enumerate(free):
        for sequence in candidate.sequences:
            using.setdefault(sequence, []).append(number)
    ratio = [work.redundancy_ratio(candidate) for candidate in free]
    waiting = [(-ratio[number], number) for number in range(len(free))]
    heapq.heapify(waiting)
    shared: list[Candidate] = []
    while waiting:
        negative, number = heapq.heappop(waiting)
        if -negative != ratio[number] or not ratio[number]:
            continue
        chosen = free[number]
        shared.append(chosen)
        for other in sorted({n for sequence in chosen.sequences for n in using[sequence]}):
            left = _outside(free[other], chosen)
            if len(left.occurrences) < len(free[other].occurrences):
                free[other] = left
                ratio[other] = work.redundancy_ratio(left)
                heapq.heappush(waiting, (-ratio[other], other))
    return tuple(shared)


def _outside(candidate: Candidate, chosen: Candidate) -> Candidate:
    """The candidate without its occurrences that overlap the chosen one."""
    length = len(candidate.pattern)
    kept = tuple(
        (sequence, offset)
        for sequence, offset in candidate.occurrences
        if chosen.places.isdisjoint((sequence, offset + i) for i in range(length))
    )
    return Candidate(candidate.pattern, kept)


def _log_sum(logarithms: Iterable[float]) -> float:
    """The logarithm of the sum of numbers that are given as logarithms."""
    terms = list(logarithms)
    greatest = max(terms, default=-inf)
    return greatest + log(sum(exp(term - greatest) for term in terms))
