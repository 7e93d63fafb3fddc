"""SASE on detection queries: runs of the automaton and of each AND; duplicate matches are removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.answers.distinct_matches import DistinctMatches, load_distinct
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.construction.sase.kernels.runs import (
    NEVER,
    WAITING_BYTES,
    CountersRecord,
    InstanceRecord,
    NegatedRecord,
    Runs,
    SpanRecord,
    SpanTables,
    WaitingRecord,
    drop_expired,
)
from cepbench.algorithms.construction.sase.kernels.spans import UNBOUND, UNTRIED, SpanMatches, SpanSearch, detect
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.engine.kernels.arrays import Ints, readonly
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.growth import widened, wider
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows, Rows, rows_of
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END
from cepbench.metrics.details import merged
from cepbench.queries.compile import ClausePart, CompiledQuery, Part
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import Predicates, csr

FIRST_INSTANCES = 256

FOUND_SPANS = 4096
"""Number of matches that the kernel writes per call."""

FOUND_PLACES = 32_768
"""Number of their events: more than the longest match has while there are `FIRST_INSTANCES`."""

DIGESTS = 1024

FIRST_WAITING = 64
"""Number of matches that can wait for the end of their spans before the arrays grow."""


class SpanExecutor(Executor):
    """Evaluates a detection query on one key: one part per AND alternative, and the automaton of all others."""

    def __init__(self, query: CompiledQuery) -> None:
        self.query = query
        self.distinct = DistinctMatches(query)
        self.count = match_counter(query)
        unordered = [tables_of_and(part) for part in query.clauses if not part.clause.ordered]
        # Parts with a trailing NOT come last: matches that others find, too, are reported by those, which decide first.
        self.parts = [SpanRuns(query, tables, False, self.distinct.digests) for tables in unordered]
        self.parts += [SpanRuns(query, tables_of_automaton(part), True, self.distinct.digests) for part in query.parts]
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
        for part in self.parts:
            part.load()
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


class SpanRuns:
    """Feeds batches to the kernel. Runs follow paths if `ordered`; otherwise they bind all operands of an AND.

    With `digests`, matches are counted and digested. No later event lies before the point `now`.
    """

    def __init__(self, query: CompiledQuery, tables: SpanTables, ordered: bool, digests: bool) -> None:
        self.tables, self.reach, self.now = tables, query.reach, 0
        self.counts = query.window is not None and query.window.counts_events
        self.late = np.array(tables.after.any(axis=0), np.bool_)
        self.waits, self.digests = bool(self.late.any()), digests
        positions = len(tables.kleene)
        self.pointers = 1 + int(np.diff(tables.enter_ptr).max(initial=0)) if ordered else positions
        self.instance_bytes = 8 * (6 + self.pointers + len(query.ints) + len(query.reals))
        setting = (self.reach, self.counts, ordered, self.waits, digests, self.instance_bytes)
        self.span: Records = np.array([setting], records_of(SpanRecord))
        self.runs = _new_runs(tables, self.pointers, len(query.ints), len(query.reals))
        self.search = _new_search(FIRST_INSTANCES, positions)
        self.output = _new_output(FIRST_WAITING, 4 * FIRST_INSTANCES, 0) if self.waits else _shared_output(digests)
        self.seconds = 0.0

    @property
    def updates(self) -> int:
        """Number of events in all constructed matches so far."""
        return int(self.runs.counters[0]["updates"])

    def phases(self) -> dict[str, float]:
        """Seconds for pushing events and for searching matches; empty where no tick counter is available."""
        count = self.runs.counters[0]
        if not count["all_ticks"]:
            return {}
        searching = self.seconds * int(count["search_ticks"]) / int(count["all_ticks"])
        details = {"update_seconds": self.seconds - searching, "enumeration_seconds": searching}
        matches = int(count["constructed"])
        return details | ({"delay_mean": searching / matches, "delay_count": float(matches)} if matches else {})

    def process(
        self, events: KernelEvents, position: Ints, watermark: int | None
    ) -> list[MatchRows] | list[MatchDigests]:
        """The matches that these events decide, and those that the watermark decides."""
        places = readonly(position)
        count = self.runs.counters[0]
        matches: list[MatchRows] = []
        rows: list[MatchDigests] = []
        done = 0
        while True:
            started = perf_counter()
            done = detect(done, events, places, self.span, self.tables, self.runs, self.search, self.output)
            self.seconds += perf_counter() - started
            full = bool(count["held"])
            ended = done == len(events.time) and not full
            self._advance(int(events.time[done - 1]) if done else 0, watermark if ended else None)
            if self.digests:
                rows += self._take_digests()
            else:
                matches += self._take_matches(self.now)
            if ended:
                return rows if self.digests else matches
            self._make_room(full)

    def finish(self) -> list[MatchRows]:
        """The matches that waited for the end of their spans."""
        return [] if self.digests else self._take_matches(END)

    def load(self) -> None:
        """Calls the kernel that a few events may not reach."""
        drop_expired(self.runs)

    def state(self) -> StateSize:
        """Live instances and pointers, waiting matches, and the longest match; the peak since the last call."""
        count = self.runs.counters[0]
        events, matches = int(count["size"] - count["base"]), int(count["matches"])
        size = events * self.instance_bytes + WAITING_BYTES * matches + 8 * int(count["written"])
        if count["peak_bytes"] > size:
            size, events, matches = int(count["peak_bytes"]), int(count["peak_events"]), int(count["peak_matches"])
        for name in ("peak_bytes", "peak_events", "peak_matches", "peak_written"):
            count[name] = 0
        longest = int(count["longest"])
        kinds = {"events": events, "edges": events * self.pointers, "trends": matches + (1 if longest else 0)}
        return StateSize(size + 32 * longest, kinds)

    def _advance(self, time: int, watermark: int | None) -> None:
        """Advances to the point of the next event, or of the watermark at the end of a batch.

        Instances that no later event can reach are no longer live.
        """
        count = self.runs.counters[0]
        self.now = int(count["seen"]) if self.counts else max(self.now, time, watermark or 0)
        if watermark is not None:
            live = self.runs.instance["point"][count["base"] : count["size"]]
            count["base"] += np.searchsorted(live, self.now - self.reach)

    def _take_digests(self) -> list[MatchDigests]:
        size = int(self.runs.counters[0]["digest_rows"])
        self.runs.counters[0]["digest_rows"] = 0
        output = self.output
        if not size:
            return []
        return [MatchDigests(output.window[:size].copy(), output.matches[:size].copy(), output.digest[:size].copy())]

    def _take_matches(self, now: int) -> list[MatchRows]:
        """The matches that no event at or after `now` can invalidate; invalidated ones are dropped.

        Matches that waited come last: one that is also found without waiting is reported by the earlier decision.
        """
        count = self.runs.counters[0]
        size = int(count["matches"])
        if not size or (self.waits and not count["settled"] and count["due"] >= now):
            return []
        matches = self.output.match[:size]
        late = self.late[matches["end"]]
        decided = ~late | (matches["decided"] < now)
        decided[: count["settled"]] = True
        lengths = np.diff(matches["stop"], prepend=0)
        positions = self.output.positions[: count["written"]]
        parts = [decided & matches["alive"] & waited for waited in (~late, late)]
        rows = [self._rows(matches[chosen], lengths[chosen], positions[np.repeat(chosen, lengths)]) for chosen in parts]
        left, places = matches[~decided], positions[np.repeat(~decided, lengths)]
        left["stop"] = np.cumsum(lengths[~decided])
        self.output.match[: len(left)] = left
        self.output.positions[: len(places)] = places
        count["matches"], count["written"], count["settled"] = len(left), len(places), 0
        count["due"] = left["decided"].min(initial=END)
        return [part for part in rows if len(part)]

    def _rows(self, matches: Records, lengths: Ints, positions: Ints) -> MatchRows:
        times = np.stack([matches["first"], matches["last"]], axis=1)
        return MatchRows(matches["decided"] - self.reach, np.append(0, np.cumsum(lengths)), positions, times)

    def _make_room(self, full: bool) -> None:
        """Grows the arrays: of matches if many wait, otherwise of instances."""
        count, room = self.runs.counters[0], len(self.runs.instance)
        if full:
            if 2 * count["matches"] > len(self.output.match):
                self.output = widened(self.output, ("match",), len(self.output.match))
            if 2 * count["written"] > len(self.output.positions) - room:
                self.output = widened(self.output, ("positions",), len(self.output.positions))
            return
        if 2 * count["base"] >= room:
            drop_expired(self.runs)
            return
        self.runs = widened(self.runs, ("instance", "ints", "reals"), room)
        self.runs = self.runs._replace(pointer=wider(self.runs.pointer, room, axis=0))
        self.search = widened(self.search, ("path", "choice", "candidate", "term", "saved"), room)
        self.output = widened(self.output, ("positions",), room)


def tables_of_automaton(part: Part) -> SpanTables:
    """Tables of the automaton's positions and transitions; a negated sub-pattern is a single type."""
    positions, transitions = part.automaton.positions, part.automaton.transitions
    p, tables, negated = len(positions), part.tables, [negation.tables for negation in part.negations]
    steps = [[t for t in transitions if t.target == n and t.source != n] for n in range(p)]
    enter_ptr, source = csr([t.source for t in into] for into in steps)
    before, after = np.zeros((2, len(negated), p), np.bool_)
    for n, position in enumerate(positions):
        before[sorted((position.start or frozenset()).union(*(t.negations for t in steps[n]))), n] = True
        after[sorted(position.end or ()), n] = True
    starts = tables.binding_ptr
    binding_ptr, binding = csr(
        [
            *tables.binding[starts[code] : starts[code + 1]],
            *(p + j for j, absent in enumerate(negated) if absent.binding_ptr[code] < absent.binding_ptr[code + 1]),
        ]
        for code in range(len(starts) - 1)
    )
    return SpanTables(
        binding_ptr,
        binding,
        np.concatenate([tables.local, *(negation.local for negation in negated)]),
        enter_ptr,
        source,
        np.array([bool(t.negations) for into in steps for t in into], np.bool_),
        np.array([any(t.source == t.target == n for t in transitions) for n in range(p)], np.bool_),
        tables.start,
        tables.end,
        before,
        after,
        tables.pairwise,
        tables.pair_left,
        tables.pair_right,
    )


