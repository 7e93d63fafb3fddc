"""Maximal common sub-patterns of two patterns (MCEP, Section 4.1 and Appendix A)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cepbench.algorithms.detection.mcep.planning.subpatterns import SubPatternTable, operands_of


@dataclass(frozen=True)
class CommonSubPattern:
    """A sub-pattern of two patterns: its number, and the operands that it binds in each."""

    sub: int
    first: int
    second: int


def matchings(table: SubPatternTable, first: int, second: int) -> Iterator[CommonSubPattern]:
    """Every maximal matching of operands: the maximal common sub-patterns.

    The vertices of a graph are pairs of equal operands; an edge joins two pairs that agree in structure and in the
    conditions between them. Maximal cliques, found by Bron-Kerbosch with pivots, are the maximal ways to embed a part
    of one pattern into the other. Appendix A instead intersects types, then conditions, then structures, and drops
    conflicts, which finds one of them. If types repeat, a clique can lie inside a larger one.
    """
    if table.scope(first) != table.scope(second):
        return
    mine, others = table.element_numbers(first), table.element_numbers(second)
    if not set(mine).intersection(others):
        return
    pairs = [(a, b) for a, element in enumerate(mine) for b, other in enumerate(others) if element == other]
    if len(pairs) == 1:
        [(a, b)] = pairs
        yield CommonSubPattern(table.of(first, 1 << a), 1 << a, 1 << b)
        return
    neighbors = [0] * len(pairs)
    for p, one in enumerate(pairs):
        for q in range(p):
            if _agree(table, first, second, one, pairs[q]):
                neighbors[p] |= 1 << q
                neighbors[q] |= 1 << p
    for clique in maximal_cliques(neighbors):
        chosen = [pairs[p] for p in operands_of(clique)]
        mask = sum(1 << a for a, _ in chosen)
        yield CommonSubPattern(table.of(first, mask), mask, sum(1 << b for _, b in chosen))


def maximal_cliques(neighbors: list[int]) -> Iterator[int]:
    """The maximal cliques of a graph as sets of vertices (bit masks, as are `neighbors`)."""

    def extend(clique: int, candidates: int, excluded: int) -> Iterator[int]:
        if not candidates:
            if not excluded:
                yield clique
            return
        pivot = max(operands_of(candidates | excluded), key=lambda v: (neighbors[v] & candidates).bit_count())
        for v in operands_of(candidates & ~neighbors[pivot]):
            yield from extend(clique | 1 << v, candidates & neighbors[v], excluded & neighbors[v])
            candidates &= ~(1 << v)
            excluded |= 1 << v

    if neighbors:
        yield from extend(0, (1 << len(neighbors)) - 1, 0)


def _agree(table: SubPatternTable, first: int, second: int, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two pairs of operands can occur together in a common sub-pattern."""
    (a, b), (c, d) = one, other
    if a == c or b == d or table[first].ordered != table[second].ordered:
        return False
    if table[first].ordered and (a < c) != (b < d):
        return False
    return table.relation(first, a, c) == table.relation(second, b, d)
