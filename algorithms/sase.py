"""SASE: stacks with pointers, then trend construction, then aggregation (dissertation 8.1, 9, 13.1, 19.1)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from algorithms.base import Algorithm, Executor, Plan, StateSize
from algorithms.complete import unsupported_complete
from algorithms.execution import Evaluator, IndependentQueries
from algorithms.kernels.batches import aggregate_rows, kernel_events, readonly
from algorithms.kernels.cells import cell_bytes, clear, empty_cells, is_empty
from algorithms.kernels.construction import DEPTH, LONGEST, TRENDS, WRITTEN, Found, Search, construct
from algorithms.kernels.maximal_paths import mark_roles
from algorithms.kernels.negation import latest_starts, negations_of
from algorithms.kernels.stacks import (
    ANY,
    COMPLETE,
    CONTIGUOUS,
    EVENTS,
    NEXT,
    NOBODY,
    POINTERS,
    Stacks,
    drop_before,
    push_events,
)
from algorithms.rows import MatchDigests, MatchRows, QueryRows, concatenate
from events.batch import EventBatch
from events.windows import FOREVER, Window
from queries.analysis import analyse
from queries.compile import CompiledQuery, Part
from queries.model import Aggregates, CompleteMatches, Query, Semantics
from queries.tables import Tables

FIRST_EVENTS = 256
FOUND_MATCHES = 65_536
FOUND_EVENTS = 1_048_576
SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}


class Sase(Algorithm):
    """The two-step baseline: at the end of each window, depth-first search constructs every trend of the stacks.

    O(l) time per trend of length l, so exponential in the events of a window under skip-till-any-match; space is
    linear in events and pointers, plus the one trend under construction. Where no predicate selects predecessors, an
    event has one pointer to the top of the stack below (as in SASE), else one to each predecessor. Pairwise predicates
    are postponed to construction, as SASE++ does. All semantics, clauses and MATCHES are supported.

    Complete matches (`algorithms.complete` tells which queries) have pointers by Algorithm 4, O(n + e) per event with n
    events and e pointers, so that the search in a window constructs only them. Windows share the stacks, nothing else.
    """

    name: ClassVar[str] = "sase"
    paper: ClassVar[str] = (
        "Wu et al., SIGMOD 2006; Zhang et al., SIGMOD 2014; Poppe 2018 (dissertation), 8.1, 13.1, 19.1"
    )

    def unsupported(self, query: Query) -> str | None:
        """Some complete matches, and AND of match queries."""
        if isinstance(query.returns, CompleteMatches):
            return unsupported_complete(query)
        if analyse(query).conjunction and not isinstance(query.returns, Aggregates):
            return "AND returns a count of pairs, not matches"
        return None

    def executor(self, plan: Plan) -> Executor:
        """Stacks per query."""
        return IndependentQueries(plan.workload, SaseEvaluator)


class SaseEvaluator(Evaluator):
    """Stacks of one automaton, shared by overlapping windows; construction is repeated in each window."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.query, self.tables, self.window = query, part.tables, window
        self.complete = isinstance(query.query.returns, CompleteMatches)
        self.semantics = COMPLETE if self.complete else SEMANTICS[query.query.semantics]
        self.negations = negations_of(query, part, window)
        self.stacks = _new_stacks(query, len(part.tables.start))
        self.matches = not isinstance(query.query.returns, Aggregates)
        self.writes = self.matches and not query.summarised
        self.total = empty_cells(1, query.layout, query.arithmetic)
        self.low = 0
        self.longest = 0

    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of the windows that these events closed."""
        batch = kernel_events(self.query, events, self.negations)
        place, time = readonly(events.position), batch.time
        parts: list[QueryRows] = []
        done = 0
        while done < len(time):
            parts += self._close(int(time[done]), batch.negated[done])
            self.low = max(self.low, self.window.first_at(int(time[done])))
            last = int(np.searchsorted(time, self.window.end(self.low), side="left"))
            while done < last:
                oldest = self.window.start(self.low)
                done = push_events(done, last, batch, place, self.tables, self.semantics, oldest, self.stacks)
                if done < last:
                    self.stacks = _grown(self.stacks, self.tables)
        if events.until is not None:
            parts += self._close(events.until, latest_starts(self.negations))
        return concatenate(parts) if parts else None

    def finish(self) -> QueryRows | None:
        """Rows of the windows that are still open."""
        parts = self._close(2 * FOREVER - 1, latest_starts(self.negations))
        return concatenate(parts) if parts else None

    def state(self) -> StateSize:
        """Events in stacks, pointers between them, and the longest trend constructed so far."""
        events, pointers = int(self.stacks.counters[EVENTS]), int(self.stacks.counters[POINTERS])
        attributes = 6 + len(self.stacks.ints) + len(self.stacks.reals)
        negative = sum(negation.vertices for negation in self.negations)
        size = 8 * events * attributes + 16 * pointers + 24 * (self.longest + negative) + cell_bytes(self.tables)
        return StateSize(size, {"events": events + negative, "edges": pointers, "trends": 1 if self.longest else 0})

    def _close(self, now: int, latest: NDArray[np.int64]) -> list[QueryRows]:
        """Rows of all windows that end by `now`; `latest` holds the START of the latest match of each negation."""
        parts: list[QueryRows] = []
        while self.window.end(self.low) <= now and self.stacks.counters[EVENTS] > 0:
            parts += self._construct(self.low, latest)
            self.low += 1
            drop_before(self.window.start(self.low), self.stacks)
        return parts

    def _construct(self, k: int, latest: NDArray[np.int64]) -> list[QueryRows]:
        start, ends_from = self.window.start(k), self._valid_ends(latest)
        room = int(self.stacks.counters[EVENTS]) + 1
        role = np.zeros(room if self.complete else 0, np.int64)
        if self.complete:
            mark_roles(start, self.tables, self.stacks, role)
        search, found = _new_search(room), self._new_found(room)
        parts: list[QueryRows] = []
        clear(self.total, 0)
        ended = False
        while not ended:
            ended = construct(start, ends_from, role, self.tables, self.stacks, search, self.total, found)
            if self.matches and search.place[TRENDS]:
                parts.append(_matches(k, search, found) if self.writes else _digest(k, search, found))
            search.place[TRENDS] = search.place[WRITTEN] = 0
        assert search.place[DEPTH] == 0
        self.longest = max(self.longest, int(search.place[LONGEST]))
        if not self.matches and not is_empty(self.total, 0):
            parts.append(aggregate_rows(np.array([k], np.int64), self.total, 1))
        return parts

    def _new_found(self, room: int) -> Found:
        matches, events = (FOUND_MATCHES, FOUND_EVENTS + room) if self.writes else (0, 0)
        digest = np.zeros(1 if self.matches and not self.writes else 0, np.uint64)
        return Found(np.zeros(matches, np.int64), np.zeros(events, np.int64), digest)

    def _valid_ends(self, latest: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[P]: END events before this time are invalidated by a trailing negation."""
        ends_from = np.full(len(self.tables.start), -1, np.int64)
        for p in range(len(ends_from)):
            negations = self.tables.trailing[self.tables.trailing_ptr[p] : self.tables.trailing_ptr[p + 1]]
            ends_from[p] = latest[negations].max(initial=-1)
        return ends_from


