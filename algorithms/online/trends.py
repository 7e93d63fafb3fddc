"""Online aggregation of the trends of a query that shares nothing: COGRA's lanes, and GRETA's at event granularity."""

from __future__ import annotations

from cepbench.algorithms.online.granularity import COARSEST, kept_positions
from cepbench.algorithms.online.graph import GraphGrained
from cepbench.algorithms.online.type_grained import TypeGrained
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.running.lanes import Lanes, OneLane
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Aggregates, Query, Semantics


def trend_lanes(query: CompiledQuery, part: Part, window: Window, granularity: str = COARSEST) -> Lanes:
    """Lanes that aggregate the trends of an automaton at a granularity (dissertation Chapter 14, Table 14.1).

    Events visit those that are kept, and read sums of all others. Under skip-till-next-match and contiguous semantics,
    which have the coarsest granularity only, either waits only as long as it may still be extended. Where nothing is
    kept or negated, loops over sums are faster.
    """
    kept = kept_positions(part.automaton, granularity)
    if kept.any() or part.negations:
        return GraphGrained(query, part, window, kept)
    return TypeGrained(query, part, window)


def trend_evaluator(query: CompiledQuery, part: Part, window: Window, granularity: str = COARSEST) -> Evaluator:
    """The same for one key."""
    return OneLane(trend_lanes(query, part, window, granularity))


def unsupported_under_any(system: str, query: Query, cited: str = "") -> str | None:
    """Why a system that aggregates trends online under skip-till-any-match alone cannot evaluate a query, or None."""
    if not isinstance(query.returns, Aggregates):
        return f"{system} aggregates trends without constructing them, so it cannot return matches"
    if query.semantics is not Semantics.ANY:
        return f"{system} supports skip-till-any-match only, not {query.semantics}{cited}"
    if any(automaton.pairwise for automaton in analyse(query).automata):
        return "predicates on events that are not adjacent need constructed trends"
    return None
