"""Local plan generation (algorithm A of MCEP, Sections 4.2 and 5), by dynamic programming or greedily.

Costs are functions of sets of operands: the instances of their sub-pattern or another price of its node, and the
additional cost of joining two sets, which is 0 in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from math import inf

MAX_ORDERED = 12
"""Maximum number of operands added by dynamic programming, which visits 2^m sets; beyond it, the order is greedy."""

MAX_JOINED = 10
"""Maximum number of trees joined by dynamic programming, which visits 3^k splits; beyond it, joins are greedy."""

Instances = Callable[[int], float]
Pairs = Callable[[int, int], float]
Join = tuple[int, int]
Joins = tuple[Join, ...]
"""A tree: the sets of operands that are joined, smaller trees first. An order: each prefix and its next operand."""


def no_pairs(left: int, right: int) -> float:
    """The additional cost of a join in the paper: 0."""
    del left, right
    return 0.0


def cheapest_order(instances: Instances, parts: Sequence[int], pairs: Pairs = no_pairs) -> Joins:
    """The cheapest order that begins with the operands `parts[0]`, or none, by dynamic programming over sets.

    O(2^m m) for m further operands; beyond `MAX_ORDERED`, see `greedy_order`. Ties go to the first operand.
    """
    if len(parts) - 1 > MAX_ORDERED:
        return greedy_order(instances, parts, pairs)
    everything = sum(parts)
    best: dict[int, tuple[float, int]] = {everything: (0.0, 0)}

    def rest(of: int) -> tuple[float, int]:
        found = best.get(of)
        if found is None:
            found = (inf, 0)
            for part in parts[1:]:
                if not part & of:
                    cost = instances(of | part) + pairs(of, part) + rest(of | part)[0]
                    if cost < found[0]:
                        found = (cost, part)
            best[of] = found
        return found

    order = [parts[0]]
    while sum(order) != everything:
        order.append(rest(sum(order))[1])
    return left_deep(order)


def greedy_order(instances: Instances, parts: Sequence[int], pairs: Pairs = no_pairs) -> Joins:
    """Repeatedly adds the operand that costs least, i.e. leaves the fewest instances. O(m^2)."""
    return _greedy(instances, parts, pairs, lambda trees: product(trees[:1], trees[1:]))


def cheapest_joins(instances: Instances, parts: Sequence[int], pairs: Pairs = no_pairs) -> Joins:
    """The cheapest joins of trees (given as sets of operands) into one tree, by dynamic programming over sets.

    O(3^k) for k trees; beyond `MAX_JOINED`, see `greedy_joins`. Ties go to the first split.
    """
    size = len(parts)
    if size > MAX_JOINED:
        return greedy_joins(instances, parts, pairs)
    union, left, costs = [0] * (1 << size), [0] * (1 << size), [0.0] * (1 << size)
    for chosen in range(1, 1 << size):
        low = chosen & -chosen
        rest = chosen ^ low
        if not rest:
            union[chosen] = parts[low.bit_length() - 1]
            continue
        union[chosen] = union[low] | union[rest]
        best, split = inf, 0
        some = rest
        while some:
            some = (some - 1) & rest
            halves = low | some, rest ^ some
            found = costs[halves[0]] + costs[halves[1]] + pairs(union[halves[0]], union[halves[1]])
            if found < best:
                best, split = found, low | some
        costs[chosen], left[chosen] = best + instances(union[chosen]), split
    joins: list[Join] = []
    pending = [(1 << size) - 1] if size else []
    while pending:
        chosen = pending.pop()
        if left[chosen]:
            sides = left[chosen], chosen ^ left[chosen]
            joins.append((union[sides[0]], union[sides[1]]))
            pending += sides
    return canonical_joins(joins)


def greedy_joins(instances: Instances, parts: Sequence[int], pairs: Pairs = no_pairs) -> Joins:
    """Repeatedly joins the two trees that cost least, i.e. have the fewest instances together. O(k^3)."""
    return canonical_joins(_greedy(instances, parts, pairs, lambda trees: combinations(trees, 2)))


def _greedy(
    instances: Instances, parts: Sequence[int], pairs: Pairs, ways: Callable[[list[int]], Iterable[Join]]
) -> Joins:
    trees, joins = list(parts), []
    while len(trees) > 1:
        a, b = min(ways(trees), key=lambda pair: (instances(pair[0] | pair[1]) + pairs(*pair), pair))
        trees = [a | b, *(tree for tree in trees if tree not in (a, b))]
        joins.append((a, b))
    return tuple(join for join in joins if join[0])


def left_deep(parts: Sequence[int]) -> Joins:
    """Joins trees one after another, in the given order; an empty first one is left out."""
    joins, mask = [], parts[0]
    for part in parts[1:]:
        if mask:
            joins.append((mask, part))
        mask |= part
    return tuple(joins)


def canonical_joins(joins: Iterable[Join]) -> Joins:
    """The same tree with its joins in a canonical order, smaller trees first; the left one has the least operand."""
    sides = [(a, b) if a & -a < b & -b else (b, a) for a, b in joins]
    return tuple(sorted(sides, key=lambda pair: ((pair[0] | pair[1]).bit_count(), pair)))
