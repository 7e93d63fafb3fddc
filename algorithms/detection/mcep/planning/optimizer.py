"""MCEP's optimizer: from patterns and statistics to a global plan (MCEP, Sections 4 to 6).

`planned` runs a strategy by name. `anneal` is the simulated annealing and `tabu_search` the Tabu search of Appendix B;
`neighborhood_of` draws the neighbors of Section 4.2, N_edge and N_vertex^k.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, inf
from random import Random

from cepbench.algorithms.detection.mcep.planning.baselines import (
    shared,
    shared_by_merging,
    shared_by_redundancy,
    unshared,
)
from cepbench.algorithms.detection.mcep.planning.costs import CostModel, EngineCosts
from cepbench.algorithms.detection.mcep.planning.graph import MultiPatternGraph
from cepbench.algorithms.detection.mcep.planning.local_plans import LocalPlanner
from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern, SubPatternTable
from cepbench.algorithms.detection.mcep.planning.plans import LocalPlan, MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics

SEARCHES = ("sa", "tabu")
RANDOM = "random"
"""The strategy that takes random steps, and searches nothing."""
BASELINES = ("trivial", "re", "alone", "sh", "sh-rr", "sh-mdt")
COSTS: Mapping[str, type[CostModel]] = {"paper": CostModel, "executor": EngineCosts}
IN_TREES = ("sh-rr", "sh-mdt")

COOLING = 0.99
"""Alpha in the paper: the factor by which the threshold decreases per step."""

PROBES = 1000
"""I in the paper: the neighbors of the first plan whose largest cost difference is the first threshold."""

TABU_CAPACITY = 10_000
"""C in the paper: the number of plans that are remembered."""

TABU_BREADTH = 100
"""L in the paper: the number of neighbors of which the cheapest is chosen."""

DRAWS = 16
"""Maximum number of draws for a plan that differs from the current one."""

Neighborhood = Callable[[MultiPlan, Random], list[LocalPlan]]
"""Draws a neighbor of a plan: the local plans that differ, or none if all draws were the current plan."""


@dataclass(frozen=True)
class SearchBudget:
    """When a search ends: after `seconds`, after `steps`, or after `idle` steps without a cheaper plan.

    A step is a neighbor whose cost is evaluated (Section 4.2). Raises `CepbenchError` without any limit.
    """

    seconds: float | None = None
    steps: int | None = None
    idle: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is None and self.steps is None and self.idle is None:
            raise CepbenchError("a search needs a limit of seconds, of steps or of idle steps")


DEFAULT_BUDGET = SearchBudget(seconds=180.0)
"""Default time limit of a search in seconds (Section 6.1)."""


@dataclass(frozen=True)
class PlanningOptions:
    """Options of the search for a global plan; the defaults are SA-EDGE of the paper's experiments.

    - `strategy`: `sa` (simulated annealing), `tabu`, or `random` steps; or one of `BASELINES`, which do not search.
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
        if self.strategy not in (*SEARCHES, RANDOM, *BASELINES):
            names = ", ".join((*SEARCHES, RANDOM, *BASELINES))
            raise CepbenchError(f"unknown strategy {self.strategy!r} for multi-pattern plans; choose one of {names}")
        if self.costs not in COSTS:
            raise CepbenchError(f"unknown costs {self.costs!r}; choose {' or '.join(COSTS)}")
        if self.strategy in IN_TREES and self.shape == "orders":
            raise CepbenchError(f"{self.strategy} shares sub-patterns that are not prefixes; choose trees, not orders")


@dataclass(frozen=True)
class CostPoint:
    """The cost of the cheapest plan so far, after a number of steps and seconds."""

    seconds: float
    steps: int
    cost: float


