"""Checks whether matches in a stream exceed the maximum length of flattened Kleene patterns."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.longest import PARTIAL, Lengths, longest_match
from cepbench.algorithms.engine.negation import negations_of
from cepbench.algorithms.engine.points import Points
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class LongerMatch(CepbenchError):
    """A match is longer than the sequences into which its pattern was flattened."""


class LongestMatch:
    """Tracks the length of the longest match of one automaton, whose transitions have no predicates.

    Windows are those of the query, on one key. O(1) per event, transition and window that contains the event.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, max_length: int | None) -> None:
        self.query, self.tables, self.max_length = query, part.tables, max_length
        self.negations = negations_of(part.negations, window, query.columns)
        transitions, positions = len(part.tables.source), len(part.tables.start)
        self.lengths = Lengths(
            np.zeros((transitions, window.overlap), np.int64),
            np.zeros((positions, window.overlap), np.int64),
            np.array([-1, -1, 0], np.int64),
        )
        self.points = Points(window)

    @property
    def partial(self) -> int:
        """Length of the longest partial match so far."""
        return int(self.lengths.clock[PARTIAL])

    def follow(self, events: EventBatch) -> int:
        """The length of the longest match that ends in a batch, or 0."""
        points = self.points.of(events)
        first, last = self.points.first_windows(points), self.points.last_windows(points)
        batch = self.negations.follow_one_key(events)
        return int(longest_match(batch, readonly(first), readonly(last), self.tables, self.lengths))

    def check(self, events: EventBatch) -> None:
        """Raises `LongerMatch` if a match that ends in a batch is longer than `max_length`."""
        longest = self.follow(events)
        if self.max_length is not None and longest > self.max_length:
            raise LongerMatch(
                f"query {self.query.query.name}: a match has {longest} events, more than max_length={self.max_length}"
            )
