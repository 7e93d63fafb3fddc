"""Executes a sharing plan (dissertation Chapter 22); with nothing shared, it is A-Seq."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.running.evaluator import WHOLE_STREAM, MakeEvaluator
from cepbench.algorithms.running.per_query import IndependentQueries, check_order
from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.channels import Member
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.algorithms.sequences.evaluator import SequenceEvaluator
from cepbench.algorithms.sequences.flattening import is_kleene
from cepbench.algorithms.sequences.longest_match import LongestMatch
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery


@dataclass(frozen=True, eq=False)
class WindowQueries:
    """Queries that share their window, and the counter of their sequences; `queries` are indices into the workload."""

    queries: tuple[int, ...]
    counter: SequenceCounter


class SequenceExecutor(Executor):
    """Counts the sequences of all queries of a workload on one sub-stream, each shared pattern once.

    For n live START events of a segment and k places that an event matches: O(k n) time per event, and for each START
    event of a shared segment that continues a sequence, O(w m) for m START events of the segment before in each of w
    windows (Equations 22.6 and 22.7). O(n l) space for a segment of length l, and O(n w) for its snapshots.

    Departure: what continues one sequence only is counted per window, O(w) time per event and O(w l) space, since the
    snapshots of its START events would only be added up. In windows that do not overlap, nothing needs START events
    before the first shared segment that continues a sequence.

    Queries share within a window specification. Those on windows that count events, conjunctions, and Kleene patterns
    whose `max_length` is open are counted on their own, by what `alone` makes. Raises `LongerMatch` for a match beyond
    `max_length`.
    """

    def __init__(self, plan: SharingPlan, alone: MakeEvaluator | None = None) -> None:
        workload, self.max_length = plan.workload, plan.max_length
        others = [query for query in workload if self._alone(query)]
        windows: dict[Window, list[CompiledQuery]] = {}
        for query in workload:
            if query not in others:
                windows.setdefault(query.window or WHOLE_STREAM, []).append(query)
        self.families = [_family(plan, window, queries) for window, queries in windows.items()]
        self.lengths = [
            LongestMatch(query, query.parts[0], window)
            for window, queries in windows.items()
            for query in queries
            if is_kleene(query.parts[0].automaton)
        ]
        rest = replace(workload, queries=tuple(others))
        self.others = IndependentQueries(rest, alone or partial(SequenceEvaluator, workload.schema, self.max_length))
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        for lengths in self.lengths:
            assert self.max_length is not None
            lengths.check(events, self.max_length)
        rows = self.others.process(events)
        for family in self.families:
            rows |= _renumbered(family, family.counter.process(events))
        return rows

    def finish(self) -> Rows:
        rows = self.others.finish()
        for family in self.families:
            rows |= _renumbered(family, family.counter.finish())
        return rows

    def state(self) -> StateSize:
        return sum((family.counter.state() for family in self.families), self.others.state())

    def details(self) -> Mapping[str, float]:
        """`updates` of counters and `combinations`, products of a snapshot and a counter, so far."""
        return merged([self.others.details(), *(family.counter.details() for family in self.families)])

    def _alone(self, query: CompiledQuery) -> bool:
        """Whether a query shares nothing."""
        counts_events = query.window is not None and query.window.counts_events
        open_end = self.max_length is None and is_kleene(query.parts[0].automaton)
        return counts_events or query.analysis.conjunction or open_end


def _family(plan: SharingPlan, window: Window, queries: list[CompiledQuery]) -> WindowQueries:
    """The counter of the queries on a window, with the plan's sharing among them."""
    member = {query.index: number for number, query in enumerate(queries)}
    order = sorted((member[s.query], old) for old, s in enumerate(plan.sequences) if s.query in member)
    number = {old: new for new, (_, old) in enumerate(order)}
    sequences = [replace(plan.sequences[old], query=query) for query, old in order]
    shared = []
    for candidate in plan.shared:
        occurrences = tuple(sorted((number[s], offset) for s, offset in candidate.occurrences if s in number))
        if len(occurrences) > 1:
            shared.append(Candidate(candidate.pattern, occurrences))
    members = [Member(query, query.parts[0]) for query in queries]
    counter = SequenceCounter(plan.workload.schema, members, sequences, shared, window)
    return WindowQueries(tuple(query.index for query in queries), counter)


def _renumbered(family: WindowQueries, rows: Rows) -> Rows:
    return {family.queries[member]: found for member, found in rows.items() if len(found)}
