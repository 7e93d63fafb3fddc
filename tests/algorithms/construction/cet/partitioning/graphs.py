"""Small CET graphs, and their complete trends by enumeration."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, combinations, pairwise
from typing import Any

import numpy as np

from cepbench.algorithms.construction.cet.graph import cet_graph
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.costs import NODE_BYTES, SEGMENT_BYTES

Edge = tuple[int, int]
Trend = tuple[int, ...]


def window_graph(time: Sequence[int], edges: Sequence[Edge]) -> WindowGraph:
    """A graph of vertices 0..len(time)-1."""
    into = [sorted(u for u, target in edges if target == v) for v in range(len(time))]
    in_ptr = np.cumsum([0, *map(len, into)]).astype(np.int64)
    flat = np.array([u for sources in into for u in sources], np.int64)
    return cet_graph(np.array(time, np.int64), np.arange(len(time)), in_ptr, flat)


def homogeneous(atoms: int, width: int, degree: int | None = None) -> WindowGraph:
    """`atoms` groups of `width` simultaneous events; each follows, and is followed by, `degree` of them (or all)."""
    degree = width if degree is None else degree
    edges = [
        (group * width + i, (group + 1) * width + (i + shift) % width)
        for group in range(atoms - 1)
        for i in range(width)
        for shift in range(degree)
    ]
    return window_graph([group for group in range(atoms) for _ in range(width)], edges)


def uneven(sizes: Sequence[int]) -> WindowGraph:
    """Groups of so many simultaneous events, each of which follows all of the group before."""
    ends = [0, *accumulate(sizes)]
    neighbors = pairwise(pairwise(ends))
    edges = [(u, v) for (low, mid), (_, high) in neighbors for u in range(low, mid) for v in range(mid, high)]
    return window_graph([group for group, size in enumerate(sizes) for _ in range(size)], edges)


def irregular(seed: int, vertices: int) -> WindowGraph:
    """Random times, some alike, and a random adjacency; edges as Algorithm 4 leaves them. Has several cuts, often."""
    source = random.Random(seed)
    span = source.choice([2, 3, 5, vertices])
    time = sorted(source.randrange(max(2, vertices // source.choice([1, 2, 3]))) for _ in range(vertices))
    chance = source.choice([0.3, 0.6, 1.0])
    edges: list[Edge] = []
    reached: list[set[int]] = []
    for v in range(vertices):
        before: set[int] = set()
        for u in reversed(range(v)):
            near = time[u] < time[v] <= time[u] + span
            if u not in before and near and source.random() < chance:
                edges.append((u, v))
                before |= {u} | reached[u]
        reached.append(before)
    return window_graph(time, edges)


def edges_of(graph: WindowGraph) -> list[Edge]:
    """All edges."""
    return [(u, int(v)) for u in range(len(graph.time)) for v in graph.out[graph.out_ptr[u] : graph.out_ptr[u + 1]]]


def trends_of(low: int, high: int, edges: Sequence[Edge]) -> list[Trend]:
    """The maximal paths of the vertices low..high-1, by depth-first search."""
    inner = [(u, v) for u, v in edges if low <= u and v < high]
    follow = {u: [v for w, v in inner if w == u] for u in range(low, high)}
    found: list[Trend] = []

    def extend(trend: Trend) -> None:
        if not follow[trend[-1]]:
            found.append(trend)
        for v in follow[trend[-1]]:
            extend((*trend, v))

    for first in set(range(low, high)) - {v for _, v in inner}:
        extend((first,))
    return found


def prefixes(sequences: Iterable[tuple[Any, ...]]) -> int:
    """The number of distinct prefixes of all lengths: the nodes of the tree that shares them."""
    return len({sequence[:length] for sequence in sequences for length in range(1, len(sequence) + 1)})


def slow_cuts(graph: WindowGraph) -> list[int]:
    """Vertices s such that those before s and those from s on are two graphlets, by the letter of Definition 6.2."""
    size, edges = len(graph.time), edges_of(graph)

    def cuts(s: int) -> bool:
        def role(v: int) -> tuple[bool, bool]:
            """Whether the vertex is a first one, and a last one, of its graphlet."""
            side = [(a, b) for a, b in edges if (a < s) == (b < s) == (v < s)]
            return all(b != v for _, b in side), all(a != v for a, _ in side)

        crossing = [(u, v) for u, v in edges if u < s <= v]
        return all(role(u)[1] and role(v)[0] for u, v in crossing)

    return [s for s in range(1, size) if graph.time[s - 1] < graph.time[s] and cuts(s)]


def slow_cost(graph: WindowGraph, bounds: Sequence[int]) -> tuple[int, int]:
    """CPU and memory costs of a plan, all trends enumerated."""
    edges = edges_of(graph)
    cpu = memory = 0
    for low, high in pairwise(bounds):
        trends = trends_of(low, high, edges)
        cpu += sum(low <= u and v < high for u, v in edges) + len(trends)
        memory += NODE_BYTES * prefixes(trends) + SEGMENT_BYTES
    if len(bounds) > 2:
        for trend in trends_of(0, len(graph.time), edges):
            segments = {int(np.searchsorted(bounds, v, side="right")) for v in trend}
            cpu += 2 * len(segments)
    return cpu, memory


def all_plans(atoms: Sequence[int]) -> Iterator[list[int]]:
    """The bounds of every plan."""
    inner = atoms[1:-1]
    for number in range(len(inner) + 1):
        for cuts in combinations(inner, number):
            yield [atoms[0], *cuts, atoms[-1]]


def nearly_balanced(bounds: Sequence[int], atoms: Sequence[int]) -> bool:
    """Definition 6.4, balanced plans included."""
    graphlets = len(bounds) - 1
    ideal = -(-atoms[-1] // graphlets)
    for i, (low, high) in enumerate(pairwise(bounds), 1):
        inside = [v for v in atoms if low <= v <= high]
        first, last = inside[1] - inside[0], inside[-1] - inside[-2]
        if high - low > ideal:
            if i > 1 and not high - low < ideal + first:
                return False
            if i < graphlets and not high - low < ideal + last:
                return False
    return True
