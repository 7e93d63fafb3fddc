"""Sharon: shared online event sequence aggregation (dissertation Part III).

`optimizer` plans the sharing, in the SHARON graph of `graph`; `sequences.executor` counts, and
`sequences.kernels.combination` combines counts as x.y.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Sequence as Many
from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.engine.event_sequence import Sequence
from cepbench.algorithms.engine.flattening import sequences_of, unsupported_as_sequences
from cepbench.algorithms.options import Option
from cepbench.algorithms.sequences.executor import sequence_operator
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.algorithms.sequences.sharon.benefit import BenefitModel, ExecutorBenefit
from cepbench.algorithms.sequences.sharon.limits import Limits
from cepbench.algorithms.sequences.sharon.optimizer import OPTIMIZERS, optimize
from cepbench.events.statistics import Statistics
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Workload
from cepbench.queries.model import Query

BENEFITS = ("paper", "executor")
MAX_MEMORY = 2**50
"""In bytes, more than any machine has."""
FELL_BACK = "sharon: the search for an optimal plan reached a limit; the plan is the best of GWMIN's and those seen"


class Sharon(Algorithm):
    """Plans which queries share the counting of which patterns, and counts each shared pattern once.

    - `optimizer`: `sharon` (an optimal plan of the expanded SHARON graph), `greedy` (GWMIN on the graph without
      conflict resolution), `exhaustive` (all sets of options), `none` (no sharing: A-Seq), `integer` (not in the
      paper: an optimal plan over all subsets of queries, by an integer program solver), or `random`, a valid plan that
      `seed` draws, to compare costs with those of a model (`details.model_cost`).
    - `limit` in seconds, and `memory` of the stored plans. Beyond them, or with more than 8,192 options, `sharon` and
      `integer` fall back to the best of GWMIN's plans and those found so far and report `fell_back`; `exhaustive` ends
      with an error. Nothing is shared where the time ends before there is a graph.
    - `benefit`: `paper` (Equations 22.1-22.11), or `executor` (not in the paper): what sharing saves in this executor.
    - `substreams`: the number of keys among which the rates are divided, since statistics do not contain it.
    - `max_length`: Kleene patterns are flattened into sequences of up to this length; without it they are refused.

    In the worst case, time and space of the search are exponential in the number of options (Equation 23.5); those of
    `greedy` are polynomial. For the executor see `algorithms.sequences.executor`.

    Departures from the paper. Sequences replace queries: alternatives of one query can share with one another. Queries
    with different windows or partition attributes do not share (Section 24.2 would share segments of windows), nor do
    queries with count windows. All others share if places match the same events, regardless of their aggregates. The
    paper's cost of combining counts, a product of the numbers of START events of prefix, pattern and suffix, is
    pessimistic for this executor, which keeps one result per window instead of one per START event of the prefix. It
    combines once per START event of the pattern and window that contains it; combinations with each START event of the
    previous part are only needed from the third part on.
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
        seed: str = "1",
    ) -> None:
        option = partial(Option, self.name)
        self.optimizer = option("optimizer", optimizer).among(tuple(OPTIMIZERS))
        self.limit, self.memory = option("limit", limit).positive(), option("memory", memory).size(MAX_MEMORY)
        self.benefit = option("benefit", benefit).among(BENEFITS)
        self.substreams = option("substreams", substreams).positive()
        self.max_length = option("max_length", str(max_length)).whole("none")
        self.seed = option("seed", seed).count(0)

    def unsupported(self, query: Query) -> str | None:
        """Queries that are not a set of event sequences, conjunctions, and unbounded Kleene patterns."""
        if analyse(query).conjunction:
            return "Sharon shares parts of sequences only, but the sides of AND have to be counted separately"
        return unsupported_as_sequences(query, kleene=self.max_length is not None)

    def plan(self, workload: Workload, statistics: Statistics) -> SharingPlan:
        """Runs the optimizer."""
        pairs = [(query, s) for query in workload for s in sequences_of(query, self.max_length)]
        sequences = [s for _, s in pairs]
        families = [_family(query, number) for number, (query, _) in enumerate(pairs)]
        model = self._model([query for query, _ in pairs], sequences, statistics)
        decision = optimize(sequences, families, model, self.optimizer, Limits(self.limit, self.memory), self.seed)
        return SharingPlan(
            workload,
            tuple(sequences),
            decision.shared,
            max_length=self.max_length,
            details=decision.details,
            notices=(FELL_BACK,) if decision.details["fell_back"] else (),
        )

    def operator(self, plan: Plan) -> Operator:
        """Executes the plan: lanes of counters, and an executor per key for queries with Kleene patterns."""
        return sequence_operator(plan)

    def _model(self, queries: Many[CompiledQuery], sequences: Many[Sequence], statistics: Statistics) -> BenefitModel:
        windows = [_window(query, statistics) for query in queries]
        rates = {name: rate / self.substreams for name, rate in statistics.rates.items()}
        if self.benefit == "paper":
            return BenefitModel(sequences, windows, rates)
        overlaps = [1 if query.window is None else query.window.overlap for query in queries]
        return ExecutorBenefit(sequences, windows, rates, overlaps)


def _family(query: CompiledQuery, number: int) -> Hashable:
    """The family of a sequence, within which it can share; queries with count windows are separate families."""
    if query.window is not None and query.window.counts_events:
        return number
    return query.window, query.partition


def _window(query: CompiledQuery, statistics: Statistics) -> float:
    """The length of a query's windows in time units, at most that of the stream."""
    if query.window is None or query.window.counts_events:
        return statistics.duration
    return min(query.window.within, statistics.duration)
