"""SASE: stacks with pointers, then trend construction, then aggregation (dissertation 8.1, 9, 13.1, 19.1).

The stacks are `engine.kernels.stacks`, the search is `kernels.construction`; `detection` has both within a span.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.matches import digested
from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan, StateSize
from cepbench.algorithms.compose import MakeExecutor, per_key
from cepbench.algorithms.construction.sase.detection import SpanExecutor, new_search
from cepbench.algorithms.construction.sase.kernels.construction import construct, mark_roles
from cepbench.algorithms.engine.batches import aggregate_rows
from cepbench.algorithms.engine.complete_matches import unsupported_complete
from cepbench.algorithms.engine.flattened import flattened, kleene_options, unsupported_flattened
from cepbench.algorithms.engine.flattening import is_kleene
from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.cells import cell_bytes, empty_cells, weighing
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.kernels.constants import SEMANTICS
from cepbench.algorithms.engine.kernels.sinks import Aggregated, Sink
from cepbench.algorithms.engine.kernels.stacks import COMPLETE, number_live
from cepbench.algorithms.engine.longest_trend import LongestTrend
from cepbench.algorithms.engine.sinks import collected, match_sink
from cepbench.algorithms.engine.window_stacks import StackExecutor
from cepbench.algorithms.rows import MatchRows, QueryRows, Rows, joined
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.metrics.details import merged
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import Aggregates, CompleteMatches, Query


class Sase(Algorithm):
    """The two-step baseline: at the end of each window, depth-first search over the stacks constructs every trend.

    Time is O(l) per trend of length l, so exponential in the events of a window under skip-till-any-match; space is
    linear in events and pointers, plus the one trend under construction. Where no predicate selects predecessors, an
    event has one pointer to the top of the stack below (as in SASE), otherwise one to each predecessor. Pairwise
    predicates are postponed to construction, as in SASE++. All semantics, clauses and MATCHES are supported.

    Complete matches that are paths (`engine.complete_matches`) use pointers of Algorithm 4, O(n + e) per event with n
    events and e pointers, so that the search in a window constructs only complete matches. For other queries, such as
    `A{1,3}`, all y matches of the window are constructed and compared, O(y) space and O(y c) time if c are complete.
    Windows share the stacks, nothing more. Detection queries have no windows: the search starts at each event that can
    end a match, and goes back as far as the span allows (`sase.detection`).

    With `kleene=flatten`, a Kleene pattern becomes one event sequence per length up to `max_length`, each with its own
    stacks (`FlattenedExecutor`), and a longer match is an error.
    """

    name: ClassVar[str] = "sase"
    counts_matches: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "Wu et al., SIGMOD 2006; Zhang et al., SIGMOD 2014; Poppe 2018 (dissertation), 8.1, 13.1, 19.1"
    )
    enumerates: ClassVar[bool] = True

    def __init__(self, kleene: str = "native", max_length: int | str = "none") -> None:
        self.flatten, self.max_length = kleene_options(self.name, kleene, max_length)

    def unsupported(self, query: Query) -> str | None:
        """AND of match queries; with flattening, patterns that are no set of sequences."""
        if self.flatten:
            return unsupported_flattened(query, self.max_length)
        if query.span is not None:
            return None
        if analyse(query).conjunction and not isinstance(query.returns, Aggregates):
            return "AND returns a count of pairs, not matches"
        return None

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        """The sequences of flattened queries; otherwise there is nothing to decide."""
        if not self.flatten:
            return Plan(workload)
        return FlattenedPlan(
            workload, {query.index: flattened(query, workload.schema, self.max_length) for query in workload}
        )

    def operator(self, plan: Plan) -> Operator:
        """Stacks per query and key, or per sequence of a flattened query."""
        make: MakeExecutor = SaseExecutor
        if isinstance(plan, FlattenedPlan):
            make = partial(_flattened, plan, self.max_length)
        return per_key(plan.workload, make, SpanExecutor)


class SaseExecutor(StackExecutor):
    """Constructs every trend of a window and keeps nothing of it for the next window."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        complete = isinstance(query.query.returns, CompleteMatches)
        self.paths = complete and _are_paths(query)
        self.compares = complete and not self.paths
        super().__init__(query, part, window, COMPLETE if self.paths else SEMANTICS[query.query.semantics])
        self.matches = not isinstance(query.query.returns, Aggregates)
        self.compared = StateSize()
        self.weights = weighing(part.tables)
        self.partial, self.total = (empty_cells(size, query.layout, query.arithmetic) for size in (0, 1))
        self.longest = 0
        self.updates = 0

    def details(self) -> Mapping[str, float]:
        """Number of events in all constructed trends: each trend is constructed from scratch."""
        return {"updates": float(self.updates)}

    def held(self) -> StateSize:
        """Size of the events in stacks, the pointers between them, the longest trend constructed so far, and the
        matches of the last window that were compared.
        """
        trend = StateSize(24 * self.longest + cell_bytes(self.tables), {"trends": 1 if self.longest else 0})
        return super().held() + trend + self.compared

    def construct(self, k: int, latest: NDArray[np.int64]) -> list[QueryRows]:
        start, ends_from, stacks = self.window.start(k), self.valid_ends(latest), self.stacks
        events = self.kept[0]
        lowest = int(np.searchsorted(stacks.time[:events], start))
        search = new_search(events, roles=self.paths)
        if self.paths:
            number = np.empty(events, np.int64)
            number_live(start, self.tables, stacks, number)
            mark_roles(number, stacks, search.role)

        def traverse(sink: Sink) -> bool:
            return construct(start, lowest, ends_from, self.tables, stacks, search, sink)

        parts: list[QueryRows] = []
        if self.matches:
            sink = match_sink(stacks.place[:events], summarised=self.query.summarised and not self.compares)
            parts += collected(k, sink, traverse)
        else:
            in_python(cells.clear)(self.total, 0)
            traverse(Aggregated(self.weights, stacks.position, stacks.ints, stacks.reals, self.partial, self.total))
            if not in_python(cells.is_empty)(self.total, 0):
                parts.append(aggregate_rows(np.array([k], np.int64), self.total, 1))
        self.longest = max(self.longest, int(search.progress["longest"][0]))
        self.updates += int(search.progress["updates"][0])
        return self._complete(parts) if self.compares and parts else parts

    def _complete(self, parts: list[QueryRows]) -> list[QueryRows]:
        """The complete matches among all of a window."""
        rows = MatchRows.concatenate([part for part in parts if isinstance(part, MatchRows)])
        self.compared = StateSize(rows.offsets.nbytes + rows.positions.nbytes, {"trends": len(rows)})
        complete = rows.take(np.array(_longest(rows), np.int64))
        return [digested(complete) if self.query.summarised else complete]