def tables_of_and(part: ClausePart) -> SpanTables:
    """Tables of the operands (single types); each can precede every other one."""
    tables, m = part.tables, len(part.clause.operands)
    whole, nothing = np.ones(m, np.bool_), np.zeros((0, m), np.bool_)
    pairs = np.repeat(np.arange(m * m), np.diff(tables.pairs.ptr))
    return SpanTables(
        tables.binding_ptr,
        tables.binding,
        tables.local,
        *csr([range(m)] * m),
        np.zeros(m * m, np.bool_),
        np.array([operand.kleene for operand in part.clause.operands], np.bool_),
        whole,
        whole,
        nothing,
        nothing,
        Predicates(np.arange(len(pairs) + 1), tables.pairs.one),
        np.arange(m) == pairs[:, None] // m,
        np.arange(m) == pairs[:, None] % m,
    )


def _new_runs(tables: SpanTables, pointers: int, ints: int, reals: int) -> Runs:
    negated = np.zeros(len(tables.before), records_of(NegatedRecord))
    for name in ("time", "point", "older_time", "older_point"):
        negated[name] = NEVER
    count = np.zeros(1, records_of(CountersRecord))
    count["due"] = END
    return Runs(
        np.zeros(FIRST_INSTANCES, records_of(InstanceRecord)),
        np.zeros((ints, FIRST_INSTANCES), np.int64),
        np.zeros((reals, FIRST_INSTANCES), np.float64),
        np.zeros((FIRST_INSTANCES, pointers), np.int64),
        np.full(len(tables.kleene), NONE, np.int64),
        negated,
        count,
    )


def _new_search(room: int, operands: int) -> SpanSearch:
    path, choice, candidate, saved = (np.zeros(room, np.int64) for _ in range(4))
    candidate[:] = UNTRIED
    return SpanSearch(path, choice, candidate, np.zeros(room, np.uint64), saved, np.full(operands, UNBOUND, np.int64))


@cache
def _shared_output(digests: bool) -> SpanMatches:
    """Output arrays of the kernel. They are empty between two batches, so that all `SpanRuns` share them."""
    if digests:
        return _new_output(0, 0, DIGESTS)
    return _new_output(FOUND_SPANS, FOUND_PLACES, 0)


def _new_output(matches: int, places: int, digests: int) -> SpanMatches:
    def hashes() -> NDArray[np.uint64]:
        return np.zeros(digests, np.uint64)

    match = np.zeros(matches, records_of(WaitingRecord))
    return SpanMatches(match, np.zeros(places, np.int64), np.zeros(digests, np.int64), hashes(), hashes())
