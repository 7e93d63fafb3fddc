"""Rewrites a workload into what MCEP detects: clauses without OR, and for trends in sliding windows, matches that are
counted per window.

An operand that is an OR of types becomes one clause per type (MCEP, Section 2, the transition to DNF).

A trend of a window of length w is a match whose last event is at most w - 1 units after the first one. So the query is
detected with that span, and each match counts in the windows that contain both of its ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.rows import AggregateRows, MatchRows
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import ClausePart, CompiledQuery, Workload, compile_workload
from cepbench.queries.detection import choices, clauses_of, without_or
from cepbench.queries.detection_tables import build_detection_tables
from cepbench.queries.model import (
    Aggregates,
    Comparison,
    CountAll,
    Event,
    Length,
    Matches,
    Pattern,
    Plus,
    Query,
    Semantics,
    Seq,
)
from cepbench.queries.tables import Columns

COUNT_BYTES = 32
"""Bytes of the count of an open window."""
MAX_CLAUSES = 256
"""Maximum number of clauses of one query, each of which is a pattern of the optimizer."""


def not_countable(query: Query) -> str | None:
    """Why MCEP cannot count the trends of a query with windows, in words; None if it can."""
    if not isinstance(query.returns, Aggregates):
        return "MCEP detects matches within a span of their own; write WITHIN ... PER MATCH"
    if any(not isinstance(item, CountAll) for item in query.returns.items):
        return "of the aggregates of trends, MCEP has COUNT(*) only"
    if query.semantics is not Semantics.ANY:
        return f"MCEP supports skip-till-any-match only, not {query.semantics}"
    if query.window is None or query.window.within.unit == "events":
        return "MCEP counts trends in windows of time only"
    parts = query.pattern.parts if isinstance(query.pattern, Seq) else (query.pattern,)
    if not all(_is_operand(part) for part in parts):
        return "MCEP counts trends of SEQ of single event types, with or without +"
    if any(isinstance(predicate, Comparison) for predicate in query.predicates):
        return "MCEP counts trends without predicates on two events; its conditions hold for all pairs of events"
    return None


def _is_operand(part: Pattern) -> bool:
    return isinstance(part.part if isinstance(part, Plus) else part, Event)


def detection_workload(workload: Workload) -> Workload:
    """Replaces every query that counts trends by one that detects them, and removes OR from operands.

    Queries keep their index.
    """
    queries = tuple(
        _without_or(query, workload.schema) if query.detects else _detecting(query, workload) for query in workload
    )
    return replace(workload, queries=queries)


def not_detectable(query: Query) -> str | None:
    """Why MCEP cannot evaluate the clauses of a detection query, in words; None if it can."""
    numbers = [choices(clause) for clause in clauses_of(query, analyse(query).names)]
    if None in numbers:
        return "MCEP joins single event types; an OR in a Kleene operand cannot be split into clauses without OR"
    if sum(filter(None, numbers)) > MAX_CLAUSES:
        return f"without OR in operands the pattern has more than {MAX_CLAUSES} clauses"
    return None


def _without_or(query: CompiledQuery, schema: Schema) -> CompiledQuery:
    if not any(part.clause.has_or for part in query.clauses):
        return query
    clauses = (clause for part in query.clauses for clause in without_or(part.clause))
    parts = (ClausePart(clause, build_detection_tables(clause, schema, Columns(schema))) for clause in clauses)
    return replace(query, clauses=tuple(parts))


def counted_windows(workload: Workload) -> dict[int, Window]:
    """The windows of the queries that count trends."""
    return {query.index: query.window for query in workload if not query.detects and query.window is not None}


def _detecting(query: CompiledQuery, workload: Workload) -> CompiledQuery:
    assert query.window is not None
    span = Length(Fraction(1), workload.schema.time_unit)
    detection = replace(query.query, returns=Matches(), window=None, span=span)
    [compiled] = compile_workload((detection,), workload.schema, workload.arithmetic)
    return replace(compiled, index=query.index, window=Window(query.window.within, 1))


class WindowCounts:
    """The exact number of trends in each open window of a query. O(windows of a match) per match."""

    def __init__(self, window: Window, arithmetic: str) -> None:
        self.window, self.arithmetic = window, arithmetic
        self.counts: dict[int, int] = {}
        self.most = 0

    def add(self, parts: Sequence[MatchRows]) -> None:
        """Adds matches to the windows that contain them."""
        for rows in parts:
            assert rows.times is not None
            window = self.window
            low = np.maximum(0, (rows.times[:, 1] - window.within) // window.slide + 1)
            spans, counts = np.unique(
                np.stack([low, rows.times[:, 0] // window.slide], axis=1), axis=0, return_counts=True
            )
            for (first, last), count in zip(spans.tolist(), counts.tolist(), strict=True):
                for k in range(first, last + 1):
                    self.counts[k] = self.counts.get(k, 0) + count
        self.most = max(self.most, len(self.counts))

    def closed(self, now: int) -> AggregateRows | None:
        """Returns the rows of the windows that end by `now` and drops these windows."""
        ended = {k: count for k, count in self.counts.items() if self.window.end(k) <= now}
        for k in ended:
            del self.counts[k]
        return AggregateRows.of_counts(ended, self.arithmetic)

    def state(self) -> StateSize:
        """Peak size of the counts since the last call."""
        peak, self.most = max(self.most, len(self.counts)), len(self.counts)
        return StateSize(COUNT_BYTES * peak, {"aggregates": peak})
