"""Costs of plans: Table 5.1 of the dissertation with exact numbers of trends instead of the bound 3^(|V|/3)."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from cepbench.algorithms.construction.cet.graph import cuts_of
from cepbench.algorithms.construction.cet.kernels.costs import (
    GraphletRecord,
    Ranges,
    TrendCounting,
    count_plan,
    count_ranges,
    count_through,
    merge_atoms,
)
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.kernels.plans import least_memory
from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.queries.records import Records, records_of

NODE_BYTES = 24
SEGMENT_BYTES = 16
"""A stored trend takes one node more than its prefix (`TrendTree`); the path under construction takes 16 bytes per
graphlet."""

MAX_ATOMS = 1024
"""Maximum number of atomic graphlets of a graph whose plans are searched."""


class Cost(NamedTuple):
    """Of a graphlet or a plan; both numbers are infinite if trends are too many to count."""

    cpu: float
    bytes: float


class Costs:
    """Costs of any graphlets of one window. `atoms`: int64[a + 1], the bounds of its `a` atomic graphlets.

    A graphlet's memory and CPU time are counted exactly by dynamic programming over its vertices, O(|V_i| + |E_i|):

    - bytes = 24 * nodes of the tree of its trends + 16;
    - cpu = edges + complete trends + 2 * complete trends of the window that pass through it, since stitching takes one
      traversal and one update per segment. A single graphlet needs no stitching.

    The costs of a plan are the sums over its graphlets in any graph, since a trend passes through a graphlet once.
    """

    def __init__(self, graph: WindowGraph) -> None:
        size = len(graph.time)
        self.graph, self.size = graph, size
        self.atoms: Ints = np.flatnonzero(cuts_of(graph)).astype(np.int64)
        self._counting = TrendCounting(np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size, np.int64))
        count_through(graph, self._counting)

    def counted(self, bounds: Ints) -> Records:
        """The counts of each graphlet of a plan (`GraphletRecord`)."""
        counted = np.empty(len(bounds) - 1, records_of(GraphletRecord))
        count_plan(bounds, self.graph, self._counting, counted)
        return counted

    def cost(self, bounds: Ints) -> Cost:
        """Cost of the plan with these graphlets. O(|V| + |E|)."""
        counted = self.counted(bounds)
        return Cost(float(self._cpu(counted, len(counted) == 1).sum()), float(self._bytes(counted).sum()))

    def least_bytes(self, bounds: Ints) -> float:
        """Bytes of the stored trends only, a lower bound of all bytes of the plan. O(|V| + |E|).

        Unlike all bytes, they never grow when a graphlet is cut in two (Theorem 6.1).
        """
        return NODE_BYTES * float(self.counted(bounds)["nodes"].sum())

    def coarse(self, limit: int) -> Costs:
        """The same graph with at most MAX_ATOMS atomic graphlets if possible: small neighbors are merged.

        Merged graphlets take at most a small part of `limit` each. The part grows until they are few enough, up to a
        quarter. O(|V| + |E|) for each size of the part.
        """
        if len(self.atoms) - 1 <= MAX_ATOMS:
            return self
        merged, counted = np.empty_like(self.atoms), np.empty(len(self.atoms), records_of(GraphletRecord))
        part = 4 * MAX_ATOMS
        while True:
            nodes = limit / NODE_BYTES / part
            number = merge_atoms(nodes, self.graph, self._counting, self.atoms, counted, merged)
            if number <= MAX_ATOMS or part <= 4:
                break
            part //= 4
        coarse = copy(self)
        coarse.atoms = merged[: number + 1].copy()
        return coarse

    def ranges(self, limit: int) -> Ranges:
        """Costs of all ranges whose trends may fit into `limit` bytes. O(a (|V| + |E|)), less if many do not fit."""
        number = len(self.atoms) - 1
        row, longest = np.zeros(number + 1, np.int64), np.empty(number, records_of(GraphletRecord))
        parts = [longest[:0]]
        for i in range(number):
            ranges = count_ranges(i, limit / NODE_BYTES, self.graph, self._counting, self.atoms, longest)
            parts.append(longest[:ranges].copy())
            row[i + 1] = row[i] + ranges
        counted = np.concatenate(parts)
        cpu = self._cpu(counted, False)
        if row[1] == number:
            cpu[number - 1] = self._cpu(counted[number - 1 : number], True)[0]
        return Ranges(row, cpu, self._bytes(counted))

    def least_memory(self, limit: int) -> Ints | None:
        """The bounds of the plan with the least memory, or None if it takes more than `limit` bytes.

        In the paper, that is the plan with most graphlets (Theorem 6.1). Here each graphlet adds a few bytes for the
        path under construction, so chains take less memory uncut. In windows with more than a thousand cuts, some are
        not considered (`coarse`), but the plan with most graphlets always is.

        O(a r) time for ranges of up to r atomic graphlets that may fit.
        """
        coarse = self.coarse(limit)
        size, before = np.empty(len(coarse.atoms)), np.zeros(len(coarse.atoms), np.int64)
        least_memory(coarse.ranges(limit), size, before)
        if size[-1] > limit:
            return self.atoms if self.cost(self.atoms).bytes <= limit else None
        ends = [len(coarse.atoms) - 1]
        while ends[-1] > 0:
            ends.append(int(before[ends[-1]]))
        bounds: Ints = coarse.atoms[ends[::-1]]
        return bounds

    @staticmethod
    def _cpu(counted: Records, alone: bool) -> Reals:
        within: Reals = counted["edges"] + counted["trends"]
        return within if alone else within + 2 * counted["segments"]

    @staticmethod
    def _bytes(counted: Records) -> Reals:
        size: Reals = NODE_BYTES * counted["nodes"] + SEGMENT_BYTES
        return size
