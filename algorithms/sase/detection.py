"""SASE on queries of detection: runs per clause, and each match once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cepbench.algorithms.answers.detected_count import reporting
from cepbench.algorithms.answers.distinct_matches import DistinctMatches, load_distinct
from cepbench.algorithms.base import StateSize
from cepbench.algorithms.rows import QueryRows
from cepbench.algorithms.running.batches import kernel_events
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.sase.clause_runs import ClauseRuns
from cepbench.events.batch import EventBatch
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery


class SpanEvaluator(Evaluator):
    """Evaluates the clauses of a detection query side by side on one key."""

    def __init__(self, query: CompiledQuery) -> None:
        self.query = query
        self.distinct = DistinctMatches(query)
        self.count = reporting(query)
        # Those that wait come last: what others decided earlier is told in their name.
        ordered = sorted(query.clauses, key=lambda part: part.clause.waits)
        self.clauses = [ClauseRuns(query, part, self.distinct.digests) for part in ordered]
        self.now = 0

    def process(self, events: EventBatch) -> QueryRows | None:
        batch = kernel_events(self.query.columns, events)
        parts: list[QueryRows] = []
        for clause in self.clauses:
            parts += clause.process(batch, events.position, events.watermark)
        self.now = max(clause.now for clause in self.clauses)
        return self._reported(parts)

    def finish(self) -> QueryRows | None:
        rows = self._reported([rows for clause in self.clauses for rows in clause.finish()])
        return rows if self.count is None else self.count.row()

    def _reported(self, parts: Sequence[QueryRows]) -> QueryRows | None:
        """The matches, each once, unless they are only counted."""
        found = self.distinct.once(parts, self.now)
        if self.count is None:
            return found
        self.count.add(found)
        return None

    def load(self) -> None:
        """Calls the kernels that a few events may not reach."""
        for clause in self.clauses:
            clause.load()
        load_distinct()

    def state(self) -> StateSize:
        """That of all clauses, and the matches that a clause may yet find again."""
        return sum((clause.state() for clause in self.clauses), self.distinct.state())

    def details(self) -> Mapping[str, float]:
        """Events put into matches, each of which is constructed as a whole; and the seconds of both phases.

        A match that several clauses find, or one of them in several ways, counts as often in `delay_count`.
        """
        phases = merged(clause.phases() for clause in self.clauses)
        return {"updates": float(sum(clause.updates for clause in self.clauses)), **phases}