@dataclass(frozen=True)
class FlattenedPlan(Plan):
    """`parts`: the sequences of each query, by query index."""

    parts: Mapping[int, tuple[Part, ...]]


class FlattenedExecutor(Executor):
    """One executor per sequence of a query, without sharing, and an optional `guard` of the match length.

    The guard checks the longest match before any is constructed. Its stacks do not count as state, since they are not
    part of the approach.
    """

    def __init__(self, sequences: list[Executor], guard: LongestTrend | None) -> None:
        self.sequences, self.guard = sequences, guard

    def process(self, events: EventBatch) -> Rows:
        """Rows of closed windows. Raises `LongerMatch`."""
        if self.guard is not None:
            self.guard.process(events)
        return joined([sequence.process(events) for sequence in self.sequences])

    def finish(self) -> Rows:
        """Rows of open windows. Raises `LongerMatch`."""
        if self.guard is not None:
            self.guard.finish()
        return joined([sequence.finish() for sequence in self.sequences])

    def state(self) -> StateSize:
        """Sum over all sequences; of each its peak since the last call."""
        return sum((sequence.state() for sequence in self.sequences), StateSize())

    def details(self) -> Mapping[str, float]:
        """Sum over all sequences, and the number of sequences."""
        return {
            **merged(sequence.details() for sequence in self.sequences),
            "sequences_peak": float(len(self.sequences)),
        }


@lru_cache(maxsize=64)
def _are_paths(query: CompiledQuery) -> bool:
    return unsupported_complete(query.query) is None


def _longest(rows: MatchRows) -> list[int]:
    """The indices of the matches whose events no other has; several bindings of the same events are one match."""
    first = int(rows.positions.min())
    events = [
        sum(1 << position - first for position in rows.positions[start:stop].tolist())
        for start, stop in pairwise(rows.offsets.tolist())
    ]
    complete: list[int] = []
    for index in sorted(range(len(events)), key=lambda index: events[index].bit_count(), reverse=True):
        if all(events[index] & ~events[longer] for longer in complete):
            complete.append(index)
    return complete


def _flattened(
    plan: FlattenedPlan, max_length: int | None, query: CompiledQuery, part: Part, window: Window
) -> FlattenedExecutor:
    guard = None
    if max_length is not None and is_kleene(part.automaton):
        guard = LongestTrend(query, part, window, SEMANTICS[query.query.semantics], max_length)
    return FlattenedExecutor([SaseExecutor(query, sequence, window) for sequence in plan.parts[query.index]], guard)
