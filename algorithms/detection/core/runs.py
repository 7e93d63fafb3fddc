"""The runs of one automaton on one key, and the matches that they end."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.kernels.automaton import Lack
from cepbench.algorithms.detection.core.kernels.compact_set import (
    CompactSet,
    CountersRecord,
    NodeRecord,
    PendingRecord,
    SpanRecord,
)
from cepbench.algorithms.detection.core.kernels.enumeration import (
    DELAYS,
    MatchRecord,
    Output,
    Search,
    SearchRecord,
    SettingRecord,
    StepRecord,
    WaitingRecord,
    enumerate_matches,
)
from cepbench.algorithms.detection.core.kernels.update import update
from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.rows import MatchDigests, MatchRows
from cepbench.queries.compile import Part
from cepbench.queries.records import Records, records_of

FIRST_NODES = 256
FIRST_PENDING = 64
FIRST_FINALS = 1024
FIRST_DEPTH = 64
OUTPUT_MATCHES = 4096
"""Number of matches that the kernel writes per call."""
OUTPUT_POSITIONS = 32_768
OUTPUT_DIGESTS = 1024
LISTS, STATES, POSITIONS = -1, -2, -3
"""Tables whose size is not decided by a kernel."""

SET_TABLES: dict[int, Table] = {
    Lack.NODES: Table(("node",), first="live", stop="next_node"),
    Lack.PENDING: Table(("pending",), stop="pending"),
    Lack.FINALS: Table(("final",), stop="finals"),
    LISTS: Table(("head",), fill=NONE),
    STATES: Table(("merged", "touched", "stamp"), fill=NONE),
}
SEARCH_TABLES: dict[int, Table] = {Lack.PATH: Table(("path", "stack"), stop="waiting")}
OUTPUT_TABLES = {POSITIONS: Table(("positions",))}

Rows = list[MatchRows | MatchDigests]


class Runs:
    """Updates by batches of events, and reports the matches that they end.

    - `reach`: the span in time or, if it `counts`, in events; `limit`: maximum matches per last event, 0 for all.
    - `update_seconds`, `enumeration_seconds`: spent in the kernels of each phase.
    """

    def __init__(
        self, part: Part, automaton: SubsetAutomaton, reach: int, counts: bool, digests: bool, limit: int = 0
    ) -> None:
        self.local = part.tables.local
        self.reach, self.counts, self.digests = reach, counts, digests
        self.automaton = automaton
        self.span: Records = np.array([(reach, counts)], records_of(SpanRecord))
        self.setting: Records = np.array([(reach, digests, limit)], records_of(SettingRecord))
        self.set = Arena(_empty_set(), SET_TABLES)
        self.search = Arena(_empty_search(), SEARCH_TABLES)
        self.now = 0
        self.update_seconds = self.enumeration_seconds = 0.0
        self._load_tables()

    def read(self, events: KernelEvents, places: NDArray[np.int64]) -> Rows:
        """Reads events; returns the matches that they end."""
        positions, rows = readonly(places), Rows()

        def read_on(begin: int) -> tuple[int, int]:
            started = perf_counter()
            stopped = update(begin, events, positions, self.span, self.local, self.cea, self.set.arrays)
            self.update_seconds += perf_counter() - started
            return stopped

        def supply(lack: int) -> None:
            if lack in (Lack.DECISION, Lack.TARGET):
                self.automaton.extend(lack, int(self.counters["asked"]), self.version)
                self._load_tables()
            elif lack != Lack.PENDING:
                self._enumerate(rows)

        self.set.run(read_on, supply)
        self._enumerate(rows)
        return rows

    def advance(self, point: int) -> None:
        """Declares that no later event lies before `point`: nodes that cannot be reached from there are not live."""
        self.now = point

    @property
    def counters(self) -> np.void:
        """The counters of the update."""
        counters: np.void = self.set.arrays.counters[0]
        return counters

    @property
    def live_nodes(self) -> int:
        """Number of nodes within the span of the next event. O(log n)."""
        numbers = range(int(self.counters["live"]), int(self.counters["next_node"]))
        node, mask = self.set.arrays.node["born"], len(self.set.arrays.node) - 1
        return len(numbers) - bisect_left(numbers, self.now - self.reach, key=lambda n: node[n & mask])

    def most_nodes(self) -> int:
        """Peak number of live nodes since the last call."""
        nodes = max(int(self.counters["peak"]), self.live_nodes)
        self.counters["peak"] = 0
        return nodes

    def _enumerate(self, rows: Rows) -> None:
        """Adds the matches of the final cells to `rows`."""
        if not self.counters["finals"]:
            return
        output = _output(self.digests)

        def find_on(_: int) -> tuple[int, int]:
            started = perf_counter()
            stopped = enumerate_matches(self.setting, self.set.arrays, self.search.arrays, output.arrays)
            self.enumeration_seconds += perf_counter() - started
            return stopped

        def take(lack: int) -> None:
            rows.extend(self._taken(output.arrays))
            output.reserve(POSITIONS, self.search.room(Lack.PATH))

        self.search.run(find_on, take)
        rows.extend(self._taken(output.arrays))

    def _taken(self, output: Output) -> Rows:
        mark = self.search.arrays.counters[0]
        if mark["digest_rows"]:
            size = int(mark["digest_rows"])
            mark["digest_rows"] = 0
            return [
                MatchDigests(output.window[:size].copy(), output.matches[:size].copy(), output.digest[:size].copy())
            ]
        if not mark["matches"]:
            return []
        matches = output.match[: mark["matches"]]
        rows = MatchRows(
            matches["window"].copy(),
            np.append(0, matches["stop"]),
            output.positions[: mark["positions"]].copy(),
            np.stack([matches["first"], matches["last"]], axis=1),
        )
        mark["matches"] = mark["positions"] = 0
        return [rows]

    def _load_tables(self) -> None:
        """Loads the current automaton, with space for its lists and states."""
        self.cea, self.version = self.automaton.tables(), self.automaton.version
        self.set.reserve(LISTS, len(self.cea.list))
        self.set.reserve(STATES, len(self.automaton.states))


def _empty_set() -> CompactSet:
    def empty() -> NDArray[np.int64]:
        return np.zeros(0, np.int64)

    counters = np.zeros(1, records_of(CountersRecord))
    counters["now"] = -1
    node = np.zeros(FIRST_NODES, records_of(NodeRecord))
    pending = np.zeros(FIRST_PENDING, records_of(PendingRecord))
    final = np.zeros(FIRST_FINALS, np.int64)
    return CompactSet(node, empty(), empty(), pending, empty(), empty(), final, counters)


def _empty_search() -> Search:
    counters = np.zeros(1, records_of(SearchRecord))
    counters["last_event"] = NONE
    path, stack = np.zeros(FIRST_DEPTH, records_of(StepRecord)), np.zeros(2 * FIRST_DEPTH, records_of(WaitingRecord))
    return Search(path, stack, counters, np.zeros(DELAYS, np.int64))


@cache
def _output(digests: bool) -> Arena[Output]:
    """Output arrays of the kernel. They are empty between two calls, so that all `Runs` share them."""
    matches, positions, rows = (0, 0, OUTPUT_DIGESTS) if digests else (OUTPUT_MATCHES, OUTPUT_POSITIONS, 0)
    arrays = Output(
        np.zeros(matches, records_of(MatchRecord)),
        np.zeros(positions, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.uint64),
        np.zeros(rows, np.uint64),
    )
    return Arena(arrays, OUTPUT_TABLES)
