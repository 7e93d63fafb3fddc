"""Runs a global plan on one key (MCEP, Sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.answers.distinct_matches import DistinctMatches, load_distinct
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.detection.mcep.aggregation import WindowCounts
from cepbench.algorithms.detection.mcep.engine.tables import EngineTables
from cepbench.algorithms.detection.mcep.kernels import detection
from cepbench.algorithms.detection.mcep.kernels.detection import detect, purge
from cepbench.algorithms.detection.mcep.kernels.indices import ENTRY_WORDS, LEAST_ROOM
from cepbench.algorithms.detection.mcep.kernels.matches import settle
from cepbench.algorithms.detection.mcep.kernels.state import (
    BindingRecord,
    CountersRecord,
    DigestRecord,
    EngineState,
    EntriesRecord,
    EventDigestRecord,
    Full,
    MatchRecord,
    StoreRecord,
)
from cepbench.algorithms.detection.mcep.kernels.stores import LEAST_LIMIT
from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows, Rows, concatenate
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.queries.compile import Workload
from cepbench.queries.records import Records, records_of

FIRST_ROWS = 8
"""Initial capacity of a node in rows."""
FIRST_BINDINGS = 256
FIRST_ENTRIES = 1024
FIRST_MATCHES = 1024
FIRST_POSITIONS = 8192
FIRST_DIGESTS = 1024
TABLES: dict[int, Table] = {
    Full.SLAB: Table(("slab",), stop="slab_used"),
    Full.BINDINGS: Table(("binding", "ints", "reals"), stop="bindings", first="oldest"),
    Full.ENTRIES: Table(("key", "entry"), stop="entries_used"),
    Full.MATCHES: Table(("match",), stop="matches"),
    Full.POSITIONS: Table(("positions",), stop="positions"),
    Full.DIGESTS: Table(("digest",), stop="digest_rows"),
}
PEAKS = ("peak_bytes", "peak_events", "peak_rows", "peak_matches")

Taken = tuple[NDArray[np.int64], MatchRows | MatchDigests]
"""Rows that the kernels wrote, and the pattern of each."""


class DetectionExecutor(Executor):
    """Feeds batches to the kernels, grows their arrays, and reports each match of a query once.

    `counts` belong to queries that count trends in windows, `totals` to queries that count the matches they detect.
    O(pairs of rows that meet) time, O(live rows and events) space.
    """

    def __init__(self, workload: Workload, tables: EngineTables, windows: Mapping[int, Window]) -> None:
        self.tables = tables
        self.distinct = {query.index: DistinctMatches(query) for query in workload if query.index not in windows}
        self.counts = {index: WindowCounts(window, workload.arithmetic) for index, window in windows.items()}
        detecting = [query for query in workload if query.index not in windows]
        self.totals = {query.index: count for query in detecting if (count := match_counter(query)) is not None}
        self.by_events = {query.index: query.window is not None and query.window.counts_events for query in workload}
        self.arena = Arena(_empty_state(tables), TABLES)
        self.now = 0
        self._matches: list[Taken] = []
        self._digests: list[Taken] = []
        self._late: list[Taken] = []
        """Of waiting patterns."""

    def process(self, events: EventBatch) -> Rows:
        self.now = max(self.now, int(events.time[-1]) if len(events) else 0, events.watermark or 0)
        self.feed(events)
        self.counters["now"] = self.now
        self._take()
        self._purge()
        return self._report(self.now)

    def finish(self) -> Rows:
        count = self.counters
        count["now"] = count["seen"] = END
        self._take()
        result = self._report(END)
        totals = {index: count.row() for index, count in self.totals.items()}
        return result | {index: row for index, row in totals.items() if row is not None}

    def feed(self, events: EventBatch) -> None:
        """Passes all events of a batch to the kernels."""
        if not len(events):
            return
        batch, places = kernel_events(self.tables.columns, events), readonly(events.position)
        tables, longest = self.tables.tables, self.tables.longest
        self.arena.run(lambda begin: detect(begin, batch, places, longest, tables, self.arena.arrays), self._clear)

    @property
    def counters(self) -> np.void:
        """The counters of the kernels."""
        counters: np.void = self.arena.arrays.counters[0]
        return counters

    def state(self) -> StateSize:
        """Rows of all nodes, bound events, and waiting matches."""
        count = self.counters
        in_python(detection.note)(self.arena.arrays)
        size, events, rows, waiting = (int(count[name]) for name in PEAKS)
        for name in PEAKS:
            count[name] = 0
        result = sum((distinct.state() for distinct in self.distinct.values()), StateSize())
        result = sum((counts.state() for counts in self.counts.values()), result)
        return result + StateSize(size, {"events": events, "partial matches": rows, "trends": waiting})

    def details(self) -> Mapping[str, float]:
        """Numbers of instances created, and of pairs of instances examined."""
        count = self.counters
        return {"instances": float(count["instances"]), "comparisons": float(count["comparisons"])}

    def take_over(self, old: DetectionExecutor, history: Sequence[EventBatch]) -> None:
        """Continues from the state of another executor of the same patterns, between two batches.

        `history` are the latest events, at least those within reach of the longest window.
        """
        count, old_count = self.counters, old.counters
        count["suppress_output"], count["seen"] = True, old_count["seen"] - sum(map(len, history))
        for batch in history:
            self.feed(batch)
        count["suppress_output"] = False
        self.now = old.now
        count["now"] = old.now
        self._purge()
        count["instances"] = count["comparisons"] = 0
        self.distinct, self.counts, self.totals = old.distinct, old.counts, old.totals
        for name in ("matches", "positions", "waiting", "waiting_positions"):
            count[name] = old_count[name]
        waiting = old.arena.arrays
        self.arena.arrays = self.arena.arrays._replace(match=waiting.match, positions=waiting.positions)

    def load(self) -> None:
        """Calls the kernels that a few events may not reach."""
        settle(self.tables.tables, self.arena.arrays)
        self._purge()
        load_distinct()

    def _purge(self) -> None:
        """Drops everything that is out of reach."""
        purge(self.tables.longest, self.tables.tables, self.arena.arrays)

    def _clear(self, full: int) -> None:
        """Takes the output and drops everything that is out of reach; spreads or empties what is divided into lists."""
        self._take()
        self._purge()
        if full == Full.SLAB:
            self._spread_stores()
        elif full == Full.ENTRIES:
            self._empty_indices()

    def _spread_stores(self) -> None:
        """Gives each node space for twice its rows, in at most half of the slab. O(words).

        Rows begin at 0 after `kernels.detection.purge`.
        """
        store = self.arena.arrays.store
        room = np.maximum(FIRST_ROWS, 2 * store["size"])
        ends = np.cumsum(room * store["words"])
        begins, offsets = store["offset"].copy(), ends - room * store["words"]
        slab = max(self.arena.room(Full.SLAB), 2 * int(ends[-1]))
        self.arena.rearrange(Full.SLAB, begins, offsets, store["size"] * store["words"], slab)
        store["room"], store["offset"] = room, offsets
        self.counters["slab_used"] = ends[-1]

    def _empty_indices(self) -> None:
        """Empties the indices; half of their space is at least twice what the stores need."""
        entries, rows = self.arena.arrays.entries, self.arena.arrays.store["size"][self.tables.tables.indices["node"]]
        self.counters["live_words"] -= ENTRY_WORDS * int(entries["filled"].sum())
        self.counters["entries_used"] = 0
        for name in ("offset", "room", "filled", "sorted"):
            entries[name] = 0
        self.arena.reserve(Full.ENTRIES, max(FIRST_ENTRIES, 4 * int(np.maximum(LEAST_ROOM, 2 * rows).sum())))

    def _take(self) -> None:
        """Takes the matches that do not wait, and digests, from the output."""
        count, arrays = self.counters, self.arena.arrays
        if count["waiting"]:
            settle(self.tables.tables, arrays)
            self._take_settled()
        elif count["matches"]:
            matches = arrays.match[: count["matches"]]
            self._matches.append((matches["pattern"].copy(), _match_rows(matches, arrays.positions)))
            count["matches"] = count["positions"] = 0
        if count["digest_rows"]:
            digests = arrays.digest[: count["digest_rows"]].copy()
            rows = MatchDigests(*(np.ascontiguousarray(digests[name]) for name in ("window", "matches", "digest")))
            self._digests.append((digests["pattern"], rows))
            count["digest_rows"] = 0
            arrays.event_digest["row"] = NONE

    def _take_settled(self) -> None:
        """Takes the matches that are settled, and moves the others to the front."""
        count, arrays = self.counters, self.arena.arrays
        matches = arrays.match[: count["matches"]]
        if not matches["settled"].any():
            return
        rows, late = _match_rows(matches, arrays.positions), self.tables.tables.pattern["waits"][matches["pattern"]]
        settled = matches["settled"] & matches["alive"]
        for kind, chosen in ((self._matches, settled & ~late), (self._late, settled & late)):
            if chosen.any():
                kind.append((matches["pattern"][chosen], rows.take(np.flatnonzero(chosen))))
        waiting = np.flatnonzero(~matches["settled"])
        kept = rows.take(waiting)
        matches[: len(waiting)] = matches[waiting]
        matches["stop"][: len(waiting)] = kept.offsets[1:]
        arrays.positions[: len(kept.positions)] = kept.positions
        count["matches"] = count["waiting"] = len(waiting)
        count["positions"] = count["waiting_positions"] = len(kept.positions)

    def _parts(self) -> dict[int, list[QueryRows]]:
        """The rows since the last report, by query; the matches of waiting patterns come last."""
        parts: dict[int, list[QueryRows]] = {query: [] for query in self.by_events}
        for kind in (self._matches, self._digests, self._late):
            if kind:
                query = self.tables.queries[np.concatenate([pattern for pattern, _ in kind])]
                rows, order = concatenate([part for _, part in kind]), np.argsort(query, kind="stable")
                for begin, end in pairwise([0, *(np.flatnonzero(np.diff(query[order])) + 1).tolist(), len(order)]):
                    parts[int(query[order[begin]])].append(rows.take(order[begin:end]))
                kind.clear()
        return parts

    def _report(self, now: int) -> Rows:
        """The rows of all queries. Closes windows that end by `now`."""
        parts = self._parts()
        result: Rows = {}
        seen = int(self.counters["seen"])
        for query, distinct in self.distinct.items():
            if parts[query] or distinct.known is not None:
                matches = distinct.once(parts[query], seen if self.by_events[query] else self.now)
                if query in self.totals:
                    self.totals[query].add(matches)
                elif matches is not None and len(matches):
                    result[query] = matches
        for query, counts in self.counts.items():
            counts.add([rows for rows in parts[query] if isinstance(rows, MatchRows)])
            closed = counts.closed(now)
            if closed is not None:
                result[query] = closed
        return result


def _empty_state(tables: EngineTables) -> EngineState:
    """A state without rows and events."""

    def empty(size: int, record: type) -> Records:
        return np.zeros(size, records_of(record))

    nodes, patterns = len(tables.words), len(tables.tables.pattern)
    store, digest, counters = empty(nodes, StoreRecord), empty(patterns, EventDigestRecord), empty(1, CountersRecord)
    ends = np.cumsum(FIRST_ROWS * tables.words)
    store["words"], store["offset"] = tables.words, ends - FIRST_ROWS * tables.words
    store["room"], store["stamp"], store["limit"] = FIRST_ROWS, NONE, LEAST_LIMIT
    digest["row"], counters["slab_used"] = NONE, ends[-1] if nodes else 0
    return EngineState(
        store,
        np.zeros(2 * int(counters["slab_used"][0]), np.int64),
        empty(FIRST_BINDINGS, BindingRecord),
        np.zeros((len(tables.columns.ints), FIRST_BINDINGS), np.int64),
        np.zeros((len(tables.columns.reals), FIRST_BINDINGS), np.float64),
        empty(len(tables.tables.indices), EntriesRecord),
        np.zeros(0, np.float64),
        np.zeros(0, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(patterns, np.int64),
        digest,
        empty(FIRST_MATCHES, MatchRecord),
        np.zeros(FIRST_POSITIONS, np.int64),
        empty(FIRST_DIGESTS, DigestRecord),
        counters,
    )


def _match_rows(matches: NDArray[np.void], positions: NDArray[np.int64]) -> MatchRows:
    """Matches as rows; `matches["stop"]` are the ends of their positions."""
    offsets = np.append(0, matches["stop"])
    times = np.stack([matches["first"], matches["last"]], axis=1)
    return MatchRows(matches["window"].copy(), offsets, positions[: offsets[-1]].copy(), times)
