"""Executes a sharing plan of a workload, whichever valid one it is (Section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from weakref import WeakKeyDictionary

from cepbench.algorithms.gloria.compilation import CompiledPlan
from cepbench.algorithms.gloria.plan import GloriaPlan, PlannedSet
from cepbench.algorithms.gloria.set_executor import PlanExecutor
from cepbench.algorithms.gloria.splitting import compile_sets
from cepbench.algorithms.snapshots.sets import OneQuery, SetsExecutor
from cepbench.events.schema import Schema
from cepbench.queries.compile import CompiledQuery

_KNOWN: WeakKeyDictionary[PlannedSet, tuple[CompiledPlan, ...]] = WeakKeyDictionary()
"""Sets that were compiled: there is an executor of the same plan for every key."""


class GloriaExecutor(SetsExecutor):
    """Runs each sharable set by its plan; a window that counts events is a stream of its own. Raises `OutOfOrder`.

    An event of Ej has, for a Q-set that shares a transition from Ej, one expression over the Q-set's snapshots. It is a
    new snapshot of what reaches the event, for each query and window, if the snapshots are those of Ej; else it is what
    reaches it. Queries that go alone, or on with others, evaluate the expression that reaches the event.

    What departs from Section 3.2:

    - Per transition and Q-set the sum of what the events before have is kept, so that an event does not visit them,
      unless predicates on adjacent events select some: then it does, as GRETA's and all events of the paper do.
    - Events in a row that the same events precede have one snapshot, and so have those that start trends between two
      times at which windows open.
    - Trends that end are summed as expressions, and evaluated when a window closes.
    - An event that some queries of a Q-set match, or let follow other events than the others do, has a snapshot of its
      own where it is shared (Hamlet's snapshots at event level).

    For s snapshots that are live, and u queries times windows of a Q-set, an event costs O(s) per transition that it is
    shared on, O(u) per snapshot that is made of sums, O(u s) per expression that is evaluated, and O(u) unshared; n
    times as much for n events that are visited. Space: O(s u) for the values of snapshots, O(s) for each sum, and
    O(n s) or O(n u) for events that are visited.
    """

    def __init__(self, plan: GloriaPlan) -> None:
        workload = plan.workload
        fresh = {
            index: partial(_one_query, workload[index], _compiled(sets, workload.schema))
            for index, sets in plan.counting.items()
        }
        super().__init__(workload, _runners(_compiled(plan.sets, workload.schema), workload.arithmetic), fresh)

    def details(self) -> Mapping[str, float]:
        """Counted work: `event_visits` (events times the states that they match), `edges` (events before that were
        visited one by one), `snapshots`, and the `event_snapshots` of them that only some queries of a Q-set needed;
        `expression_additions` (coefficients that were added to a sum) and `evaluations` (of an expression, for one
        query and window).
        """
        return super().details()


def _compiled(sets: Sequence[PlannedSet], schema: Schema) -> tuple[CompiledPlan, ...]:
    found: list[CompiledPlan] = []
    for planned in sets:
        if planned not in _KNOWN:
            _KNOWN[planned] = compile_sets(planned, schema)
        found += _KNOWN[planned]
    return tuple(found)


def _runners(sets: Sequence[CompiledPlan], arithmetic: str) -> tuple[PlanExecutor, ...]:
    return tuple(PlanExecutor(compiled, arithmetic) for compiled in sets)


def _one_query(query: CompiledQuery, sets: Sequence[CompiledPlan]) -> OneQuery:
    return OneQuery(query, _runners(sets, query.arithmetic))
