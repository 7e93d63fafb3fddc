"""The static query analyzer of COGRA: the coarsest granularity that is exact (dissertation Chapter 14, Table 14.1)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.windows import ANY, CONTIGUOUS, NEXT
from cepbench.queries.automaton import Automaton, Negations
from cepbench.queries.model import Semantics

SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}
"""As kernels know them."""


class Granularity(StrEnum):
    """At which granularity aggregates are kept."""

    TYPE = "type"
    MIXED = "mixed"
    PATTERN = "pattern"


def select(automaton: Automaton, semantics: Semantics) -> Granularity:
    """Table 14.1."""
    if semantics is not Semantics.ANY:
        return Granularity.PATTERN
    return Granularity.MIXED if has_adjacent_predicates(automaton) else Granularity.TYPE


def has_adjacent_predicates(automaton: Automaton) -> bool:
    """Whether some transition is restricted by a predicate on adjacent events."""
    return any(t.predicates for t in automaton.transitions)


def needed_by_predicates(automaton: Automaton) -> NDArray[np.bool_]:
    """bool[P]: the event types T_e of Theorem 15.3, whose events are compared with later ones."""
    kept = np.zeros(len(automaton.positions), np.bool_)
    kept[[t.source for t in automaton.transitions if t.predicates]] = True
    return kept


def not_linear(automaton: Automaton, semantics: Semantics) -> str | None:
    """Why events are no linear maps of cells, or None: what they change depends on more than numbers of trends."""
    if semantics is not Semantics.ANY:
        return "only under skip-till-any-match does an event leave earlier trends as they are"
    if has_adjacent_predicates(automaton):
        return "predicates on adjacent events need the earlier events themselves"
    if not all(map(is_single_event, automaton.negations)):
        return "a negated sequence may begin in one pane and end in another"
    return None


def not_sliced(automaton: Automaton, semantics: Semantics) -> str | None:
    """Why the linear maps of a slice of time are not told to others, or None."""
    if automaton.negations:
        return "a negated event takes trends away"
    return not_linear(automaton, semantics)


def is_single_event(automaton: Automaton) -> bool:
    """Whether each match of a negative sub-pattern is one event, whatever came before it."""
    whole = all(p.start is not None and p.end is not None for p in automaton.positions)
    return whole and not automaton.transitions and not automaton.negations


def unsupported_negation(automaton: Automaton, semantics: Semantics) -> str | None:
    """Why a negation cannot be kept at type granularity, or None.

    A type-grained aggregate has forgotten when its events came. A match of a negative sub-pattern may therefore only
    empty it, which is right if the match is one event: all events in the aggregate came before it. A longer match
    leaves those that came after its START event valid. A leading negation needs no aggregate and may be any pattern.
    """
    for negations, where in _emptying(automaton, semantics):
        for negation in negations:
            inner = automaton.negations[negation]
            if any(p.start is None or p.end is None for p in inner.positions) or inner.transitions:
                return f"a negated sequence {where} cannot be kept at type granularity; only a single negated event can"
            if semantics is Semantics.NEXT and where == "between events":
                return "negation between events is not kept at pattern granularity under skip-till-next-match"
    return None


def _emptying(automaton: Automaton, semantics: Semantics) -> Iterator[tuple[Negations, str]]:
    if semantics is not Semantics.CONTIGUOUS:  # nothing can lie between contiguous events
        for t in automaton.transitions:
            yield t.negations, "between events"
    for p in automaton.positions:
        yield p.end or frozenset(), "at the end of the pattern"
