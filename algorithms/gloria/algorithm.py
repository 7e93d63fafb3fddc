"""Gloria: a graph-based sharing optimizer for event trend aggregation, and its executor (Ma et al., SIGMOD 2022)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan, PlanningTooLong
from cepbench.algorithms.gloria.executor import GloriaExecutor
from cepbench.algorithms.gloria.optimizer.costs import COSTS, PaperCosts, rates_of
from cepbench.algorithms.gloria.optimizer.limits import SearchLimitReached, SearchLimits
from cepbench.algorithms.gloria.optimizer.optimizer import OPTIMIZERS, SharingDecision, optimize
from cepbench.algorithms.gloria.optimizer.pools import pools_of
from cepbench.algorithms.gloria.plan import GloriaPlan, PlannedSet, separated, sharable_sets
from cepbench.algorithms.gloria.sharing_plan import unshared
from cepbench.algorithms.gloria.template import states_of, template_of
from cepbench.algorithms.online.granularity import COARSEST, GRANULARITIES, kept_positions
from cepbench.algorithms.online.trends import unsupported_under_any
from cepbench.algorithms.options import Option
from cepbench.algorithms.snapshots.keys import operator_of_sets
from cepbench.algorithms.snapshots.members import SetMember, members_of
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query

LIGHTEST, NONE = "gloria", "none"
"""The default optimizer, and the one that shares nothing."""
FELL_BACK = "gloria: the search for a plan reached a limit; the plan is the greedy one"
THINNED = "gloria: a transition has too many plans to look at them all; the plan is the best of those seen"

DETAILS = (
    "template_seconds", "graph_seconds", "search_seconds", "plan_weight", "sharable_sets", "nodes", "graph_edges",
    "pruned_nodes", "pruned_edges", "graph_bytes", "shared_transitions", "snapshot_types", "thinned", "fell_back",
    "left_alone",
)  # fmt: skip


class Gloria(Algorithm):
    """Decides which queries share which transitions, and with whose snapshots, and executes this plan.

    - `optimizer`: `gloria` (a lightest path of the Gloria graph), `exact` (the same, with all edges and without
      limits of size), `greedy` (one plan of each transition, by the lightest edge), `algorithm1` (pruning and path
      search as in the paper, which miss the lightest path where transitions branch and join, docs/findings.md),
      `noprune` (the paper's NoPrune: the path search of Algorithm 1 on the whole graph), or `none`, which shares
      nothing and runs the code of COGRA, or of GRETA at event granularity.
    - `granularity`: `event`, the paper's: all events are kept, and visited by later ones; `coarsest`, ours: events that
      no predicate selects one by one are sums.
    - `costs`: `paper` (Equations 2-4), or `executor` (not in the paper), the work of this executor. With the latter,
      `gloria` also compares the plan of a set with sharing nothing, if the rates of the stream are known and
      no events are visited one by one. `details.left_alone` is the number of sets that share nothing for this reason.
    - `seconds`: of the search. After them `exact` and `noprune` raise an error, and the others fall back to the greedy
      plan (`details.fell_back`).
    - `substreams`: the number of keys among which the rates are divided, since statistics do not contain it.
    - `block`: `all` queries are planned together, as in the paper; with a number n, only blocks of n consecutive
      queries of the workload, as in the measurements that the authors published.

    Time of the search: linear in nodes and edges where transitions form trees, otherwise exponential in how much they
    depend on one another; where a transition has too many plans, not all are compared (`details.thinned`). The number
    of plans of a transition is bounded by its parts (`optimizer.nodes`), not by the number of queries.

    Departures from the paper are in docs/algorithms/gloria.md.
    """

    name: ClassVar[str] = "gloria"
    paper: ClassVar[str] = "Ma et al., SIGMOD 2022"

    def __init__(
        self,
        optimizer: str = "gloria",
        costs: str = "executor",
        seconds: str = "10",
        substreams: str = "1",
        granularity: str = COARSEST,
        block: str = "all",
    ) -> None:
        option = partial(Option, self.name)
        self.optimizer = option("optimizer", optimizer).among((*OPTIMIZERS, NONE))
        self.costs = option("costs", costs).among(tuple(COSTS))
        self.seconds = option("seconds", seconds).positive()
        self.substreams = option("substreams", substreams).positive()
        self.granularity = option("granularity", granularity).among(GRANULARITIES)
        self.block = option("block", block).whole("all")

    def unsupported(self, query: Query) -> str | None:
        """What GRETA refuses: match queries, pairwise predicates, semantics other than skip-till-any-match."""
        return unsupported_under_any("Gloria", query)

    def plan(self, workload: Workload, statistics: Statistics) -> GloriaPlan:
        """Runs the optimizer for each sharable set separately."""
        planning = _Planning(self, statistics, SearchLimits(self.seconds))
        members = members_of(workload)
        sets: list[PlannedSet] = []
        alone: list[SetMember] = members if self.optimizer == NONE else []
        for together in sharable_sets(members, self.block) if self.optimizer != NONE else ():
            shared, others = separated(planning.planned(together))
            sets += shared
            alone += others
        return GloriaPlan(
            workload,
            tuple(sets),
            tuple(alone),
            self.granularity,
            details=planning.details,
            notices=planning.notices,
        )

    def operator(self, plan: Plan) -> Operator:
        """With lanes if no queries share, or if keys have few events and no paper's plan was asked for; else by key."""
        assert isinstance(plan, GloriaPlan)
        ours = self.costs == "executor" and self.granularity == COARSEST
        return operator_of_sets(
            plan,
            super().operator(plan),
            self.granularity,
            shares=bool(plan.sets),
            weighs_keys=ours and self.optimizer == LIGHTEST,
        )

    def executor(self, plan: Plan) -> Executor:
        """Carries the plan out."""
        assert isinstance(plan, GloriaPlan)
        return GloriaExecutor(plan)


class _Planning:
    """Plans sharable sets one after the other, and adds up numbers on them."""

    def __init__(self, gloria: Gloria, statistics: Statistics, limits: SearchLimits) -> None:
        self.gloria, self.statistics, self.limits = gloria, statistics, limits
        self.rates = {name: rate / gloria.substreams for name, rate in statistics.rates.items()}
        self.details = dict.fromkeys(DETAILS, 0.0)

    @property
    def notices(self) -> tuple[str, ...]:
        """What users should know of the plan."""
        return tuple(text for name, text in (("fell_back", FELL_BACK), ("thinned", THINNED)) if self.details[name])

    def planned(self, members: Sequence[SetMember]) -> PlannedSet:
        """The plan of one set. Raises `PlanningTooLong`."""
        started = time.perf_counter()
        template = template_of(members)
        pools = pools_of(template)
        rates = rates_of([state.type for state in pools.states], self.statistics.rates)
        rates = [rate / self.gloria.substreams for rate in rates]
        windows = [self._window(member) for member in members]
        overlaps = [member.window.overlap for member in members]
        closings = [self._closings(member) for member in members]
        costs = COSTS[self.gloria.costs](rates, windows, overlaps, closings)
        self.details["template_seconds"] += time.perf_counter() - started
        try:
            decision = optimize(pools, costs, self.gloria.optimizer, self.limits)
        except SearchLimitReached as limit:
            message = f"the optimizer {self.gloria.optimizer} needs more than {limit}"
            raise PlanningTooLong(message, self.gloria.seconds) from None
        unshared_weight = self._unshared(members, costs)
        if unshared_weight < costs.carried_out(decision.weight, sum(self.rates.values())):
            decision = replace(decision, sharing=unshared(template), weight=unshared_weight)
            self.details["left_alone"] += 1
        self._note(decision)
        return PlannedSet(tuple(members), template, decision.sharing)

    def _unshared(self, members: Sequence[SetMember], costs: PaperCosts) -> float:
        """What sharing nothing costs; infinite where it is no choice: other optimizers, unknown rates, and events that
        are visited one by one, whose costs are not modeled.
        """
        gloria, rates = self.gloria, self.rates
        if gloria.optimizer != LIGHTEST or not rates:
            return inf
        if any(kept_positions(member.automaton, gloria.granularity).any() for member in members):
            return inf
        matched = [sum(rates.get(state.type, 0.0) for state in states_of(member)) for member in members]
        return costs.unshared(sum(rates.values()), matched)

    def _window(self, member: SetMember) -> float:
        """The length of a member's windows in units of time, at most that of the stream."""
        if not self.statistics.rates:
            return 1.0
        return float(min(member.window.within, self.statistics.duration))

    def _closings(self, member: SetMember) -> float:
        """How many of a member's windows close in a unit of time: of a short stream, those that begin in it."""
        most = member.window.overlap
        if self.statistics.rates:
            most = min(most, -(-self.statistics.duration // member.window.slide))
        return most / self._window(member)

    def _note(self, decision: SharingDecision) -> None:
        numbers, details = decision.numbers, self.details
        for name in ("nodes", "pruned_nodes", "pruned_edges", "graph_seconds", "search_seconds", "thinned"):
            details[name] += numbers[name]
        details["graph_edges"] += numbers["edges"]  # `edges` are those that an executor visits
        details["sharable_sets"] += 1
        details["plan_weight"] += decision.weight
        details["graph_bytes"] = max(details["graph_bytes"], numbers["bytes"])
        details["fell_back"] = max(details["fell_back"], numbers["fell_back"])
        shared = [[q.snapshot for q in q_sets if q.snapshot] for q_sets in decision.sharing.transitions.values()]
        details["shared_transitions"] += sum(map(bool, shared))
        details["snapshot_types"] += len({snapshot for snapshots in shared for snapshot in snapshots})
