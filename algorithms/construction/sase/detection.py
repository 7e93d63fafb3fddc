"""SASE on detection queries: runs of the automaton and of each AND; duplicate matches are removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from time import perf_counter

import numpy as np

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.answers.distinct_matches import DistinctMatches, load_distinct
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.construction.sase.kernels.construction import OperandSearch, ProgressRecord, Search
from cepbench.algorithms.construction.sase.kernels.detection import (
    DigestedSpans,
    SpanDigestRecord,
    SpanRecord,
    SpanSink,
    WrittenSpans,
    detect,
)
from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.engine.kernels.arrays import Flags, Ints, readonly
from cepbench.algorithms.engine.kernels.constants import ANY, LATEST, NEVER
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.sinks import Digested, OutputRecord, Written
from cepbench.algorithms.engine.kernels.stacks import EVENTS, UNORDERED, Stacks
from cepbench.algorithms.engine.window_stacks import FIRST_EVENTS, new_stacks
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows, Rows, rows_of
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END
from cepbench.metrics.details import merged
from cepbench.queries.compile import ClausePart, CompiledQuery, Part
from cepbench.queries.records import records_of
from cepbench.queries.tables import Predicates, Tables, Weights, csr

WRITTEN_SPANS = 4096
"""Number of matches that are written per call of the kernel."""

WRITTEN_EVENTS = 32_768
"""Number of their events, without those of the longest match."""

DIGESTED_SPANS = 1024

POINTER_BYTES = 16
PATH_BYTES = 24
"""Bytes of an event of the longest match so far."""

WAITING_BYTES = 40
"""Bytes of a match that waits for the end of its span, without 8 bytes per event."""

SEARCH_TABLES = {EVENTS: Table(("path", "pointer", "candidate", "point", "term"))}
OPERAND_TABLES = {EVENTS: Table(("path", "pointer", "candidate", "point", "term", "saved"))}
"""They have the room of the stacks for events."""


class SpanExecutor(Executor):
    """Evaluates a detection query on one key: one part per AND alternative, and the automaton of all others."""

    def __init__(self, query: CompiledQuery) -> None:
        self.query = query
        self.distinct = DistinctMatches(query)
        self.count = match_counter(query)
        digests = self.distinct.digests
        # Parts with a trailing NOT come last: matches that others find, too, are reported by those, which decide first.
        unordered = [part for part in query.clauses if not part.clause.ordered]
        self.parts = [Spans(query, tables_of_and(part), Negated([]), digests, kleene_of(part)) for part in unordered]
        ordered: Flags = np.zeros(0, np.bool_)
        self.parts += [Spans(query, part.tables, Negated(part.negations), digests, ordered) for part in query.parts]
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        batch = kernel_events(self.query.columns, events)
        rows: list[QueryRows] = []
        for part in self.parts:
            rows += part.process(batch, events.position, events.watermark)
        self.now = max(part.now for part in self.parts)
        return self._reported(rows)

    def finish(self) -> Rows:
        rows = self._reported([rows for part in self.parts for rows in part.finish()])
        return rows if self.count is None else rows_of(self.query.index, [self.count.row()])

    def _reported(self, parts: Sequence[QueryRows]) -> Rows:
        """The matches without duplicates; none if they are only counted."""
        rows = self.distinct.once(parts, self.now)
        if self.count is None:
            return rows_of(self.query.index, [rows])
        self.count.add(rows)
        return {}

    def load(self) -> None:
        """Calls the kernels that a few events may not reach."""
        load_distinct()

    def state(self) -> StateSize:
        """State of all parts, and the matches that can be found again."""
        return sum((part.state() for part in self.parts), self.distinct.state())

    def details(self) -> Mapping[str, float]:
        """Number of events in all constructed matches, and the seconds of both phases.

        A match that is found several times counts each time in `delay_count`.
        """
        phases = merged(part.phases() for part in self.parts)
        return {"updates": float(sum(part.updates for part in self.parts)), **phases}


class Spans:
    """The stacks of one part of a query, and the search of the matches in the spans of its events.

    With `digests`, matches are counted and digested. No later event lies before the point `now`.
    """

    def __init__(self, query: CompiledQuery, tables: Tables, negated: Negated, digests: bool, kleene: Flags) -> None:
        self.negated, self.reach, self.now, self.digests = negated, query.reach, 0, digests
        self.tables = tables._replace(leading=tables.leading + len(negated.times))  # the columns of points
        self.counts = query.window is not None and query.window.counts_events
        self.late: Flags = np.diff(tables.trailing_ptr) > 0
        self.span = np.zeros(1, records_of(SpanRecord))
        self.span["reach"], self.span["counts"], self.span["pointers"] = (
            self.reach,
            self.counts,
            UNORDERED if len(kleene) else ANY,
        )
        self.span["event_bytes"] = 8 * (7 + len(query.ints) + len(query.reals) + digests)
        self.arena = new_stacks(query, len(tables.start))
        search: Search | OperandSearch
        search, tables_of_search = new_search(FIRST_EVENTS, spans=True), SEARCH_TABLES
        if len(kleene):
            search, tables_of_search = _operand_search(FIRST_EVENTS, kleene), OPERAND_TABLES
        self.searching = Arena[Search | OperandSearch](search, tables_of_search)
        self.waiting, self.ends = _no_matches(), np.zeros(0, np.int64)
        self.most_waiting = StateSize()
        self.constructed, self.seconds = 0, 0.0

    @property
    def stacks(self) -> Stacks:
        """The stacks as kernels know them."""
        return self.arena.arrays

    @property
    def search(self) -> Search | OperandSearch:
        """The search as kernels know it."""
        return self.searching.arrays

    @property
    def updates(self) -> int:
        """Number of events in all constructed matches so far."""
        return int(self.search.progress["updates"][0])

    def phases(self) -> dict[str, float]:
        """Seconds for pushing events and for searching matches; empty where no tick counter is available."""
        span, matches = self.span[0], self.constructed
        if not span["all_ticks"]:
            return {}
        searching = self.seconds * int(span["search_ticks"]) / int(span["all_ticks"])
        details = {"update_seconds": self.seconds - searching, "enumeration_seconds": searching}
        return details | ({"delay_mean": searching / matches, "delay_count": float(matches)} if matches else {})

    def process(self, events: KernelEvents, position: Ints, watermark: int | None) -> list[QueryRows]:
        """The matches that these events decide, and those that the watermark decides."""
        places, number = readonly(position), len(events.time)
        points = int(self.span["seen"][0]) + np.arange(number) if self.counts else events.time
        events = self.negated.follow(events, points)
        rows: list[QueryRows] = []

        def detect_on(begin: int) -> tuple[int, int]:
            self.searching.reserve(EVENTS, self.arena.room(EVENTS))
            sink = self._sink()
            started = perf_counter()
            stopped = detect(begin, events, places, self.span, self.tables, self.stacks, self.search, sink)
            self.seconds += perf_counter() - started
            rows.extend(self._rows(sink))
            return stopped

        self.arena.run(detect_on)
        self.span["seen"] += number
        latest = int(events.time[-1]) if number else 0
        self.now = int(self.span["seen"][0]) if self.counts else max(self.now, latest, watermark or 0)
        if watermark is not None:
            points = self.search.point[: self.arena.used(EVENTS)]
            self.span["lowest"] = np.searchsorted(points, self.now - self.reach)
        return rows + self._decided(self.now) if self.negated.times else rows

    def finish(self) -> list[QueryRows]:
        """The matches that waited for the end of their spans."""
        return self._decided(END)

    def state(self) -> StateSize:
        """Events in the stacks and pointers between them, waiting matches, and the longest match; the largest of each
        since the last call.
        """
        span = self.span[0]
        lowest, stop = int(span["lowest"]), self.arena.used(EVENTS)
        events, pointers = stop - lowest, int(self.stacks.pointer_ptr[stop] - self.stacks.pointer_ptr[lowest])
        size = events * int(span["event_bytes"]) + POINTER_BYTES * pointers
        if span["most_bytes"] > size:
            size, events, pointers = (int(span[name]) for name in ("most_bytes", "most_events", "most_pointers"))
        span["most_bytes"] = 0
        longest = int(self.search.progress["longest"][0])
        kinds = {"events": events, "edges": pointers, "trends": 1 if longest else 0}
        waiting, self.most_waiting = max(self.most_waiting, self._waiting(), key=lambda state: state.bytes), StateSize()
        return StateSize(size + PATH_BYTES * longest, kinds) + waiting

    def _waiting(self) -> StateSize:
        matches = len(self.waiting)
        return StateSize(WAITING_BYTES * matches + 8 * len(self.waiting.positions), {"trends": matches})

    def _sink(self) -> SpanSink:
        sink = _shared_sink(self.digests, len(self.search.path))
        if isinstance(sink, DigestedSpans):
            return sink._replace(digested=sink.digested._replace(term=self.search.term))
        return sink._replace(rows=sink.rows._replace(place=self.stacks.place))

    def _rows(self, sink: SpanSink) -> list[QueryRows]:
        """The matches that are decided by their last events; others begin to wait."""
        if isinstance(sink, DigestedSpans):
            spans = sink.spans[: sink.size[0]].copy()
            sink.size[0] = 0
            self.constructed += int(spans["matches"].sum())
            columns = (spans[name].copy() for name in ("begin", "matches", "digest"))
            return [MatchDigests(*columns)] if len(spans) else []
        number = int(sink.rows.output["matches"][0])
        if not number:
            return []
        self.constructed += number
        sink.rows.output[:] = 0
        first, last = sink.ends[:number].T
        offsets = sink.rows.offsets[: number + 1].copy()
        times = self.stacks.time[sink.ends[:number]]
        ends = self.stacks.position[last]
        late = self.late[ends]
        begin = np.where(late, self.search.point[first], self.search.point[last] - self.reach)
        rows = MatchRows(begin, offsets, sink.rows.positions[: offsets[-1]].copy(), times)
        if not late.any():
            return [rows]
        self.waiting = MatchRows.concatenate([self.waiting, rows.take(np.flatnonzero(late))])
        self.ends = np.concatenate([self.ends, ends[late]])
        self.most_waiting = max(self.most_waiting, self._waiting(), key=lambda state: state.bytes)
        return [rows.take(np.flatnonzero(~late))]

    def _decided(self, now: int) -> list[QueryRows]:
        """The waiting matches that no event at or after `now` can invalidate; invalidated ones are dropped."""
        rows: list[QueryRows] = []
        if len(self.waiting):
            valid = ~self.negated.invalidate(self.waiting, self.ends, self.tables, self.reach)
            waits = self.waiting.window + self.reach >= now
            rows = [self.waiting.take(np.flatnonzero(valid & ~waits))]
            self.waiting, self.ends = self.waiting.take(np.flatnonzero(valid & waits)), self.ends[valid & waits]
        self.negated.forget(now - self.reach)
        return rows


class Negated:
    """The events of negated types of a part, as far back as the spans reach: `times` and `points` of each type."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.tables = [part.tables for part in parts]
        self.times: list[Ints] = [np.zeros(0, np.int64) for _ in parts]
        self.points: list[Ints] = [np.zeros(0, np.int64) for _ in parts]

    def follow(self, events: KernelEvents, points: Ints) -> KernelEvents:
        """The events of a batch at these points, with columns `negated`: for each type, the time of the latest event
        that is strictly older; then the points of the same.
        """
        types, size = len(self.tables), len(points)
        if not types:
            return events
        changes = np.append(True, np.diff(events.time) > 0)[:size]  # begin a time stamp
        first = np.maximum.accumulate(np.where(changes, np.arange(size), 0))
        negated = np.full((len(points) + 1, 2 * types), NEVER, np.int64)
        for j, tables in enumerate(self.tables):
            matches = np.diff(tables.binding_ptr)[events.kind] > 0
            if tables.local[0] >= 0:
                matches &= events.flags[tables.local[0]]
            kept, before = len(self.times[j]), np.append(0, np.cumsum(matches))[first]
            older = np.where(first > 0, kept, np.searchsorted(self.times[j], events.time[:1])) + before
            self.times[j] = np.concatenate([self.times[j], events.time[matches]])
            self.points[j] = np.concatenate([self.points[j], points[matches]])
            for column, values in ((j, self.times[j]), (types + j, self.points[j])):
                negated[:-1, column] = np.append(NEVER, values)[older]
        return events._replace(negated=readonly(negated))

    def invalidate(self, matches: MatchRows, ends: Ints, tables: Tables, reach: int) -> Flags:
        """Which matches, whose last events have positions `ends`, a later event of a trailing NOT invalidates."""
        assert matches.times is not None
        invalid = np.zeros(len(matches), np.bool_)
        for p in np.unique(ends):
            for j in tables.trailing[tables.trailing_ptr[p] : tables.trailing_ptr[p + 1]]:
                later = np.searchsorted(self.times[j], matches.times[:, 1], side="right")
                point = np.append(self.points[j], LATEST)[later]
                invalid |= (ends == p) & (point <= matches.window + reach)
        return invalid

    def forget(self, before: int) -> None:
        """Drops the events before a point."""
        for j, points in enumerate(self.points):
            first = int(np.searchsorted(points, before))
            self.times[j], self.points[j] = self.times[j][first:], points[first:]


