"""The pools of a Gloria graph, and the pairs of consecutive ones (Definition 4.1, Section 6), for any template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cepbench.algorithms.trends.gloria.optimizer.costs import Mask, members_in
from cepbench.algorithms.trends.gloria.template import GloriaTemplate, TypeState, TypeTransition

Edge = tuple[int, int]
"""A transition, by the numbers of its states."""


@dataclass(eq=False)
class Pool:
    """A pool: a transition and members that may share it. A Kleene sub-graph is one pool, with several transitions.

    - `starts`: by state that a transition of the pool leaves, the members that start there.
    - `ends`: transitions at whose target members end, with these members.
    - `before`, `after`: its pairs with the pools right before and after it.
    """

    number: int
    transitions: tuple[Edge, ...]
    members: Mask
    kleene: bool
    starts: Mapping[int, Mask]
    ends: tuple[tuple[Edge, Mask], ...]
    before: list[PoolPair] = field(default_factory=list)
    after: list[PoolPair] = field(default_factory=list)
    shared: tuple[Pool, ...] = ()  # all pools of several members

    def alike(self, member: Mask) -> object:
        """A key that members have in common if they pass the same pools of several members, and start and end alike."""
        return tuple(
            (pool.number, *(bool(m & member) for m in pool.starts.values()), *(bool(m & member) for _, m in pool.ends))
            for pool in self.shared
            if pool.members & member
        )

    @property
    def source(self) -> int:
        """The state that the transition of a pool of SEQ leaves."""
        return self.transitions[0][0]

    @cached_property
    def sources(self) -> frozenset[int]:
        """The states that its transitions leave: snapshots of them are made in this pool."""
        return frozenset(source for source, _ in self.transitions)


@dataclass(eq=False)
class PoolPair:
    """Two consecutive pools; `common`: the members of both; `steps`: transitions (Ei, Ej) of the one into the other.

    One step for each two transitions (Ei, Ej) and (Ej, Eh), so that a pair may occur more than once.
    """

    before: Pool
    after: Pool
    common: Mask
    steps: tuple[Edge, ...]


@dataclass(frozen=True, eq=False)
class Pools:
    """The pools of a template, each after those before it, and its states by number."""

    states: tuple[TypeState, ...]
    pools: tuple[Pool, ...]

    def named(self, edge: Edge) -> TypeTransition:
        """A transition by its states."""
        return TypeTransition(self.states[edge[0]], self.states[edge[1]])


def pools_of(template: GloriaTemplate) -> Pools:
    """The pools of a template.

    A transition has a pool of SEQ for all members that pass it once, and a separate pool for each member that must not
    share it. Members whose trends repeat the same transitions, and may share all of them, have a Kleene sub-graph.
    So the assumptions of Section 6 are not needed: members with a Kleene sub-pattern share it with those that have the
    same, and members that pass only a part of it share that part with others that do. If several queries together,
    but none of them alone, order transitions in a cycle, members do not share one of these transitions.
    """
    states = {state: n for n, state in enumerate(dict.fromkeys(s for t in template.transitions for s in t))}
    drafts = _drafts(template, states)
    while True:
        pools = _linked(template, states, drafts)
        order = _ordered(pools)
        if len(order) == len(pools):
            break
        several = [pool for pool in _circular(set(pools) - set(order)) if pool.members & (pool.members - 1)]
        cut = min(several, key=lambda pool: (pool.kleene, pool.members.bit_count(), pool.number))
        transitions, members, kleene = drafts.pop(cut.number)
        drafts += [(transitions, 1 << m, kleene) for m in members_in(members)]
    shared = tuple(pool for pool in order if pool.members & (pool.members - 1))
    for number, pool in enumerate(order):
        pool.number, pool.shared = number, shared
    return Pools(tuple(states), tuple(order))


PoolDraft = tuple[tuple[Edge, ...], Mask, bool]
"""A pool before it has a number: transitions, members, and whether the members repeat the transitions."""


def _drafts(template: GloriaTemplate, states: Mapping[TypeState, int]) -> list[PoolDraft]:
    edges = {(states[t.source], states[t.target]): t for t in template.transitions}
    of_member: list[list[Edge]] = [[] for _ in template.states]
    for edge, t in edges.items():
        for m in template.transitions[t]:
            of_member[m].append(edge)
    members_of: dict[tuple[tuple[Edge, ...], bool, int], Mask] = {}
    for m, transitions in enumerate(of_member):
        alone = {edge for edge in transitions if m in template.alone.get(edges[edge], ())}
        for chosen, kleene in _parts(transitions):
            key = (chosen, kleene, m if alone.intersection(chosen) else -1)
            members_of[key] = members_of.get(key, 0) | 1 << m
    drafts = [(chosen, members, kleene) for (chosen, kleene, _), members in members_of.items()]
    return sorted(drafts, key=lambda draft: draft[2])


def _parts(transitions: Sequence[Edge]) -> list[tuple[tuple[Edge, ...], bool]]:
    """The transitions in each strongly connected component of one member's states, a circle, and each other one."""
    if all(source < target for source, target in transitions):
        return [((edge,), False) for edge in transitions]
    reached: dict[int, set[int]] = {}
    for source, target in transitions:
        reached.setdefault(source, set()).add(target)
    for between in reached:
        for states in reached.values():
            if between in states:
                states |= reached[between]
    parts: dict[tuple[frozenset[int], bool], list[Edge]] = {}
    for source, target in transitions:
        circle = frozenset(s for s in reached[source] if source in reached.get(s, ()))
        key = (circle, True) if target in circle else (frozenset((source, target)), False)
        parts.setdefault(key, []).append((source, target))
    return [(tuple(sorted(edges)), kleene) for (_, kleene), edges in parts.items()]


