"""Runs a global plan on one key (MCEP, Sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.answers.distinct_matches import DistinctMatches, load_distinct
from cepbench.algorithms.answers.matches import taken
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.kernels.arrays import readonly
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.mcep.aggregation import WindowCounts
from cepbench.algorithms.mcep.engine.room import more_bindings, more_entries, more_slab, new_output, new_state
from cepbench.algorithms.mcep.engine.tables import EngineTables
from cepbench.algorithms.mcep.kernels.detection import detect, purge
from cepbench.algorithms.mcep.kernels.matches import settle
from cepbench.algorithms.mcep.kernels.state import (
    BINDINGS,
    DIGESTS,
    INSTANCES,
    LACK,
    LOOKED,
    LOW,
    MATCHES,
    MUTE,
    NOBODY,
    NOW,
    OF_BINDINGS,
    OF_DIGESTS,
    OF_INDICES,
    OF_MATCHES,
    OF_SLAB,
    PEAK_BYTES,
    PEAK_EVENTS,
    PEAK_MATCHES,
    PEAK_ROWS,
    ROWS,
    SEEN,
    WAITING,
    WAITING_BYTES,
    WAITING_WRITTEN,
    WORDS,
    WRITTEN,
)
from cepbench.algorithms.rows import MatchDigests, MatchRows, Rows
from cepbench.algorithms.running.batches import kernel_events
from cepbench.algorithms.running.per_query import check_order
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.compile import Workload

NEVER_DUE = 2 * FOREVER - 1


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
        self.state_arrays = new_state(tables)
        self.output = new_output(len(tables.queries))
        self.now = 0
        self._failed = (NOBODY, NOBODY)
        self._found: list[tuple[NDArray[np.int64], MatchRows]] = []
        self._late: list[tuple[NDArray[np.int64], MatchRows]] = []
        self._digests: list[tuple[NDArray[np.int64], MatchDigests]] = []

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        self.feed(events)
        self.state_arrays.counters[NOW] = self.now
        self._take()
        purge(self.tables.longest, self.tables.tables, self.state_arrays)
        return self._report(self.now)

    def finish(self) -> Rows:
        self.state_arrays.counters[[NOW, SEEN]] = NEVER_DUE
        self._take()
        result = self._report(NEVER_DUE)
        totals = {index: count.row() for index, count in self.totals.items()}
        return result | {index: row for index, row in totals.items() if row is not None}

    def feed(self, events: EventBatch) -> None:
        """Passes all events of a batch to the kernels."""
        batch, places, done = kernel_events(self.tables.columns, events), readonly(events.position), 0
        while done < len(events):
            done = detect(done, batch, places, self.tables.longest, self.tables.tables, self.state_arrays, self.output)
            if done < len(events):
                self._take()
                self._make_room()

    def state(self) -> StateSize:
        """Rows of all nodes, bound events, and waiting matches."""
        count = self.state_arrays.counters
        columns = len(self.tables.columns.ints) + len(self.tables.columns.reals)
        events, rows, waiting = int(count[BINDINGS] - count[LOW]), int(count[ROWS]), int(count[WAITING])
        size = 8 * int(count[WORDS] + (6 + columns) * events + count[WAITING_WRITTEN]) + WAITING_BYTES * waiting
        if count[PEAK_BYTES] > size:
            size, events = int(count[PEAK_BYTES]), int(count[PEAK_EVENTS])
            rows, waiting = int(count[PEAK_ROWS]), int(count[PEAK_MATCHES])
        count[PEAK_BYTES : PEAK_MATCHES + 1] = 0
        result = sum((one.state() for one in self.distinct.values()), StateSize())
        result = sum((one.state() for one in self.counts.values()), result)
        return result + StateSize(size, {"events": events, "partial matches": rows, "trends": waiting})

    def details(self) -> Mapping[str, float]:
        """Numbers of instances created, and of pairs of instances examined."""
        count = self.state_arrays.counters
        return {"instances": float(count[INSTANCES]), "comparisons": float(count[LOOKED])}

    def take_over(self, old: DetectionExecutor, history: Sequence[EventBatch]) -> None:
        """Continues from the state of another executor of the same patterns, between two batches.

        `history` are the latest events, at least those within reach of the longest window.
        """
        count, others = self.state_arrays.counters, old.state_arrays.counters
        count[MUTE], count[SEEN] = 1, others[SEEN] - sum(map(len, history))
        for batch in history:
            self.feed(batch)
        count = self.state_arrays.counters
        count[MUTE] = 0
        self.now = old.now
        count[NOW] = old.now
        purge(self.tables.longest, self.tables.tables, self.state_arrays)
        count[[INSTANCES, LOOKED]] = 0
        self.distinct, self.counts, self.totals = old.distinct, old.counts, old.totals
        waiting, positions = int(others[WAITING]), int(others[WAITING_WRITTEN])
        count[WAITING], count[WAITING_WRITTEN] = waiting, positions
        self.output = self.output._replace(
            waiting=old.output.waiting.copy(), waiting_positions=old.output.waiting_positions.copy()
        )

    def load(self) -> None:
        """Calls the kernels that a few events may not reach."""
        settle(self.tables.tables, self.state_arrays, self.output)
        purge(self.tables.longest, self.tables.tables, self.state_arrays)
        load_distinct()

    def _make_room(self) -> None:
        """Grows the arrays that are too small for the next event; doubles them if the event has failed before."""
        state, output = self.state_arrays, self.output
        count = state.counters
        lack = int(count[LACK])
        asked = (int(count[SEEN]), lack)
        grow, self._failed = asked == self._failed, asked
        purge(self.tables.longest, self.tables.tables, state)
        if lack == OF_SLAB:
            self.state_arrays = more_slab(state, self.tables, grow)
        elif lack == OF_BINDINGS:
            if grow or 2 * (count[BINDINGS] - count[LOW]) > len(state.binding):
                self.state_arrays = more_bindings(state)
        elif lack == OF_MATCHES:
            if grow:
                self.output = widened(output, ("found",), len(output.found))
                self.output = widened(self.output, ("positions",), len(output.positions))
        elif lack == OF_INDICES:
            self.state_arrays = more_entries(state, self.tables, grow)
        elif lack == OF_DIGESTS:
            assert not grow, "there is room for a row per pattern"
        elif grow or 2 * count[WAITING] > len(output.waiting):
            self.output = widened(output, ("waiting",), len(output.waiting))
            self.output = widened(self.output, ("waiting_positions",), len(output.waiting_positions))

    def _take(self) -> None:
        """Collects the kernel's output, and the waiting matches that are settled."""
        count, output = self.state_arrays.counters, self.output
        if count[MATCHES]:
            found, positions = output.found[: count[MATCHES]], output.positions[: count[WRITTEN]]
            self._found.append((found["pattern"].copy(), _match_rows(found, positions.copy())))
            count[MATCHES] = count[WRITTEN] = 0
        if count[DIGESTS]:
            size = int(count[DIGESTS])
            rows = MatchDigests(output.window[:size].copy(), output.matches[:size].copy(), output.digest[:size].copy())
            self._digests.append((output.digested[:size].copy(), rows))
            count[DIGESTS] = 0
            self.state_arrays.row[:] = NOBODY
        if count[WAITING]:
            settle(self.tables.tables, self.state_arrays, output)
            self._take_settled()

    def _take_settled(self) -> None:
        count, output = self.state_arrays.counters, self.output
        waiting, positions = output.waiting[: count[WAITING]], output.waiting_positions[: count[WAITING_WRITTEN]]
        settled = waiting["settled"]
        if not settled.any():
            return
        lengths = np.diff(waiting["stop"], prepend=0)
        chosen = settled & waiting["alive"]
        if chosen.any():
            result = waiting[chosen]
            result["stop"] = np.cumsum(lengths[chosen])
            self._late.append((result["pattern"].copy(), _match_rows(result, positions[np.repeat(chosen, lengths)])))
        left, places = waiting[~settled], positions[np.repeat(~settled, lengths)]
        left["stop"] = np.cumsum(lengths[~settled])
        output.waiting[: len(left)] = left
        output.waiting_positions[: len(places)] = places
        count[WAITING], count[WAITING_WRITTEN] = len(left), len(places)

    def _report(self, now: int) -> Rows:
        """The rows of all queries; those of waiting patterns come last. Closes windows that end by `now`."""
        parts: dict[int, list[MatchRows | MatchDigests]] = {}
        for kind in (self._found, self._late):
            if kind:
                pattern = np.concatenate([numbers for numbers, _ in kind])
                rows = MatchRows.concatenate([matches for _, matches in kind])
                for query, chosen in self._by_query(pattern):
                    parts.setdefault(query, []).append(taken(rows, chosen))
        if self._digests:
            pattern = np.concatenate([numbers for numbers, _ in self._digests])
            digests = MatchDigests.concatenate([rows for _, rows in self._digests])
            for query, chosen in self._by_query(pattern):
                mine = digests.window[chosen], digests.matches[chosen], digests.digest[chosen]
                parts.setdefault(query, []).append(MatchDigests(*mine))
        self._found, self._late, self._digests = [], [], []
        result: Rows = {}
        seen = int(self.state_arrays.counters[SEEN])
        for query, distinct in self.distinct.items():
            if query in parts or distinct.known is not None:
                found = distinct.once(parts.get(query, []), seen if self.by_events[query] else self.now)
                if query in self.totals:
                    self.totals[query].add(found)
                elif found is not None and len(found):
                    result[query] = found
        for query, counts in self.counts.items():
            counts.add([rows for rows in parts.get(query, []) if isinstance(rows, MatchRows)])
            closed = counts.closed(now)
            if closed is not None:
                result[query] = closed
        return result

    def _by_query(self, pattern: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
        """For each query, in order, the indices of its rows, given the pattern of each row."""
        query = self.tables.queries[pattern]
        order = np.argsort(query, kind="stable")
        ends = [0, *(np.flatnonzero(np.diff(query[order])) + 1).tolist(), len(order)]
        return [(int(query[order[begin]]), order[begin:end]) for begin, end in pairwise(ends)]


def _match_rows(found: NDArray[np.void], positions: NDArray[np.int64]) -> MatchRows:
    """Matches as rows; `found["stop"]` are the ends of their positions."""
    offsets = np.append(0, found["stop"])
    return MatchRows(found["window"].copy(), offsets, positions, np.stack([found["first"], found["last"]], axis=1))
