"""SASE on flattened queries, as the papers evaluate systems without Kleene patterns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cepbench.algorithms.base import Executor, Plan, StateSize
from cepbench.algorithms.engine.longest_trend import LongestTrend
from cepbench.algorithms.rows import Rows, joined
from cepbench.events.batch import EventBatch
from cepbench.metrics.details import merged
from cepbench.queries.compile import Part


@dataclass(frozen=True)
class FlattenedPlan(Plan):
    """`parts`: the sequences of each query, by query index."""

    parts: Mapping[int, tuple[Part, ...]]


class FlattenedExecutor(Executor):
    """One executor per sequence of a query, without sharing, and an optional `guard` of the match length.

    The guard checks the longest match before any is constructed. Its stacks do not count as state, since they are not
    part of the approach.
    """

    def __init__(self, sequences: list[Executor], guard: LongestTrend | None) -> None:
        self.sequences, self.guard = sequences, guard

    def process(self, events: EventBatch) -> Rows:
        """Rows of closed windows. Raises `LongerMatch`."""
        if self.guard is not None:
            self.guard.process(events)
        return joined([sequence.process(events) for sequence in self.sequences])

    def finish(self) -> Rows:
        """Rows of open windows. Raises `LongerMatch`."""
        if self.guard is not None:
            self.guard.finish()
        return joined([sequence.finish() for sequence in self.sequences])

    def state(self) -> StateSize:
        """Sum over all sequences; of each its peak since the last call."""
        return sum((sequence.state() for sequence in self.sequences), StateSize())

    def details(self) -> Mapping[str, float]:
        """Sum over all sequences, and the number of sequences."""
        return {
            **merged(sequence.details() for sequence in self.sequences),
            "sequences_peak": float(len(self.sequences)),
        }
