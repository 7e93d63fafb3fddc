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
from cepbench.algorithms.detection.mcep.engine.room import more_entries, more_slab, new_output, new_state
from cepbench.algorithms.detection.mcep.engine.tables import EngineTables
from cepbench.algorithms.detection.mcep.kernels import detection
from cepbench.algorithms.detection.mcep.kernels.detection import detect, purge
from cepbench.algorithms.detection.mcep.kernels.matches import settle
from cepbench.algorithms.detection.mcep.kernels.state import (
    NOBODY,
    OF_BINDINGS,
    OF_DIGESTS,
    OF_INDICES,
    OF_MATCHES,
    OF_SLAB,
)
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.kernels.growth import widened
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows, Rows, concatenate
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.queries.compile import Workload

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
        self.state_arrays = new_state(tables)
        self.output = new_output(len(tables.queries))
        self.now = 0
        self._failed = (NOBODY, NOBODY)
        self._matches: list[Taken] = []
        self._digests: list[Taken] = []
        self._late: list[Taken] = []
        """Of waiting patterns."""

    def process(self, events: EventBatch) -> Rows:
        self.now = max(self.now, int(events.time[-1]) if len(events) else 0, events.watermark or 0)
        self.feed(events)
        self.state_arrays.counters[0]["now"] = self.now
        self._take()
        purge(self.tables.longest, self.tables.tables, self.state_arrays)
        return self._report(self.now)

    def finish(self) -> Rows:
        count = self.state_arrays.counters[0]
        count["now"] = count["seen"] = END
        self._take()
        result = self._report(END)
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
        count = self.state_arrays.counters[0]
        in_python(detection.note)(self.state_arrays)
        size, events, rows, waiting = (int(count[name]) for name in PEAKS)
        for name in PEAKS:
            count[name] = 0
        result = sum((distinct.state() for distinct in self.distinct.values()), StateSize())
        result = sum((counts.state() for counts in self.counts.values()), result)
        return result + StateSize(size, {"events": events, "partial matches": rows, "trends": waiting})

    def details(self) -> Mapping[str, float]:
        """Numbers of instances created, and of pairs of instances examined."""
        count = self.state_arrays.counters[0]
        return {"instances": float(count["instances"]), "comparisons": float(count["comparisons"])}

    def take_over(self, old: DetectionExecutor, history: Sequence[EventBatch]) -> None:
        """Continues from the state of another executor of the same patterns, between two batches.

        `history` are the latest events, at least those within reach of the longest window.
        """
        count, old_count = self.state_arrays.counters[0], old.state_arrays.counters[0]
        count["suppress_output"], count["seen"] = True, old_count["seen"] - sum(map(len, history))
        for batch in history:
            self.feed(batch)
        count["suppress_output"] = False
        self.now = old.now
        count["now"] = old.now
        purge(self.tables.longest, self.tables.tables, self.state_arrays)
        count["instances"] = count["comparisons"] = 0
        self.distinct, self.counts, self.totals = old.distinct, old.counts, old.totals
        count["waiting"] = old_count["waiting"]
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
        count = state.counters[0]
        lack = int(count["full_array"])
        asked = (int(count["seen"]), lack)
        grow, self._failed = asked == self._failed, asked
        purge(self.tables.longest, self.tables.tables, state)
        if lack == OF_SLAB:
            self.state_arrays = more_slab(state, self.tables, grow)
        elif lack == OF_BINDINGS:
            if grow or 2 * (count["bindings"] - count["oldest"]) > len(state.binding):
                self.state_arrays = widened(state, ("binding", "ints", "reals"), len(state.binding))
        elif lack == OF_MATCHES:
            if grow:
                self.output = widened(output, ("match",), len(output.match))
                self.output = widened(self.output, ("positions",), len(output.positions))
        elif lack == OF_INDICES:
            self.state_arrays = more_entries(state, self.tables, grow)
        elif lack == OF_DIGESTS:
            assert not grow, "there is room for a row per pattern"
        elif grow or 2 * count["waiting"]["matches"] > len(output.waiting):
            self.output = widened(output, ("waiting",), len(output.waiting))
            self.output = widened(self.output, ("waiting_positions",), len(output.waiting_positions))

    def _take(self) -> None:
        """Collects the kernel's output, and the waiting matches that are settled."""
        count, output = self.state_arrays.counters[0], self.output
        if count["output"]["matches"]:
            matches = output.match[: count["output"]["matches"]]
            self._matches.append((matches["pattern"].copy(), _match_rows(matches, output.positions)))
            count["output"] = (0, 0)
        if count["digest_rows"]:
            size = int(count["digest_rows"])
            rows = MatchDigests(output.window[:size].copy(), output.matches[:size].copy(), output.digest[:size].copy())
            self._digests.append((output.digested[:size].copy(), rows))
            count["digest_rows"] = 0
            self.state_arrays.row[:] = NOBODY
        if count["waiting"]["matches"]:
            settle(self.tables.tables, self.state_arrays, output)
            self._take_settled()

    def _take_settled(self) -> None:
        count, output = self.state_arrays.counters[0], self.output
        waiting = output.waiting[: count["waiting"]["matches"]]
        settled = waiting["settled"]
        if not settled.any():
            return
        rows = _match_rows(waiting, output.waiting_positions)
        late, left = np.flatnonzero(settled & waiting["alive"]), np.flatnonzero(~settled)
        if len(late):
            self._late.append((waiting["pattern"][late], rows.take(late)))
        kept = rows.take(left)
        waiting[: len(left)] = waiting[left]
        waiting["stop"][: len(left)] = kept.offsets[1:]
        output.waiting_positions[: len(kept.positions)] = kept.positions
        count["waiting"] = (len(left), len(kept.positions))

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
        seen = int(self.state_arrays.counters[0]["seen"])
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


def _match_rows(matches: NDArray[np.void], positions: NDArray[np.int64]) -> MatchRows:
    """Matches as rows; `matches["stop"]` are the ends of their positions."""
    offsets = np.append(0, matches["stop"])
    times = np.stack([matches["first"], matches["last"]], axis=1)
    return MatchRows(matches["window"].copy(), offsets, positions[: offsets[-1]].copy(), times)
