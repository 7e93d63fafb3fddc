"""Counts the sequences of one query on its own: count windows, conjunctions, Kleene patterns of any length."""

from __future__ import annotations

from dataclasses import replace

from algorithms.base import StateSize
from algorithms.execution import Evaluator
from algorithms.longest_match import LongestMatch
from algorithms.rows import QueryRows, Rows
from algorithms.sequences import NO_WAY, is_kleene, sequences_of_part, steps_to_end
from algorithms.sharon.channels import Member
from algorithms.sharon.counter import SequenceCounter
from algorithms.sharon.inheritance import inherited
from events.batch import EventBatch
from events.schema import Schema
from events.windows import Window
from queries.compile import CompiledQuery, Part


class SequenceEvaluator(Evaluator):
    """The sequences of one automaton, each counted on its own.

    A Kleene pattern is flattened up to `max_length`. Without one it is flattened as far as the longest match so far
    needs: one event beyond the longest partial match, and then the shortest way to an END position. So whatever the
    next event extends is the beginning of a sequence, whose counters all longer sequences inherit.
    """

    def __init__(
        self, schema: Schema, query: CompiledQuery, part: Part, window: Window, max_length: int | None
    ) -> None:
        self.schema, self.member, self.window, self.max_length = schema, Member(query, part), window, max_length
        self.kleene = is_kleene(part.automaton)
        self.longest = LongestMatch(query, part, window) if self.kleene else None
        self.beyond = 1 + max((steps for steps in steps_to_end(part.automaton) if steps < NO_WAY), default=0)
        self.bound = self.beyond if max_length is None else max_length
        self.counter = self._counter()

    def process(self, events: EventBatch) -> QueryRows | None:
        if self.longest is not None:
            if self.max_length is not None:
                self.longest.check(events, self.max_length)
            else:
                self._flatten(self.longest, events)
        return _only(self.counter.process(events))

    def finish(self) -> QueryRows | None:
        return _only(self.counter.finish())

    def state(self) -> StateSize:
        return self.counter.state()

    def details(self) -> dict[str, float]:
        return self.counter.details()

    def _flatten(self, longest: LongestMatch, events: EventBatch) -> None:
        """Adds the sequences that a batch needs."""
        known = longest.partial
        longest.follow(events)
        if longest.partial + self.beyond > self.bound:
            self.bound = longest.partial + self.beyond
            counter = self._counter()
            counter.cells = inherited(counter, self.counter, known)
            self.counter = counter

    def _counter(self) -> SequenceCounter:
        found = sequences_of_part(self.member.query, self.member.part, self.bound)
        sequences = [replace(sequence, query=0) for sequence in found]
        return SequenceCounter(self.schema, [self.member], sequences, (), self.window)


def _only(rows: Rows) -> QueryRows | None:
    return rows.get(0)
