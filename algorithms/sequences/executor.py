"""Executes a sharing plan (dissertation Chapter 22); without sharing, it is A-Seq."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from cepbench.algorithms.base import KeyedOperator, Operator, PerKey, Plan
from cepbench.algorithms.compose import MakePart, Several, by_window, query_operator
from cepbench.algorithms.engine.flattening import is_kleene, sequences_of_part
from cepbench.algorithms.engine.lanes import OneLane
from cepbench.algorithms.engine.longest_match import LongestMatch
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.channels import Member
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


def sequence_operator(plan: Plan, alone: MakePart | None = None) -> Several:
    """Counts the sequences of all queries of a workload, each shared pattern once.

    For n live START events of a segment and k places that an event matches: O(k n) time per event; for each START event
    of a shared segment that continues a sequence, also O(w m) for m START events of the previous segment in each of w
    windows (Equations 22.6 and 22.7). O(n l) space for a segment of length l, and O(n w) for its snapshots.

    Departure: a segment that continues only one sequence is counted per window, O(w) time per event and O(w l) space,
    since the snapshots of its START events would only be summed. If windows do not overlap, no START events are needed
    before the first shared segment that continues a sequence.

    Queries share within a window specification. Queries with count windows, conjunctions, and Kleene patterns without a
    `max_length` are counted separately, by operators that `alone` makes. Raises `LongerMatch` for a match longer than
    `max_length`.
    """
    assert isinstance(plan, SharingPlan)
    return Several(_parts(plan, alone or partial(counted_apart, plan)))


def _parts(plan: SharingPlan, alone: MakePart) -> Iterator[Operator]:
    workload, max_length = plan.workload, plan.max_length
    for query in workload:
        if counted_alone(query, max_length):
            yield query_operator(query, alone)
    sharing = (query for query in workload if not counted_alone(query, max_length))
    for window, queries in by_window(sharing).items():
        if any(is_kleene(query.parts[0].automaton) for query in queries):
            make = partial(_checked, plan, window, queries)
            yield PerKey(make, replace(workload, queries=tuple(queries)))
        else:
            yield shared_counter(plan, window, queries)


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


class CheckedSequences(OneLane):
    """The sequences of Kleene patterns of one key. Raises `LongerMatch` for a match beyond their `max_length`."""

    def __init__(self, counter: SequenceCounter, checks: list[LongestMatch]) -> None:
        super().__init__(counter)
        self.checks = checks

    def process(self, events: EventBatch) -> Rows:
        for check in self.checks:
            check.check(events)
        return super().process(events)


def _checked(plan: SharingPlan, window: Window, queries: list[CompiledQuery]) -> CheckedSequences:
    kleene = [query for query in queries if is_kleene(query.parts[0].automaton)]
    checks = [LongestMatch(query, query.parts[0], window, plan.max_length) for query in kleene]
    return CheckedSequences(shared_counter(plan, window, queries), checks)


def counted_apart(plan: SharingPlan, query: CompiledQuery, part: Part, window: Window) -> KeyedOperator:
    """Counts the sequences of one automaton without sharing, for count windows and conjunctions."""
    schema, max_length = plan.workload.schema, plan.max_length
    if not is_kleene(part.automaton):
        return counter_of_part(schema, query, part, window, max_length)
    make = partial(_checked_part, schema, query, part, window, max_length)
    return PerKey(make, replace(plan.workload, queries=(query,)))


def _checked_part(
    schema: Schema, query: CompiledQuery, part: Part, window: Window, max_length: int | None
) -> CheckedSequences:
    counter = counter_of_part(schema, query, part, window, max_length)
    return CheckedSequences(counter, [LongestMatch(query, part, window, max_length)])


def counter_of_part(
    schema: Schema, query: CompiledQuery, part: Part, window: Window, max_length: int | None
) -> SequenceCounter:
    """A counter of the sequences of one automaton, up to a length."""
    sequences = [replace(sequence, query=0) for sequence in sequences_of_part(query, part, max_length)]
    return SequenceCounter(schema, [Member(query, part)], sequences, (), window)


def counted_alone(query: CompiledQuery, max_length: int | None) -> bool:
    """Whether a query cannot share."""
    counts_events = query.window is not None and query.window.counts_events
    open_end = max_length is None and is_kleene(query.parts[0].automaton)
    return counts_events or query.analysis.conjunction or open_end
