"""The SHARON graph: sharing candidates, their benefits, and the conflicts between them (dissertation 23.1).

`construct` builds it (Algorithm 10), `expanded_candidates` resolves conflicts by options for fewer queries (Section
24.1, Algorithms 14 and 15), and `reduce_graph` removes conflict-ridden and conflict-free candidates (Section 23.2,
Algorithm 11).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.sequences.plan import Candidate
from cepbench.algorithms.sequences.sharon.limits import Limits

VERTEX_BYTES = 16
"""Bytes of a weight and a reference to a candidate."""
OCCURRENCE_BYTES = 16

ROUNDING = 1e-9
"""Relative error of sums of benefits. Without this slack, a candidate of the optimal plan can look conflict-ridden."""


@dataclass(frozen=True)
class SharonGraph:
    """G = (V, E) of Definition 23.5. Sets of vertices are bit masks: bit v of `neighbors[u]` is the edge (u, v).

    `weights` is float64[V], positive.
    """

    candidates: tuple[Candidate, ...]
    weights: NDArray[np.float64]
    neighbors: tuple[int, ...]

    @property
    def everything(self) -> int:
        """All vertices."""
        return (1 << len(self.candidates)) - 1

    @property
    def edges(self) -> int:
        """|E|."""
        return sum(mask.bit_count() for mask in self.neighbors) // 2

    @property
    def bytes(self) -> int:
        """Bytes of weights, occurrences and neighborhoods."""
        occurrences = sum(len(candidate.occurrences) for candidate in self.candidates)
        masks = sum((mask.bit_length() + 7) // 8 for mask in self.neighbors)
        return VERTEX_BYTES * len(self.candidates) + OCCURRENCE_BYTES * occurrences + masks

    def members(self, mask: int) -> NDArray[np.intp]:
        """The vertices of a set, ascending."""
        octets = np.frombuffer(mask.to_bytes((len(self.candidates) + 7) // 8, "little"), np.uint8)
        return np.flatnonzero(np.unpackbits(octets, bitorder="little"))

    def chosen(self, mask: int) -> tuple[Candidate, ...]:
        """The candidates of a set."""
        return tuple(self.candidates[v] for v in self.members(mask))

    def weight(self, mask: int) -> float:
        """Score of a plan, Equation 23.1."""
        return float(self.weights[self.members(mask)].sum())


def construct(candidates: Sequence[Candidate], benefits: Sequence[float], limits: Limits) -> SharonGraph:
    """Algorithm 10: a vertex per beneficial candidate, an edge per sharing conflict.

    Candidates that cover a place of a sequence are looked up, so that not all pairs are compared: O(|V| l |V| / 64) for
    l places per candidate.
    """
    chosen = [(candidate, weight) for candidate, weight in zip(candidates, benefits, strict=True) if weight > 0]
    owners: dict[tuple[int, int], int] = {}
    for v, (candidate, _) in enumerate(limits.timed(chosen)):
        for place in candidate.places:
            owners[place] = owners.get(place, 0) | 1 << v
    neighbors = []
    for v, (candidate, _) in enumerate(limits.timed(chosen)):
        mask = 0
        for place in candidate.places:
            mask |= owners[place]
        neighbors.append(mask & ~(1 << v))
    weights = np.array([weight for _, weight in chosen], np.float64)
    return SharonGraph(tuple(candidate for candidate, _ in chosen), weights, tuple(neighbors))


def expanded_candidates(graph: SharonGraph, limits: Limits) -> tuple[Candidate, ...]:
    """Algorithm 15: every candidate with all of its options, the vertices of the expanded SHARON graph."""
    candidates: list[Candidate] = []
    for v in range(len(graph.candidates)):
        candidates.extend(options(graph, v, limits))
        limits.check_vertices(len(candidates))
    return tuple(candidates)


def options(graph: SharonGraph, v: int, limits: Limits) -> tuple[Candidate, ...]:
    """Algorithm 14, getSet: the candidate and its options, by breadth-first search.

    To resolve a conflict (v, u), the queries that cause it are divided: v drops some and u drops the others
    (Definition 24.1). Dropping a set of queries from v can resolve the conflict if u keeps at least two queries.
    Raises `LimitReached`: there can be as many options as subsets of Q_p.
    """
    candidate = graph.candidates[v]
    conflicts = _conflicts(graph, v)
    whole = _mask(candidate)
    visited = {whole: None}
    level = [whole]
    while level:
        following: list[int] = []
        for queries in level:
            for causing, sharing in conflicts.items():
                for dropped in _resolving(queries & causing, sharing):
                    limits.check_time()
                    rest = queries & ~dropped
                    if rest.bit_count() > 1 and rest not in visited:
                        visited[rest] = None
                        limits.check_vertices(len(visited))
                        following.append(rest)
        level = following
    return tuple(candidate.restricted(frozenset(bits(queries))) for queries in visited)


def _conflicts(graph: SharonGraph, v: int) -> dict[int, int]:
    """The queries that cause a conflict of v, with the number of queries of the other candidate.

    If several candidates conflict with v because of the same queries, the one with most queries allows every option.
    """
    candidate = graph.candidates[v]
    sharing: dict[int, int] = {}
    for u in bits(graph.neighbors[v]):
        neighbor = graph.candidates[u]
        causing = 0
        for sequence, _ in candidate.places & neighbor.places:
            causing |= 1 << sequence
        sharing[causing] = max(sharing.get(causing, 0), len(neighbor.sequences))
    return sharing


def _resolving(causing: int, sharing: int) -> Iterator[int]:
    """The subsets of the causing queries whose removal ends the conflict with a candidate of `sharing` queries."""
    least = 2 - sharing + causing.bit_count()
    dropped = causing
    while dropped:
        if dropped.bit_count() >= least:
            yield dropped
        dropped = (dropped - 1) & causing


def _mask(candidate: Candidate) -> int:
    return sum(1 << sequence for sequence in candidate.sequences)


@dataclass(frozen=True)
class Reduction:
    """Sets of vertices: those left to search, those in every optimal plan (F), and those in no optimal plan."""

    left: int
    conflict_free: int
    conflict_ridden: int


def maximal_score(graph: SharonGraph, v: int, present: int) -> float:
    """Score_max(v): the weight of all vertices in `present` that are not in conflict with v (Equation 23.3)."""
    return graph.weight(present & ~graph.neighbors[v])


def reduce_graph(graph: SharonGraph, minimum: float, limits: Limits) -> Reduction:
    """Algorithm 11: removes conflict-free and conflict-ridden candidates until the graph no longer changes.

    `minimum` is the guaranteed weight of GWMIN on the whole graph. Conflict-free candidates are removed from the graph,
    but still count in the maximal score of the others: the bound is for a plan of the whole graph. O(|V|^2 |V| / 64)
    time.
    """
    left, free, ridden = graph.everything, 0, 0
    changed = True
    while changed:
        changed = False
        for v in bits(left):
            limits.check_time()
            if not graph.neighbors[v] & left:
                free |= 1 << v
            elif maximal_score(graph, v, left | free) < minimum * (1 - ROUNDING):
                ridden |= 1 << v
            else:
                continue
            left &= ~(1 << v)
            changed = True
    return Reduction(left, free, ridden)


def bits(mask: int) -> Iterator[int]:
    """The vertices of a set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
