"""Algorithms that evaluate each query by itself."""

from __future__ import annotations

from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan
from cepbench.algorithms.engine.evaluator import Evaluator
from cepbench.algorithms.engine.lanes import Lanes, OneLane, lanes_of
from cepbench.algorithms.engine.per_query import IndependentQueries
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class IndependentAlgorithm(Algorithm):
    """Shares nothing between queries: it has an `evaluator` of one query and key, or `lanes` of one query, or both."""

    def evaluator(self, query: CompiledQuery, part: Part, window: Window) -> Evaluator:
        """Evaluates an automaton on one key over windows of time; by default with one lane."""
        lanes = self.lanes(query, part, window)
        if lanes is None:
            raise NotImplementedError(f"{self.name} has neither an evaluator nor lanes for a query")
        return OneLane(lanes)

    def lanes(self, query: CompiledQuery, part: Part, window: Window) -> Lanes | None:
        """Evaluates an automaton on all keys over windows of time, where there are lanes for it; none by default."""
        return None

    def executor(self, plan: Plan) -> Executor:
        return IndependentQueries(plan.workload, self.evaluator)

    def operator(self, plan: Plan) -> Operator:
        return lanes_of(plan, self.lanes) or super().operator(plan)
