"""Whether a stream has longer matches than a bound on flattened Kleene patterns allows."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.arrays import readonly
from cepbench.algorithms.running.batches import kernel_events
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.sequences.kernels.longest import PARTIAL, Lengths, longest_match
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class LongerMatch(CepbenchError):
    """A match is longer than the sequences into which its pattern was flattened."""


def length_of(value: int | str | None) -> int | None:
    """The parameter `max_length`, which arrives as text from a specification; None and `none` bound nothing."""
    if value is None or value == "none":
        return None
    try:
        length = int(value)
    except ValueError:
        length = 0
    if length < 1:
        raise CepbenchError(f"max_length={value}: give the number of events of the longest match, 1 or more")
    return length


class LongestMatch:
    """Follows the length of the longest match of one automaton, whose transitions have no predicates.

    Windows are those of the query, over one sub-stream. O(1) per event, transition and window that holds the event.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.query, self.tables, self.window = query, part.tables, window
        self.negations = negations_of(query, part, window)
        transitions, positions = len(part.tables.source), len(part.tables.start)
        self.lengths = Lengths(
            np.zeros((transitions, window.overlap), np.int64),
            np.zeros((positions, window.overlap), np.int64),
            np.array([-1, -1, 0], np.int64),
        )
        self.seen = 0

    @property
    def partial(self) -> int:
        """The most events of a partial match so far."""
        return int(self.lengths.clock[PARTIAL])

    def follow(self, events: EventBatch) -> int:
        """The length of the longest match that ends in a batch, or 0."""
        window = self.window
        points = np.arange(self.seen, self.seen + len(events)) if window.counts_events else events.time
        self.seen += len(events)
        first = np.maximum(0, (points - window.within) // window.slide + 1)
        batch = kernel_events(self.query, events, self.negations)
        return int(longest_match(batch, readonly(first), readonly(points // window.slide), self.tables, self.lengths))

    def check(self, events: EventBatch, max_length: int) -> None:
        """Raises `LongerMatch` if a match that ends in a batch is longer than `max_length`."""
        longest = self.follow(events)
        if longest > max_length:
            raise LongerMatch(
                f"query {self.query.query.name}: a match has {longest} events, more than max_length={max_length}"
            )
