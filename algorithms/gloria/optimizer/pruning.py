"""Progressive pruning of a Gloria graph that keeps a lightest path (Section 5.2, made safe)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cepbench.algorithms.gloria.optimizer.costs import EventCosts, Mask
from cepbench.algorithms.gloria.optimizer.graph import NONE, Edges, PoolNodes, enter, weight_of
from cepbench.algorithms.gloria.optimizer.nodes import Node, Shared, generated
from cepbench.algorithms.gloria.optimizer.pools import Edge, Link, Pool


class Pruning:
    """Which nodes of a pool no lightest path needs, pool by pool.

    A node is pruned for a *comparable* one, of the same Q-sets with snapshots of less frequent types (Definition 5.9),
    that is nearer to the start nodes. To be safe, two things are asked that the paper does not. The paths to the pool
    must have nothing in common with the rest of the graph: then distances are those of paths, and what follows may be
    exchanged, too. And the node must be nearer by as much as it may cost more on its next edges, since events that have
    snapshots themselves are more expensive to pass on in older ones (Equation 3).

    The distance of a node includes what its edges cost to pools of one member, and to those with which its paths end.
    """

    def __init__(self, costs: EventCosts) -> None:
        self.costs = costs
        self.own: list[bool] = []
        self.leaving: list[dict[Link, Edges]] = []
        self.distances: list[list[float]] = []
        self.slacks: dict[int, dict[tuple[Shared, Shared], float]] = defaultdict(dict)

    def kept(self, here: PoolNodes) -> list[int]:
        """The nodes of a pool that stay, by number; pools come in their order."""
        kept = self._within_reach(here)
        own = all(
            edges.void or (self.own[edges.link.before.number] and self._branches(edges.link.before) == [edges.link])
            for edges in here.entering
        )
        self.own.append(own)
        if len(kept) > 1:
            kept = self._without_dead(here, kept)
        if own:
            here.distances = self._distances(here)
            if len(kept) > 1:
                kept = self._without_dominated(here, here.distances, kept)
        return kept

    def finish(self, here: PoolNodes) -> None:
        """To be called when a pool's nodes are pruned and its edges to others made."""
        self.leaving.append(here.leaving)
        distances = here.distances
        if self.own[-1]:
            branches = self._branches(here.pool)
            for link, edges in here.leaving.items():
                if link not in branches and not edges.void:
                    distances = [d + rest for d, rest in zip(distances, self._rest(edges), strict=True)]
        self.distances.append(distances)

    def _within_reach(self, here: PoolNodes) -> list[int]:
        tables = [edges.table for edges in here.entering]
        return [n for n in range(len(here.nodes)) if all(any(row[n] < NONE for row in table) for table in tables)]

    def _distances(self, here: PoolNodes) -> list[float]:
        found = list(here.weights)
        for edges in here.entering:
            if edges.void:
                found = [d + edges.base[0] + w for d, w in zip(found, edges.table[0], strict=True)]
                continue
            nearest = [d for d, _ in edges.nearest(self.distances[edges.link.before.number])]
            for n in range(len(found)):
                found[n] += min(d + row[n] for d, row in zip(nearest, edges.table, strict=True))
        return found

    def _rest(self, edges: Edges) -> list[float]:
        """For each node, the least cost of the edges to a pool of one member or to a last pool."""
        after = edges.link.after
        if _alone(after):
            return edges.base
        profiles = [edges.profiles if other is edges.link else [()] for other in after.before]
        nodes = generated(after, profiles, self.costs)
        weights = [weight_of(node, after, self.costs) for node in nodes]
        table = enter(edges, nodes, self.costs)
        least = [min(w + t for w, t in zip(weights, row, strict=True)) for row in table]
        return [base + least[p] for p, base in zip(edges.profile_of, edges.base, strict=True)]

    def _without_dead(self, here: PoolNodes, kept: list[int]) -> list[int]:
        """Without nodes of one new Q-set whose members part, if a node that shares less instead is kept (`_better`).

        No pool can continue with the snapshots, so that a member that continues alone costs as much as without sharing,
        and propagation in addition. Members that continue together share at less cost without the others.
        """
        pool = here.pool
        if pool.kleene or not all(edges.void for edges in here.entering):
            return kept
        having = {here.nodes[n] for n in kept}
        return [n for n in kept if len(here.nodes[n]) != 1 or self._better(pool, here.nodes[n][0]) not in having]

    def _better(self, pool: Pool, q: Shared) -> Node | None:
        for (source, target), members in self._steps(pool):
            going = members & q.members
            spent = self.costs.shared(source, target, q.members, q.snapshot)
            spent += min(self.costs.evaluation(target, q.snapshot, going), self.costs.ending(target, q.snapshot, going))
            if self.costs.alone(source, target, going) > spent:
                return None
        onward = {q.members & link.common for link in pool.after}
        several = [members for members in onward if members & (members - 1)]
        if q.members in onward or len(several) > 1 or sum(bool(m & several[0]) for m in onward if several) > 1:
            return None
        return (Shared(several[0], q.snapshot),) if several else ()

    def _branches(self, pool: Pool) -> list[Link]:
        """The links to pools of several members; if there are several links, without those to last pools (`_last`)."""
        edges = self.leaving[pool.number]
        several = [link for link in pool.after if not _alone(link.after) and not edges[link].void]
        return several if len(several) == 1 else [link for link in several if not _last(link)]

    def _without_dominated(self, here: PoolNodes, distances: Sequence[float], kept: Sequence[int]) -> list[int]:
        comparable: dict[tuple[int, ...], list[int]] = {}
        for n in sorted(kept, key=lambda n: distances[n]):
            others = comparable.setdefault(tuple(q.members for q in here.nodes[n]), [])
            if not any(self._dominates(here, other, n, distances) for other in others):
                others.append(n)
        return sorted(n for others in comparable.values() for n in others)

    def _dominates(self, here: PoolNodes, n: int, other: int, distances: Sequence[float]) -> bool:
        slack = 0.0
        known = self.slacks[here.pool.number]
        for fewer, more in zip(here.nodes[n], here.nodes[other], strict=True):
            if fewer != more:
                if self.costs.frequency(fewer.snapshot) > self.costs.frequency(more.snapshot):
                    return False
                if (fewer, more) not in known:
                    known[fewer, more] = self._slack(here.pool, fewer, more)
                slack += known[fewer, more]
        return distances[n] + slack <= distances[other]

    def _steps(self, pool: Pool) -> list[tuple[Edge, Mask]]:
        """The steps out of a pool, and the members that make each."""
        return [(step, link.common) for link in pool.after for step in link.steps] + list(pool.ends)

    def _slack(self, pool: Pool, fewer: Shared, more: Shared) -> float:
        """The most that snapshots of `fewer` can cost more than those of `more` on the next edges."""
        costs = self.costs
        total = 0.0
        for (source, target), members in self._steps(pool):
            going = members & more.members
            if not going:
                continue
            with_fewer = costs.shared(source, target, more.members, fewer.snapshot)
            with_more = costs.shared(source, target, more.members, more.snapshot)
            renewed = costs.renewed(source, target, more.members)
            if target == more.snapshot:
                with_fewer += costs.evaluation(target, fewer.snapshot, going)
                with_more = min(with_more, renewed)
            elif target == fewer.snapshot:
                with_fewer = max(with_fewer, renewed)
            total += max(0.0, with_fewer - with_more)
        return total


def _alone(pool: Pool) -> bool:
    return not pool.members & (pool.members - 1)


def _last(link: Link) -> bool:
    """Whether a link leads to a last pool, and all other pools before that one have a single member."""
    return not link.after.after and all(other is link or _alone(other.before) for other in link.after.before)
