"""Removes duplicates from the matches of a detection query that several clauses or bindings find."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepbench.algorithms.answers.matches import fresh_matches
from cepbench.algorithms.base import StateSize
from cepbench.algorithms.rows import MatchRows, QueryRows, concatenate
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.detection import may_repeat
from cepbench.queries.model import Aggregates


class DistinctMatches:
    """Returns each match of a detection query once.

    If the same events can be bound in several ways, their match is found several times: within one call if all clauses
    decide at the same point. A clause with a trailing NOT decides later than the others, so matches that it can find
    again are remembered in `known`.

    `repeats`: matches can be found more than once. `digests`: the query only needs digests or a count, and there are no
    duplicates to remove.
    """

    def __init__(self, query: CompiledQuery) -> None:
        clauses = tuple(part.clause for part in query.clauses)
        waits = any(clause.waits for clause in clauses)
        self.reach = query.reach
        self.repeats = may_repeat(clauses)
        summarised = query.summarised or isinstance(query.query.returns, Aggregates)
        self.digests = summarised and not self.repeats and not waits
        self.mixed = self.repeats and waits
        self.known: MatchRows | None = None

    def once(self, parts: Sequence[QueryRows], now: int) -> QueryRows | None:
        """All rows without duplicates; no later event lies before the point `now`.

        Rows of clauses with a trailing NOT come last in `parts`, since the other clauses decide earlier.
        """
        if not self.repeats:
            return concatenate(parts) if parts else None
        known = [] if self.known is None else [self.known]
        every = (
            MatchRows.concatenate([*known, *(rows for rows in parts if isinstance(rows, MatchRows))]) if parts else None
        )
        fresh = None if every is None else fresh_matches(every, sum(map(len, known)))
        if self.mixed:
            self.known = still_reached([*known, *([] if fresh is None else [fresh])], now, self.reach)
        return fresh if fresh is not None and len(fresh) else None

    def state(self) -> StateSize:
        """The remembered matches."""
        return StateSize(0 if self.known is None else self.known.positions.nbytes + 32 * len(self.known))


def still_reached(parts: Sequence[MatchRows], now: int, reach: int) -> MatchRows | None:
    """The matches that a clause with a trailing NOT can still find: their spans have not ended before `now`.

    The window of a match ends at its last event or later, so a span from its first event ends at most `2 * reach` after
    the start of that window.
    """
    if not parts:
        return None
    rows = MatchRows.concatenate(parts)
    return rows.take(np.flatnonzero(rows.window + 2 * reach >= now))


def load_distinct() -> None:
    """Calls the kernel that a few events may not reach."""
    nothing = np.zeros(0, np.int64)
    fresh_matches(MatchRows(nothing, np.zeros(1, np.int64), nothing, np.zeros((0, 2), np.int64)), 0)
