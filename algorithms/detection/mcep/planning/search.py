"""Local search for a global plan: simulated annealing and Tabu search (MCEP, Appendix B)."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from math import exp, fsum, inf
from random import Random

from cepbench.algorithms.detection.mcep.planning.neighborhood import Neighborhood
from cepbench.algorithms.detection.mcep.planning.plans import LocalPlan, MultiPlan
from cepbench.events.errors import CepbenchError

COOLING = 0.99
"""Alpha in the paper: the factor by which the threshold decreases per step."""

PROBES = 1000
"""I in the paper: the neighbors of the first plan whose largest cost difference is the first threshold."""

TABU_CAPACITY = 10_000
"""C in the paper: the number of plans that are remembered."""

TABU_BREADTH = 100
"""L in the paper: the number of neighbors of which the cheapest is chosen."""


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


@dataclass
class _Climber:
    """The current plan, which steps change, and the cheapest one so far."""

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
        """Draws a neighbor; this is a step even if none is found."""
        self.steps += 1
        return self.neighborhood(self.plan, self.random)

    def move(self, fresh: list[LocalPlan]) -> tuple[float, list[LocalPlan]]:
        """Moves to a neighbor; returns the increase of the cost and the local plans for moving back."""
        back = [self.plan.plans[one.pattern] for one in fresh]
        return self.plan.exchange(fresh), back

    def settle(self) -> None:
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


def anneal(
    plan: MultiPlan,
    neighborhood: Neighborhood,
    random: Random,
    budget: SearchBudget,
    cooling: float = COOLING,
    probes: int = PROBES,
) -> SearchOutcome:
    """Simulated annealing: changes `plan` to the cheapest one that it finds, which is never more expensive.

    A more expensive neighbor is accepted with probability exp(-increase / c). The threshold c starts with the largest
    difference of cost to `probes` neighbors of the first plan, and is multiplied by `cooling` at every step; it does
    not end the search. Probes are steps, too. The search can end after any step; O(m) time per step, plus that of the
    neighborhood.
    """
    climber = _Climber(plan, neighborhood, random, budget)
    threshold = 0.0
    while climber.steps < probes and not climber.over:
        fresh = climber.draw()
        rise, back = climber.move(fresh)
        threshold = max(threshold, abs(rise))
        if rise < 0:
            climber.settle()
        plan.exchange(back)
    while not climber.over:
        fresh = climber.draw()
        rise, back = climber.move(fresh)
        if rise <= 0 or (threshold > 0 and random.random() < exp(-rise / threshold)):
            if rise < 0:
                climber.settle()
        else:
            plan.exchange(back)
        threshold *= cooling
    return climber.end()


def tabu_search(
    plan: MultiPlan,
    neighborhood: Neighborhood,
    random: Random,
    budget: SearchBudget,
    capacity: int = TABU_CAPACITY,
    breadth: int = TABU_BREADTH,
) -> SearchOutcome:
    """Tabu search: changes `plan` to the cheapest one that it finds, which is never more expensive.

    Of `breadth` random neighbors, the search moves to the cheapest that is not among the last `capacity` plans. Plans
    are identified by their local plans, one per pattern: O(n + m) time per step, plus that of the neighborhood.
    """
    climber = _Climber(plan, neighborhood, random, budget)
    places = {pattern: place for place, pattern in enumerate(sorted(plan.plans))}
    present = [plan.plans[pattern].root for pattern in places]
    visited = {tuple(present)}
    oldest = deque(visited)
    while not climber.over:
        cheapest, lowest, reached = None, inf, tuple(present)
        for _ in range(breadth):
            if climber.over:
                break
            fresh = climber.draw()
            if not fresh:
                continue
            there = list(present)
            for one in fresh:
                there[places[one.pattern]] = one.root
            state = tuple(there)
            if state in visited:
                continue
            rise, back = climber.move(fresh)
            if rise < lowest:
                cheapest, lowest, reached = fresh, rise, state
            plan.exchange(back)
        if cheapest is not None:
            plan.exchange(cheapest)
            present = list(reached)
            climber.settle()
            visited.add(reached)
            oldest.append(reached)
            if len(oldest) > capacity:
                visited.discard(oldest.popleft())
    return climber.end()
