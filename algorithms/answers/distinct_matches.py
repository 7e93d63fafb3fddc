"""The matches of one detection query, each once, whichever clause finds it and in however many ways."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepbench.algorithms.answers.matches import fresh_matches, taken
from cepbench.algorithms.base import StateSize
from cepbench.algorithms.rows import MatchRows, QueryRows, concatenate
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.detection import may_repeat
from cepbench.queries.model import Aggregates


class DistinctMatches:
    """Where the same events may bind in several ways, their match is found several times in one call if all clauses
    decide alike. One with a NOT at the end decides later than others, so that matches are remembered (`told`) for as
    long as it may find them again.

    `repeats`: matches may be found more than once. `digests`: the query wants digests, or a count, and needs no more to
    be right.
    """

    def __init__(self, query: CompiledQuery) -> None:
        clauses = tuple(part.clause for part in query.clauses)
        waits = any(clause.waits for clause in clauses)
        self.reach = query.reach
        self.repeats = may_repeat(clauses)
        summarised = query.summarised or isinstance(query.query.returns, Aggregates)
        self.digests = summarised and not self.repeats and not waits
        self.mixed = self.repeats and waits
        self.told: MatchRows | None = None

    def once(self, parts: Sequence[QueryRows], now: int) -> QueryRows | None:
        """All rows, each match once; no event comes before the point `now` any more.

        Rows of clauses that wait come last: what others decided earlier is told in their name.
        """
        if not self.repeats:
            return concatenate(parts) if parts else None
        known = [] if self.told is None else [self.told]
        every = (
            MatchRows.concatenate([*known, *(rows for rows in parts if isinstance(rows, MatchRows))]) if parts else None
        )
        fresh = None if every is None else fresh_matches(every, sum(map(len, known)))
        if self.mixed:
            self.told = still_reached([*known, *([] if fresh is None else [fresh])], now, self.reach)
        return fresh if fresh is not None and len(fresh) else None

    def state(self) -> StateSize:
        """The matches that a clause may yet find again."""
        return StateSize(0 if self.told is None else self.told.positions.nbytes + 32 * len(self.told))


def still_reached(parts: Sequence[MatchRows], now: int, reach: int) -> MatchRows | None:
    """The matches that a clause with a NOT at the end may find yet: their spans have not ended before `now`.

    The window of a match ends at its last event, or later: a span from its first one ends by `2 * reach` after the
    beginning of that window.
    """
    if not parts:
        return None
    rows = MatchRows.concatenate(parts)
    return taken(rows, np.flatnonzero(rows.window + 2 * reach >= now))


def load_distinct() -> None:
    """Calls the kernel that a few events may not reach."""
    nothing = np.zeros(0, np.int64)
    fresh_matches(MatchRows(nothing, np.zeros(1, np.int64), nothing, np.zeros((0, 2), np.int64)), 0)
