"""T-CET and H-CET: detectors that store the trends of graphlets (dissertation Sections 5.2 and 5.3), which overlapping
windows share (Section 7.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.construction.cet.detectors import Detector, MemoryLimit
from cepbench.algorithms.construction.cet.graph import CetGraph, cuts_of, restricted, window_bytes
from cepbench.algorithms.construction.cet.kernels.breadth_first import (
    Graphlets,
    StoredTrends,
    TrendTree,
    construct,
    move_down,
)
from cepbench.algorithms.construction.cet.kernels.costs import GraphletRecord, TrendCounting, count_plan
from cepbench.algorithms.construction.cet.kernels.depth_first import PlaceRecord
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.kernels.stitching import Segments, stitch
from cepbench.algorithms.construction.cet.partitioning.costs import NODE_BYTES, SEGMENT_BYTES
from cepbench.algorithms.construction.cet.partitioning.partition import PartitionPlan, one_graphlet, one_per_atom
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.sinks import match_sink
from cepbench.algorithms.rows import QueryRows
from cepbench.metrics.details import merged
from cepbench.queries.records import records_of

PER_VERTEX = 10 * 8
"""Bytes per vertex of hashes, powers and `Graphlets`; there are at most as many graphlets as vertices."""


class Partition(Protocol):
    """Plans the graphlets of a graph; trends and path can take `limit` bytes. Raises `NotEnoughMemory`."""

    def __call__(self, graph: WindowGraph, /, *, limit: int) -> PartitionPlan: ...


class Stored(Detector):
    """Constructs and stores the trends of each graphlet, then stitches them over cut edges.

    `partition` plans the graphlets; with one graphlet this is T-CET. With `shares`, graphlets that are the same in the
    next window keep their trends. O(|V| + |E| + sum of n_i + y k) time for n_i nodes of stored trends in graphlet i and
    y trends of k segments, O(|V| + |E| + sum of n_i) space. If each event has m successors, n_i is m / (m - 1) times
    the number of complete trends of the graphlet.

    The arrays of trends are reused from window to window, since touching fresh memory is expensive; the state only
    counts the part in use.
    """

    def __init__(self, limit: MemoryLimit, partition: Partition, *, shares: bool, summarised: bool) -> None:
        super().__init__(limit, summarised=summarised)
        self.partition, self.shares = partition, shares
        self.tree = _new_tree()
        self.kept: list[Graphlet] = []
        self.expiring = -1
        self.numbers = {"graphlets_shared": 0.0, "graphlets_built": 0.0, "trends_stored": 0.0}

    @property
    def bytes(self) -> int:
        """Bytes of the trends that are kept for the next window."""
        return sum(graphlet.bytes for graphlet in self.kept)

    @property
    def trends(self) -> int:
        """Number of the trends that are kept for the next window."""
        return sum(graphlet.trends for graphlet in self.kept)

    def forget(self) -> None:
        """Drops the trends that are kept for the next window."""
        self.kept, self.expiring = [], -1

    def details(self) -> Mapping[str, float]:
        """Adds numbers of shared and constructed graphlets, of their trends, and statistics of the partitioner with
        the costs of its plans.
        """
        return merged([super().details(), self.numbers])

    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Partitions the window's graph, constructs the missing trends, and stitches them."""
        live = graph.live()
        size = len(live.time)
        if not size:
            self.forget()
            return []
        fixed = graph.bytes + window_bytes(live) + PER_VERTEX * size
        arranged = self._arrange(live, fixed)
        trends, number = float(arranged.trends.sum()), len(arranged.nodes)
        kinds = {"events": graph.vertices, "edges": graph.edges, "trends": round(min(trends, 2.0**62))}
        self.limit.hold(fixed + arranged.bytes, kinds, f"storing {trends:.6g} trends in {number} graphlets")
        self._make_room(arranged)
        built = {
            "graphlets_shared": float(len(arranged.taken)),
            "graphlets_built": float(arranged.fresh.sum()),
            "trends_stored": float(arranged.trends[arranged.fresh].sum()),
        }
        self.numbers = dict(merged([self.numbers, built]))
        rows = self._collect(arranged, window)
        if self.shares:
            self._keep(arranged, following)
        else:
            self.forget()
        return rows

    def __getstate__(self) -> dict[str, Any]:
        """Pickles only the nodes of kept trends."""
        kept, places, at = [], [np.empty(0, np.int64)], 0
        for graphlet in self.kept:
            places.append(np.arange(graphlet.base, graphlet.base + graphlet.nodes))
            kept.append(replace(graphlet, base=at))
            at += graphlet.nodes
        tree = TrendTree._make(array[np.concatenate(places)] for array in self.tree)
        return {**self.__dict__, "tree": tree, "kept": kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        tree = TrendTree._make(array.copy() for array in state["tree"])  # arrays that can be resized
        self.__dict__ = {**state, "tree": tree}

    def _arrange(self, live: WindowGraph, fixed: int) -> Arranged:
        """Reuses kept graphlets of the previous window if memory suffices; otherwise plans the whole window anew."""
        shared = self._shared(live, fixed) if self.kept or self.expiring >= 0 else None
        if shared is not None:
            return shared
        self.forget()
        self.limit.hold(fixed, {}, f"the graph of a window of {len(live.time)} events")
        try:
            plan = self._plan(live, self.limit.bytes - fixed)
        except NotEnoughMemory as error:
            finest = one_per_atom(live).bytes
            raise NotEnoughMemory(
                f"{error}; the memory limit is {self.limit.bytes} bytes, the graph takes {fixed}, and the trends of "
                f"graphlets as small as possible take {finest:.6g}"
            ) from None
        return Arranged(live, plan.bounds.tolist(), {})

    def _shared(self, live: WindowGraph, fixed: int) -> Arranged | None:
        """Plans each stretch between shared graphlets separately, with the remaining memory."""
        parts = stretches(live, self.kept, self.expiring)
        taken = {low: graphlet for low, _, graphlet in parts if graphlet is not None}
        held = fixed + sum(graphlet.bytes + SEGMENT_BYTES for graphlet in taken.values())
        reused = bool(taken) or live.place[parts[0][1] - 1] <= self.expiring
        if not reused or held > self.limit.bytes:
            return None
        bounds = [0]
        for low, high, graphlet in parts:
            if graphlet is None:
                try:
                    plan = self._plan_stretch(restricted(live, low, high), low == 0, self.limit.bytes - held)
                except NotEnoughMemory:
                    return None
                held += plan.bytes
                bounds += (plan.bounds[1:] + low).tolist()
            else:
                bounds.append(high)
        return Arranged(live, bounds, taken)

    def _plan_stretch(self, part: WindowGraph, oldest: bool, left: int) -> PartitionPlan:
        """Keeps the rest of a partially expired graphlet as one graphlet; partitions any other stretch."""
        if oldest and part.place[-1] <= self.expiring:
            whole = one_graphlet(part)
            if whole.bytes <= left:
                return whole
        return self._plan(part, left)

    def _plan(self, graph: WindowGraph, left: int) -> PartitionPlan:
        plan = self.partition(graph, limit=left)
        self.numbers = merged([self.numbers, plan.details, {"plan_cpu": plan.cpu}])
        return plan

    def _make_room(self, arranged: Arranged) -> None:
        """Moves reused trends to the front, oldest nodes first; new trends follow them."""
        at, bounds, base = 0, arranged.graphlets.bounds.tolist(), arranged.graphlets.base
        for low, graphlet in sorted(arranged.taken.items(), key=lambda item: item[1].base):
            move_down(graphlet.base, at, graphlet.nodes, self.tree)
            base[bounds.index(low)] = at
            at += graphlet.nodes
        for g in np.flatnonzero(arranged.fresh):
            base[g] = at
            at += int(arranged.nodes[g])
        if at > len(self.tree.length):
            for array in self.tree:
                array.resize(at, refcheck=False)

    def _collect(self, arranged: Arranged, window: int) -> list[QueryRows]:
        """Constructs the missing trends and stitches all."""
        size = len(arranged.graph.time)
        stored, path = StoredTrends(arranged.graph, arranged.graphlets, self.tree), new_segments(len(arranged.nodes))
        sink = match_sink(arranged.graph.place, summarised=self.summarised, longest=size)
        construct(stored, sink, self.work)
        return self.collected(window, sink, lambda sink: stitch(stored, path, sink, self.work))

    def _keep(self, arranged: Arranged, following: int) -> None:
        """Keeps the trends of graphlets that lie entirely in the next window, which starts at time `following`."""
        self.kept, self.expiring = [], -1
        graph, bounds = arranged.graph, arranged.graphlets.bounds
        for g in range(len(arranged.nodes)):
            low, high = int(bounds[g]), int(bounds[g + 1])
            if graph.time[low] >= following:
                base, nodes = int(arranged.graphlets.base[g]), int(arranged.nodes[g])
                self.kept.append(Graphlet(graph.place[low:high].copy(), base, nodes, int(arranged.trends[g])))
            elif graph.time[high - 1] >= following:
                self.expiring = int(graph.place[high - 1])


class PlansOnly(Detector):
    """Plans the graphlets of each window as H-CET does, within the same limit, but finds no trends (Section 8.3).

    Its details are statistics of the partitioner's search, and CPU costs, bytes and number of graphlets of the plans.
    """

    def __init__(self, limit: MemoryLimit, partition: Partition, *, summarised: bool) -> None:
        super().__init__(limit, summarised=summarised)
        self.partition = partition
        self.numbers: dict[str, float] = {}

    def details(self) -> Mapping[str, float]:
        """Sums over all windows; maxima for peaks."""
        return merged([super().details(), self.numbers])

    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Returns no rows. Raises `NotEnoughMemory` if no plan fits."""
        live = graph.live()
        if len(live.time):
            fixed = graph.bytes + window_bytes(live) + PER_VERTEX * len(live.time)
            self.limit.hold(fixed, {}, f"the graph of a window of {len(live.time)} events")
            plan = self.partition(live, limit=self.limit.bytes - fixed)
            costs = {"plan_cpu": plan.cpu, "plan_bytes": float(plan.bytes), "plan_graphlets": float(plan.graphlets)}
            self.numbers = merged([self.numbers, plan.details, costs, {"windows_planned": 1.0}])
        return []


@dataclass(frozen=True, eq=False)
class Graphlet:
    """Vertices of a window (by their positions in the input) with stored trends: `nodes` nodes, starting at `base`.

    `trends` of the nodes are complete trends of the graphlet.
    """

    place: Ints
    base: int
    nodes: int
    trends: int

    @property
    def bytes(self) -> int:
        """Bytes of the stored trends, and of the positions by which the next window identifies the graphlet."""
        return NODE_BYTES * self.nodes + self.place.nbytes


Stretch = tuple[int, int, Graphlet | None]
"""Vertices low..high-1 of a window, with the kept graphlet they form, or None if their trends must be constructed."""


def stretches(graph: WindowGraph, kept: Sequence[Graphlet], expiring: int) -> list[Stretch]:
    """Splits the vertices of a window, in order, into kept graphlets of the previous window and the rest.

    Edges do not depend on the window, so a graphlet can be kept if its vertices are the same and the graph can be cut
    at both of its ends. The rest of the graphlet that expires in part, which ended with the event at position
    `expiring`, is a separate stretch if the graph can be cut there. O(|V| + |E|).
    """
    cut = cuts_of(graph)
    size = len(graph.place)
    parts: list[Stretch] = []
    done = int(np.searchsorted(graph.place, expiring, side="right"))
    if done and cut[done]:
        parts.append((0, done, None))
    else:
        done = 0
    for graphlet in kept:
        low = int(np.searchsorted(graph.place, graphlet.place[0]))
        high = low + len(graphlet.place)
        if high <= size and cut[low] and cut[high] and np.array_equal(graph.place[low:high], graphlet.place):
            if done < low:
                parts.append((done, low, None))
            parts.append((low, high, graphlet))
            done = high
    if done < size:
        parts.append((done, size, None))
    return parts


class Arranged:
    """The graphlets of one window before their trends are constructed: their sizes, and which are reused."""

    def __init__(self, graph: WindowGraph, bounds: Sequence[int], taken: Mapping[int, Graphlet]) -> None:
        size, number = len(graph.time), len(bounds) - 1
        self.graph, self.taken = graph, taken
        self.fresh = np.array([low not in taken for low in bounds[:-1]], np.bool_)
        self.graphlets = Graphlets(
            bounds=np.array(bounds, np.int64),
            base=np.zeros(number, np.int64),
            fresh=self.fresh,
            home=np.zeros(size, np.int64),
            start=np.zeros(size, np.int64),
            stop=np.zeros(size, np.int64),
            ways=np.zeros(size),
        )
        counted = np.empty(number, records_of(GraphletRecord))
        scratch = TrendCounting(np.zeros(size), self.graphlets.ways, np.zeros(0), np.zeros(0, np.int64))
        count_plan(self.graphlets.bounds, graph, scratch, counted)
        self.nodes, self.trends = counted["nodes"], counted["trends"]

    @property
    def bytes(self) -> float:
        """Bytes of stored trends, of the positions of reused graphlets, and of the path."""
        places = sum(graphlet.place.nbytes for graphlet in self.taken.values())
        return NODE_BYTES * float(self.nodes.sum()) + places + SEGMENT_BYTES * len(self.nodes)


def _new_tree() -> TrendTree:
    return TrendTree._make([*(np.empty(0, np.uint32) for _ in range(4)), np.empty(0, np.uint64)])


def new_segments(number: int) -> Segments:
    """A path of up to `number` segments, before a search."""
    return Segments(np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(1, records_of(PlaceRecord)))
