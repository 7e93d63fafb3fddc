"""DuckDB: an analytical engine of relational joins, for the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Idle, KeyedOperator, Operator, Plan
from cepbench.algorithms.compose import independent
from cepbench.algorithms.external.duckdb.operator import DetectionOnDuckDB, WindowsOnDuckDB
from cepbench.algorithms.external.duckdb.session import missing
from cepbench.algorithms.external.duckdb.statement import (
    MOST_JOINED,
    MOST_SEQUENCES,
    MOST_TRANSITIONS,
    Statement,
    detection_statement,
    sequences,
    window_statement,
)
from cepbench.algorithms.options import Option
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.automaton import Automaton
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.detection import clauses_of
from cepbench.queries.model import Aggregates, Query, Semantics, occurrences

PLANS = ("auto", "joins", "recursive")


class DuckDB(Algorithm):
    """DuckDB evaluates each query as one SQL statement (docs/algorithms/duckdb.md).

    `plan=joins` joins an event per position of a sequence, as Ziehn et al. map patterns to joins: for SEQ, AND, OR, NOT
    and repetitions with an upper bound. `plan=recursive` constructs the matches of any automaton by a recursion over
    pairs of events that can follow each other. `plan=auto` takes joins where the pattern is a few sequences. Both are
    two-step: matches are constructed, then aggregated, so time is at least their number.

    Events wait as arrays until windows close. One statement per call and query then returns the rows of these windows
    for all keys; each starts from the events. Space is that of the events of open windows, and of DuckDB's tables
    during a statement.

    References
    ----------
    Raasveldt, Mühleisen: DuckDB: an Embeddable Analytical Database. SIGMOD 2019.
    Ziehn, Grulich, Zeuch, Markl: Bridging the Gap: Complex Event Processing on Stream Processing Systems. EDBT 2024.
    """

    name: ClassVar[str] = "duckdb"
    counts_matches: ClassVar[bool] = True
    paper: ClassVar[str] = "Raasveldt and Mühleisen, SIGMOD 2019; patterns as joins: Ziehn et al., EDBT 2024"
    enumerates: ClassVar[bool] = True

    def __init__(self, plan: str = "auto") -> None:
        self.plan_name = Option(self.name, "plan", plan).among(PLANS)
        self.recursive = self.plan_name == "recursive"

    @classmethod
    def missing(cls) -> str | None:
        return missing()

    def unsupported(self, query: Query) -> str | None:
        """Queries that the plan does not express; every query if DuckDB is not installed."""
        return self._unsupported(query) or missing()

    def operator(self, plan: Plan) -> Operator:
        """An operator per query, which evaluates all keys in one statement."""
        schema = plan.workload.schema

        def part_operator(query: CompiledQuery, part: Part, window: Window) -> KeyedOperator:
            if _is_empty(part.automaton):  # the sides of an AND have no trend in common
                return Idle()
            types = None if query.query.semantics is Semantics.CONTIGUOUS else _types(query.query)
            return WindowsOnDuckDB(query, schema, self._window_statement(query, part, schema), types, window)

        def detection(query: CompiledQuery) -> KeyedOperator:
            statement = detection_statement(query, schema, self.recursive)
            return DetectionOnDuckDB(query, schema, statement, _types(query.query))

        return independent(plan.workload, part_operator, detection)

    def explain(self, plan: Plan) -> str:
        """The statements of all queries; an AND over windows has three, whose counts are then combined."""
        statements: list[Statement] = []
        for query in plan.workload:
            if query.detects:
                statements.append(detection_statement(query, plan.workload.schema, self.recursive))
            else:
                parts = (part for part in query.parts if not _is_empty(part.automaton))
                statements += (self._window_statement(query, part, plan.workload.schema) for part in parts)
        return "\n\n".join(f"{statement.sql};" for statement in statements)

    def _window_statement(self, query: CompiledQuery, part: Part, schema: Schema) -> Statement:
        return window_statement(query, part.automaton, schema, self.recursive)

    def _unsupported(self, query: Query) -> str | None:
        analysis = analyse(query)
        if analysis.conjunction and not isinstance(query.returns, Aggregates):
            return "AND returns a count of pairs, not matches"
        automata = [part for automaton in analysis.automata for part in _with_negated(automaton)]
        for automaton in automata:
            paths = None if self.recursive else sequences(automaton)
            if paths is None and self.plan_name == "joins":
                return (
                    f"joins need at most {MOST_SEQUENCES} sequences of at most {MOST_JOINED} events; "
                    "duckdb[plan=recursive] has no such limit"
                )
            size = len(automaton.transitions)
            if paths is None and size > MOST_TRANSITIONS:
                return f"the pattern has {size} transitions, and a statement at most {MOST_TRANSITIONS}"
            terms = [side for pair in automaton.pairwise for side in (pair.predicate.left, pair.predicate.right)]
            if paths is None and any(term.factor == 0 for term in terms):
                return "a recursion keeps no extremes of terms with a factor of 0, which may be no numbers"
        if query.span is None:
            return None
        clauses = clauses_of(query, analysis.names)
        if all(clause.ordered for clause in clauses):
            return None
        if self.recursive:
            return "an AND within a span has no order that a recursion could follow; duckdb[plan=joins] evaluates it"
        if any(operand.kleene for clause in clauses if not clause.ordered for operand in clause.operands):
            return "a Kleene operand of an AND within a span has no number of events that a join could have"
        if any(len(clause.operands) > MOST_JOINED for clause in clauses):
            return f"a join has at most {MOST_JOINED} events"
        if any(clause.waits for clause in clauses):
            return "an AND and a NOT at the end of a SEQ, as alternatives, are decided at different times"
        return None


def _types(query: Query) -> list[str]:
    return sorted({event.type for event in occurrences(query.pattern)})


def _is_empty(automaton: Automaton) -> bool:
    """Whether no path leads from a start to an end."""
    return not automaton.avoidable(frozenset())


def _with_negated(automaton: Automaton) -> Iterator[Automaton]:
    yield automaton
    for negated in automaton.negations:
        yield from _with_negated(negated)
