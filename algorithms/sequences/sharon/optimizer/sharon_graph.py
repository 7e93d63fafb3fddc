"""The SHARON graph: sharing candidates, their benefits, and the conflicts between them (dissertation 23.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.sharon.optimizer.limits import Limits

VERTEX_BYTES = 16
"""Bytes of a weight and a reference to a candidate."""
OCCURRENCE_BYTES = 16


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


def bits(mask: int) -> Iterator[int]:
    """The vertices of a set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
