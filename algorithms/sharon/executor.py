"""Executes a sharing plan (dissertation Chapter 22); with nothing shared, it is A-Seq."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from algorithms.base import Executor, StateSize
from algorithms.execution import WHOLE_STREAM, IndependentQueries, check_order
from algorithms.longest_match import LongestMatch
from algorithms.rows import Rows
from algorithms.sequences import is_kleene
from algorithms.sharon.channels import Member
from algorithms.sharon.counter import SequenceCounter
from algorithms.sharon.evaluator import SequenceEvaluator
from algorithms.sharon.plan import Candidate, SharonPlan
from events.batch import EventBatch
from events.windows import Window
from metrics.details import merged
from queries.compile import CompiledQuery, Part, Workload


@dataclass(frozen=True, eq=False)
class Family:
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
    whose `max_length` is open are counted on their own. Raises `LongerMatch` for a match beyond `max_length`.
    """

    def __init__(self, plan: SharonPlan) -> None:
        workload, self.max_length = plan.workload, plan.max_length
        alone = [query for query in workload if self._alone(query)]
        windows: dict[Window, list[CompiledQuery]] = {}
        for query in workload:
            if query not in alone:
                windows.setdefault(query.window or WHOLE_STREAM, []).append(query)
        self.families = [_family(plan, window, queries) for window, queries in windows.items()]
        self.lengths = [
            LongestMatch(query, query.parts[0], window)
            for window, queries in windows.items()
            for query in queries
            if is_kleene(query.parts[0].automaton)
        ]
        rest = replace(workload, queries=tuple(alone))
        self.others = IndependentQueries(rest, _SequenceEvaluators(workload, self.max_length))
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


@dataclass(frozen=True)
class _SequenceEvaluators:
    """Makes the evaluators of queries that share nothing."""

    workload: Workload
    max_length: int | None

    def __call__(self, query: CompiledQuery, part: Part, window: Window) -> SequenceEvaluator:
        return SequenceEvaluator(self.workload.schema, query, part, window, self.max_length)


def _family(plan: SharonPlan, window: Window, queries: list[CompiledQuery]) -> Family:
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
    return Family(tuple(query.index for query in queries), counter)


def _renumbered(family: Family, rows: Rows) -> Rows:
    return {family.queries[member]: found for member, found in rows.items() if len(found)}
