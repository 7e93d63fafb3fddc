"""Executes a sharing plan of a workload, whichever valid one it is (Section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from weakref import WeakKeyDictionary

from cepbench.algorithms.gloria.compilation import CompiledSet, compile_set
from cepbench.algorithms.gloria.plan import GloriaPlan, PlannedSet
from cepbench.algorithms.gloria.set_executor import SetExecutor
from cepbench.algorithms.snapshots.sets import OneQuery, SetsExecutor
from cepbench.events.schema import Schema
from cepbench.queries.compile import CompiledQuery

_KNOWN: WeakKeyDictionary[PlannedSet, CompiledSet] = WeakKeyDictionary()
"""Sets that were compiled: there is an executor of the same plan for every sub-stream."""


class GloriaExecutor(SetsExecutor):
    """Runs each sharable set by its plan; a window that counts events is a stream of its own. Raises `OutOfOrder`."""

    def __init__(self, plan: GloriaPlan) -> None:
        workload = plan.workload
        fresh = {
            index: partial(_one_query, workload[index], _compiled(sets, workload.schema))
            for index, sets in plan.counting.items()
        }
        super().__init__(workload, _runners(_compiled(plan.sets, workload.schema), workload.arithmetic), fresh)

    def details(self) -> Mapping[str, float]:
        """Counted work."""
        return super().details()


def _compiled(sets: Sequence[PlannedSet], schema: Schema) -> tuple[CompiledSet, ...]:
    found = []
    for planned in sets:
        if planned not in _KNOWN:
            _KNOWN[planned] = compile_set(planned, schema)
        found.append(_KNOWN[planned])
    return tuple(found)


def _runners(sets: Sequence[CompiledSet], arithmetic: str) -> tuple[SetExecutor, ...]:
    return tuple(SetExecutor(compiled, arithmetic) for compiled in sets)


def _one_query(query: CompiledQuery, sets: Sequence[CompiledSet]) -> OneQuery:
    return OneQuery(query, _runners(sets, query.arithmetic))
