"""Flink CEP: the industrial two-step baseline of the papers (dissertation 8.1, 13.1, 19.1, 25.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.compose import per_key
from cepbench.algorithms.engine.flattened import flattened, kleene_options, unsupported_flattened
from cepbench.algorithms.engine.flattening import TooManySequences, is_kleene
from cepbench.algorithms.engine.kernels.constants import ANY, CONTIGUOUS
from cepbench.algorithms.engine.longest_trend import LongestTrend
from cepbench.algorithms.external.flink.executor import DetectionOnFlink, FlinkExecutor
from cepbench.algorithms.external.flink.installation import classes, missing
from cepbench.algorithms.external.flink.orders import MAX_FLOWS
from cepbench.algorithms.external.flink.specification import specification, unsupported_by_flink
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import Query, Semantics


@dataclass(frozen=True)
class FlinkPlan(Plan):
    """`parts`: the flows of each query, by query index: its pattern, or its flattened sequences."""

    parts: Mapping[int, tuple[Part, ...]]


class Flink(Algorithm):
    """Apache Flink's CEP library constructs every match, and a second operator aggregates it (docs/flink.md).

    A Java process per worker runs one job per query, without network or checkpoints. Events are copied into their
    windows; Flink's key is the key and the window. skip-till-any-match is `followedByAny` with `allowCombinations`;
    skip-till-next-match is emulated by conditions on it; contiguous is `next` with `consecutive` until two events of a
    key are simultaneous, and is emulated from then on. Matches that Flink repeats count once. Time and space are
    Flink's: each event searches the partial matches of its window for each of them, so O(p²) for p partial matches,
    which are exponential in events for Kleene patterns.

    Complete matches are those that the second step finds in no other match of their window. Detection queries have no
    windows but Flink's own bound on a match, and one pattern for each order in which an AND can bind its operands.

    With `kleene=flatten`, a Kleene pattern becomes one event sequence per length up to `max_length`, as Flink was run
    in the papers, and a longer match is an error.
    """

    name: ClassVar[str] = "flink"
    counts_matches: ClassVar[bool] = True
    paper: ClassVar[str] = "Apache Flink CEP; Poppe 2018 (dissertation), 8.1, 13.1, 19.1, 25.1"
    enumerates: ClassVar[bool] = True
    narrow: ClassVar[bool] = True
    starts: ClassVar[bool] = True

    def __init__(self, kleene: str = "native", max_length: int | str = "none") -> None:
        self.flatten, self.max_length = kleene_options(self.name, kleene, max_length)

    @classmethod
    def missing(cls) -> str | None:
        return missing()

    def unsupported(self, query: Query) -> str | None:
        """Queries that Flink's patterns cannot express; every query if Flink is not installed."""
        reason = unsupported_by_flink(query)
        if reason is None and self.flatten:
            reason = unsupported_flattened(query, self.max_length)
        return reason or missing()

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """The flows of each query. Compiles the Java program first. Raises `FlinkMissing`, `TooManySequences`."""
        classes()
        if not self.flatten:
            return FlinkPlan(workload, {query.index: query.parts for query in workload})
        parts = {query.index: flattened(query, workload.schema, self.max_length) for query in workload}
        for query in workload:
            if len(parts[query.index]) > MAX_FLOWS:
                raise TooManySequences(
                    f"query {query.query.name}: the pattern has {len(parts[query.index])} event sequences, but a "
                    f"job of Flink has at most {MAX_FLOWS} CEP operators here"
                )
        return FlinkPlan(workload, parts)

    def operator(self, plan: Plan) -> Operator:
        """One session of a job per query and key."""
        assert isinstance(plan, FlinkPlan)
        return per_key(plan.workload, partial(self._executor, plan), DetectionOnFlink)

    def _executor(self, plan: FlinkPlan, query: CompiledQuery, part: Part, window: Window) -> FlinkExecutor:
        parts = plan.parts[query.index]
        contiguous = query.query.semantics is Semantics.CONTIGUOUS
        exact = specification(query, parts, window, False)
        simple = specification(query, parts, window, True) if contiguous else exact
        guard = None
        if self.flatten and self.max_length is not None and is_kleene(part.automaton):
            guard = LongestTrend(query, part, window, CONTIGUOUS if contiguous else ANY, self.max_length)
        return FlinkExecutor(query, window, (simple, exact), len(parts), guard)
