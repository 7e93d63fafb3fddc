"""SASE: stacks with pointers, then trend construction, then aggregation (dissertation 8.1, 9, 13.1, 19.1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.matches import digested
from cepbench.algorithms.base import Algorithm, Operator, Plan, StateSize
from cepbench.algorithms.compose import MakeExecutor, per_key
from cepbench.algorithms.construction.sase.detection import SpanExecutor
from cepbench.algorithms.construction.sase.flattened import FlattenedExecutor, FlattenedPlan
from cepbench.algorithms.construction.sase.kernels.construction import (
    DEPTH,
    LONGEST,
    TRENDS,
    UPDATES,
    WRITTEN,
    FoundMatches,
    Search,
    construct,
)
from cepbench.algorithms.construction.sase.kernels.maximal_paths import mark_roles
from cepbench.algorithms.engine.batches import aggregate_rows
from cepbench.algorithms.engine.complete_matches import unsupported_complete
from cepbench.algorithms.engine.flattened import flattened, kleene_options, unsupported_flattened
from cepbench.algorithms.engine.flattening import is_kleene
from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.cells import cell_bytes, empty_cells
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.kernels.stacks import ANY, COMPLETE, CONTIGUOUS, EVENTS, NEXT
from cepbench.algorithms.engine.longest_trend import LongestTrend
from cepbench.algorithms.engine.window_stacks import StackExecutor
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import Aggregates, CompleteMatches, Query, Semantics

FOUND_MATCHES = 65_536
FOUND_EVENTS = 1_048_576
SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}


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
    stacks (`sase.flattened`), and a longer match is an error.
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
        self.writes = self.matches and (self.compares or not query.summarised)
        self.compared = StateSize()
        self.total = empty_cells(1, query.layout, query.arithmetic)
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
        start, ends_from = self.window.start(k), self.valid_ends(latest)
        room = int(self.stacks.counters[EVENTS]) + 1
        role = np.zeros(room if self.paths else 0, np.int64)
        if self.paths:
            mark_roles(start, self.tables, self.stacks, role)
        search, found = _new_search(room), self._new_found(room)
        parts: list[QueryRows] = []
        in_python(cells.clear)(self.total, 0)
        ended = False
        while not ended:
            ended = construct(start, ends_from, role, self.tables, self.stacks, search, self.total, found)
            if self.matches and search.place[TRENDS]:
                parts.append(_matches(k, search, found) if self.writes else _digest(k, search, found))
            search.place[TRENDS] = search.place[WRITTEN] = 0
        assert search.place[DEPTH] == 0
        self.longest = max(self.longest, int(search.place[LONGEST]))
        self.updates += int(search.place[UPDATES])
        if not self.matches and not in_python(cells.is_empty)(self.total, 0):
            parts.append(aggregate_rows(np.array([k], np.int64), self.total, 1))
        return self._complete(parts) if self.compares and parts else parts

    def _complete(self, parts: list[QueryRows]) -> list[QueryRows]:
        """The complete matches among all of a window."""
        rows = MatchRows.concatenate([part for part in parts if isinstance(part, MatchRows)])
        self.compared = StateSize(rows.offsets.nbytes + rows.positions.nbytes, {"trends": len(rows)})
        complete = rows.take(np.array(_longest(rows), np.int64))
        return [digested(complete) if self.query.summarised else complete]

    def _new_found(self, room: int) -> FoundMatches:
        matches, events = (FOUND_MATCHES, FOUND_EVENTS + room) if self.writes else (0, 0)
        digest = np.zeros(1 if self.matches and not self.writes else 0, np.uint64)
        return FoundMatches(np.zeros(matches, np.int64), np.zeros(events, np.int64), digest)


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
    return FlattenedExecutor([SaseExecutor(query, one, window) for one in plan.parts[query.index]], guard)


def _new_search(room: int) -> Search:
    path, pointer, candidate = (np.zeros(room, np.int64) for _ in range(3))
    return Search(path, pointer, candidate, np.zeros(room, np.uint64), np.zeros(6, np.int64))


def _digest(k: int, search: Search, found: FoundMatches) -> MatchDigests:
    return MatchDigests(
        np.array([k], np.int64), search.place[TRENDS : TRENDS + 1].astype(np.uint64), found.digest.copy()
    )


def _matches(k: int, search: Search, found: FoundMatches) -> MatchRows:
    size = int(search.place[TRENDS])
    offsets = found.offsets[: size + 1].copy()
    return MatchRows(np.full(size, k, np.int64), offsets, found.positions[: offsets[-1]].copy())
