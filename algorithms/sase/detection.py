"""SASE on queries of detection: runs per clause, and each match once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cepbench.algorithms.answers.matches import fresh_matches, taken
from cepbench.algorithms.base import StateSize
from cepbench.algorithms.rows import MatchRows, QueryRows, concatenate
from cepbench.algorithms.running.batches import kernel_events
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.sase.clause_runs import ClauseRuns
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.detection import may_repeat


class SpanEvaluator(Evaluator):
    """Evaluates the clauses of a detection query side by side on one sub-stream.

    Where the same events may bind in several ways, their match is found several times in one call if all clauses decide
    alike. One with a NOT at the end decides later than others, so that matches are remembered (`told`) for as long as
    it may find them again.
    """

    def __init__(self, query: CompiledQuery) -> None:
        clauses = tuple(part.clause for part in query.clauses)
        self.query = query
        self.repeats = may_repeat(clauses)
        self.digests = query.summarised and not self.repeats and not any(clause.waits for clause in clauses)
        # Those that wait come last: what others decided earlier is told in their name.
        ordered = sorted(query.clauses, key=lambda part: part.clause.waits)
        self.clauses = [ClauseRuns(query, part, self.digests) for part in ordered]
        self.mixed = self.repeats and any(clause.waits for clause in clauses)
        self.told: MatchRows | None = None
        self.now = 0

    def process(self, events: EventBatch) -> QueryRows | None:
        batch = kernel_events(self.query.columns, events)
        parts: list[QueryRows] = []
        for clause in self.clauses:
            parts += clause.process(batch, events.position, events.until)
        self.now = max(clause.now for clause in self.clauses)
        return self._once(parts)

    def finish(self) -> QueryRows | None:
        return self._once([rows for clause in self.clauses for rows in clause.finish()])

    def load(self) -> None:
        """Calls the kernels that a few events may not reach."""
        for clause in self.clauses:
            clause.load()
        nothing = np.zeros(0, np.int64)
        fresh_matches(MatchRows(nothing, np.zeros(1, np.int64), nothing, np.zeros((0, 2), np.int64)), 0)

    def state(self) -> StateSize:
        """That of all clauses, and the matches that a clause may yet find again."""
        told = 0 if self.told is None else self.told.positions.nbytes + 32 * len(self.told)
        return sum((clause.state() for clause in self.clauses), StateSize(told))

    def details(self) -> Mapping[str, float]:
        """Events put into matches, each of which is constructed as a whole."""
        return {"updates": float(sum(clause.updates for clause in self.clauses))}

    def _once(self, parts: list[QueryRows]) -> QueryRows | None:
        """All rows, each match once."""
        if not self.repeats:
            return concatenate(parts) if parts else None
        known = [] if self.told is None else [self.told]
        every = (
            MatchRows.concatenate([*known, *(rows for rows in parts if isinstance(rows, MatchRows))]) if parts else None
        )
        fresh = None if every is None else fresh_matches(every, sum(map(len, known)))
        if self.mixed:
            self.told = still_reached([*known, *([] if fresh is None else [fresh])], self.now, self.query.reach)
        return fresh if fresh is not None and len(fresh) else None


def still_reached(parts: list[MatchRows], now: int, reach: int) -> MatchRows | None:
    """The matches that a clause with a NOT at the end may find yet: their spans have not ended before `now`.

    The window of a match ends at its last event, or later: a span from its first one ends by `2 * reach` after the
    beginning of that window.
    """
    if not parts:
        return None
    rows = MatchRows.concatenate(parts)
    return taken(rows, np.flatnonzero(rows.window + 2 * reach >= now))
