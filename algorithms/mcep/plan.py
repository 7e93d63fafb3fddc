"""The plan that MCEP's optimizer passes to its engines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.distinct_matches import DistinctMatches
from cepbench.algorithms.base import Plan
from cepbench.algorithms.mcep.aggregation import counted_windows, detection_workload
from cepbench.algorithms.mcep.engine.indices import DEFAULT_SORTING, Sorting
from cepbench.algorithms.mcep.engine.tables import EngineTables, engine_tables
from cepbench.algorithms.mcep.planning.plans import MultiPlan
from cepbench.algorithms.mcep.planning.search import CostPoint
from cepbench.algorithms.mcep.statistics import SampledStatistics
from cepbench.events.windows import Window
from cepbench.queries.compile import Workload


@dataclass(frozen=True)
class MultiPatternPlan(Plan):
    """A global plan as tables. Pattern p is a clause of the query `queries[p]`. `trace`: costs during the search.

    With `adapt`, it is replaced when one of the statistics `planned_for` changes by more than this ratio.
    """

    tables: EngineTables
    queries: NDArray[np.int64]
    trace: tuple[CostPoint, ...] = ()
    adapt: float | None = None
    planned_for: SampledStatistics | None = None

    @property
    def detecting(self) -> Workload:
        """The workload in which queries that count trends are replaced by detection queries."""
        return detection_workload(self.workload)

    @property
    def windows(self) -> dict[int, Window]:
        """The windows of the queries that count trends."""
        return counted_windows(self.workload)


def tables_of(
    workload: Workload, plan: MultiPlan, sorting: Sorting = DEFAULT_SORTING
) -> tuple[EngineTables, NDArray[np.int64]]:
    """The tables of a global plan for the patterns of detection queries, and the query of each pattern."""
    parts = [(query.index, part.clause) for query in workload for part in query.clauses]
    digested = {query.index: DistinctMatches(query).digests for query in workload}
    digests = [digested[index] for index, _ in parts]
    tables = engine_tables(plan, [clause for _, clause in parts], digests, workload.schema, sorting)
    return tables, np.array([index for index, _ in parts], np.int64)
