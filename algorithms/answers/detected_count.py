"""COUNT(*) of a detection query: its matches are counted as they are detected, and there is one row at the end."""

from __future__ import annotations

from cepbench.algorithms.rows import AggregateRows, MatchDigests, QueryRows
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.model import Aggregates

WHOLE_STREAM = 0
"""The number of the only window (docs/semantics.md, rule 8)."""


class DetectedCount:
    """Takes the rows of matches, each match once, of one key. The count is exact."""

    def __init__(self, query: CompiledQuery) -> None:
        self.arithmetic = query.arithmetic
        self.matches = 0

    def add(self, rows: QueryRows | None) -> None:
        """Counts matches, which may come as digests."""
        if isinstance(rows, MatchDigests):
            self.matches += int(rows.matches.sum())
        elif rows is not None:
            self.matches += len(rows)

    def row(self) -> AggregateRows | None:
        """The row of the whole stream; None if there was no match."""
        return AggregateRows.of_counts({WHOLE_STREAM: self.matches}, self.arithmetic)


def reporting(query: CompiledQuery) -> DetectedCount | None:
    """What counts the matches of a query, unless it returns them."""
    return DetectedCount(query) if isinstance(query.query.returns, Aggregates) else None