def _new_search(room: int) -> Search:
    path, pointer, candidate = (np.zeros(room, np.int64) for _ in range(3))
    return Search(path, pointer, candidate, np.zeros(room, np.uint64), np.zeros(5, np.int64))


def _digest(k: int, search: Search, found: Found) -> MatchDigests:
    return MatchDigests(
        np.array([k], np.int64), search.place[TRENDS : TRENDS + 1].astype(np.uint64), found.digest.copy()
    )


def _matches(k: int, search: Search, found: Found) -> MatchRows:
    size = int(search.place[TRENDS])
    offsets = found.offsets[: size + 1].copy()
    return MatchRows(np.full(size, k, np.int64), offsets, found.positions[: offsets[-1]].copy())


def _new_stacks(query: CompiledQuery, positions: int) -> Stacks:
    def column() -> NDArray[np.int64]:
        return np.zeros(FIRST_EVENTS, np.int64)

    return Stacks(
        time=column(),
        position=column(),
        place=column(),
        barrier=column(),
        below=column(),
        ints=np.zeros((len(query.ints), FIRST_EVENTS), np.int64),
        reals=np.zeros((len(query.reals), FIRST_EVENTS), np.float64),
        pointer_ptr=np.zeros(FIRST_EVENTS + 1, np.int64),
        target=column(),
        floor=column(),
        top=np.full(positions, NOBODY, np.int64),
        shown=np.full(positions, NOBODY, np.int64),
        waiting=column(),
        taken=np.zeros(FIRST_EVENTS, np.bool_),
        counters=np.array([0, 0, 0, 0, -1], np.int64),
    )


def _grown(stacks: Stacks, tables: Tables) -> Stacks:
    """The same stacks with twice the room for events, if the next one may not fit, else for pointers."""
    bindings = int(np.diff(tables.binding_ptr).max(initial=0))
    scarce = _PER_EVENT if stacks.counters[EVENTS] + bindings >= len(stacks.time) else _PER_POINTER
    return stacks._replace(**{name: _wider(getattr(stacks, name)) for name in scarce})


_PER_EVENT = ("time", "position", "place", "barrier", "below", "ints", "reals", "pointer_ptr", "waiting", "taken")
_PER_POINTER = ("target", "floor")


def _wider(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)], axis=-1)
