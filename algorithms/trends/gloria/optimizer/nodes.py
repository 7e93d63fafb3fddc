"""Node generation: candidate sharing plans of a pool, from those of the pools before it (Sections 5.1, 6.1, 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
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
"""The most parts of a pool that choose independently how to continue, and the number that do if there are more."""


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
    pool: Pool, profiles: Sequence[Sequence[Profile]], costs: PaperCosts, check: Callable[[], None] = lambda: None
) -> list[Node]:
    """The nodes of a pool, from every combination of profiles of the nodes before it; each once, in order.

    `profiles` are those of `pool.before`. `check` is called after each combination.
    """
    if not pool.members & (pool.members - 1):
        return [()]
    nodes: dict[Node, None] = {(): None} if pool.kleene else {}
    if pool.kleene:
        nodes |= dict.fromkeys(local_loops(pool))
    for combination in product(*profiles):
        nodes |= dict.fromkeys(_kleene(pool, combination) if pool.kleene else _nodes(pool, combination, costs))
        check()
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


def _nodes(pool: Pool, combination: Sequence[Profile], costs: PaperCosts) -> Iterator[Node]:
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
    parts = _parts(pool, costs)
    modes = [(KEEP, LOCAL, MERGE) if any(group & part for group in renewed) else (KEEP, MERGE) for part in parts]
    for chosen in product(*modes):
        merged = local = 0
        for part, mode in zip(parts, chosen, strict=True):
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


def _parts(pool: Pool, costs: PaperCosts) -> list[Mask]:
    """The members of each part; where there are more than `MOST_PARTS`, parts with similar windows are joined."""
    parts = _branches(pool)
    if len(parts) <= MOST_PARTS:
        return parts
    parts.sort(key=lambda part: costs.of(part).longest)
    joined = [0] * FEW_PARTS
    for n, part in enumerate(parts):
        joined[n * FEW_PARTS // len(parts)] |= part
    return joined


def joins_parts(pool: Pool) -> bool:
    """Whether parts of a pool choose together, so that not all of its plans are generated."""
    several = pool.members & (pool.members - 1)
    return bool(several) and not pool.kleene and len(_branches(pool)) > MOST_PARTS


def _branches(pool: Pool) -> list[Mask]:
    """The members that come by each pool before, and each member that starts here."""
    starting = pool.starts.get(pool.source, 0)
    return [pair.common for pair in pool.before] + [1 << m for m in members_in(starting)]


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