@dataclass(frozen=True)
class SearchOutcome:
    """The result of a search; `trace` has the cost of the first plan, of every cheaper plan, and at the end."""

    trace: tuple[CostPoint, ...]

    @property
    def steps(self) -> int:
        """Number of neighbors evaluated."""
        return self.trace[-1].steps

    @property
    def seconds(self) -> float:
        """Time used."""
        return self.trace[-1].seconds

    def stopped_early(self, budget: SearchBudget) -> bool:
        """Whether time was left."""
        return budget.seconds is not None and self.seconds < budget.seconds


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
    options = PlanningOptions() if options is None else options
    begin = time.perf_counter()
    numbers = range(len(patterns))
    costs = COSTS[options.costs](SubPatternTable(patterns), statistics, selectivities)
    details: dict[str, float] = {}
    trace: tuple[CostPoint, ...] = ()
    # Checked for all strategies, so that a wrong name is reported before anything runs.
    planner = LocalPlanner(costs, options.shape, options.generator)
    if options.strategy in (*SEARCHES, RANDOM):
        graph = MultiPatternGraph(costs.table, numbers)
        neighborhood = neighborhood_of(graph, planner, options.neighborhood)
        plan = planner.start(numbers)
        details |= {
            "graph_edges": float(len(graph.edges())),
            "graph_density": graph.density,
            "common_subpatterns": float(len(graph.patterns_of)),
            "start_cost": plan.cost,
            "prepare_seconds": time.perf_counter() - begin,
        }
        search = {"sa": anneal, "tabu": tabu_search, RANDOM: wander}[options.strategy]
        outcome = search(plan, neighborhood, Random(options.seed), options.budget)
        trace = outcome.trace
        details |= {
            "search_steps": float(outcome.steps),
            "search_seconds": outcome.seconds,
            "stopped_early": float(outcome.stopped_early(options.budget)),
        }
    elif options.strategy == "alone":
        plan = planner.alone(numbers)
    else:
        plan = _baseline(options, costs, numbers)
    details |= {
        "cost": plan.cost,
        "inner_cost": plan.inner_cost,
        "nodes": float(len(plan)),
        "shared_nodes": float(sum(plan.users(node) > 1 for node in plan.in_order())),
        "plan_seconds": time.perf_counter() - begin,
    }
    return PlannedPatterns(plan, trace, details)


def neighborhood_of(graph: MultiPatternGraph, planner: LocalPlanner, size: int = 2) -> Neighborhood:
    """N_edge for a `size` of 2, otherwise N_vertex^k of k = `size` patterns. Raises `CepbenchError` below 2.

    N_edge draws an edge and a common sub-pattern of its two patterns. N_vertex^k draws a pattern, a sub-pattern that it
    shares, and up to k patterns, itself included, that contain it. These get local plans that share the sub-pattern. If
    the empty sub-pattern is drawn, they get their best local plans, which undoes sharing. O(k m), plus the planner's
    time for new sub-patterns.
    """
    if size < 2:
        raise CepbenchError(f"a neighborhood of {size} patterns shares nothing; choose at least 2")

    def neighbor(plan: MultiPlan, random: Random) -> list[LocalPlan]:
        for _ in range(DRAWS):
            if size == 2:
                choice = graph.random_pair(random, planner.least)
            else:
                choice = graph.random_vertex(random, planner.least, size)
            if choice is None:
                return []
            fresh = planner.sharing(choice, random)
            changed = [local for local in fresh if plan.plans[local.pattern] is not local]
            if changed:
                return changed
        return []

    return neighbor


def anneal(
    plan: MultiPlan,
    neighborhood: Neighborhood,
    random: Random,
    budget: SearchBudget,
    cooling: float = COOLING,
    probes: int = PROBES,
) -> SearchOutcome:
    """Simulated annealing: changes `plan` to the cheapest plan of the search, which is never more expensive.

    A more expensive neighbor is accepted with probability exp(-increase / c). The threshold c starts with the largest
    difference of cost to `probes` neighbors of the first plan, and is multiplied by `cooling` at every step; it does
    not end the search. Probes are steps, too. The search can end after any step; O(m) time per step, plus that of the
    neighborhood.
    """
    search = _Search(plan, neighborhood, random, budget)
    threshold = 0.0
    while search.steps < probes and not search.over:
        neighbor = search.draw()
        increase, undo = search.move(neighbor)
        threshold = max(threshold, abs(increase))
        if increase < 0:
            search.remember()
        plan.exchange(undo)
    while not search.over:
        neighbor = search.draw()
        increase, undo = search.move(neighbor)
        if increase <= 0 or (threshold > 0 and random.random() < exp(-increase / threshold)):
            if increase < 0:
                search.remember()
        else:
            plan.exchange(undo)
        threshold *= cooling
    return search.end()


