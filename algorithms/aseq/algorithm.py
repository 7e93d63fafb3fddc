"""A-Seq: a counter per prefix of an event sequence and per START event (dissertation 22.2)."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from cepbench.algorithms.aseq.growth import GrowingSequences
from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan
from cepbench.algorithms.options import Option
from cepbench.algorithms.sequences.evaluator import SequenceEvaluator
from cepbench.algorithms.sequences.executor import SequenceExecutor, sequence_lanes
from cepbench.algorithms.sequences.flattening import is_kleene, sequences_of, unsupported_as_sequences
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import Query


class ASeq(Algorithm):
    """Online aggregation of event sequences, each query on its own.

    An event at place j adds the counter of prefix j - 1 to that of prefix j, for each START event that is live: O(k n)
    time for n live START events and k places that it matches, O(n l) space for a sequence of length l (Equation 22.2).
    START events expire with their last window. Where windows do not overlap, none expires inside a window, and one
    counter per prefix serves all of them (Figure 22.2): O(k) time, O(l) space.

    Kleene patterns are flattened into sequences of every length, as the papers do it: up to `max_length`, or by default
    as far as the longest match so far needs. A match of l events then costs sequences of length 1 to l.

    Departures: the START events of one time stamp have one counter, for they precede the same events and expire
    together. An index leads from event types to the places of all queries.
    """

    name: ClassVar[str] = "aseq"
    paper: ClassVar[str] = "Qi et al., SIGMOD 2014 (A-Seq); Poppe 2018 (dissertation), 22.2"
    flattens: ClassVar[bool] = True

    def __init__(self, max_length: int | str = "none") -> None:
        self.max_length = Option(self.name, "max_length", str(max_length)).whole("none")

    def unsupported(self, query: Query) -> str | None:
        """Match queries, other semantics, predicates between events, negation outside of a sequence or of patterns."""
        return unsupported_as_sequences(query, kleene=True)

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """Nothing is shared."""
        flat = (query for query in workload if not self._grows(query))
        sequences = tuple(sequence for query in flat for sequence in sequences_of(query, self.max_length))
        return SharingPlan(workload, sequences, (), max_length=self.max_length)

    def executor(self, plan: Plan) -> Executor:
        """One executor for all queries."""
        assert isinstance(plan, SharingPlan)
        return SequenceExecutor(plan, partial(_evaluator, plan.workload.schema, self.max_length))

    def operator(self, plan: Plan) -> Operator:
        """Lanes of counters, if all patterns are without Kleene closure."""
        assert isinstance(plan, SharingPlan)
        return sequence_lanes(plan) or super().operator(plan)

    def _grows(self, query: CompiledQuery) -> bool:
        """Whether sequences are found during the run, or on their own for the sides of AND."""
        kleene = is_kleene(query.parts[0].automaton)
        return query.analysis.conjunction or (kleene and self.max_length is None)


def _evaluator(
    schema: Schema, max_length: int | None, query: CompiledQuery, part: Part, window: Window
) -> SequenceEvaluator:
    """Of a query that is counted on its own."""
    if max_length is None and is_kleene(part.automaton):
        return GrowingSequences(schema, query, part, window)
    return SequenceEvaluator(schema, max_length, query, part, window)
