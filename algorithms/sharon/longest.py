"""Follows the longest match of a Kleene query, up to which its pattern is flattened."""

from __future__ import annotations

import numpy as np

from algorithms.kernels.batches import kernel_events, sliding
from algorithms.kernels.negation import negations_of
from algorithms.kernels.sequences_longest import MATCH, PARTIAL, follow_lengths, new_lengths
from algorithms.kernels.type_grained import make_slots, slot_count
from events.batch import EventBatch
from events.errors import CepbenchError
from events.windows import Window
from queries.compile import CompiledQuery, Part


class MatchTooLong(CepbenchError):
    """A Kleene query has a match that is longer than `max_length`."""


class LongestMatches:
    """The longest match so far of one automaton in any window, and the longest partial match."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.query, self.tables = query, part.tables
        self.window = sliding(window)
        self.negations = negations_of(query, part, window)
        every = np.ones(len(part.tables.start), np.bool_)
        self.slots = make_slots(part.tables, len(part.negations), every, every, False)
        self.lengths = new_lengths(window.overlap, slot_count(self.slots), len(part.negations))

    @property
    def partial(self) -> int:
        """Events of the longest partial match."""
        return int(self.lengths.clock[PARTIAL])

    def follow(self, events: EventBatch) -> None:
        """Takes a batch into account."""
        batch = kernel_events(self.query, events, self.negations)
        follow_lengths(batch, self.tables, self.slots, self.window, self.lengths)

    def check(self, max_length: int) -> None:
        """Raises `MatchTooLong` if there was a longer match."""
        longest = int(self.lengths.clock[MATCH])
        if longest > max_length:
            raise MatchTooLong(
                f"query {self.query.query.name}: the stream has a match of {longest} events, but sequences are "
                f"flattened up to max_length={max_length}; give a larger one"
            )