def tabu_search(
    plan: MultiPlan,
    neighborhood: Neighborhood,
    random: Random,
    budget: SearchBudget,
    capacity: int = TABU_CAPACITY,
    breadth: int = TABU_BREADTH,
) -> SearchOutcome:
    """Tabu search: changes `plan` to the cheapest plan of the search, which is never more expensive.

    Of `breadth` random neighbors, the search moves to the cheapest that is not among the last `capacity` plans. Plans
    are identified by their local plans, one per pattern: O(n + m) time per step, plus that of the neighborhood.
    """
    search = _Search(plan, neighborhood, random, budget)
    places = {pattern: place for place, pattern in enumerate(sorted(plan.plans))}
    present = [plan.plans[pattern].root for pattern in places]
    visited = {tuple(present)}
    oldest = deque(visited)
    while not search.over:
        cheapest, lowest, reached = None, inf, tuple(present)
        for _ in range(breadth):
            if search.over:
                break
            neighbor = search.draw()
            if not neighbor:
                continue
            roots = list(present)
            for local in neighbor:
                roots[places[local.pattern]] = local.root
            state = tuple(roots)
            if state in visited:
                continue
            increase, undo = search.move(neighbor)
            if increase < lowest:
                cheapest, lowest, reached = neighbor, increase, state
            plan.exchange(undo)
        if cheapest is not None:
            plan.exchange(cheapest)
            present = list(reached)
            search.remember()
            visited.add(reached)
            oldest.append(reached)
            if len(oldest) > capacity:
                visited.discard(oldest.popleft())
    return search.end()


def wander(plan: MultiPlan, neighborhood: Neighborhood, random: Random, budget: SearchBudget) -> SearchOutcome:
    """Changes `plan` to a random one: as many random neighbors one after another as the seed draws."""
    search = _Search(plan, neighborhood, random, budget)
    steps = random.randint(1, 4 * max(1, len(plan.plans)))
    while search.steps < steps and not search.over:
        search.move(search.draw())
    search.best, search.best_cost = dict(plan.plans), plan.cost
    return search.end()


@dataclass
class _Search:
    """The state of a search: the current plan, which steps change, and the cheapest plan so far."""

    plan: MultiPlan
    neighborhood: Neighborhood
    random: Random
    budget: SearchBudget
    begin: float = field(default_factory=time.perf_counter)
    steps: int = 0
    improved: int = 0

    def __post_init__(self) -> None:
        self.best = dict(self.plan.plans)
        self.best_cost = self.plan.cost
        self.best_prices = list(self.plan.prices.values())
        self.trace = [CostPoint(0.0, 0, self.best_cost)]

    @property
    def over(self) -> bool:
        """Whether the budget is used up."""
        limit = self.budget
        return (
            (limit.steps is not None and self.steps >= limit.steps)
            or (limit.idle is not None and self.steps - self.improved >= limit.idle)
            or (limit.seconds is not None and time.perf_counter() - self.begin >= limit.seconds)
        )

    def draw(self) -> list[LocalPlan]:
        """Draws a neighbor; this is a step even if there is none."""
        self.steps += 1
        return self.neighborhood(self.plan, self.random)

    def move(self, fresh: list[LocalPlan]) -> tuple[float, list[LocalPlan]]:
        """Moves to a neighbor; returns the increase of the cost and the local plans for moving back."""
        back = [self.plan.plans[local.pattern] for local in fresh]
        return self.plan.exchange(fresh), back

    def remember(self) -> None:
        """Remembers the current plan if it is the cheapest so far. O(nodes).

        The difference is rounded, not both costs: costs of patterns can differ by many orders of magnitude.
        """
        prices = self.plan.prices.values()
        if fsum((*prices, *(-price for price in self.best_prices))) < 0:
            self.best, self.best_cost, self.improved = dict(self.plan.plans), self.plan.cost, self.steps
            self.best_prices = list(prices)
            self._note()

    def end(self) -> SearchOutcome:
        """Makes the cheapest plan the current one."""
        self.plan.exchange(self.best.values())
        self._note()
        return SearchOutcome(tuple(self.trace))

    def _note(self) -> None:
        self.trace.append(CostPoint(time.perf_counter() - self.begin, self.steps, self.best_cost))


def _baseline(options: PlanningOptions, costs: CostModel, patterns: Sequence[int]) -> MultiPlan:
    match options.strategy:
        case "sh":
            return shared(costs, patterns, options.shape)
        case "sh-rr":
            return shared_by_redundancy(costs, patterns)
        case "sh-mdt":
            return shared_by_merging(costs, patterns)
    return unshared(costs, patterns, options.shape, reordered=options.strategy == "re")
