"""Runs the detection kernel on one key: allocates its arrays, and returns the decided matches."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.construction.sase.kernels.runs import (
    ALL_TICKS,
    BASE,
    COUNTERS,
    DUE,
    FOUND,
    HELD,
    LONGEST,
    MATCHES,
    NEVER,
    NOBODY,
    PEAK_BYTES,
    PEAK_EVENTS,
    PEAK_MATCHES,
    PEAK_WRITTEN,
    ROWS,
    SEARCH_TICKS,
    SEEN,
    SETTLED,
    SIZE,
    UPDATES,
    WAITING_BYTES,
    WRITTEN,
    InstanceRecord,
    NegatedRecord,
    Runs,
    SpanRecord,
    SpanTables,
    WaitingRecord,
    drop_expired,
)
from cepbench.algorithms.construction.sase.kernels.spans import UNBOUND, UNTRIED, SpanMatches, SpanSearch, detect
from cepbench.algorithms.engine.kernels.arrays import Ints, readonly
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.growth import widened, wider
from cepbench.algorithms.rows import MatchDigests, MatchRows
from cepbench.events.windows import END
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.records import Records, records_of

FIRST_INSTANCES = 256
FOUND_SPANS = 4096
"""Number of matches that the kernel writes per call."""
FOUND_PLACES = 32_768
"""Number of their events: more than the longest match has while there are `FIRST_INSTANCES`."""
DIGESTS = 1024
FIRST_WAITING = 64
"""Number of matches that can wait for the end of their spans before the arrays grow."""


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
        self.found = _new_found(FIRST_WAITING, 4 * FIRST_INSTANCES, 0) if self.waits else _output(digests)
        self.seconds = 0.0

    @property
    def updates(self) -> int:
        """Number of events in all constructed matches so far."""
        return int(self.runs.counters[UPDATES])

    def phases(self) -> dict[str, float]:
        """Seconds for pushing events and for searching matches; empty where no tick counter is available."""
        count = self.runs.counters
        if not count[ALL_TICKS]:
            return {}
        searching = self.seconds * int(count[SEARCH_TICKS]) / int(count[ALL_TICKS])
        details = {"update_seconds": self.seconds - searching, "enumeration_seconds": searching}
        found = int(count[FOUND])
        return details | ({"delay_mean": searching / found, "delay_count": float(found)} if found else {})

    def process(
        self, events: KernelEvents, position: Ints, watermark: int | None
    ) -> list[MatchRows] | list[MatchDigests]:
        """The matches that these events decide, and those that the watermark decides."""
        places = readonly(position)
        count = self.runs.counters
        matches: list[MatchRows] = []
        rows: list[MatchDigests] = []
        done = 0
        while True:
            started = perf_counter()
            done = detect(done, events, places, self.span, self.tables, self.runs, self.search, self.found)
            self.seconds += perf_counter() - started
            full = bool(count[HELD])
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
        count = self.runs.counters
        events, matches = int(count[SIZE] - count[BASE]), int(count[MATCHES])
        size = events * self.instance_bytes + WAITING_BYTES * matches + 8 * int(count[WRITTEN])
        if count[PEAK_BYTES] > size:
            size, events, matches = int(count[PEAK_BYTES]), int(count[PEAK_EVENTS]), int(count[PEAK_MATCHES])
        count[PEAK_BYTES : PEAK_WRITTEN + 1] = 0
        longest = int(count[LONGEST])
        kinds = {"events": events, "edges": events * self.pointers, "trends": matches + (1 if longest else 0)}
        return StateSize(size + 32 * longest, kinds)

    def _advance(self, time: int, watermark: int | None) -> None:
        """Advances to the point of the next event, or of the watermark at the end of a batch.

        Instances that no later event can reach are no longer live.
        """
        count = self.runs.counters
        self.now = int(count[SEEN]) if self.counts else max(self.now, time, watermark or 0)
        if watermark is not None:
            live = self.runs.one["point"][count[BASE] : count[SIZE]]
            count[BASE] += np.searchsorted(live, self.now - self.reach)

    def _take_digests(self) -> list[MatchDigests]:
        size = int(self.runs.counters[ROWS])
        self.runs.counters[ROWS] = 0
        found = self.found
        if not size:
            return []
        return [MatchDigests(found.window[:size].copy(), found.matches[:size].copy(), found.digest[:size].copy())]

    def _take_matches(self, now: int) -> list[MatchRows]:
        """The matches that no event at or after `now` can invalidate; invalidated ones are dropped.

        Matches that waited come last: one that is also found without waiting is reported by the earlier decision.
        """
        count = self.runs.counters
        size = int(count[MATCHES])
        if not size or (self.waits and not count[SETTLED] and count[DUE] >= now):
            return []
        found = self.found.one[:size]
        late = self.late[found["end"]]
        decided = ~late | (found["decided"] < now)
        decided[: count[SETTLED]] = True
        lengths = np.diff(found["stop"], prepend=0)
        every = self.found.positions[: count[WRITTEN]]
        parts = [decided & found["alive"] & waited for waited in (~late, late)]
        rows = [self._rows(found[chosen], lengths[chosen], every[np.repeat(chosen, lengths)]) for chosen in parts]
        left, places = found[~decided], every[np.repeat(~decided, lengths)]
        left["stop"] = np.cumsum(lengths[~decided])
        self.found.one[: len(left)] = left
        self.found.positions[: len(places)] = places
        count[MATCHES], count[WRITTEN], count[SETTLED] = len(left), len(places), 0
        count[DUE] = left["decided"].min(initial=END)
        return [one for one in rows if len(one)]

    def _rows(self, found: Records, lengths: Ints, positions: Ints) -> MatchRows:
        times = np.stack([found["first"], found["last"]], axis=1)
        return MatchRows(found["decided"] - self.reach, np.append(0, np.cumsum(lengths)), positions, times)

    def _make_room(self, full: bool) -> None:
        """Grows the arrays: of matches if many wait, otherwise of instances."""
        count, room = self.runs.counters, len(self.runs.one)
        if full:
            if 2 * count[MATCHES] > len(self.found.one):
                self.found = widened(self.found, ("one",), len(self.found.one))
            if 2 * count[WRITTEN] > len(self.found.positions) - room:
                self.found = widened(self.found, ("positions",), len(self.found.positions))
            return
        if 2 * count[BASE] >= room:
            drop_expired(self.runs)
            return
        self.runs = widened(self.runs, ("one", "ints", "reals"), room)
        self.runs = self.runs._replace(pointer=wider(self.runs.pointer, room, axis=0))
        self.search = widened(self.search, ("path", "choice", "candidate", "term", "saved"), room)
        self.found = widened(self.found, ("positions",), room)


def _new_runs(tables: SpanTables, pointers: int, ints: int, reals: int) -> Runs:
    negated = np.zeros(len(tables.before), records_of(NegatedRecord))
    for name in ("time", "point", "older_time", "older_point"):
        negated[name] = NEVER
    count = np.zeros(COUNTERS, np.int64)
    count[DUE] = END
    return Runs(
        np.zeros(FIRST_INSTANCES, records_of(InstanceRecord)),
        np.zeros((ints, FIRST_INSTANCES), np.int64),
        np.zeros((reals, FIRST_INSTANCES), np.float64),
        np.zeros((FIRST_INSTANCES, pointers), np.int64),
        np.full(len(tables.kleene), NOBODY, np.int64),
        negated,
        count,
    )


def _new_search(room: int, operands: int) -> SpanSearch:
    path, choice, candidate, saved = (np.zeros(room, np.int64) for _ in range(4))
    candidate[:] = UNTRIED
    return SpanSearch(path, choice, candidate, np.zeros(room, np.uint64), saved, np.full(operands, UNBOUND, np.int64))


@cache
def _output(digests: bool) -> SpanMatches:
    """Output arrays of the kernel. They are empty between two batches, so that all `SpanRuns` share them."""
    if digests:
        return _new_found(0, 0, DIGESTS)
    return _new_found(FOUND_SPANS, FOUND_PLACES, 0)


def _new_found(matches: int, places: int, digests: int) -> SpanMatches:
    def hashes() -> NDArray[np.uint64]:
        return np.zeros(digests, np.uint64)

    one = np.zeros(matches, records_of(WaitingRecord))
    return SpanMatches(one, np.zeros(places, np.int64), np.zeros(digests, np.int64), hashes(), hashes())
