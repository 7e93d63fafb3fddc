"""CORE: a complex event automaton and a timed enumerable compact set (Bucchi et al., PVLDB 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan
from cepbench.algorithms.compose import detecting_per_key
from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.counting import CountExecutor
from cepbench.algorithms.detection.core.executor import CoreExecutor
from cepbench.algorithms.options import Option
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import CompiledQuery, Workload
from cepbench.queries.detection_rules import alternatives
from cepbench.queries.model import Aggregates, And, Comparison, Not, Query, Seq


@dataclass(frozen=True)
class CorePlan(Plan):
    """The automata of the queries, by query index. The keys of a process share them and add states on demand."""

    automata: Mapping[int, SubsetAutomaton]


class Core(Algorithm):
    """Detects matches within a span: constant time per event, then enumeration with linear delay.

    The time per event does not depend on the number of runs; the delay before a match is linear in its length. The
    automaton of SEQ, OR and + with predicates on single events is determinized on demand. Its runs are stored in a
    compact set; an event adds one node per state from which a run takes it. Time is O(predicates + states) per event
    and at most 2 l steps per match of l events; space is O(states) per event of one span.

    - `count`: how COUNT(*) is evaluated. `enumerate` visits all matches, as in the paper; `products` (ours) multiplies
      counts without a search, O(states) amortized per state from which a run takes an event (`core.kernels.counting`).
    - `limit`: the maximum number of matches per last event; those found first are reported. Such an answer is cut off
      and is not compared.

    Departures: docs/algorithms/core.md.

    References
    ----------
    Bucchi, Grez, Quintana, Riveros, Vansummeren: CORE: a Complex Event Recognition Engine. PVLDB 15(9), 2022.
    """

    name: ClassVar[str] = "core"
    counts_matches: ClassVar[bool] = True
    paper: ClassVar[str] = "Bucchi et al., PVLDB 2022"
    enumerates: ClassVar[bool] = True
    detects: ClassVar[bool] = True
    narrow: ClassVar[bool] = True

    def __init__(self, count: str = "products", limit: str = "none") -> None:
        self.count = Option(self.name, "count", count).among(("enumerate", "products"))
        self.limit = Option(self.name, "limit", limit).whole("none") or 0

    def unsupported(self, query: Query) -> str | None:
        """Everything but detection of SEQ, OR and + with predicates on single events."""
        if query.span is None:
            return "CORE detects matches within a span of their own; write WITHIN ... PER MATCH"
        if self.limit and isinstance(query.returns, Aggregates):
            return "a number of matches per last event (limit) leaves nothing to count"
        if any(isinstance(predicate, Comparison) for predicate in query.predicates):
            return "CORE's automaton reads one event at a time, so predicates on two events are not supported"
        for pattern, _ in alternatives(query.pattern):
            if isinstance(pattern, And):
                return "CORE's patterns are sequences, so AND is not supported; write its orders out by OR"
            if isinstance(pattern, Seq) and any(isinstance(part, Not) for part in pattern.parts):
                return "CORE's automaton cannot require that an event is absent, so NOT is not supported"
        return None

    def plan(self, workload: Workload, statistics: Statistics) -> CorePlan:
        """The automata, each with its initial state only."""
        automata = {query.index: SubsetAutomaton.of(query.parts[0]) for query in workload}
        if not self.limit:
            return CorePlan(workload, automata)
        notice = f"limit={self.limit} reports at most {self.limit} matches per last event: answers are cut off"
        return CorePlan(workload, automata, notices=(notice,), cut_off=True)

    def operator(self, plan: Plan) -> Operator:
        """The runs of each query on each key."""
        assert isinstance(plan, CorePlan)
        return detecting_per_key(plan.workload, partial(self._executor, plan))

    def _executor(self, plan: CorePlan, query: CompiledQuery) -> Executor:
        automaton = plan.automata[query.index]
        if isinstance(query.query.returns, Aggregates) and self.count == "products":
            return CountExecutor(query, automaton)
        return CoreExecutor(query, automaton, self.limit)