def tables_of_and(part: ClausePart) -> Tables:
    """Tables of the operands (single types): each event can follow one of every operand."""
    tables, m = part.tables, len(part.clause.operands)
    whole, none, no_lists = np.ones(m, np.bool_), np.zeros(0, np.int64), np.zeros(m + 1, np.int64)
    pairs = np.repeat(np.arange(m * m), np.diff(tables.pairs.ptr))
    nothing = Weights(np.zeros((0, m), np.bool_), none)
    enter_ptr, source = csr([range(m)] * m)
    return Tables(
        binding_ptr=tables.binding_ptr,
        binding=tables.binding,
        enter_ptr=enter_ptr,
        source=source,
        between_ptr=np.zeros(m * m + 1, np.int64),
        between=none,
        start=whole,
        end=whole,
        leading_ptr=no_lists,
        leading=none,
        trailing_ptr=no_lists,
        trailing=none,
        local=tables.local,
        adjacent=Predicates(np.zeros(m * m + 1, np.int64), tables.pairs.one[:0]),
        pairwise=Predicates(np.arange(len(pairs) + 1), tables.pairs.one),
        pair_left=np.arange(m) == pairs[:, None] // m,
        pair_right=np.arange(m) == pairs[:, None] % m,
        ring=nothing,
        real=nothing,
        least=nothing,
    )


