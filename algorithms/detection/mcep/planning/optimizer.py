"""From patterns and statistics to a global plan, by a named strategy (MCEP, Sections 4 to 6)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from cepbench.algorithms.detection.mcep.planning.baselines import shared, shared_by_redundancy, unshared
from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.engine_costs import EngineCosts
from cepbench.algorithms.detection.mcep.planning.graph import MultiPatternGraph
from cepbench.algorithms.detection.mcep.planning.neighborhood import neighborhood_of
from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern
from cepbench.algorithms.detection.mcep.planning.planners import LocalPlanner
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.search import CostPoint, SearchBudget, anneal, tabu_search
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities
from cepbench.algorithms.detection.mcep.planning.steiner import shared_by_merging
from cepbench.algorithms.detection.mcep.planning.subpatterns import SubPatternTable
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics

SEARCHES = ("sa", "tabu")
BASELINES = ("trivial", "re", "sh", "sh-rr", "sh-mdt")
COSTS: Mapping[str, type[CostModel]] = {"paper": CostModel, "executor": EngineCosts}
IN_TREES = ("sh-rr", "sh-mdt")
DEFAULT_BUDGET = SearchBudget(seconds=180.0)
"""Default time limit of a search in seconds (Section 6.1)."""


@dataclass(frozen=True)
class PlanningOptions:
    """How a global plan is searched; the defaults are SA-EDGE of the paper's experiments.

    - `strategy`: `sa` (simulated annealing) or `tabu`; or one of `BASELINES`, which do not search.
    - `shape`: `trees` (Section 5) or `orders`, which share prefixes only (EDGE-PREFIX).
    - `neighborhood`: k of N_vertex^k; 2 is N_edge.
    - `generator` of local plans: `dp` or `greedy`.
    - `costs` that searches and generators minimize: `paper` (Section 3.3), or the work of this `executor`.

    Raises `CepbenchError` for an unknown strategy, and for a strategy that orders do not support.
    """

    strategy: str = "sa"
    shape: str = "trees"
    neighborhood: int = 2
    generator: str = "dp"
    costs: str = "paper"
    seed: int = 0
    budget: SearchBudget = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        if self.strategy not in (*SEARCHES, *BASELINES):
            known = ", ".join((*SEARCHES, *BASELINES))
            raise CepbenchError(f"unknown strategy {self.strategy!r} for multi-pattern plans; choose one of {known}")
        if self.costs not in COSTS:
            raise CepbenchError(f"unknown costs {self.costs!r}; choose {' or '.join(COSTS)}")
        if self.strategy in IN_TREES and self.shape == "orders":
            raise CepbenchError(f"{self.strategy} shares sub-patterns that are not prefixes; choose trees, not orders")


@dataclass(frozen=True)
class PlannedPatterns:
    """A global plan, the costs over time of the search for it, and statistics of both by name."""

    plan: MultiPlan
    trace: tuple[CostPoint, ...]
    details: Mapping[str, float]


def planned(
    patterns: Sequence[DetectionPattern],
    statistics: Statistics,
    selectivities: Selectivities,
    options: PlanningOptions | None = None,
) -> PlannedPatterns:
    """The global plan of some patterns; pattern i has number i in it.

    The search limit does not include the time for the multi-pattern graph and the first local plans.
    """
    chosen = PlanningOptions() if options is None else options
    begin = time.perf_counter()
    numbers = range(len(patterns))
    costs = COSTS[chosen.costs](SubPatternTable(patterns), statistics, selectivities)
    details: dict[str, float] = {}
    trace: tuple[CostPoint, ...] = ()
    # Checked for all strategies, so that a wrong name is reported before anything runs.
    planner = LocalPlanner(costs, chosen.shape, chosen.generator)
    if chosen.strategy in SEARCHES:
        graph = MultiPatternGraph(costs.table, numbers)
        neighborhood = neighborhood_of(graph, planner, chosen.neighborhood)
        plan = planner.start(numbers)
        details |= {
            "graph_edges": float(len(graph.edges())),
            "graph_density": graph.density,
            "common_subpatterns": float(len(graph.patterns_of)),
            "start_cost": plan.cost,
            "prepare_seconds": time.perf_counter() - begin,
        }
        search = anneal if chosen.strategy == "sa" else tabu_search
        outcome = search(plan, neighborhood, Random(chosen.seed), chosen.budget)
        trace = outcome.trace
        details |= {
            "search_steps": float(outcome.steps),
            "search_seconds": outcome.seconds,
            "stopped_early": float(outcome.stopped_early(chosen.budget)),
        }
    else:
        plan = _baseline(chosen, costs, numbers)
    details |= {
        "cost": plan.cost,
        "inner_cost": plan.inner_cost,
        "nodes": float(len(plan)),
        "shared_nodes": float(sum(plan.users(node) > 1 for node in plan.in_order())),
        "plan_seconds": time.perf_counter() - begin,
    }
    return PlannedPatterns(plan, trace, details)


def _baseline(options: PlanningOptions, costs: CostModel, patterns: Sequence[int]) -> MultiPlan:
    match options.strategy:
        case "sh":
            return shared(costs, patterns, options.shape)
        case "sh-rr":
            return shared_by_redundancy(costs, patterns)
        case "sh-mdt":
            return shared_by_merging(costs, patterns)
    return unshared(costs, patterns, options.shape, reordered=options.strategy == "re")
