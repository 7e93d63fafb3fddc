"""Executes a sharing plan (dissertation Chapter 22); without sharing, it is A-Seq."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from cepbench.algorithms.base import Executor, KeyedBatch, StateSize
from cepbench.algorithms.engine.evaluator import MakeEvaluator
from cepbench.algorithms.engine.flattening import is_kleene
from cepbench.algorithms.engine.lanes import QueryLanes, of_one_key
from cepbench.algorithms.engine.longest_match import longest_matches
from cepbench.algorithms.engine.per_query import IndependentQueries
from cepbench.algorithms.engine.per_window import PerWindow, by_window
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.sequences.channels import Member
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.algorithms.sequences.evaluator import SequenceEvaluator
from cepbench.algorithms.sequences.plan import Candidate, SharingPlan
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery


class SequenceExecutor(PerWindow):
    """Counts the sequences of all queries of a workload on one key, each shared pattern once.

    For n live START events of a segment and k places that an event matches: O(k n) time per event; for each START event
    of a shared segment that continues a sequence, also O(w m) for m START events of the previous segment in each of w
    windows (Equations 22.6 and 22.7). O(n l) space for a segment of length l, and O(n w) for its snapshots.

    Departure: a segment that continues only one sequence is counted per window, O(w) time per event and O(w l) space,
    since the snapshots of its START events would only be summed. If windows do not overlap, no START events are needed
    before the first shared segment that continues a sequence.

    Queries share within a window specification. Queries with count windows, conjunctions, and Kleene patterns without a
    `max_length` are counted separately, by evaluators that `alone` makes. Raises `LongerMatch` for a match longer than
    `max_length`.
    """

    def __init__(self, plan: SharingPlan, alone: MakeEvaluator | None = None) -> None:
        workload, max_length = plan.workload, plan.max_length
        rest = replace(workload, queries=tuple(query for query in workload if counted_alone(query, max_length)))
        sharing = by_window(query for query in workload if not counted_alone(query, max_length))
        super().__init__(
            [
                IndependentQueries(rest, alone or partial(SequenceEvaluator, workload.schema, max_length)),
                *(WindowSequences(plan, window, queries) for window, queries in sharing.items()),
            ]
        )


class WindowSequences(Executor):
    """The sequences of queries that share their window, for one key.

    Raises `LongerMatch` for a match beyond the plan's `max_length`.
    """

    def __init__(self, plan: SharingPlan, window: Window, queries: list[CompiledQuery]) -> None:
        self.lengths = longest_matches(queries, window, plan.max_length)
        self.counter = shared_counter(plan, window, queries)

    def process(self, events: EventBatch) -> Rows:
        for lengths in self.lengths:
            lengths.check(events)
        return of_one_key(self.counter.process(KeyedBatch.of_one_key(events)))

    def finish(self) -> Rows:
        return of_one_key(self.counter.finish())

    def state(self) -> StateSize:
        return self.counter.state()

    def details(self) -> Mapping[str, float]:
        """Counted `updates` of counters and `combinations` (products of a snapshot and a counter)."""
        return self.counter.details()


def shared_counter(plan: SharingPlan, window: Window, queries: list[CompiledQuery]) -> SequenceCounter:
    """A counter for the sequences of queries that share their window, with the plan's sharing among them."""
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
    return SequenceCounter(plan.workload.schema, members, sequences, shared, window)


def sequence_lanes(plan: SharingPlan) -> QueryLanes | None:
    """Lanes for a plan; None if a query is counted separately, or if the length of Kleene matches has to be checked."""
    queries = list(plan.workload)
    if any(counted_alone(query, plan.max_length) or is_kleene(query.parts[0].automaton) for query in queries):
        return None
    return QueryLanes([shared_counter(plan, window, found) for window, found in by_window(queries).items()])


def counted_alone(query: CompiledQuery, max_length: int | None) -> bool:
    """Whether a query cannot share."""
    counts_events = query.window is not None and query.window.counts_events
    open_end = max_length is None and is_kleene(query.parts[0].automaton)
    return counts_events or query.analysis.conjunction or open_end
