"""Compiles the nodes of a plan into the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from cepbench.algorithms.answers.distinct_matches import DistinctMatches
from cepbench.algorithms.detection.mcep.engine.indices import (
    DEFAULT_SORTING,
    Bound,
    IndexKey,
    JoinKey,
    Sorting,
    chosen_index,
)
from cepbench.algorithms.detection.mcep.engine.nodes import EngineNode, EngineNodes, NodeSide, driver_of, reach_of
from cepbench.algorithms.detection.mcep.kernels.rows import Word
from cepbench.algorithms.detection.mcep.kernels.state import (
    AbsenceRecord,
    BoundRecord,
    Check,
    CheckRecord,
    ExclusionRecord,
    IndexRecord,
    JoinRecord,
    NodeRecord,
    PatternRecord,
    PlanTables,
)
from cepbench.algorithms.detection.mcep.planning.patterns import nameless
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import TypePair
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Workload
from cepbench.queries.model import Comparison
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import Columns, Predicates, csr, flag_rows, predicate_tables


@dataclass(frozen=True, eq=False)
class EngineTables:
    """Tables that the executors of a plan share, the `columns` that these read, and the `longest` reach.

    `longest`: int64[2], the longest window in time and in events; `words[N]`: of a row of each node;
    `queries[P]`: the query of each pattern.
    """

    tables: PlanTables
    columns: ColumnSet
    longest: Ints
    words: Ints
    queries: Ints


def tables_of(
    workload: Workload, plan: MultiPlan, sorting: Sorting = DEFAULT_SORTING, indexed: bool = True
) -> EngineTables:
    """The tables of a global plan whose patterns are the clauses of the detection queries of a workload.

    Unless it is `indexed`, joins scan all older rows.
    """
    return _Compilation(workload, plan, sorting, indexed).tables()


class _Compilation:
    def __init__(self, workload: Workload, plan: MultiPlan, sorting: Sorting, indexed: bool) -> None:
        parts = [(query.index, part.clause) for query in workload for part in query.clauses]
        digested = {query.index: DistinctMatches(query).digests for query in workload}
        self.queries, self.clauses = [index for index, _ in parts], [clause for _, clause in parts]
        self.digests = [digested[index] for index in self.queries]
        self.patterns, self.selectivities = plan.table, plan.costs.selectivities
        self.sorting, self.indexed = sorting, indexed
        self.engine_nodes = EngineNodes(plan, self.clauses)
        self.types = workload.schema.types
        self.columns = Columns(workload.schema)
        self.copy: list[int] = []
        self.checks: list[tuple[int, int, int]] = []
        self.shares: dict[int, list[float]] = {}
        self.pairs: dict[tuple[Comparison, ...], int] = {}

    def tables(self) -> EngineTables:
        nodes = self.engine_nodes.nodes
        joins = [self._joins(node) for node in nodes]
        pairs = predicate_tables(list(self.pairs), self.columns)
        records, indices, bounds = self._indexed(list(chain(*joins)), pairs)
        ends, absences = self._absences()
        steps = [[n for n, node in enumerate(nodes) if name in node.ends] for name in self.types]
        tables = PlanTables(
            _records(NodeRecord, [(n.kind, n.reach, n.counts, len(n.places), n.stored, n.kept, n.held) for n in nodes]),
            flag_rows([node.filters for node in nodes], self.columns),
            *csr(steps),
            csr(joins)[0],
            _records(JoinRecord, records),
            np.array(self.copy, np.int64),
            _records(CheckRecord, self.checks),
            pairs,
            csr([[k for k, index in enumerate(indices) if index.node == n] for n in range(len(nodes))])[0],
            _records(IndexRecord, [(*index, *self.sorting) for index in indices]),
            _records(BoundRecord, bounds),
            csr([node.exclusions for node in nodes])[0],
            _records(ExclusionRecord, list(chain(*(node.exclusions for node in nodes)))),
            *csr([node.finals for node in nodes]),
            _records(PatternRecord, [self._pattern(p, *span) for p, span in enumerate(ends)]),
            _records(AbsenceRecord, absences),
        )
        longest = [max((n.reach for n in nodes if n.counts == counts), default=-1) for counts in (False, True)]
        columns = self.columns.whole
        words = np.array([Word.SLOTS + len(node.places) for node in nodes], np.int64)
        return EngineTables(tables, columns, np.array(longest, np.int64), words, np.array(self.queries, np.int64))

    def _indexed(
        self, joins: Sequence[JoinKey], pairs: Predicates
    ) -> tuple[list[tuple[int, ...]], list[IndexKey], list[Bound]]:
        """The joins with their indices, or NONE, and the ranges of their bounds; the indices, by node; the bounds."""
        chosen = [chosen_index(join, self.checks, pairs, self.shares) if self.indexed else None for join in joins]
        indices = sorted({choice[0] for choice in chosen if choice is not None})
        records: list[tuple[int, ...]] = []
        bounds: list[Bound] = []
        for join, choice in zip(joins, chosen, strict=True):
            begin, index = len(bounds), NONE
            if choice is not None:
                index = indices.index(choice[0])
                bounds += choice[1]
            records.append((*join, index, begin, len(bounds)))
        return records, indices, bounds

    def _pattern(self, pattern: int, begin: int, end: int) -> tuple[int, bool, bool, bool, bool, int, int]:
        clause, detected = self.clauses[pattern], self.patterns[pattern]
        counts = detected.scope.counts_events
        return reach_of(detected), counts, clause.ordered, clause.waits, self.digests[pattern], begin, end

    def _absences(self) -> tuple[list[tuple[int, int]], list[tuple[int, int, bool]]]:
        """The negated types to check for matches of all patterns, and the range of each pattern."""
        spans: list[tuple[int, int]] = []
        absences: list[tuple[int, int, bool]] = []
        for pattern, clause in enumerate(self.clauses):
            begin = len(absences)
            for index, negation in enumerate(clause.negated):
                if (pattern, index) not in self.engine_nodes.decided:
                    last = negation.gap == len(clause.operands)
                    absences.append((self.engine_nodes.absent[pattern, index], negation.gap, last))
            spans.append((begin, len(absences)))
        return spans, absences

    def _joins(self, node: EngineNode) -> list[JoinKey]:
        """The joins that create rows of a node, by the side that contains the current event."""
        if not node.sides:
            return []
        ordered = self.patterns[node.pattern].ordered
        return [self._join(node, node.sides[s], node.sides[1 - s], ordered) for s in driver_of(ordered, node.sides)]

    def _join(self, node: EngineNode, fresh: NodeSide, older: NodeSide, ordered: bool) -> JoinKey:
        copy, check = len(self.copy), len(self.checks)
        self.copy += [
            fresh.places.index(operand) if operand in fresh.places else ~older.places.index(operand)
            for operand in node.places
        ]
        bound = NONE
        if ordered:
            last = max(older.places)
            bound = fresh.places.index(min(operand for operand in fresh.places if operand > last))
            self.checks += _order_checks(node, fresh, older, last)
        else:
            self.checks += self._distinct(node, fresh, older)
        self._conditions(node, fresh, older)
        return JoinKey(fresh.node, older.node, bound, copy, check, len(self.checks))

    def _distinct(self, node: EngineNode, fresh: NodeSide, older: NodeSide) -> list[tuple[int, int, int]]:
        """Checks that operands of the same type bind different events."""
        operands = self.clauses[node.pattern].operands
        return [
            (a, b, Check.APART)
            for a, left in enumerate(fresh.places)
            for b, right in enumerate(older.places)
            if operands[left].single.type == operands[right].single.type
        ]

    def _conditions(self, node: EngineNode, fresh: NodeSide, older: NodeSide) -> None:
        """The conditions between the two sides, each from the fresh to the older row."""
        clause = self.clauses[node.pattern]
        for a, left in enumerate(fresh.places):
            for b, right in enumerate(older.places):
                listed = []
                for condition in clause.conditions:
                    if (condition.left, condition.right) == (left, right):
                        listed.append(condition.predicate)
                    elif (condition.left, condition.right) == (right, left):
                        listed.append(condition.predicate.exchanged)
                if listed:
                    types = clause.operands[left].single.type, clause.operands[right].single.type
                    self.shares[len(self.checks)] = [
                        self.selectivities.of(TypePair(*types, frozenset({nameless(predicate)})))
                        for predicate in listed
                    ]
                    self.checks.append((a, b, self.pairs.setdefault(tuple(listed), len(self.pairs))))


def _order_checks(node: EngineNode, fresh: NodeSide, older: NodeSide, last: int) -> list[tuple[int, int, int]]:
    """Checks of adjacent operands on different sides, except after `last`, where the search is bounded already."""
    checks: list[tuple[int, int, int]] = []
    for left, right in zip(node.places, node.places[1:], strict=False):
        if left in older.places and right in fresh.places and left != last:
            checks.append((fresh.places.index(right), older.places.index(left), Check.BEFORE))
        elif left in fresh.places and right in older.places:
            checks.append((fresh.places.index(left), older.places.index(right), Check.AFTER))
    return checks


def _records(record: type, rows: Sequence[tuple[float, ...]]) -> Records:
    return np.array(rows, records_of(record))
