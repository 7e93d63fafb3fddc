"""COUNT(*) of a detection query: counts matches as they are detected, and returns one row at the end."""

from __future__ import annotations

from cepbench.algorithms.rows import AggregateRows, MatchDigests, QueryRows
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.model import Aggregates

WHOLE_STREAM = 0
"""The number of the only window (docs/semantics.md, rule 8)."""


class DetectedCount:
    """Counts the matches of one key; each match is added once. The count is exact."""

    def __init__(self, query: CompiledQuery) -> None:
        self.arithmetic = query.arithmetic
        self.matches = 0

    def add(self, rows: QueryRows | None) -> None:
        """Adds the number of matches in `rows`, which may be digests."""
        if isinstance(rows, MatchDigests):
            self.matches += int(rows.matches.sum())
        elif rows is not None:
            self.matches += len(rows)

    def row(self) -> AggregateRows | None:
        """The row of the whole stream; None without matches."""
        return AggregateRows.of_counts({WHOLE_STREAM: self.matches}, self.arithmetic)


def match_counter(query: CompiledQuery) -> DetectedCount | None:
    """A counter for a query that returns COUNT(*); None for one that returns matches."""
    return DetectedCount(query) if isinstance(query.query.returns, Aggregates) else None
