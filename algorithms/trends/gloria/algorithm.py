"""Gloria (Ma et al., SIGMOD 2022): its graph is `optimizer.graph`.

Algorithm 1, the search of a path in the paper, is `optimizer.algorithm_1`; the default, which is exact, is
`optimizer.elimination`.
`optimizer.optimizer` is the sharing optimizer, `executor` with `kernels.stream` the executor.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, Plan, PlanningTooLong
from cepbench.algorithms.options import Option
from cepbench.algorithms.trends.gloria.executor import gloria_sets
from cepbench.algorithms.trends.gloria.optimizer.costs import COSTS, ExecutorCosts, PaperCosts
from cepbench.algorithms.trends.gloria.optimizer.elimination import SearchLimitReached, SearchLimits
from cepbench.algorithms.trends.gloria.optimizer.optimizer import (
    BY_PATHS,
    KEPT,
    OPTIMIZERS,
    RANDOM,
    SEARCHES,
    optimize,
)
from cepbench.algorithms.trends.gloria.optimizer.pools import pools_of
from cepbench.algorithms.trends.gloria.plan import GloriaPlan, PlannedSet, Separated, separated, sharable_sets
from cepbench.algorithms.trends.gloria.template import template_of
from cepbench.algorithms.trends.online.granularity import COARSEST, GRANULARITIES, kept_positions
from cepbench.algorithms.trends.online.trends import unsupported_under_any
from cepbench.algorithms.trends.snapshots.members import SetMember, members_of
from cepbench.algorithms.trends.snapshots.sets import operator_of_sets
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query

OF_BLOCK = 2**12
"""The most combinations of how the parts of a pool of a block continue: those of a block of twelve queries."""
LIGHTEST, NONE = "gloria", "none"
"""The default optimizer, and the one that shares nothing."""
NOTICES = {
    "fell_back": "gloria: the search for a plan reached a limit; the plan is the greedy one",
    "thinned": "gloria: a transition has too many plans to look at them all; the plan is the best of those seen",
}
"""Notices to users on a plan, by the detail that is not 0 then."""

DETAILS = (
    "template_seconds", "graph_seconds", "search_seconds", "plan_weight", "sharable_sets", "nodes", "graph_edges",
    "pruned_nodes", "pruned_edges", "graph_bytes", "shared_transitions", "snapshot_types", "thinned", "fell_back",
    "left_alone", "paths", "enumerated_bytes",
)  # fmt: skip
MAXIMA = ("graph_bytes", "fell_back")
"""Details that are those of the largest set; others are added up."""


class Gloria(Algorithm):
    """Decides which queries share which transitions, and with whose snapshots, and executes this plan.

    - `optimizer`: `gloria` (a lightest path of the Gloria graph), `exact` (the same, with all edges; at a limit of
      size it fails), `greedy` (one plan of each transition, by the lightest edge), `algorithm1` (pruning and path
      search as in the paper, which miss the lightest path where transitions branch and join, docs/findings.md),
      `noprune` (the paper's NoPrune: the path search of Algorithm 1 on the whole graph), `random` (a path that `seed`
      draws, to compare costs with those of a model, `details.plan_weight`), or `none`, which shares nothing and runs
      the code of COGRA, or of GRETA at event granularity.
    - `search`: of `algorithm1` and `noprune`. `kept`: by the edges that pruning keeps, as in the paper; `enumerate`: of
      all paths with all combinations of end branches, as in the authors' released code (`optimizer.enumeration`).
      `details.paths` and `details.enumerated_bytes` are the paths and bytes as they count them.
    - `granularity`: `event`, the paper's: all events are kept, and visited by later ones; `coarsest`, ours: events that
      no predicate selects one by one are sums.
    - `costs`: `paper` (Equations 2-4), or `executor` (not in the paper), the work of this executor. With the latter,
      `gloria` also compares the plan of a set with sharing nothing, if the rates of the stream are known and
      no events are visited one by one. `details.left_alone` is the number of sets that share nothing for this reason.
    - `seconds`: of the search. After them, or at a limit of size, `exact`, `noprune` and `search=enumerate` raise an
      error, and the others fall back to the greedy plan (`details.fell_back`).
    - `substreams`: the number of keys among which the rates are divided, since statistics do not contain it.
    - `block`: `all` queries are planned together, as in the paper; with a number n, only blocks of n consecutive
      queries of the workload, as in the measurements that the authors published. The graph of a block has all nodes,
      up to `OF_BLOCK` combinations of how the parts of a pool continue.

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
        search: str = KEPT,
        seed: str = "1",
    ) -> None:
        option = partial(Option, self.name)
        self.optimizer = option("optimizer", optimizer).among((*OPTIMIZERS, RANDOM, NONE))
        self.costs = option("costs", costs).among(tuple(COSTS))
        self.seconds = option("seconds", seconds).positive()
        self.substreams = option("substreams", substreams).positive()
        self.granularity = option("granularity", granularity).among(GRANULARITIES)
        self.block = option("block", block).whole("all")
        self.search = option("search", search).among(SEARCHES if self.optimizer in BY_PATHS else (KEPT,))
        self.seed = option("seed", seed).count(0)

    def unsupported(self, query: Query) -> str | None:
        """Match queries, pairwise predicates, semantics other than skip-till-any-match, as GRETA."""
        return unsupported_under_any("Gloria", query)

    def plan(self, workload: Workload, statistics: Statistics) -> GloriaPlan:
        """Runs the optimizer for each sharable set separately."""
        details, members = dict.fromkeys(DETAILS, 0.0), members_of(workload)
        if self.optimizer == NONE:
            return GloriaPlan(workload, (), tuple(members), self.granularity, details=details)
        limits = SearchLimits(self.seconds) if self.block is None else SearchLimits(self.seconds, choices=OF_BLOCK)
        rates = {name: rate / self.substreams for name, rate in statistics.rates.items()}
        sets: list[PlannedSet] = []
        alone: list[SetMember] = []
        for together in sharable_sets(members, self.block):
            (sharing, unshared), numbers = self._planned(together, replace(statistics, rates=rates), limits)
            sets += sharing
            alone += unshared
            for name, number in numbers.items():
                details[name] = max(details[name], number) if name in MAXIMA else details[name] + number
        notices = tuple(text for name, text in NOTICES.items() if details[name])
        return GloriaPlan(workload, tuple(sets), tuple(alone), self.granularity, details=details, notices=notices)

    def operator(self, plan: Plan) -> Operator:
        """Carries the plan out; with few events per key perhaps without sharing, unless a paper's plan is asked for."""
        assert isinstance(plan, GloriaPlan)
        weighs_keys = self.costs == "executor" and self.granularity == COARSEST and self.optimizer == LIGHTEST
        return operator_of_sets(plan, gloria_sets(plan), plan.alone, self.granularity, weighs_keys=weighs_keys)

    def _planned(
        self, members: Sequence[SetMember], statistics: Statistics, limits: SearchLimits
    ) -> tuple[Separated, Mapping[str, float]]:
        """The plan of one set, and numbers on it. Raises `PlanningTooLong`."""
        started = time.perf_counter()
        template, rates = template_of(members), statistics.rates
        pools = pools_of(template)
        costs = self._costs(members, [state.type for state in pools.states], statistics)
        numbers = {"sharable_sets": 1.0, "template_seconds": time.perf_counter() - started}
        try:
            decision = optimize(pools, costs, self.optimizer, limits, self.search, self.seed)
        except SearchLimitReached as limit:
            message = f"the optimizer {self.optimizer} needs more than {limit}"
            raise PlanningTooLong(message, self.seconds) from None
        numbers |= {**decision.numbers, "plan_weight": decision.weight}
        # Sharing nothing is no choice where events are visited one by one, whose costs are not modeled.
        visited = (kept_positions(member.automaton, self.granularity).any() for member in members)
        if isinstance(costs, ExecutorCosts) and self.optimizer == LIGHTEST and rates and not any(visited):
            rate = sum(rates.values())
            matched = [sum(rates.get(state.type, 0.0) for state in states) for states in template.states]
            unshared = costs.unshared(rate, matched)
            if unshared < decision.weight + costs.whole(rate):
                return ((), tuple(members)), numbers | {"left_alone": 1.0, "plan_weight": unshared}
        shared = [[q.snapshot for q in q_sets if q.snapshot] for q_sets in decision.sharing.transitions.values()]
        numbers["shared_transitions"] = sum(map(bool, shared))
        numbers["snapshot_types"] = len({snapshot for snapshots in shared for snapshot in snapshots})
        return separated(PlannedSet(tuple(members), decision.sharing)), numbers

    def _costs(self, members: Sequence[SetMember], types: Sequence[str], statistics: Statistics) -> PaperCosts:
        """Costs with the rate of each type: 1 if nothing is known of the stream, 0 if it does not have the type.

        Windows are at most as long as the stream, and of a short stream those close that begin in it.
        """
        rates, duration = statistics.rates, statistics.duration
        windows, overlaps = [member.window for member in members], [member.window.overlap for member in members]
        lengths, closing = [1.0] * len(windows), overlaps
        if rates:
            lengths = [float(min(window.within, duration)) for window in windows]
            closing = [min(window.overlap, -(-duration // window.slide)) for window in windows]
        closings = [closed / length for closed, length in zip(closing, lengths, strict=True)]
        of_types = [rates.get(name, 0.0) if rates else 1.0 for name in types]
        return COSTS[self.costs](of_types, lengths, overlaps, closings)
