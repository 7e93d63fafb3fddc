"""Node generation: candidate sharing plans of a pool, from those of the pools before it (Sections 5.1, 6.1, 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations_with_replacement, product
from math import prod
from typing import NamedTuple

from cepbench.algorithms.trends.gloria.optimizer.costs import Mask, PaperCosts, members_in
from cepbench.algorithms.trends.gloria.optimizer.pools import Pool, PoolPair


class Shared(NamedTuple):
    """A Q-set of several members, and the state whose events have its snapshots."""

    members: Mask
    snapshot: int


Node = tuple[Shared, ...]
"""A candidate plan of a pool: its shared Q-sets, sorted; the other members do not share."""


Profile = tuple[Shared, ...]
"""The Q-sets of a node that continue to a later pool. Nodes of one profile have equal edges to it, up to a constant."""

NARROWED = -1
"""Replaces `Shared.snapshot` in a profile for the rest of a Q-set of which some members do not continue."""

KEEP, LOCAL, MERGE = range(3)
MOST_PARTS, FEW_PARTS = 5, 3
"""The most parts of a pool that always choose independently how to continue, and the number that do if they are joined.
"""
MOST_LAST = 2**10
"""The most combinations of more parts, up to an exchange of alike ones, where nothing is shared later."""


def profile(node: Node, pair: PoolPair) -> Profile:
    """The Q-sets of a node, restricted to the members that continue by a pair, if there are several."""
    q_sets = []
    for members, snapshot in node:
        going = members & pair.common
        if going == members:
            q_sets.append(Shared(members, snapshot))
        elif going & (going - 1):
            q_sets.append(Shared(going, NARROWED))
    return tuple(q_sets)


def generated(
    pool: Pool,
    profiles: Sequence[Sequence[Profile]],
    costs: PaperCosts,
    choices: int,
    check: Callable[[], None] = lambda: None,
    joined: Callable[[], None] = lambda: None,
) -> list[Node]:
    """The nodes of a pool, from every combination of profiles of the nodes before it; each once, in order.

    `profiles` are those of `pool.before`. `check` is called after each combination, and `joined` once if parts choose
    together, so that not all nodes are generated: where they continue in more combinations than `choices`.
    """
    if not pool.members & (pool.members - 1):
        return [()]
    nodes: dict[Node, None] = {(): None} if pool.kleene else {}
    if pool.kleene:
        nodes |= dict.fromkeys(local_loops(pool))
    parts = Parts(pool, costs, choices)
    for combination in product(*profiles):
        nodes |= dict.fromkeys(_kleene(pool, combination) if pool.kleene else _nodes(pool, combination, costs, parts))
        check()
    if parts.joined:
        joined()
    return list(nodes)


def local_loops(pool: Pool) -> Iterator[Node]:
    """Path generation principle: all transitions have the snapshots of one type of the loop.

    Events of other types in the loop must not have predecessors outside of it, and must start trends of all or of none.
    """
    entered = {target: 0 for _, target in pool.transitions}
    for pair in pool.before:
        for _, target in pair.steps:
            entered[target] = pair.common
    sources = list(dict.fromkeys(source for source, _ in pool.transitions))
    for snapshot in sources:
        if all(s == snapshot or (not entered[s] and _all_or_none(pool, s, pool.members)) for s in sources):
            yield (Shared(pool.members, snapshot),)


def _kleene(pool: Pool, combination: Sequence[Profile]) -> Iterator[Node]:
    """Reuse: a Q-set of all members enters the loop at each transition by which some member does."""
    if combination and all(_all_or_none(pool, source, pool.members) for source in pool.sources):
        for entry in sorted(set(combination[0]).intersection(*combination[1:])):
            if entry.members == pool.members and entry.snapshot != NARROWED:
                yield (entry,)


def _nodes(pool: Pool, combination: Sequence[Profile], costs: PaperCosts, parts: Parts) -> Iterator[Node]:
    """The nodes of a pool of SEQ from one node of each pool before it.

    Each pool before it, and each start node, is a part of the members. The Q-sets of a part are kept (Principle 1,
    Reuse: with their snapshots if these can be reused, otherwise with new ones), or get local snapshots where these are
    fewer (Principle 2), or are merged, with one another and with other parts that are merged (Principle 3). Every
    combination of parts is a node.
    """
    here, rates = pool.source, costs.rates
    kept = {group: here if snapshot is None else snapshot for group, snapshot in groups_of(pool, combination).items()}
    fewer = {group: min(snapshot, here, key=rates.__getitem__) for group, snapshot in kept.items()}
    renewed = [group for group in kept if fewer[group] != kept[group]]
    for chosen in parts.choices(list(kept), renewed):
        merged = local = 0
        for part, mode in chosen:
            if mode == MERGE:
                merged |= part
            elif mode == LOCAL:
                local |= part
        for group in kept:
            if group & merged:
                merged |= group
        node = [Shared(group, (fewer if group & local else kept)[group]) for group in kept if not group & merged]
        if merged & (merged - 1):
            node.append(Shared(merged, here))
        yield tuple(sorted(node))


class Parts:
    """The parts of a pool: the members that come by each pool before, and each member that starts here.

    `joined`: whether some of them have chosen together.
    """

    def __init__(self, pool: Pool, costs: PaperCosts, choices: int) -> None:
        self._costs, self.joined = costs, False
        starting = pool.starts.get(pool.source, 0) if not pool.kleene else 0
        self._parts = [pair.common for pair in pool.before] + [1 << m for m in members_in(starting)]
        last = not any(pair.after.members & (pair.after.members - 1) for pair in pool.after)
        self._most = max(MOST_LAST, choices) if last else choices
        self._likeness: list[object] = list(range(len(self._parts)))
        if len(self._parts) > MOST_PARTS:
            self._likeness = [n if p & (p - 1) else (pool.alike(p), costs.of(p)) for n, p in enumerate(self._parts)]

    def choices(self, groups: Sequence[Mask], renewed: Sequence[Mask]) -> Iterator[list[tuple[Mask, int]]]:
        """How each part continues: every combination, up to an exchange of alike parts.

        Members by themselves are alike if they have the same windows, pass the same pools of several members, start and
        end alike there, and are in the same Q-sets that come (`groups`): an exchange changes no weight. If there are
        too many combinations, parts with similar windows choose together. Those of `renewed` may get local snapshots.
        """
        classes: dict[object, list[Mask]] = {}
        for part, likeness in zip(self._parts, self._likeness, strict=True):
            classes.setdefault((likeness, *(bool(part & group) for group in groups)), []).append(part)
        alike = list(classes.values())
        if len(self._parts) > MOST_PARTS and prod(len(parts) + 1 for parts in alike) > self._most:
            alike, self.joined = [[part] for part in self._together()], True
        modes = [(KEEP, LOCAL, MERGE) if any(g & parts[0] for g in renewed) else (KEEP, MERGE) for parts in alike]
        ordered = [part for parts in alike for part in parts]
        of_class = [combinations_with_replacement(m, len(parts)) for m, parts in zip(modes, alike, strict=True)]
        for chosen in product(*of_class):
            yield list(zip(ordered, chain.from_iterable(chosen), strict=True))

    def _together(self) -> list[Mask]:
        """The parts, joined to a few of similar windows."""
        parts = sorted(self._parts, key=lambda part: self._costs.of(part).longest)
        joined = [0] * FEW_PARTS
        for n, part in enumerate(parts):
            joined[n * FEW_PARTS // len(parts)] |= part
        return joined


def _united(masks: Sequence[Mask]) -> list[Mask]:
    """Unions of masks that have members in common, directly or indirectly; those of one member are left out."""
    united: list[Mask] = []
    for mask in masks:
        disjoint = []
        for union in united:
            if union & mask:
                mask |= union
            else:
                disjoint.append(union)
        united = [*disjoint, mask]
    return [mask for mask in united if mask & (mask - 1)]


def groups_of(pool: Pool, combination: Sequence[Profile]) -> dict[Mask, int | None]:
    """The Q-sets that come to a pool of SEQ, united if they overlap, with the snapshots that they can reuse."""
    groups = _united([entry.members for entries in combination for entry in entries])
    return {group: _reusable(pool, group, combination) for group in groups}


def _reusable(pool: Pool, group: Mask, combination: Sequence[Profile]) -> int | None:
    """The snapshots that a Q-set of these members has in each pool by which any of them comes, if there are such."""
    candidates = None
    for pair, entries in zip(pool.before, combination, strict=True):
        if pair.common & group:
            here = {entry.snapshot for entry in entries if entry.members == group and entry.snapshot != NARROWED}
            candidates = here if candidates is None else candidates & here
    if not candidates or not _all_or_none(pool, pool.source, group):
        return None
    return min(candidates)


def _all_or_none(pool: Pool, state: int, members: Mask) -> bool:
    return pool.starts.get(state, 0) & members in (0, members)
