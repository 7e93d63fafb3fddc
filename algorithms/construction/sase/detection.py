"""SASE on detection queries: runs of the automaton and of each AND; duplicate matches are removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.answers.distinct_matches import DistinctMatches, load_distinct
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.construction.sase.span_runs import SpanRuns
from cepbench.algorithms.construction.sase.span_tables import tables_of_and, tables_of_automaton
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.rows import QueryRows, Rows, rows_of
from cepbench.events.batch import EventBatch
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery


class SpanExecutor(Executor):
    """Evaluates a detection query on one key: one part per AND alternative, and the automaton of all others."""

    def __init__(self, query: CompiledQuery) -> None:
        self.query = query
        self.distinct = DistinctMatches(query)
        self.count = match_counter(query)
        unordered = [tables_of_and(part) for part in query.clauses if not part.clause.ordered]
        # Parts with a trailing NOT come last: matches that others find, too, are reported by those, which decide first.
        self.parts = [SpanRuns(query, tables, False, self.distinct.digests) for tables in unordered]
        self.parts += [SpanRuns(query, tables_of_automaton(one), True, self.distinct.digests) for one in query.parts]
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        batch = kernel_events(self.query.columns, events)
        rows: list[QueryRows] = []
        for part in self.parts:
            rows += part.process(batch, events.position, events.watermark)
        self.now = max(part.now for part in self.parts)
        return self._reported(rows)

    def finish(self) -> Rows:
        rows = self._reported([rows for part in self.parts for rows in part.finish()])
        return rows if self.count is None else rows_of(self.query.index, [self.count.row()])

    def _reported(self, parts: Sequence[QueryRows]) -> Rows:
        """The matches without duplicates; none if they are only counted."""
        rows = self.distinct.once(parts, self.now)
        if self.count is None:
            return rows_of(self.query.index, [rows])
        self.count.add(rows)
        return {}

    def load(self) -> None:
        """Calls the kernels that a few events may not reach."""
        for part in self.parts:
            part.load()
        load_distinct()

    def state(self) -> StateSize:
        """State of all parts, and the matches that can be found again."""
        return sum((part.state() for part in self.parts), self.distinct.state())

    def details(self) -> Mapping[str, float]:
        """Number of events in all constructed matches, and the seconds of both phases.

        A match that is found several times counts each time in `delay_count`.
        """
        phases = merged(part.phases() for part in self.parts)
        return {"updates": float(sum(part.updates for part in self.parts)), **phases}
