"""Counts the sequences of one query separately, for count windows and conjunctions."""

from __future__ import annotations

from dataclasses import replace

from cepbench.algorithms.engine.flattening import is_kleene, sequences_of_part
from cepbench.algorithms.engine.lanes import OneLane
from cepbench.algorithms.engine.longest_match import LongestMatch
from cepbench.algorithms.rows import QueryRows
from cepbench.algorithms.sequences.channels import Member
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class SequenceEvaluator(OneLane):
    """The sequences of one automaton, without sharing; a Kleene pattern is flattened up to `max_length`.

    Raises `LongerMatch` for a longer match.
    """

    lanes: SequenceCounter

    def __init__(
        self, schema: Schema, max_length: int | None, query: CompiledQuery, part: Part, window: Window
    ) -> None:
        self.schema, self.member, self.window = schema, Member(query, part), window
        self.longest = LongestMatch(query, part, window, max_length) if is_kleene(part.automaton) else None
        super().__init__(self.counter_of(max_length))

    def process(self, events: EventBatch) -> QueryRows | None:
        if self.longest is not None:
            self.longest.check(events)
        return super().process(events)

    def counter_of(self, max_length: int | None) -> SequenceCounter:
        """A counter of the sequences up to a length."""
        found = sequences_of_part(self.member.query, self.member.part, max_length)
        sequences = [replace(sequence, query=0) for sequence in found]
        return SequenceCounter(self.schema, [self.member], sequences, (), self.window)
