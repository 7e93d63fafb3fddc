"""MCEP: multi-pattern detection with a global plan from local search (Kolchinsky and Schuster, SIGMOD 2019).

`planning.optimizer` has the search (simulated annealing, Tabu search), `engine` and `kernels` execute its plan, and
`adaptivity` replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf, isinf
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Executor, IdleExecutor, Plan
from cepbench.algorithms.detection.mcep.adaptivity import SAMPLE, AdaptiveExecutor, AdaptivePlanner
from cepbench.algorithms.detection.mcep.aggregation import (
    counted_windows,
    detection_workload,
    not_countable,
    not_detectable,
)
from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.detection.mcep.engine.tables import EngineTables, tables_of
from cepbench.algorithms.detection.mcep.planning.local_plans import GENERATORS
from cepbench.algorithms.detection.mcep.planning.optimizer import (
    BASELINES,
    COSTS,
    CostPoint,
    PlanningOptions,
    SearchBudget,
    planned,
)
from cepbench.algorithms.detection.mcep.planning.patterns import patterns_of
from cepbench.algorithms.detection.mcep.planning.selectivities import SampledStatistics, known_selectivities
from cepbench.algorithms.options import Option
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query

STRATEGIES = {"annealing": "sa", "tabu": "tabu", "random": "random", **{name: name for name in BASELINES}}
SHAPES = {"subexpression": "trees", "prefix": "orders"}
IDLE_STEPS = 200
"""Steps per pattern without a cheaper plan after which a search ends, unless it only stops by time."""
STOPS = ("idle", "time")
INDICES = ("range", "none")
DETECTIONS = ("matches", "plan")


@dataclass(frozen=True)
class MultiPatternPlan(Plan):
    """A global plan as tables; `trace`: costs during the search.

    With `adapt`, it is replaced when one of the statistics `planned_for` changes by more than this ratio.
    """

    tables: EngineTables
    trace: tuple[CostPoint, ...] = ()
    adapt: float | None = None
    planned_for: SampledStatistics | None = None


class Mcep(Algorithm):
    """Detects the matches of all patterns by one global plan, in which patterns share sub-patterns.

    - `plan`: `annealing` or `tabu` search for the plan; `random` takes random steps, to compare costs with those of the
      model (`details.cost`); baselines are `trivial` (no sharing, no reordering), `re` (reordering only), `alone` (the
      best plan of each pattern, without sharing), `sh` (shares as much as possible without reordering), `sh-rr`
      (shares by the redundancy ratio of SPASS) and `sh-mdt` (shares as MOTTO).
    - `neighborhood` of the search: `edge` (two patterns change) or `vertex` (a pattern and up to `k` - 1 others).
    - `sharing`: `subexpression` (the tree-based engine on a multitree), or `prefix` (the order-based one on a tree of
      orders).
    - `local`: plans of single patterns by dynamic programming (`dp`) or `greedy`.
    - `costs`, which the search minimizes: `paper`, the number of instances stored (Section 3.3), or `executor` (not in
      the paper), the work of this engine. Baselines are as published in both cases.
    - `adapt`: `never`, or the ratio by which a rate or a selectivity of the latest events has to differ from that of
      the plan for replanning during the stream. `once` plans at the beginning of the stream, with the statistics of its
      first events instead of the whole stream, and keeps that plan.
    - `sample`: the number of latest events on which `adapt` measures statistics, four times per sample length.
    - `seconds` of the search; `seed` of its random choices.
    - `stop`: `time`, as in the paper, searches for all `seconds`; `idle` (not in the paper) ends earlier if it has not
      found a cheaper plan for long, so that few patterns do not take all `seconds`. A number is that of the steps of
      the search, regardless of their time.
    - `index`: joins find older instances by `range` indices of the values that conditions compare, or scan all of them
      (`none`, as the paper's engine does).
    - `detect`: `matches`, or only the `plan`, so that the answer is empty.

    Time is proportional to the pairs of instances that meet in the nodes of the plan, space to the instances in their
    windows, which are exponential in the events of a Kleene operand. Both are bounded by the costs that the optimizer
    minimizes (Section 3.3). docs/algorithms/mcep.md lists departures from the paper.
    """

    name: ClassVar[str] = "mcep"
    counts_matches: ClassVar[bool] = True
    paper: ClassVar[str] = "Kolchinsky and Schuster, SIGMOD 2019"
    enumerates: ClassVar[bool] = True
    detects: ClassVar[bool] = True
    narrow: ClassVar[bool] = True

    def __init__(
        self,
        plan: str = "annealing",
        neighborhood: str = "edge",
        k: str = "4",
        sharing: str = "subexpression",
        seconds: str = "1",
        local: str = "dp",
        seed: str = "1",
        adapt: str = "never",
        sample: str = str(SAMPLE),
        costs: str = "paper",
        stop: str = "idle",
        index: str = "range",
        detect: str = "matches",
    ) -> None:
        option = partial(Option, self.name)
        self.strategy = STRATEGIES[option("plan", plan).among(tuple(STRATEGIES))]
        vertices = option("k", k).count(2)
        self.neighborhood = 2 if option("neighborhood", neighborhood).among(("edge", "vertex")) == "edge" else vertices
        self.shape = SHAPES[option("sharing", sharing).among(tuple(SHAPES))]
        self.seconds = option("seconds", seconds).positive()
        self.generator = option("local", local).among(GENERATORS)
        self.costs = option("costs", costs).among(tuple(COSTS))
        self.seed = option("seed", seed).count(0)
        self.steps = option("stop", stop).count(1) if stop.isdecimal() else None
        self.stop = stop if stop.isdecimal() else option("stop", stop).among(STOPS)
        self.indexed = option("index", index).among(INDICES) == "range"
        self.detect = option("detect", detect).among(DETECTIONS)
        fixed = {"never": None, "once": inf}
        self.adapt = fixed[adapt] if adapt in fixed else option("adapt", adapt).ratio()
        self.sample = option("sample", sample).count(1)
        self.planning_options(1)  # raises errors about invalid combinations before anything runs

    def unsupported(self, query: Query) -> str | None:
        """Everything but detection, and counts of plain trends (`mcep.aggregation`)."""
        return not_countable(query) if query.span is None else not_detectable(query)

    def plan(self, workload: Workload, statistics: Statistics) -> MultiPatternPlan:
        """Runs the optimizer for all patterns together."""
        detecting = detection_workload(workload)
        patterns = patterns_of(detecting)
        selectivities = known_selectivities(patterns, statistics)
        outcome = planned(patterns, statistics, selectivities, self.planning_options(len(patterns)))
        details = {**outcome.details, "sample_events": float(selectivities.events)}
        details["sample_seconds"] = selectivities.seconds
        details["patterns"] = float(len(patterns))
        planned_for = None
        if statistics.events and not (self.adapt is None or isinf(self.adapt)):
            planned_for = SampledStatistics(replace(statistics, sampler=None), selectivities)
        tables = tables_of(detecting, outcome.plan, indexed=self.indexed)
        unanswered = self.detect == "plan"
        notices = ("detect=plan plans and detects no matches: its answers are empty",) if unanswered else ()
        return MultiPatternPlan(
            workload,
            tables,
            outcome.trace,
            self.adapt,
            planned_for,
            details=details,
            notices=notices,
            unanswered=unanswered,
        )

    def executor(self, plan: Plan) -> Executor:
        """Executes the plan."""
        assert isinstance(plan, MultiPatternPlan)
        if plan.unanswered:
            return IdleExecutor()
        detecting, windows = detection_workload(plan.workload), counted_windows(plan.workload)
        if plan.adapt is not None:
            options = self.planning_options(len(plan.tables.queries))
            planner = AdaptivePlanner(detecting, options, plan.adapt, self.sample, self.indexed)
            return AdaptiveExecutor(planner, plan.tables, windows, plan.planned_for)
        return DetectionExecutor(detecting, plan.tables, windows)

    def planning_options(self, patterns: int) -> PlanningOptions:
        """Options of the optimizer for a number of patterns."""
        seconds = self.seconds if self.steps is None else None
        budget = SearchBudget(seconds, self.steps, idle=IDLE_STEPS * patterns if self.stop == "idle" else None)
        return PlanningOptions(
            self.strategy, self.shape, self.neighborhood, self.generator, self.costs, self.seed, budget
        )
