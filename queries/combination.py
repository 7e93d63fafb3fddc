"""Automata of OR and AND: differences and products of patterns (dissertation Chapter 12, Hamlet Section 5).

A trend that two alternatives match is counted once: `P1 OR P2` is P1 united with `P2 without P1`, an automaton whose
positions pair one of P2 with the set of positions that P1 may be in. `COUNT(P1 AND P2)` needs the trends that both
match: the product, whose positions are pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeVar

from cepbench.queries.automaton import MOST_POSITIONS, Automaton, Negations, Pairwise, Position, Transition
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Comparison, Condition

State = tuple[int, frozenset[int]]
_Predicate = TypeVar("_Predicate", Condition, Comparison)


def restrict(automaton: Automaton, keep: Iterable[int]) -> Automaton:
    """The part of `automaton` on the positions `keep`, renumbered in order."""
    number = {old: new for new, old in enumerate(sorted(keep))}
    transitions = tuple(
        replace(t, source=number[t.source], target=number[t.target])
        for t in automaton.transitions
        if t.source in number and t.target in number
    )
    pairwise = tuple(
        Pairwise(p.predicate, *(frozenset(number[i] for i in side if i in number) for side in (p.left, p.right)))
        for p in automaton.pairwise
    )
    return replace(
        automaton,
        positions=tuple(automaton.positions[i] for i in number),
        transitions=transitions,
        pairwise=tuple(p for p in pairwise if p.left and p.right),
    )


def unite(left: Automaton, right: Automaton) -> Automaton:
    """Both automata side by side; they share one list of negations."""
    shift = len(left.positions)
    moved = tuple(replace(t, source=t.source + shift, target=t.target + shift) for t in right.transitions)
    pairwise = tuple(
        Pairwise(p.predicate, frozenset(i + shift for i in p.left), frozenset(i + shift for i in p.right))
        for p in right.pairwise
    )
    positions, transitions = left.positions + right.positions, left.transitions + moved
    return Automaton(positions, transitions, left.negations, left.pairwise + pairwise)


def overlap(left: Automaton, right: Automaton) -> bool:
    """Whether some sequence of event types is matched by both, predicates and negations aside."""
    return any(left.positions[p].end is not None and right.positions[q].end is not None for p, q in _pairs(left, right))


def ambiguous(automaton: Automaton) -> bool:
    """Whether some sequence of event types may be bound in two ways, predicates and negations aside."""
    pairs = _pairs(automaton, automaton)
    alive = {pair for pair in pairs if all(automaton.positions[p].end is not None for p in pair)}
    edges = _pair_edges(automaton, automaton)
    while True:
        preceding = {s for s in pairs - alive if edges(s) & alive}
        if not preceding:
            return any(p != q for p, q in alive)
        alive |= preceding


def product(left: Automaton, right: Automaton) -> Automaton:
    """The trends that both match: positions are pairs, labels are united. Both share one list of negations."""
    pairs = sorted(_pairs(left, right))
    _check_size(len(pairs))
    number = {pair: i for i, pair in enumerate(pairs)}
    positions = []
    for p, q in pairs:
        a, b = left.positions[p], right.positions[q]
        positions.append(
            Position(
                a.type,
                a.occurrences + b.occurrences,
                _union(a.start, b.start),
                _union(a.end, b.end),
                _distinct(a.predicates + b.predicates),
            )
        )
    labels = {(t.source, t.target): t for t in right.transitions}
    transitions = [
        Transition(
            number[t.source, u], number[t.target, v], t.negations | w.negations, _distinct(t.predicates + w.predicates)
        )
        for t in left.transitions
        for (u, v), w in labels.items()
        if (t.source, u) in number and (t.target, v) in number
    ]
    return Automaton(tuple(positions), _ordered(transitions), left.negations)


def without(minuend: Automaton, subtrahend: Automaton, decided_by_types: bool) -> Automaton:
    """Bindings of `minuend` whose events are not a trend of `subtrahend`.

    A position is one of `minuend` with the set of positions that `subtrahend` may have reached on the same events. That
    set follows from the event types alone only when both sides restrict events in the same way; otherwise, or if the
    semantics does not decide by types (`decided_by_types`), it raises `QueryError`.
    """
    reason = None if decided_by_types else "are evaluated under skip-till-next-match"
    if reason or (reason := _differ(minuend, subtrahend)):
        raise QueryError(f"the alternatives of OR may match the same events but {reason}; make them disjoint")
    follow = _follow(subtrahend)
    types = [p.type for p in subtrahend.positions]
    starts = frozenset(i for i, p in enumerate(subtrahend.positions) if p.start is not None)

    def step(reached: frozenset[int], name: str) -> frozenset[int]:
        return frozenset(t for s in reached for t in follow[s] if types[t] == name)

    states: dict[State, None] = {}
    edges: list[tuple[State, State, Transition]] = []
    frontier: list[State] = [
        (p, frozenset(i for i in starts if types[i] == position.type))
        for p, position in enumerate(minuend.positions)
        if position.start is not None
    ]
    initial = set(frontier)
    outgoing: dict[int, list[Transition]] = {}
    for t in minuend.transitions:
        outgoing.setdefault(t.source, []).append(t)
    while frontier:
        state = frontier.pop()
        if state in states:
            continue
        states[state] = None
        _check_size(len(states))
        for t in outgoing.get(state[0], []):
            reached = (t.target, step(state[1], minuend.positions[t.target].type))
            edges.append((state, reached, t))
            frontier.append(reached)
    number = {state: i for i, state in enumerate(states)}
    ends = {i for i, p in enumerate(subtrahend.positions) if p.end is not None}
    positions = tuple(
        replace(
            minuend.positions[p],
            start=minuend.positions[p].start if (p, reached) in initial else None,
            end=None if reached & ends else minuend.positions[p].end,
        )
        for p, reached in states
    )
    transitions = [replace(t, source=number[a], target=number[b]) for a, b, t in edges]
    return Automaton(positions, _ordered(transitions), minuend.negations)


def _check_size(positions: int) -> None:
    """A difference may be exponential in the size of the patterns, a product is quadratic."""
    if positions > MOST_POSITIONS:
        raise QueryError(
            f"the trends that both sides of OR or AND match need more than {MOST_POSITIONS} positions to distinguish; "
            "make the sides disjoint or shorter"
        )


def _pairs(left: Automaton, right: Automaton) -> set[tuple[int, int]]:
    """Pairs of positions that some common sequence of types reaches."""
    edges = _pair_edges(left, right)
    frontier = {
        (p, q)
        for p, a in enumerate(left.positions)
        for q, b in enumerate(right.positions)
        if a.start is not None and b.start is not None and a.type == b.type
    }
    reached: set[tuple[int, int]] = set()
    while frontier:
        reached |= frontier
        frontier = {target for pair in frontier for target in edges(pair)} - reached
    return reached


def _pair_edges(left: Automaton, right: Automaton) -> Callable[[tuple[int, int]], set[tuple[int, int]]]:
    after_left, after_right = _follow(left), _follow(right)

    def edges(pair: tuple[int, int]) -> set[tuple[int, int]]:
        targets = ((t, v) for t in after_left[pair[0]] for v in after_right[pair[1]])
        return {(t, v) for t, v in targets if left.positions[t].type == right.positions[v].type}

    return edges


def _follow(automaton: Automaton) -> list[set[int]]:
    follow: list[set[int]] = [set() for _ in automaton.positions]
    for t in automaton.transitions:
        follow[t.source].add(t.target)
    return follow


def _differ(left: Automaton, right: Automaton) -> str | None:
    """The reason why the two restrict events of equal types differently, or None."""
    for side in (left, right):
        labels = [p.start for p in side.positions] + [p.end for p in side.positions]
        if any(labels) or any(t.negations for t in side.transitions):
            return "contain NOT"
        if side.pairwise:
            return "have predicates on events that are not adjacent"
    local: dict[str, set[frozenset[Hashable]]] = {}
    edges: dict[tuple[str, str], set[frozenset[Hashable]]] = {}
    for side in (left, right):
        for p in side.positions:
            local.setdefault(p.type, set()).add(frozenset(p.predicates))
        for t in side.transitions:
            key = (side.positions[t.source].type, side.positions[t.target].type)
            edges.setdefault(key, set()).add(frozenset(c.nameless for c in t.predicates))
    if any(len(kinds) > 1 for kinds in [*local.values(), *edges.values()]):
        return "restrict them by different predicates"
    return None


def _union(left: Negations | None, right: Negations | None) -> Negations | None:
    return None if left is None or right is None else left | right


def _distinct(items: tuple[_Predicate, ...]) -> tuple[_Predicate, ...]:
    return tuple(dict.fromkeys(items))


def _ordered(transitions: Iterable[Transition]) -> tuple[Transition, ...]:
    return tuple(sorted(transitions, key=lambda t: (t.target, t.source)))
