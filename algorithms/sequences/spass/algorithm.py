"""SPASS: shared two-step evaluation of event sequences (dissertation 21, 25.1; Sharon, ICDE 2018, Section VIII)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, PerKey, Plan
from cepbench.algorithms.compose import Several, by_window
from cepbench.algorithms.engine.flattening import sequences_of, unsupported_as_sequences
from cepbench.algorithms.options import Option
from cepbench.algorithms.sequences.spass.construction import SharedConstruction
from cepbench.algorithms.sequences.spass.plan import SpassPlan, plan_sharing
from cepbench.events.statistics import Statistics
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import Workload
from cepbench.queries.model import Aggregates, Query


class Spass(Algorithm):
    """Constructs shared sub-sequences once for all queries, joins them into sequences, and aggregates each of these.

    Only construction is shared: every sequence of every query is constructed before it is aggregated, as the papers
    describe SPASS. Time is O(l) per constructed sub-sequence, and O(l) per sequence and query, whose number is a
    polynomial of degree l in the events of a window. Space: the events of the open windows, and all instances of the
    shared sub-sequences in them.

    Departures. SPASS detects sequences; aggregation is added, as in the papers' comparison. The papers mention the
    redundancy ratio without its formula (`plan.redundancy_ratio`). SPASS runs queries concurrently in transactions,
    which a single-threaded executor does not need. Kleene patterns become sequences of every length up to `max_length`,
    and a longer match is an error.
    """

    name: ClassVar[str] = "spass"
    paper: ClassVar[str] = "Ray, Lei, Rundensteiner, SIGMOD 2016; Poppe 2018 (dissertation), Chapters 21 and 25"
    enumerates: ClassVar[bool] = True
    narrow: ClassVar[bool] = True

    def __init__(self, max_length: int | str = "none") -> None:
        self.max_length = Option(self.name, "max_length", str(max_length)).whole("none")

    def unsupported(self, query: Query) -> str | None:
        """AND, queries that are not a set of event sequences, and Kleene patterns of unbounded length."""
        if not isinstance(query.returns, Aggregates):
            return "SPASS aggregates the sequences that it constructs and does not return them"
        if analyse(query).conjunction:
            return "AND counts pairs of trends, which are not event sequences to share"
        return unsupported_as_sequences(query, self.max_length is not None)

    def plan(self, workload: Workload, statistics: Statistics) -> SpassPlan:
        """Chooses the sub-sequences that are constructed once."""
        sequences = tuple(s for query in workload for s in sequences_of(query, self.max_length))
        return plan_sharing(workload, sequences, statistics, self.max_length)

    def operator(self, plan: Plan) -> Operator:
        """Executes the queries of each window separately, on each key."""
        assert isinstance(plan, SpassPlan)
        return Several(
            PerKey(partial(SharedConstruction, plan, window, queries), replace(plan.workload, queries=tuple(queries)))
            for window, queries in by_window(plan.workload).items()
        )
