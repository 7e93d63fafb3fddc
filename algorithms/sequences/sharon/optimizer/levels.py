"""The search space of sharing plans level by level: plans of size s + 1 from those of size s (Algorithm 12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.sequences.sharon.optimizer.limits import Limits

WORD = 64


@dataclass(frozen=True)
class PlanLevel:
    """All plans of one size over n vertices, W = ceil(n / 64) words each.

    - `plans` uint64[k, W]: the vertices of each plan.
    - `later` uint64[k, W]: vertices that can be added to each plan: larger than its last one, and not excluded.
    - `scores` float64[k].
    """

    plans: NDArray[np.uint64]
    later: NDArray[np.uint64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def bytes(self) -> int:
        """Bytes of all three arrays."""
        return self.plans.nbytes + self.later.nbytes + self.scores.nbytes


def first_level(excluded: NDArray[np.bool_], weights: NDArray[np.float64]) -> PlanLevel:
    """Plans of one vertex each. `excluded[u, v]`: v cannot be added to a plan with u."""
    count = len(weights)
    later = ~excluded & np.triu(np.ones((count, count), np.bool_), k=1)
    return PlanLevel(packed(np.eye(count, dtype=np.bool_)), packed(later), weights)


def next_level(parents: PlanLevel, single: PlanLevel, limits: Limits) -> PlanLevel:
    """The plans of the next size; `single` is the first level.

    Algorithm 12 joins every two parents that differ in their last vertex only, if these two vertices have no conflict.
    Here each parent stores the last vertices of the parents with which it can be joined, so that each
    tested pair is joined: O(W) per child and O(n) per parent. Raises `LimitReached` before the two levels exceed the
    memory limit.
    """
    count = int(np.bitwise_count(parents.later).sum())
    words = parents.plans.shape[1]
    limits.check_bytes(parents.bytes + 8 * count * (2 * words + 1))
    plans = np.empty((count, words), np.uint64)
    later, scores = np.empty_like(plans), np.empty(count)
    filled = 0
    for v in range(len(single)):
        limits.check_time()
        rows = containing(parents.later, v)
        stop = filled + len(rows)
        plans[filled:stop] = parents.plans[rows] | single.plans[v]
        later[filled:stop] = parents.later[rows] & single.later[v]
        scores[filled:stop] = parents.scores[rows] + single.scores[v]
        filled = stop
    return PlanLevel(plans, later, scores)


def containing(sets: NDArray[np.uint64], v: int) -> NDArray[np.intp]:
    """The rows of `sets` (uint64[k, W]) that contain vertex v."""
    word, bit = divmod(v, WORD)
    return np.flatnonzero(sets[:, word] & np.uint64(1 << bit))


def packed(sets: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """bool[k, n] as uint64[k, W]; vertex v is bit v % 64 of word v // 64."""
    count, size = sets.shape
    wide = np.zeros((count, -(-size // WORD) * WORD), np.bool_)
    wide[:, :size] = sets
    return np.packbits(wide, axis=1, bitorder="little").view(np.uint64)
