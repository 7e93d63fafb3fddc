"""MCEP: multi-pattern detection by a global plan that local search finds (Kolchinsky and Schuster, SIGMOD 2019)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf, isinf
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Executor, Plan
from cepbench.algorithms.mcep.adaptivity import SAMPLE, AdaptivePlanner
from cepbench.algorithms.mcep.aggregation import detection_workload, not_countable, not_detectable
from cepbench.algorithms.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.mcep.migration import AdaptiveExecutor
from cepbench.algorithms.mcep.plan import MultiPatternPlan, tables_of
from cepbench.algorithms.mcep.planning.optimiser import BASELINES, COSTS, PlanningOptions, planned
from cepbench.algorithms.mcep.planning.patterns import patterns_of
from cepbench.algorithms.mcep.planning.planners import GENERATORS
from cepbench.algorithms.mcep.planning.search import SearchBudget
from cepbench.algorithms.mcep.statistics import SampledStatistics, known_selectivities
from cepbench.algorithms.options import Option
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query

STRATEGIES = {"annealing": "sa", "tabu": "tabu", **{name: name for name in BASELINES}}
SHAPES = {"subexpression": "trees", "prefix": "orders"}
IDLE_STEPS = 200
"""Steps per pattern without a cheaper plan, after which a search is over unless it stops by time alone."""
STOPS = ("idle", "time")


class Mcep(Algorithm):
    """Detects the matches of all patterns by one plan in which they share sub-patterns.

    - `plan`: `annealing` or `tabu` search for it; `trivial` shares nothing and reorders nothing, `re` reorders, `sh`
      shares all it can in the order of the queries, `sh-rr` by SPASS's redundancy ratio, `sh-mdt` as MOTTO does.
    - `neighborhood`: of the search, `edge` (two patterns change) or `vertex` (a pattern and up to `k` - 1 others).
    - `sharing`: `subexpression` (the tree-based engine on a multitree), or `prefix` (the order-based one on a tree of
      orders).
    - `local`: plans of single patterns by dynamic programming (`dp`) or `greedy`.
    - `costs`: by which plans are looked for: `paper`, the instances that are kept (Section 3.3), or `executor`, not in
      the paper: what this engine does to make them. Baselines are as published with either.
    - `adapt`: `never`, or the ratio by which a rate or a selectivity of the latest events has to differ from those that
      the plan was made for, to make another one while the stream goes on; `once` plans with what the stream begins
      with instead of statistics of the whole stream, and keeps that plan.
    - `sample`: the latest events on which `adapt` measures, four times while they pass.
    - `seconds` of the search; `seed` of its random choices.
    - `stop`: `time`, as in the paper, searches for all `seconds`; `idle`, not in the paper, ends earlier if nothing
      cheaper was found for long, so that few patterns do not take all `seconds`.

    Time is that of all pairs of instances that meet in the nodes of the plan, space that of the instances in their
    windows, exponential in the events of a Kleene operand; both are bounded by the costs that the optimiser minimises
    (Section 3.3). Departures from the paper are in docs/algorithms.md.
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
    ) -> None:
        option = partial(Option, self.name)
        self.strategy = STRATEGIES[option("plan", plan).among(tuple(STRATEGIES))]
        vertices = option("k", k).count(2)
        self.neighbourhood = 2 if option("neighborhood", neighborhood).among(("edge", "vertex")) == "edge" else vertices
        self.shape = SHAPES[option("sharing", sharing).among(tuple(SHAPES))]
        self.seconds = option("seconds", seconds).positive()
        self.generator = option("local", local).among(GENERATORS)
        self.costs = option("costs", costs).among(tuple(COSTS))
        self.seed = option("seed", seed).count(0)
        self.stop = option("stop", stop).among(STOPS)
        fixed = {"never": None, "once": inf}
        self.adapt = fixed[adapt] if adapt in fixed else option("adapt", adapt).ratio()
        self.sample = option("sample", sample).count(1)
        self.planning_options(1)  # what does not go together is told before anything runs

    def unsupported(self, query: Query) -> str | None:
        """All but detection, and counts of plain trends (`mcep.aggregation`)."""
        return not_countable(query) if query.span is None else not_detectable(query)

    def plan(self, workload: Workload, statistics: Statistics) -> MultiPatternPlan:
        """The optimiser, for all patterns together."""
        detecting = detection_workload(workload)
        patterns = patterns_of(detecting)
        selectivities = known_selectivities(patterns, statistics)
        found = planned(patterns, statistics, selectivities, self.planning_options(len(patterns)))
        tables, queries = tables_of(detecting, found.plan)
        details = {**found.details, "sample_events": float(selectivities.events)}
        details["sample_seconds"] = selectivities.seconds
        details["patterns"] = float(len(patterns))
        known = None
        if statistics.events and not (self.adapt is None or isinf(self.adapt)):
            known = SampledStatistics(replace(statistics, sampler=None), selectivities)
        return MultiPatternPlan(workload, tables, queries, found.trace, self.adapt, known, details=details)

    def executor(self, plan: Plan) -> Executor:
        """Carries the plan out."""
        assert isinstance(plan, MultiPatternPlan)
        if plan.adapt is not None:
            options = self.planning_options(len(plan.queries))
            planner = AdaptivePlanner(plan.detecting, options, plan.adapt, self.sample)
            return AdaptiveExecutor(planner, plan.tables, plan.queries, plan.windows, plan.planned_for)
        return DetectionExecutor(plan.detecting, plan.tables, plan.queries, plan.windows)

    def planning_options(self, patterns: int) -> PlanningOptions:
        """What the optimiser is asked to do for so many patterns."""
        budget = SearchBudget(self.seconds, idle=IDLE_STEPS * patterns if self.stop == "idle" else None)
        return PlanningOptions(
            self.strategy, self.shape, self.neighbourhood, self.generator, self.costs, self.seed, budget
        )