def _linked(template: GloriaTemplate, states: Mapping[TypeState, int], drafts: Iterable[PoolDraft]) -> list[Pool]:
    bounds = template.start, template.end
    start, end = ({states[s]: _mask(ms) for s, ms in having.items() if s in states} for having in bounds)
    pools = []
    leaving: dict[int, list[Pool]] = {}
    for number, (transitions, members, kleene) in enumerate(drafts):
        starts = {s: start[s] & members for s in dict.fromkeys(e[0] for e in transitions) if start.get(s, 0) & members}
        ends = tuple((edge, end[edge[1]] & members) for edge in transitions if end.get(edge[1], 0) & members)
        pool = Pool(number, transitions, members, kleene, starts, ends)
        pools.append(pool)
        for source, _ in transitions:
            leaving.setdefault(source, []).append(pool)
    for pool in pools:
        steps: dict[Pool, list[Edge]] = {}
        for edge in pool.transitions:
            for after in leaving.get(edge[1], ()):
                if after is not pool and after.members & pool.members:
                    steps.setdefault(after, []).append(edge)
        for after, edges in steps.items():
            pair = PoolPair(pool, after, pool.members & after.members, tuple(edges))
            pool.after.append(pair)
            after.before.append(pair)
    return pools


def _circular(left: set[Pool]) -> set[Pool]:
    """Without those that no circle comes after."""
    while True:
        kept = {pool for pool in left if any(pair.after in left for pair in pool.after)}
        if kept == left:
            return left
        left = kept


def _mask(members: Iterable[int]) -> Mask:
    return sum(1 << m for m in members)


def _ordered(pools: Sequence[Pool]) -> list[Pool]:
    """The pools in an order in which each comes after those before it; pools of a circle, and those after it, are left
    out.
    """
    waiting = {pool: len(pool.before) for pool in pools}
    free = [pool for pool in reversed(pools) if not waiting[pool]]
    order = []
    while free:
        pool = free.pop()
        order.append(pool)
        for pair in reversed(pool.after):
            waiting[pair.after] -= 1
            if not waiting[pair.after]:
                free.append(pair.after)
    return order
