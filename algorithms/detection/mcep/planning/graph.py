"""The multi-pattern graph: which patterns share which sub-patterns (MCEP, Section 4.1 and Appendix A).

`MultiPatternGraph` has a vertex per pattern; `matchings` are the maximal common sub-patterns of two patterns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from cepbench.algorithms.detection.mcep.planning.patterns import SubPatternTable, operands_of


@dataclass(frozen=True)
class SharedChoice:
    """A sub-pattern to share: its number, and the operands that it binds in each of some patterns."""

    sub: int
    masks: tuple[tuple[int, int], ...]


class MultiPatternGraph:
    """Patterns of a table, and their maximal common sub-patterns, in two hash tables (Appendix A).

    One table maps every maximal common sub-pattern to the patterns that contain it. The other maps a pattern to the
    maximal common sub-patterns with its peers and the sets of operands that they bind. Edges and their sets of common
    sub-patterns are derived. Space is O(n g) for n patterns and g maximal common sub-patterns; adding or removing a
    pattern compares it with the n others.
    """

    def __init__(self, table: SubPatternTable, patterns: Iterable[int] = ()) -> None:
        self.table = table
        self.vertices: dict[int, None] = {}
        self.patterns_of: dict[int, Counter[int]] = {}
        """By maximal common sub-pattern: the patterns that contain it, with the number of peers that contribute it."""
        self.common_of: dict[int, dict[int, Counter[int]]] = {}
        """By pattern: its maximal common sub-patterns, with their sets of operands, counted in the same way."""
        self._edges: dict[int, list[tuple[int, int]]] = {}
        self._containing: dict[tuple[int, int], dict[int, int]] = {}
        for pattern in patterns:
            self.add(pattern)

    def add(self, pattern: int) -> None:
        """Adds a pattern of the table."""
        self.common_of[pattern] = {}
        for peer in self.vertices:
            self._count(pattern, peer, 1)
        self.vertices[pattern] = None
        self._edges.clear()
        self._containing.clear()

    def remove(self, pattern: int) -> None:
        """Removes a pattern; the graph is as if it had never been added."""
        del self.vertices[pattern]
        for peer in self.vertices:
            self._count(pattern, peer, -1)
        del self.common_of[pattern]
        self._edges.clear()
        self._containing.clear()

    def neighbors(self, pattern: int, least: int = 1) -> set[int]:
        """The patterns that share a sub-pattern of at least `least` operands with a pattern."""
        peers = {peer for sub in self._subs(pattern, least) for peer in self.patterns_of[sub]}
        peers.discard(pattern)
        return peers

    def edges(self, least: int = 1) -> list[tuple[int, int]]:
        """All pairs of patterns that share a sub-pattern of at least `least` operands, in ascending order.

        The result is cached until the graph changes.
        """
        if least not in self._edges:
            self._edges[least] = [
                (pattern, peer)
                for pattern in sorted(self.vertices)
                for peer in sorted(self.neighbors(pattern, least))
                if pattern < peer
            ]
        return self._edges[least]

    @property
    def density(self) -> float:
        """The mean number of neighbors of a pattern as a share of the workload (Appendix D), at most 1 - 1/n."""
        return 2 * len(self.edges()) / len(self.vertices) ** 2 if self.vertices else 0.0

    def common(self, first: int, second: int) -> list[tuple[int, int, int]]:
        """Common sub-patterns of two patterns and their operands in each, from the hash tables.

        They include the maximal ones of the two, and possibly smaller ones that are maximal with other peers.
        """
        of_first, of_second = self.common_of[first], self.common_of[second]
        if len(of_second) < len(of_first):
            return [(sub, min(of_first[sub]), min(of_second[sub])) for sub in of_second if sub in of_first]
        return [(sub, min(of_first[sub]), min(of_second[sub])) for sub in of_first if sub in of_second]

    def random_pair(self, random: Random, least: int) -> SharedChoice | None:
        """A random edge, and a random common sub-pattern of at least `least` operands of its patterns (N_edge).

        It is drawn from the subsets of one of the largest common sub-patterns, including the empty one. None if nothing
        can be shared.
        """
        edges = self.edges(least)
        if not edges:
            return None
        first, second = random.choice(edges)
        common = [part for part in self.common(first, second) if part[1].bit_count() >= least]
        largest = [part for part in common if not any(_inside(part, larger) for larger in common)]
        _, first_mask, second_mask = random.choice(largest)
        return self._part(random, least, first, first_mask, {second: second_mask})

    def random_vertex(self, random: Random, least: int, size: int) -> SharedChoice | None:
        """A pattern (an end of a random edge), a random sub-pattern that it shares, and up to `size` patterns with it.

        This is a draw from N_vertex; None if nothing can be shared.
        """
        edges = self.edges(least)
        if not edges:
            return None
        pattern = random.choice(random.choice(edges))
        mask = min(self.common_of[pattern][random.choice(self._subs(pattern, least))])
        choice = self._part(random, least, pattern, mask, {})
        [(_, part)] = choice.masks
        having = self.containing(pattern, part)
        del having[pattern]
        chosen = random.sample(sorted(having), min(size - 1, len(having)))
        return SharedChoice(choice.sub, ((pattern, part), *((peer, having[peer]) for peer in chosen)))

    def containing(self, pattern: int, mask: int) -> dict[int, int]:
        """The patterns that contain the sub-pattern of some operands of a pattern, with their operands (Gamma_P).

        The result is cached until the graph changes.
        """
        having = self._containing.get((pattern, mask))
        if having is None:
            having = self._containing[pattern, mask] = self._find_containing(pattern, mask)
        return dict(having)

    def _find_containing(self, pattern: int, mask: int) -> dict[int, int]:
        having = {pattern: mask}
        for sub, masks in self.common_of[pattern].items():
            for whole in masks:
                if mask & whole == mask:
                    for peer in self.patterns_of[sub]:
                        if peer not in having:
                            having[peer] = self._translated(pattern, whole, mask, peer, min(self.common_of[peer][sub]))
        return having

    def _subs(self, pattern: int, least: int) -> list[int]:
        """The maximal common sub-patterns of a pattern that have at least `least` operands."""
        return [sub for sub in self.common_of[pattern] if len(self.table.sub_patterns.items[sub]) >= least]

    def _part(self, random: Random, least: int, pattern: int, mask: int, peers: dict[int, int]) -> SharedChoice:
        """A random part of a common sub-pattern that binds `mask`; the empty part has number -1."""
        operands = list(operands_of(mask))
        part = 0
        while part.bit_count() < least:
            bits = random.randrange(1 << len(operands))
            part = sum(1 << operand for i, operand in enumerate(operands) if bits >> i & 1)
            if not part:
                break
        masks = [(pattern, part)]
        for peer, whole in peers.items():
            masks.append((peer, self._translated(pattern, mask, part, peer, whole) if part else 0))
        return SharedChoice(self.table.of(pattern, part) if part else -1, tuple(masks))

    def _translated(self, pattern: int, whole: int, part: int, peer: int, peer_whole: int) -> int:
        """The operands of another pattern at the places that `part` has in the sub-pattern `whole` of both."""
        places, peer_places = self.table.places(pattern, whole), self.table.places(peer, peer_whole)
        return sum(1 << there for here, there in zip(places, peer_places, strict=True) if part >> here & 1)

    def _count(self, pattern: int, peer: int, step: int) -> None:
        """Adds what two patterns share to the hash tables (`step` 1), or removes it (-1)."""
        for common in matchings(self.table, pattern, peer):
            for owner, mask in ((pattern, common.first), (peer, common.second)):
                counts = self.common_of[owner].setdefault(common.sub, Counter())
                counts[mask] += step
                patterns = self.patterns_of.setdefault(common.sub, Counter())
                patterns[owner] += step
                if not counts[mask]:
                    del counts[mask]
                if not patterns[owner]:
                    del patterns[owner], self.common_of[owner][common.sub]
                if not patterns:
                    del self.patterns_of[common.sub]


def _inside(part: tuple[int, int, int], larger: tuple[int, int, int]) -> bool:
    """Whether a common sub-pattern binds a proper subset of the operands of another one."""
    return part[1] != larger[1] and part[1] & larger[1] == part[1] and part[2] & larger[2] == part[2]


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
    first_elements, second_elements = table.element_numbers(first), table.element_numbers(second)
    if not set(first_elements).intersection(second_elements):
        return
    pairs = [(a, b) for a, p in enumerate(first_elements) for b, q in enumerate(second_elements) if p == q]
    if len(pairs) == 1:
        [(a, b)] = pairs
        yield CommonSubPattern(table.of(first, 1 << a), 1 << a, 1 << b)
        return
    neighbors = [0] * len(pairs)
    for p in range(len(pairs)):
        for q in range(p):
            if _agree(table, first, second, pairs[p], pairs[q]):
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


def _agree(table: SubPatternTable, first: int, second: int, left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether two pairs of operands can occur together in a common sub-pattern."""
    (a, b), (c, d) = left, right
    if a == c or b == d or table[first].ordered != table[second].ordered:
        return False
    if table[first].ordered and (a < c) != (b < d):
        return False
    return table.relation(first, a, c) == table.relation(second, b, d)
