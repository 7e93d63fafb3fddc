"""Local search for a global plan: simulated annealing and Tabu search (MCEP, Appendix B)."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from math import exp, fsum, inf
from random import Random

from cepbench.algorithms.mcep.planning.neighbourhood import Neighbourhood
from cepbench.algorithms.mcep.planning.plans import LocalPlan, MultiPlan
from cepbench.events.errors import CepbenchError

COOLING = 0.99
"""Of the paper: alpha, by which the threshold falls with every step."""

PROBES = 1000
"""Of the paper: I, the neighbours of the first plan whose largest difference is the first threshold."""

TABU_CAPACITY = 10_000
"""Of the paper: C, the plans that are remembered."""

TABU_BREADTH = 100
"""Of the paper: L, the neighbours of which the cheapest is taken."""


@dataclass(frozen=True)
class SearchBudget:
    """When a search ends: after `seconds`, after `steps`, or after `idle` steps without a cheaper plan.

    A step is a neighbour whose cost is evaluated (Section 4.2). Raises `CepbenchError` if nothing would end it.
    """

    seconds: float | None = None
    steps: int | None = None
    idle: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is None and self.steps is None and self.idle is None:
            raise CepbenchError("a search needs a limit of seconds, of steps or of idle steps")


@dataclass(frozen=True)
class CostPoint:
    """The cost of the cheapest plan so far, after so many steps and seconds."""

    seconds: float
    steps: int
    cost: float


@dataclass(frozen=True)
class SearchOutcome:
    """What a search did: `trace` has the first plan's cost, that of every cheaper plan, and that at the end."""

    trace: tuple[CostPoint, ...]

    @property
    def steps(self) -> int:
        """Neighbours evaluated."""
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
    """The present plan, which steps change, and the cheapest one so far."""

    plan: MultiPlan
    neighbourhood: Neighbourhood
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
        """A neighbour; a step, whether there is one or not."""
        self.steps += 1
        return self.neighbourhood(self.plan, self.random)

    def move(self, fresh: list[LocalPlan]) -> tuple[float, list[LocalPlan]]:
        """Goes to a neighbour, and tells by how much the cost rose and how to go back."""
        back = [self.plan.plans[one.pattern] for one in fresh]
        return self.plan.exchange(fresh), back

    def settle(self) -> None:
        """Remembers the present plan if it is the cheapest so far. O(nodes).

        The difference is rounded, not both costs: some patterns are dearer than others by many orders of magnitude.
        """
        prices = self.plan.prices.values()
        if fsum((*prices, *(-price for price in self.best_prices))) < 0:
            self.best, self.best_cost, self.improved = dict(self.plan.plans), self.plan.cost, self.steps
            self.best_prices = list(prices)
            self._note()

    def end(self) -> SearchOutcome:
        """Makes the cheapest plan the present one."""
        self.plan.exchange(self.best.values())
        self._note()
        return SearchOutcome(tuple(self.trace))

    def _note(self) -> None:
        self.trace.append(CostPoint(time.perf_counter() - self.begin, self.steps, self.best_cost))


def anneal(
    plan: MultiPlan,
    neighbourhood: Neighbourhood,
    random: Random,
    budget: SearchBudget,
    cooling: float = COOLING,
    probes: int = PROBES,
) -> SearchOutcome:
    """Makes `plan` the cheapest one that simulated annealing finds, never one dearer than it is.

    A dearer neighbour is taken with probability exp(-rise / c). The threshold c begins with the largest difference of
    cost to `probes` neighbours of the first plan, and falls by the factor `cooling` with every step; it ends no search.
    Probes are steps, too. The search can end after any step; O(m) time per step beside that of the neighbourhood.
    """
    climber = _Climber(plan, neighbourhood, random, budget)
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
    neighbourhood: Neighbourhood,
    random: Random,
    budget: SearchBudget,
    capacity: int = TABU_CAPACITY,
    breadth: int = TABU_BREADTH,
) -> SearchOutcome:
    """Makes `plan` the cheapest one that Tabu search finds, never one dearer than it is.

    Of `breadth` random neighbours, the search goes to the cheapest that is none of the last `capacity` plans. A plan is
    told from others by its local plans, one per pattern: O(n + m) time per step beside that of the neighbourhood.
    """
    climber = _Climber(plan, neighbourhood, random, budget)
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