def kleene_of(part: ClausePart) -> Flags:
    """bool[m]: whether each operand of an AND may bind several events."""
    return np.array([operand.kleene for operand in part.clause.operands], np.bool_)


def _no_matches() -> MatchRows:
    nothing = np.zeros(0, np.int64)
    return MatchRows(nothing, np.zeros(1, np.int64), nothing, np.zeros((0, 2), np.int64))


def new_search(room: int, *, roles: bool = False, spans: bool = False) -> Search:
    """A search of trends of up to `room` events, with the roles of so many, or with their places in spans."""
    sizes = room, room, room, room * roles, room * spans
    path, pointer, candidate, role, point = (np.zeros(size, np.int64) for size in sizes)
    term = np.zeros(room * spans, np.uint64)
    return Search(path, pointer, candidate, role, point, term, np.zeros(1, records_of(ProgressRecord)))


def _operand_search(room: int, kleene: Flags) -> OperandSearch:
    path, pointer, candidate, saved, point = (np.zeros(room, np.int64) for _ in range(5))
    oldest, term = np.full(len(kleene), LATEST, np.int64), np.zeros(room, np.uint64)
    progress = np.zeros(1, records_of(ProgressRecord))
    progress["missing"] = len(kleene)
    return OperandSearch(path, pointer, candidate, saved, point, term, oldest, kleene, progress)


@cache
def _shared_sink(digests: bool, longest: int) -> SpanSink:
    """A sink of matches of up to `longest` events. It is empty between two batches, so that all parts share it."""
    nothing, output = np.zeros(0, np.uint64), np.zeros(1, records_of(OutputRecord))
    if digests:
        spans = np.zeros(DIGESTED_SPANS, records_of(SpanDigestRecord))
        return DigestedSpans(Digested(nothing, nothing, output), spans, np.zeros(1, np.int64))
    offsets, positions = np.zeros(WRITTEN_SPANS + 1, np.int64), np.zeros(WRITTEN_EVENTS + longest, np.int64)
    rows = Written(np.zeros(0, np.int64), offsets, positions, output)
    return WrittenSpans(rows, np.zeros((WRITTEN_SPANS, 2), np.int64))
