"""The multi-pattern graph: which patterns share which sub-patterns (MCEP, Section 4.1 and Appendix A)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from cepbench.algorithms.detection.mcep.planning.common import matchings
from cepbench.algorithms.detection.mcep.planning.subpatterns import SubPatternTable, operands_of


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
        for other in self.vertices:
            self._count(pattern, other, 1)
        self.vertices[pattern] = None
        self._edges.clear()
        self._containing.clear()

    def remove(self, pattern: int) -> None:
        """Removes a pattern; the graph is as if it had never been added."""
        del self.vertices[pattern]
        for other in self.vertices:
            self._count(pattern, other, -1)
        del self.common_of[pattern]
        self._edges.clear()
        self._containing.clear()

    def neighbors(self, pattern: int, least: int = 1) -> set[int]:
        """The patterns that share a sub-pattern of at least `least` operands with a pattern."""
        found = {other for sub in self._subs(pattern, least) for other in self.patterns_of[sub]}
        found.discard(pattern)
        return found

    def edges(self, least: int = 1) -> list[tuple[int, int]]:
        """All pairs of patterns that share a sub-pattern of at least `least` operands, in ascending order.

        The result is cached until the graph changes.
        """
        if least not in self._edges:
            self._edges[least] = [
                (pattern, other)
                for pattern in sorted(self.vertices)
                for other in sorted(self.neighbors(pattern, least))
                if pattern < other
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
        mine, others = self.common_of[first], self.common_of[second]
        if len(others) < len(mine):
            return [(sub, min(mine[sub]), min(others[sub])) for sub in others if sub in mine]
        return [(sub, min(mine[sub]), min(others[sub])) for sub in mine if sub in others]

    def random_pair(self, random: Random, least: int) -> SharedChoice | None:
        """A random edge, and a random common sub-pattern of at least `least` operands of its patterns (N_edge).

        It is drawn from the subsets of one of the largest common sub-patterns, including the empty one. None if nothing
        can be shared.
        """
        edges = self.edges(least)
        if not edges:
            return None
        first, second = random.choice(edges)
        found = [one for one in self.common(first, second) if one[1].bit_count() >= least]
        largest = [one for one in found if not any(_inside(one, other) for other in found)]
        _, mine, other = random.choice(largest)
        return self._part(random, least, first, mine, {second: other})

    def random_vertex(self, random: Random, least: int, most: int) -> SharedChoice | None:
        """A random pattern, a random sub-pattern that it shares, and at most `most` patterns with it (N_vertex).

        None if nothing can be shared.
        """
        edges = self.edges(least)
        if not edges:
            return None
        pattern = random.choice(random.choice(edges))
        mine = min(self.common_of[pattern][random.choice(self._subs(pattern, least))])
        choice = self._part(random, least, pattern, mine, {})
        [(_, part)] = choice.masks
        having = self.containing(pattern, part)
        del having[pattern]
        chosen = random.sample(sorted(having), min(most - 1, len(having)))
        return SharedChoice(choice.sub, ((pattern, part), *((other, having[other]) for other in chosen)))

    def containing(self, pattern: int, mask: int) -> dict[int, int]:
        """The patterns that contain the sub-pattern of some operands of a pattern, with their operands (Gamma_P).

        The result is cached until the graph changes.
        """
        found = self._containing.get((pattern, mask))
        if found is None:
            found = self._containing[pattern, mask] = self._find_containing(pattern, mask)
        return dict(found)

    def _find_containing(self, pattern: int, mask: int) -> dict[int, int]:
        having = {pattern: mask}
        for sub, masks in self.common_of[pattern].items():
            for whole in masks:
                if mask & whole == mask:
                    for other in self.patterns_of[sub]:
                        if other not in having:
                            having[other] = self._translated(
                                pattern, whole, mask, other, min(self.common_of[other][sub])
                            )
        return having

    def _subs(self, pattern: int, least: int) -> list[int]:
        """The maximal common sub-patterns of a pattern that have at least `least` operands."""
        return [sub for sub in self.common_of[pattern] if len(self.table.known.items[sub]) >= least]

    def _part(self, random: Random, least: int, pattern: int, mask: int, others: dict[int, int]) -> SharedChoice:
        """A random part of a common sub-pattern that binds `mask`; the empty part has number -1."""
        operands = list(operands_of(mask))
        part = 0
        while part.bit_count() < least:
            bits = random.randrange(1 << len(operands))
            part = sum(1 << operand for i, operand in enumerate(operands) if bits >> i & 1)
            if not part:
                break
        masks = [(pattern, part)]
        for other, whole in others.items():
            masks.append((other, self._translated(pattern, mask, part, other, whole) if part else 0))
        return SharedChoice(self.table.of(pattern, part) if part else -1, tuple(masks))

    def _translated(self, pattern: int, whole: int, part: int, other: int, other_whole: int) -> int:
        """The operands of another pattern at the places that `part` has in the sub-pattern `whole` of both."""
        mine, others = self.table.places(pattern, whole), self.table.places(other, other_whole)
        return sum(1 << there for here, there in zip(mine, others, strict=True) if part >> here & 1)

    def _count(self, pattern: int, other: int, step: int) -> None:
        """Adds what two patterns share to the hash tables (`step` 1), or removes it (-1)."""
        for found in matchings(self.table, pattern, other):
            for owner, mask in ((pattern, found.first), (other, found.second)):
                counts = self.common_of[owner].setdefault(found.sub, Counter())
                counts[mask] += step
                patterns = self.patterns_of.setdefault(found.sub, Counter())
                patterns[owner] += step
                if not counts[mask]:
                    del counts[mask]
                if not patterns[owner]:
                    del patterns[owner], self.common_of[owner][found.sub]
                if not patterns:
                    del self.patterns_of[found.sub]


def _inside(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """Whether a common sub-pattern binds a proper subset of the operands of another one."""
    return one[1] != other[1] and one[1] & other[1] == one[1] and one[2] & other[2] == one[2]
