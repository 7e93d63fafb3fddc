"""What COGRA refuses, and what panes do."""

from __future__ import annotations

from collections.abc import Iterator

from cepbench.algorithms.trends.cogra.kernels.pane_tables import MOST_NEGATIONS
from cepbench.algorithms.trends.online.granularity import has_adjacent_predicates, only_single_events
from cepbench.queries.automaton import Automaton, Negations
from cepbench.queries.model import Semantics


def not_linear(automaton: Automaton, semantics: Semantics) -> str | None:
    """Why events are no linear maps of cells, or None: what they change depends on more than numbers of trends."""
    if semantics is not Semantics.ANY:
        return "only under skip-till-any-match does an event leave earlier trends as they are"
    if has_adjacent_predicates(automaton):
        return "predicates on adjacent events need the earlier events themselves"
    inner = automaton.negations
    if any(n.negations for n in inner) or not only_single_events(frozenset(range(len(inner))), automaton):
        return "a negated sequence may begin in one pane and end in another"
    if len(inner) > MOST_NEGATIONS:
        return f"a map of a pane notes matches of at most {MOST_NEGATIONS} negations"
    return None


def unsupported_negation(automaton: Automaton, semantics: Semantics) -> str | None:
    """Why a negation cannot be kept at type granularity, or None.

    A type-grained aggregate has forgotten when its events came. A match of a negative sub-pattern may therefore only
    empty it, which is right if the match is one event: all events in the aggregate came before it. A longer match
    leaves those that came after its START event valid. A leading negation needs no aggregate and may be any pattern.
    """
    for negations, where in _emptying(automaton, semantics):
        if not only_single_events(negations, automaton):
            return f"a negated sequence {where} cannot be kept at type granularity; only a single negated event can"
        if negations and semantics is Semantics.NEXT and where == "between events":
            return "negation between events is not kept at pattern granularity under skip-till-next-match"
    return None


def _emptying(automaton: Automaton, semantics: Semantics) -> Iterator[tuple[Negations, str]]:
    if semantics is not Semantics.CONTIGUOUS:  # nothing can lie between contiguous events
        for t in automaton.transitions:
            yield t.negations, "between events"
    for p in automaton.positions:
        yield p.end or frozenset(), "at the end of the pattern"
