"""Sharon: shared online event sequence aggregation (dissertation Part III)."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Sequence as Many
from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan
from cepbench.algorithms.options import Option
from cepbench.algorithms.sequences.event_sequence import Sequence
from cepbench.algorithms.sequences.executor import SequenceExecutor, sequence_lanes
from cepbench.algorithms.sequences.flattening import sequences_of, unsupported_as_sequences
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.algorithms.sharon.optimiser import OPTIMISERS, BenefitModel, ExecutorBenefit, optimise
from cepbench.algorithms.sharon.optimiser.limits import Limits
from cepbench.events.statistics import Statistics
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Workload
from cepbench.queries.model import Query

BENEFITS = ("paper", "executor")
MOST_MEMORY = 2**50
"""Bytes, more than any machine has."""
FELL_BACK = "sharon: the search for an optimal plan reached a limit; the plan is the best of GWMIN's and those seen"


class Sharon(Algorithm):
    """Plans which queries share the counting of which patterns, and counts each shared pattern once.

    - `optimizer`: `sharon` (an optimal plan of the expanded SHARON graph), `greedy` (GWMIN on the graph as it is, no
      conflict is resolved), `exhaustive` (all sets of options), `none` (nothing is shared: A-Seq), or `integer`, not in
      the paper: an optimal plan over all subsets of queries, by a solver of integer programs.
    - `limit`: seconds, and `memory`: of the plans that are stored. Beyond them, or with more than 8,192 options,
      `sharon` falls back to the best of GWMIN's plans and those that it has seen, and tells `fell_back`; so does
      `integer`, while `exhaustive` gives up with an error.
    - `benefit`: `paper` (Equations 22.1-22.11), or `executor`, not in the paper: what sharing saves here.
    - `substreams`: how many keys the rates of the stream are divided among; its statistics do not know.
    - `max_length`: Kleene patterns are flattened into sequences of up to so many events, and refused without it.

    Time and space of the search are exponential in the number of options in the worst case (Equation 23.5), those of
    `greedy` polynomial. The executor's are those of `algorithms.sequences.executor`.

    Departures from the paper. Sequences take the place of queries: alternatives of one query may share with one
    another. Queries of different windows or partition attributes share nothing (Section 24.2 would share segments of
    windows), and windows that count events share nothing; all others share where places match the same events,
    whatever they aggregate. The paper's model of combining counts, a product of the numbers of START events of prefix,
    pattern and suffix, is pessimistic for this executor, which keeps one result per window instead of one per START
    event of the prefix: it combines once per START event of the pattern and window that holds it, and with each START
    event of the part before only for a third part and those that follow.
    """

    name: ClassVar[str] = "sharon"
    paper: ClassVar[str] = "Poppe et al., ICDE 2018; Poppe 2018 (dissertation), Chapters 21-25"
    narrow: ClassVar[bool] = True

    def __init__(
        self,
        optimizer: str = "sharon",
        limit: str = "10",
        memory: str = "256MiB",
        benefit: str = "paper",
        substreams: str = "1",
        max_length: int | str = "none",
    ) -> None:
        option = partial(Option, self.name)
        self.optimizer = option("optimizer", optimizer).among(tuple(OPTIMISERS))
        self.limit, self.memory = option("limit", limit).positive(), option("memory", memory).size(MOST_MEMORY)
        self.benefit = option("benefit", benefit).among(BENEFITS)
        self.substreams = option("substreams", substreams).positive()
        self.max_length = option("max_length", str(max_length)).whole("none")

    def unsupported(self, query: Query) -> str | None:
        """Those that are no set of event sequences, conjunctions, and unbounded Kleene patterns."""
        if analyse(query).conjunction:
            return "the sides of AND would have to be counted side by side; Sharon shares parts of sequences only"
        return unsupported_as_sequences(query, kleene=self.max_length is not None)

    def plan(self, workload: Workload, statistics: Statistics) -> SharingPlan:
        """The optimiser."""
        found = [(query, s) for query in workload for s in sequences_of(query, self.max_length)]
        sequences = [s for _, s in found]
        families = [_family(query, number) for number, (query, _) in enumerate(found)]
        model = self._model([query for query, _ in found], sequences, statistics)
        decision = optimise(sequences, families, model, self.optimizer, Limits(self.limit, self.memory))
        return SharingPlan(
            workload,
            tuple(sequences),
            decision.shared,
            max_length=self.max_length,
            details=decision.details,
            notices=(FELL_BACK,) if decision.details["fell_back"] else (),
        )

    def executor(self, plan: Plan) -> Executor:
        """Carries the plan out."""
        assert isinstance(plan, SharingPlan)
        return SequenceExecutor(plan)

    def operator(self, plan: Plan) -> Operator:
        """Lanes of counters, if all patterns are without Kleene closure."""
        assert isinstance(plan, SharingPlan)
        return sequence_lanes(plan) or super().operator(plan)

    def _model(self, queries: Many[CompiledQuery], sequences: Many[Sequence], statistics: Statistics) -> BenefitModel:
        windows = [_window(query, statistics) for query in queries]
        rates = {name: rate / self.substreams for name, rate in statistics.rates.items()}
        if self.benefit == "paper":
            return BenefitModel(sequences, windows, rates)
        overlaps = [1 if query.window is None else query.window.overlap for query in queries]
        return ExecutorBenefit(sequences, windows, rates, overlaps)


def _family(query: CompiledQuery, number: int) -> Hashable:
    """What sequences must have in common to share; windows that count events are streams of their own."""
    if query.window is not None and query.window.counts_events:
        return number
    return query.window, query.partition


def _window(query: CompiledQuery, statistics: Statistics) -> float:
    """The length of a query's windows in units of time, at most that of the stream."""
    if query.window is None or query.window.counts_events:
        return statistics.duration
    return min(query.window.within, statistics.duration)
