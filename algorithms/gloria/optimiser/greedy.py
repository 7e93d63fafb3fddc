"""The greedy optimiser: one node of each pool, by the least weight of the edges that come in (Section 8.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cepbench.algorithms.gloria.optimiser.costs import EventCosts
from cepbench.algorithms.gloria.optimiser.graph import passing, weight_of
from cepbench.algorithms.gloria.optimiser.nodes import Node, Profile, generated, profile, reused
from cepbench.algorithms.gloria.optimiser.pools import Pool, Pools


def greedy_path(pools: Pools, costs: EventCosts) -> list[Node]:
    """A node of each pool: snapshots are reused wherever they can be, or made where nobody shares yet, or neither.

    Of candidates with edges of the same weight, the one that shares more members is taken.
    """
    chosen: list[Node] = []
    for pool in pools.pools:
        profiles = [profile(chosen[link.before.number], link) for link in pool.before]
        weighed = [(_incoming(node, pool, chosen, costs), node) for node in _candidates(pool, profiles, costs)]
        chosen.append(min(weighed, key=lambda found: (found[0], -sum(q.members.bit_count() for q in found[1])))[1])
    return chosen


def _candidates(pool: Pool, profiles: Sequence[Profile], costs: EventCosts) -> Iterator[Node]:
    yield ()
    if pool.kleene:
        yield from generated(pool, [[one] for one in profiles], costs)
        return
    reuse = reused(pool, profiles)
    if reuse:
        yield reuse
    elif not any(profiles) and pool.members & (pool.members - 1):
        yield generated(pool, [[one] for one in profiles], costs)[-1]


def _incoming(node: Node, pool: Pool, chosen: Sequence[Node], costs: EventCosts) -> float:
    within = weight_of(node, pool, costs) if pool.kleene else 0.0
    return within + sum(passing(chosen[link.before.number], node, link, costs) for link in pool.before)
