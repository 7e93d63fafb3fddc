"""At which granularity the trends of a query are aggregated (dissertation Chapter 14, Table 14.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.queries.automaton import Automaton, Negations, Transition

EVENT, COARSEST = "event", "coarsest"
GRANULARITIES = (COARSEST, EVENT)
"""`event`: each matched event keeps aggregates and is visited by later ones, as in GRETA; `coarsest`: the coarsest
granularity that is exact, as in COGRA, where events are kept only if a predicate or a negation selects some of them.
"""


def has_adjacent_predicates(automaton: Automaton) -> bool:
    """Whether some transition is restricted by a predicate on adjacent events."""
    return any(t.predicates for t in automaton.transitions)


def kept_positions(automaton: Automaton, granularity: str) -> NDArray[np.bool_]:
    """bool[P]: the positions whose events are kept.

    At the coarsest granularity those are the event types T_e of Theorem 15.3, whose events predicates compare with
    later ones, and those of which a match of a negated sequence invalidates some: events after its START stay valid.
    """
    kept = [granularity == EVENT] * len(automaton.positions)
    for t in automaton.transitions:
        kept[t.source] |= selects(t, automaton)
    for p, position in enumerate(automaton.positions):
        kept[p] |= not only_single_events(position.end or frozenset(), automaton)
    return np.array(kept)


def selects(transition: Transition, automaton: Automaton) -> bool:
    """Whether a predicate on adjacent events, or a negated sequence, selects some of the events before one by one."""
    return bool(transition.predicates) or not only_single_events(transition.negations, automaton)


def only_single_events(negations: Negations, automaton: Automaton) -> bool:
    """Whether each match of these negated sub-patterns is one event, before which all earlier events came."""
    return all(_is_single_event(automaton.negations[n]) for n in negations)


def _is_single_event(automaton: Automaton) -> bool:
    whole = all(p.start is not None and p.end is not None for p in automaton.positions)
    return whole and not automaton.transitions
