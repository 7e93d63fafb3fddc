"""A-Seq: a counter per prefix of an event sequence and per START event (dissertation 22.2).

The counters are those of `sequences.counter`; `sequences.kernels.places` adds that of prefix j - 1 to that of prefix j,
and `growth` the sequences of longer Kleene matches.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, KeyedOperator, Operator, PerKey, Plan
from cepbench.algorithms.engine.flattening import is_kleene, sequences_of, unsupported_as_sequences
from cepbench.algorithms.options import Option
from cepbench.algorithms.sequences.aseq.growth import GrowingSequences
from cepbench.algorithms.sequences.executor import counted_apart, sequence_operator
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import Query


class ASeq(Algorithm):
    """Online aggregation of event sequences, separately for each query.

    An event at place j adds the counter of prefix j - 1 to that of prefix j, for each live START event: O(k n) time for
    n live START events and k places that the event matches, O(n l) space for a sequence of length l (Equation 22.2).
    START events expire with their last window. Where windows do not overlap, none expires inside a window, and one
    counter per prefix serves all of them (Figure 22.2): O(k) time, O(l) space.

    Kleene patterns are flattened into sequences of every length, as in the papers: up to `max_length`, or by default up
    to the length of the longest match so far. A match of l events then requires sequences of length 1 to l.

    Departures: START events with the same time share one counter, since they precede the same events and expire
    together. An index maps event types to the places of all queries.
    """

    name: ClassVar[str] = "aseq"
    paper: ClassVar[str] = "Qi et al., SIGMOD 2014 (A-Seq); Poppe 2018 (dissertation), 22.2"
    flattens: ClassVar[bool] = True

    def __init__(self, max_length: int | str = "none") -> None:
        self.max_length = Option(self.name, "max_length", str(max_length)).whole("none")

    def unsupported(self, query: Query) -> str | None:
        """Match queries, other semantics, predicates between events, negation outside a sequence or of patterns."""
        return unsupported_as_sequences(query, kleene=True)

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """Nothing is shared."""
        flat = (query for query in workload if not self._grows(query))
        sequences = tuple(sequence for query in flat for sequence in sequences_of(query, self.max_length))
        return SharingPlan(workload, sequences, (), max_length=self.max_length)

    def operator(self, plan: Plan) -> Operator:
        """Lanes of counters; an executor per key for Kleene patterns, whose sequences grow with a key's matches."""
        assert isinstance(plan, SharingPlan)
        return sequence_operator(plan, partial(_apart, plan))

    def _grows(self, query: CompiledQuery) -> bool:
        """Whether sequences are added during the run, or counted separately for the sides of AND."""
        kleene = is_kleene(query.parts[0].automaton)
        return query.analysis.conjunction or (kleene and self.max_length is None)


def _apart(plan: SharingPlan, query: CompiledQuery, part: Part, window: Window) -> KeyedOperator:
    """Counts the sequences of an automaton separately."""
    if plan.max_length is None and is_kleene(part.automaton):
        make = partial(GrowingSequences, plan.workload.schema, query, part, window)
        return PerKey(make, replace(plan.workload, queries=(query,)))
    return counted_apart(plan, query, part, window)
