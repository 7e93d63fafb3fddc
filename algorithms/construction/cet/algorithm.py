"""CET: detects the complete event trends of a query in a compact graph, within a memory limit.

`graph` is the CET graph, `partitioning` cuts it into graphlets, and `detectors` and `stored` construct the trends.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan
from cepbench.algorithms.compose import per_key
from cepbench.algorithms.construction.cet.aggregation import TwoStepExecutor, unsupported_aggregation
from cepbench.algorithms.construction.cet.detectors import Baseline, Detector, MemoryLimit, MemoryOptimized
from cepbench.algorithms.construction.cet.executor import CetExecutor
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.partition import (
    METHODS,
    PartitionPlan,
    RandomPartition,
    by_time,
    load,
    partition,
    prescribed,
)
from cepbench.algorithms.construction.cet.stored import Partition, PlansOnly, Stored
from cepbench.algorithms.engine.complete_matches import unsupported_complete
from cepbench.algorithms.options import Option, WrongOption
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import Aggregates, Matches, Query

DETECTORS = ("baseline", "memory", "time", "hybrid", "plan")
RANDOM = "random"
SHARING = ("windows", "never")
MAX_MEMORY = 64 * 2**30
"""In bytes; stored trends (24 bytes each) refer to one another by 32-bit words."""


class Cet(Algorithm):
    """Detects complete event trends, i.e. those that are part of no other trend (dissertation Chapters 3-8).

    Events become vertices of a graph whose maximal paths are the complete trends (Algorithm 4, O(|V| + |E|) per event).
    When a window closes, `detect` selects how its y trends of length l are found:

    - `baseline` (BL, Algorithm 3): without the graph, all trends stored, O(n y^2 l) time, O(y l) space;
    - `memory` (M-CET): depth-first, O(y l) time, O(|V| + |E|) space;
    - `time` (T-CET): breadth-first, all trends stored in a tree that shares prefixes, O(|E| + n) time and O(n) space
      for its n nodes: O(y) where each event has several successors, at most y l;
    - `hybrid` (H-CET): T-CET in graphlets, stitched depth-first, O(y k) time for k graphlets, and space for the trends
      of the graphlets only. `partition` plans the graphlets so that the whole state respects `memory`; overlapping
      windows share graphlets (Section 7.3), unless `sharing` is `never`. A `random` partition has cuts that `seed`
      draws, to compare costs with those of the model (`details.plan_cpu`). Two parameters prescribe them instead:
      `graphlets` is their number per window; they have equal sizes, except that the first is `ratio` times larger
      (Section 8.4). `intervals` cuts time into so many equal intervals per window, wherever the graph can be cut. All
      windows whose slide is a multiple of the interval have the same cuts, so they share all graphlets that are neither
      expired nor new.
    - `plan`: the graphlets of each window are planned as for `hybrid`, but no trends are detected and the answer is
      empty. It measures the time and memory of partitioning (Section 8.3).

    Departures:

    - Patterns need not be flat: any pattern is supported whose complete matches are paths (`engine.complete_matches`;
      fewer for `baseline`). If a type has several positions, as in `A{3,}`, a vertex is an event at a position, and
      windows share no graphlets.
      Vertices that are on no path from a START to an END event of the window are removed before detection.
    - Plans are compared by exact numbers of trends, not by the bound 3^(n/3).
    - Table 5.1 counts one update per extension but the space of whole trends, O(y l). With shared prefixes, space is as
      small as the number of updates.
    - `baseline` replays the events of a window when it closes.
    - If `memory` does not suffice, `NotEnoughMemory` is raised, in most cases before any trend is stored. Each key has
      `memory` bytes, divided evenly among queries and, in a query with count windows, among its windows.

    Aggregation queries construct all trends, complete or not, and aggregate them
    (`algorithms.construction.cet.aggregation`).
    """

    name: ClassVar[str] = "cet"
    paper: ClassVar[str] = "Poppe 2018 (dissertation), Chapters 3-8, Section 13.1"
    enumerates: ClassVar[bool] = True

    def __init__(
        self,
        detect: str = "hybrid",
        partition: str = "branch-and-bound",
        memory: str = "64MiB",
        graphlets: str = "searched",
        ratio: str = "1",
        intervals: str = "searched",
        sharing: str = "windows",
        seed: str = "1",
    ) -> None:
        option = partial(Option, self.name)
        self.detect = option("detect", detect).among(DETECTORS)
        self.partition = option("partition", partition).among((*METHODS, RANDOM))
        self.memory = option("memory", memory).size(MAX_MEMORY)
        self.graphlets = option("graphlets", graphlets).whole("searched")
        self.ratio = option("ratio", ratio).ratio()
        self.intervals = option("intervals", intervals).whole("searched")
        self.sharing = option("sharing", sharing).among(SHARING)
        self.seed = option("seed", seed).count(0)
        if self.graphlets is not None and self.intervals is not None:
            raise WrongOption(f"{self.name}: give either graphlets or intervals")

    def unsupported(self, query: Query) -> str | None:
        """Matches that are not complete, complete ones that are not maximal paths, and some aggregation queries."""
        if query.span is not None:
            return "CET detects the complete trends of windows, not matches within a span of their own"
        if isinstance(query.returns, Matches):
            return "CET detects complete trends, not all; write RETURN COMPLETE MATCHES"
        if isinstance(query.returns, Aggregates):
            return unsupported_aggregation(query, self.detect)
        reason = unsupported_complete(query)
        if reason is None and self.detect == "baseline":
            return _unsupported_by_baseline(query)
        return reason

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """Nothing is decided here: executors plan the graphlets of each window."""
        notice = "detect=plan plans graphlets and detects no trends: its answers are empty"
        unanswered = self.detect == "plan"
        return Plan(workload, notices=(notice,) if unanswered else (), unanswered=unanswered)

    def operator(self, plan: Plan) -> Operator:
        """A graph and a detector per query and key, each with its share of the memory."""
        return per_key(plan.workload, partial(self._executor, self.memory // max(1, len(plan.workload))))

    def _executor(self, memory: int, query: CompiledQuery, part: Part, window: Window) -> Executor:
        if query.window is not None and query.window.counts_events:
            memory //= query.window.overlap
        if isinstance(query.query.returns, Aggregates):
            return TwoStepExecutor(query, part, window, detect=self.detect, limit=memory)
        types = [position.type for position in part.automaton.positions]
        detector = self._detector(MemoryLimit(memory), query.summarised, window, repeats=len(set(types)) < len(types))
        prescribed = self.graphlets is not None or self.intervals is not None or self.partition == RANDOM
        searches = self.detect in ("hybrid", "plan") and not prescribed
        return CetExecutor(query, part, window, detector, partial(load, self.partition) if searches else None)

    def _detector(self, limit: MemoryLimit, summarised: bool, window: Window, *, repeats: bool) -> Detector:
        match self.detect:
            case "baseline":
                return Baseline(limit, summarised=summarised)
            case "memory":
                return MemoryOptimized(limit, summarised=summarised)
            case "time":
                return Stored(limit, _whole, shares=False, summarised=summarised)
            case "plan":
                return PlansOnly(limit, self._planned(window), summarised=summarised)
            case _:
                # A graphlet is known by its events, of which the next window may need other positions.
                shares = window.slide < window.within and self.sharing == "windows" and not repeats
                return Stored(limit, self._planned(window), shares=shares, summarised=summarised)

    def _planned(self, window: Window) -> Partition:
        if self.graphlets is not None:
            return partial(prescribed, graphlets=self.graphlets, ratio=self.ratio)
        if self.intervals is not None:
            return partial(by_time, length=max(1, window.within // self.intervals))
        return RandomPartition(self.seed) if self.partition == RANDOM else partial(partition, method=self.partition)


def _whole(graph: WindowGraph, /, *, limit: int) -> PartitionPlan:
    """One graphlet, regardless of the limit: T-CET."""
    return PartitionPlan(np.array([0, len(graph.time)], np.int64), 0.0, 0, {})


def _unsupported_by_baseline(query: Query) -> str | None:
    [automaton] = analyse(query).automata
    if any(position.start is None or position.end is None for position in automaton.positions):
        return "the baseline takes every event as START and END of a trend, so it needs patterns such as E+"
    return None
