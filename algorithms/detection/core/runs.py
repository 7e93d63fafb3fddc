"""The runs of one automaton on one key: arrays of the update and the enumeration, and their growth."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.kernels.compact_set import (
    NODE_BYTES,
    NONE,
    CompactSet,
    CountersRecord,
    NodeRecord,
    SpanRecord,
)
from cepbench.algorithms.detection.core.kernels.enumeration import (
    DELAYS,
    OF_OUTPUT,
    OF_SEARCH,
    FoundMatches,
    FoundRecord,
    MarksRecord,
    Search,
    SettingRecord,
    enumerate_matches,
)
from cepbench.algorithms.detection.core.kernels.update import OF_DECISIONS, OF_FINALS, OF_NODES, OF_TARGETS, update
from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.growth import widened, wider
from cepbench.algorithms.engine.kernels.trend_hash import powers
from cepbench.algorithms.rows import MatchDigests, MatchRows
from cepbench.queries.compile import Part
from cepbench.queries.records import Records, records_of

FIRST_NODES = 256
FIRST_PENDING = 64
FIRST_FINALS = 1024
FIRST_DEPTH = 64
FOUND_MATCHES = 4096
"""Number of matches that the kernel writes per call."""
FOUND_PLACES = 32_768
DIGESTS = 1024

Rows = list[MatchRows] | list[MatchDigests]


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
        self.set = _new_set()
        self.search = _new_search()
        self.update_seconds = self.enumeration_seconds = 0.0
        self._take_tables()

    def read(self, events: KernelEvents, places: NDArray[np.int64]) -> Iterator[Rows]:
        """Reads events; reports matches when the arrays for unreported ones are full, and at the end."""
        positions, done = readonly(places), 0
        while True:
            started = perf_counter()
            done, lack = update(done, events, positions, self.span, self.local, self.cea, self.set)
            self.update_seconds += perf_counter() - started
            if lack in (0, OF_NODES, OF_FINALS):
                yield from self._enumerate()
            if lack == 0:
                return
            self._make_room(lack)

    def advance(self, point: int) -> None:
        """Declares that no later event lies before `point`; nodes that cannot be reached from there are not live."""
        count, floor = self.set.counters[0], point - self.reach
        size, mask = int(count["next_node"] - count["live"]), len(self.set.node) - 1
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if self.set.node["born"][(int(count["live"]) + middle) & mask] < floor:
                low = middle + 1
            else:
                high = middle
        count["live"] += low

    @property
    def seen(self) -> int:
        """Number of events so far."""
        return int(self.set.counters[0]["seen"])

    @property
    def live_nodes(self) -> int:
        """Number of nodes within the span of the latest event."""
        return int(self.set.counters[0]["next_node"] - self.set.counters[0]["live"])

    def most_nodes(self) -> int:
        """Peak number of live nodes since the last call."""
        count = self.set.counters[0]
        nodes = max(int(count["peak"]), self.live_nodes)
        count["peak"] = 0
        return nodes

    @property
    def reserved(self) -> int:
        """Bytes of the node array, including unused nodes."""
        return len(self.set.node) * NODE_BYTES

    def _enumerate(self) -> Iterator[Rows]:
        mark, output = self.search.marks[0], _output(self.digests)
        while self.set.counters[0]["finals"]:
            started = perf_counter()
            lack = enumerate_matches(self.setting, self.set, self.search, output)
            self.enumeration_seconds += perf_counter() - started
            if mark["matches"] or mark["digest_rows"]:
                yield self._taken(output)
            if lack == OF_SEARCH:
                self._grow_search()
            elif lack == OF_OUTPUT and len(self.search.path) > len(output.positions) and not self.digests:
                output = widened(output, ("positions",), len(self.search.path))

    def _taken(self, output: FoundMatches) -> Rows:
        mark = self.search.marks[0]
        if self.digests:
            size = int(mark["digest_rows"])
            mark["digest_rows"] = 0
            return [
                MatchDigests(output.window[:size].copy(), output.matches[:size].copy(), output.digest[:size].copy())
            ]
        matches = output.match[: mark["matches"]]
        rows = MatchRows(
            matches["window"].copy(),
            np.append(0, matches["stop"]),
            output.positions[: mark["positions"]].copy(),
            np.stack([matches["first"], matches["last"]], axis=1),
        )
        mark["matches"] = mark["positions"] = 0
        return [rows]

    def _make_room(self, lack: int) -> None:
        asked = int(self.set.counters[0]["asked"])
        if lack in (OF_DECISIONS, OF_TARGETS):
            if self.version == self.automaton.version:
                self.automaton.decide(asked) if lack == OF_DECISIONS else self.automaton.take(asked)
            self._take_tables()
        elif lack == OF_NODES:
            self._double_nodes(2 * self.live_nodes)
        elif lack != OF_FINALS:
            self.set = self.set._replace(pending=wider(self.set.pending, len(self.set.pending), axis=0))

    def _take_tables(self) -> None:
        """Loads the current automaton; allocates space for its lists and states and for the nodes of one event."""
        self.cea, self.version = self.automaton.tables(), self.automaton.version
        lists, states = len(self.cea.list), len(self.automaton.states)
        more_lists, more_states = lists - len(self.set.head), states - len(self.set.merged)
        edges = int(np.diff(self.cea.edge_ptr).max(initial=0))
        grown = self.set
        grown = grown._replace(
            head=np.append(grown.head, np.full(more_lists, NONE, np.int64)),
            merged=np.append(grown.merged, np.full(more_states, NONE, np.int64)),
            touched=np.zeros(states, np.int64),
            stamp=np.append(grown.stamp, np.zeros(more_states, np.int64)),
        )
        if edges > len(grown.pending):
            grown = grown._replace(pending=wider(grown.pending, edges, axis=0))
        if edges > len(grown.final):
            grown = widened(grown, ("final",), edges)
        self.set = grown
        self._double_nodes(2 * (edges + lists))

    def _double_nodes(self, least: int) -> None:
        """Grows the node array to at least `least` nodes, each at the index given by its number."""
        old, size = self.set.node, len(self.set.node)
        while size < least:
            size *= 2
        if size > len(old):
            node = np.zeros(size, old.dtype)
            count = self.set.counters[0]
            first = count["kept"] if count["finals"] else count["live"]  # final cells need the kept nodes
            numbers = np.arange(max(first, count["next_node"] - len(old)), count["next_node"])
            node[numbers & (size - 1)] = old[numbers & (len(old) - 1)]
            self.set = self.set._replace(node=node)

    def _grow_search(self) -> None:
        """Allocates space for longer matches and for more waiting nodes."""
        depth = len(self.search.path)
        grown = widened(self.search, ("path", "term"), depth)
        power = np.zeros(2 * depth, np.uint64)
        powers(power)
        self.search = grown._replace(power=power, stack=wider(grown.stack, len(grown.stack), axis=0))


def _new_set() -> CompactSet:
    def empty() -> NDArray[np.int64]:
        return np.zeros(0, np.int64)

    count = np.zeros(1, records_of(CountersRecord))
    count["now"] = -1
    node = np.zeros(FIRST_NODES, records_of(NodeRecord))
    pending = np.zeros((FIRST_PENDING, 2), np.int64)
    final = np.zeros(FIRST_FINALS, np.int64)
    return CompactSet(node, empty(), empty(), pending, empty(), empty(), final, count)


def _new_search() -> Search:
    marks, power = np.zeros(1, records_of(MarksRecord)), np.zeros(FIRST_DEPTH, np.uint64)
    marks["last_event"] = NONE
    powers(power)
    return Search(
        np.zeros(FIRST_DEPTH, np.int64),
        np.zeros(FIRST_DEPTH, np.uint64),
        power,
        np.zeros((2 * FIRST_DEPTH, 2), np.int64),
        marks,
        np.zeros(DELAYS, np.int64),
    )


@cache
def _output(digests: bool) -> FoundMatches:
    """Output arrays of the kernel. They are empty between two calls, so that all `Runs` share them."""
    matches, places, rows = (0, 0, DIGESTS) if digests else (FOUND_MATCHES, FOUND_PLACES, 0)
    return FoundMatches(
        np.zeros(matches, records_of(FoundRecord)),
        np.zeros(places, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.uint64),
        np.zeros(rows, np.uint64),
    )
