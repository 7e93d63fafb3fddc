"""Combinators, from operators to operators: several queries, windows of events, AND, and one of two operators.

`IndependentAlgorithm` builds the operator of a workload from them, for algorithms that share nothing between queries.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Algorithm, Executor, KeyedBatch, KeyedOperator, Operator, PerKey, Plan, StateSize
from cepbench.algorithms.growth import with_room
from cepbench.algorithms.rows import OVERFLOW_COUNT, AggregateRows, QueryRows, Rows, joined, rows_of
from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import FOREVER, Window
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery, Part, Workload

Ints = NDArray[np.int64]

WHOLE_STREAM = Window(FOREVER, FOREVER)
"""The window of a query without WITHIN, and of the events of one window that counts events."""


def window_of(query: CompiledQuery) -> Window:
    """The window of a query, or that of the whole stream."""
    return query.window or WHOLE_STREAM


def by_window(queries: Iterable[CompiledQuery]) -> dict[Window, list[CompiledQuery]]:
    """The queries of each window, in their order; windows as they appear."""
    windows: dict[Window, list[CompiledQuery]] = {}
    for query in queries:
        windows.setdefault(window_of(query), []).append(query)
    return windows


MakePart = Callable[[CompiledQuery, Part, Window], KeyedOperator]
"""Makes an operator that evaluates an automaton of a query over windows of time."""


class Several(Operator):
    """Operators that share nothing, such as one per query. No two of them return rows of the same query."""

    def __init__(self, parts: Iterable[Operator]) -> None:
        self.parts = tuple(parts)

    def process(self, batch: KeyedBatch) -> Rows:
        return joined(part.process(batch) for part in self.parts)

    def finish(self) -> Rows:
        return joined(part.finish() for part in self.parts)

    def state(self) -> StateSize:
        """The sum of the states of all parts."""
        return sum((part.state() for part in self.parts), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(part.details() for part in self.parts)

    def load(self) -> None:
        for part in self.parts:
            part.load()

    def idle(self) -> Operator:
        return Several([part.idle() for part in self.parts])


class Conjunction(KeyedOperator):
    """COUNT of pairs of distinct trends, one of each side of an AND (`pairs`).

    `sides`: operators of the left pattern, of the right one, and of the trends that both have.
    """

    def __init__(self, query: CompiledQuery, sides: Sequence[KeyedOperator]) -> None:
        self.query, self.sides = query, tuple(sides)
        self._finished = False

    def process(self, batch: KeyedBatch) -> Rows:
        self._finished = batch.last
        return self._pairs([processed(side, batch) for side in self.sides])

    def finish(self) -> Rows:
        return {} if self._finished else self._pairs([side.finish() for side in self.sides])

    def end(self, keys: Ints) -> tuple[Rows, StateSize]:
        rows, sizes = zip(*(side.end(keys) for side in self.sides), strict=True)
        return self._pairs(rows), sum(sizes, StateSize())

    def state(self) -> StateSize:
        return sum((side.state() for side in self.sides), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(side.details() for side in self.sides)

    def load(self) -> None:
        for side in self.sides:
            side.load()

    def idle(self) -> KeyedOperator:
        return Conjunction(self.query, [side.idle() for side in self.sides])

    def _pairs(self, sides: Sequence[Rows]) -> Rows:
        index = self.query.index
        return rows_of(index, [pairs([side.get(index) for side in sides], self.query.arithmetic)])


def processed(operator: Operator, batch: KeyedBatch) -> Rows:
    """The rows of a batch, and of all open windows if it is the last: operators differ in when they return these."""
    rows = operator.process(batch)
    return joined([rows, operator.finish()]) if batch.last else rows


def pairs(sides: Sequence[QueryRows | None], arithmetic: str) -> AggregateRows | None:
    """Pairs of distinct trends of keys and windows (dissertation Chapter 12, Hamlet Section 5); None without any.

    With N1, N2 trends of the sides and c common ones, the third of `sides`: `N1 * N2 - c * (c + 1) / 2`. The common
    trends make no pair with themselves, and a pair of two of them would be counted twice. Where one of the three counts
    overflowed the pairs overflow, and their residue is 0.
    """
    left, right, common = sides
    if left is None or right is None or not (len(left) and len(right)):
        return None
    windows = np.unique(np.concatenate([rows.window for rows in sides if rows is not None]))
    left_place, right_place = (_places(rows, windows) for rows in (left, right))
    place, of_left, of_right = np.intersect1d(left_place, right_place, assume_unique=True, return_indices=True)
    both, over = _counts(right, of_right)[0] * 0, np.zeros(len(place), np.bool_)
    if common is not None and len(common):
        common_place = _places(common, windows)
        _, at, of_common = np.intersect1d(place, common_place, assume_unique=True, return_indices=True)
        both[at], over[at] = _counts(common, of_common)
    (one, over_left), (other, over_right) = _counts(left, of_left), _counts(right, of_right)
    unknown = over | over_left | over_right
    exact = _pairs_modular if arithmetic == "modular" else _pairs_float
    count, over = exact(*(np.where(unknown, count.dtype.type(0), count) for count in (one, other, both)))
    if arithmetic != "modular":
        count = np.where(over | unknown, np.inf, count)
    over |= unknown
    chosen = np.flatnonzero(over | (count != 0))
    if not len(chosen):
        return None
    first = of_left[chosen]
    return AggregateRows.counting(left.window[first], count[chosen], over[chosen], left.keys[first])


def _places(rows: QueryRows, windows: Ints) -> Ints:
    """A number of the key and window of each row, for the same sorted `windows`."""
    return rows.keys * len(windows) + np.searchsorted(windows, rows.window)


def _counts(rows: QueryRows, chosen: Ints) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """COUNT(*) of some rows, and whether it overflowed."""
    assert isinstance(rows, AggregateRows)
    count = rows.ring[chosen, 0]
    over = (rows.overflow[chosen] & np.uint64(1)).astype(np.bool_)
    return count, over | ~np.isfinite(count) if count.dtype.kind == "f" else over


def _pairs_float(left: NDArray[Any], right: NDArray[Any], both: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    with np.errstate(over="ignore", invalid="ignore"):
        count = left * right - both * (both + 1) / 2
    over = ~(count < float(OVERFLOW_COUNT["float"]))
    return count, over


def _pairs_modular(
    left: NDArray[Any], right: NDArray[Any], both: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The low words of the pairs, and whether their high words are not 0."""
    even, one = both % np.uint64(2) == 0, np.uint64(1)
    halved = np.where(even, both // np.uint64(2), both // np.uint64(2) + one)  # of `both`, or of `both + 1`
    high, low = _product(left, right)
    less_high, less_low = _product(halved, np.where(even, both + one, both))
    over = high - less_high - (low < less_low).astype(np.uint64) != 0
    return low - less_low, over


def _product(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """High and low words of products of 64-bit words."""
    half, mask = np.uint64(32), np.uint64(2**32 - 1)
    a_high, a_low, b_high, b_low = a >> half, a & mask, b >> half, b & mask
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> half) + (other >> half), a * b


class CountWindows(Operator):
    """Windows of n consecutive events of a key: each is a key of its own for the operator of its events, `inner`.

    These keys, called lanes, have numbers from a free list. Windows receive their events in portions of at most
    `EVENTS` events and `LANES` windows, so an event costs a copy per window that holds it. Space is O(K w) lanes for K
    keys with w overlapping windows each.
    """

    EVENTS = 1 << 16
    LANES = 1 << 12

    def __init__(self, window: Window, inner: KeyedOperator) -> None:
        self.window, self.inner = window, inner
        self._seen: Ints = np.zeros(0, np.int64)  # by key: number of its events so far
        self._open: Ints = np.zeros((0, window.overlap), np.int64)  # by key and window modulo overlap: the lane
        self._key: Ints = np.zeros(0, np.int64)  # by lane
        self._number: Ints = np.zeros(0, np.int64)  # by lane: its window
        self._free: Ints = np.zeros(0, np.int64)
        self._ended = StateSize()  # of the largest window that ended since the last call of `state`
        self._now = 0

    def process(self, batch: KeyedBatch) -> Rows:
        self._now = batch.latest(self._now)
        self._seen, self._open = with_room(self._seen, batch.known), with_room(self._open, batch.known)
        events = batch.events.slice(0, len(batch.events))
        parts = [rows for portion in self._portions(batch) for rows in self._evaluate(events, *portion)]
        self._seen[batch.keys] += np.diff(batch.offsets)
        return joined(parts)

    def finish(self) -> Rows:
        return self._placed(self.inner.finish())

    def state(self) -> StateSize:
        """State of the open windows, and of the largest one that ended since the last call."""
        size, self._ended = self.inner.state() + self._ended, StateSize()
        return size

    def details(self) -> Mapping[str, float]:
        return self.inner.details()

    def load(self) -> None:
        self.inner.load()

    def idle(self) -> Operator:
        return CountWindows(self.window, self.inner.idle())

    def _portions(self, batch: KeyedBatch) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
        """Keys and windows, and where the events of each begin in the batch, and how many there are."""
        window, begin = self.window, self._seen[batch.keys]
        end = begin + np.diff(batch.offsets)
        first = np.maximum(0, (begin - window.within) // window.slide + 1)
        numbers = np.maximum(0, (end - 1) // window.slide - first + 1)
        j = np.repeat(np.arange(len(numbers)), numbers)
        k = np.arange(len(j)) + np.repeat(first - np.cumsum(numbers) + numbers, numbers)
        start = np.maximum(k * window.slide, begin[j])
        sizes = np.minimum(k * window.slide + window.within, end[j]) - start
        begins, total = batch.offsets[j] + start - begin[j], np.append(0, np.cumsum(sizes))
        at = 0
        while at < len(j):
            full = int(np.searchsorted(total, total[at] + self.EVENTS, side="right")) - 1
            stop = max(at + 1, min(full, at + self.LANES))
            yield batch.keys[j[at:stop]], k[at:stop], begins[at:stop], sizes[at:stop]
            at = stop

    def _evaluate(self, events: EventBatch, key: Ints, k: Ints, begins: Ints, sizes: Ints) -> Iterator[Rows]:
        """The rows of windows k of keys, whose next events have the given places and numbers."""
        window, slot = self.window, k % self.window.overlap
        seen = self._seen[key]
        lane = self._open[key, slot]
        new = k * window.slide >= seen
        lane[new] = self._lanes(int(np.count_nonzero(new)))
        self._key[lane], self._number[lane] = key, k
        offsets = np.append(0, np.cumsum(sizes))
        places = np.repeat(begins - offsets[:-1], sizes) + np.arange(offsets[-1])
        batch = KeyedBatch(events.take(places), lane, offsets, len(self._key), checked=True)
        yield self._placed(self.inner.process(batch))
        reached = np.maximum(k * window.slide, seen) + sizes
        full = reached == k * window.slide + window.within
        self._open[key[~full], slot[~full]] = lane[~full]
        ended = lane[full]
        if len(ended):
            rows, size = self.inner.end(ended)
            yield self._placed(rows)
            self._ended = size if size.bytes > self._ended.bytes else self._ended
            self._free = np.append(self._free, ended)

    def _lanes(self, number: int) -> Ints:
        """Lanes that no window has."""
        missing = number - len(self._free)
        if missing > 0:
            size = len(self._key)
            self._free = np.append(np.arange(size, size + missing), self._free)
            self._key, self._number = (np.append(by, np.zeros(missing, np.int64)) for by in (self._key, self._number))
        taken, self._free = self._free[:number], self._free[number:]
        return taken

    def _placed(self, rows: Rows) -> Rows:
        """The rows of lanes as those of keys and their windows."""
        return {query: part.placed(self._key[part.keys], self._number[part.keys]) for query, part in rows.items()}


class Chosen(Operator):
    """Runs the `usual` operator, or the `other` one where a function of the first events prefers it.

    Batches without events decide nothing. `schema`: that of the events; `name`: the detail that has the number of
    operators that chose the other one.
    """

    def __init__(
        self,
        schema: Schema,
        usual: Operator,
        other: Operator,
        prefers_other: Callable[[KeyedBatch], bool],
        name: str,
    ) -> None:
        self.both = (usual, other)
        self.chosen: Operator | None = None
        self._schema, self._prefers_other, self._name = schema, prefers_other, name
        self._took_other = False

    def process(self, batch: KeyedBatch) -> Rows:
        if self.chosen is None:
            if len(batch.keys) == 0:
                return {}
            self._took_other = self._prefers_other(batch)
            self.chosen = self.both[self._took_other]
            del self.both
        return self.chosen.process(batch)

    def finish(self) -> Rows:
        return {} if self.chosen is None else self.chosen.finish()

    def state(self) -> StateSize:
        return StateSize() if self.chosen is None else self.chosen.state()

    def details(self) -> Mapping[str, float]:
        return {self._name: float(self._took_other), **(self.chosen.details() if self.chosen else {})}

    def load(self) -> None:
        """Runs both on one event, since a warm-up on few events chooses only one of them."""
        for operator in copy.deepcopy(self.both):
            operator.load()
            operator.process(KeyedBatch.of_one_key(_any_event(self._schema)))
            operator.finish()

    def idle(self) -> Operator:
        """An operator that chooses as this one does: the two may have different overheads."""
        if self.chosen is not None:
            return self.chosen.idle()
        usual, other = (operator.idle() for operator in self.both)
        return Chosen(self._schema, usual, other, self._prefers_other, self._name)


def _any_event(schema: Schema) -> EventBatch:
    columns = {attribute.name: np.zeros(1, DTYPES[attribute.kind]) for attribute in schema.attributes}
    return EventBatch(schema, np.zeros(1, np.int64), np.zeros(1, np.int32), columns, np.zeros(1, np.int64))


def independent(
    workload: Workload, make: MakePart, detect: Callable[[CompiledQuery], KeyedOperator] | None = None
) -> Several:
    """An operator of queries that share nothing; `detect` makes those of detection queries."""
    return Several(
        detect(query) if detect is not None and query.detects else query_operator(query, make) for query in workload
    )


def query_operator(query: CompiledQuery, make: MakePart) -> Operator:
    """The operator of a whole query, from those of its automata over windows of time."""
    if query.window is not None and query.window.counts_events:
        return CountWindows(query.window, _over_time(query, make, WHOLE_STREAM))
    return _over_time(query, make, window_of(query))


def _over_time(query: CompiledQuery, make: MakePart, window: Window) -> KeyedOperator:
    if query.analysis.conjunction:
        return Conjunction(query, [make(query, part, window) for part in query.parts])
    return make(query, query.parts[0], window)


MakeExecutor = Callable[[CompiledQuery, Part, Window], Executor]
"""Makes an executor that evaluates an automaton of a query on one key over windows of time."""


def per_key(
    workload: Workload, make: MakeExecutor, detect: Callable[[CompiledQuery], Executor] | None = None
) -> Several:
    """An operator with an executor per query and key; `detect` makes the executors of detection queries."""
    of_detection = None if detect is None else partial(_detection_per_key, workload, detect)
    return independent(workload, partial(_part_per_key, workload, make), of_detection)


def detecting_per_key(workload: Workload, make: Callable[[CompiledQuery], Executor]) -> Several:
    """An operator of detection queries with an executor per query and key."""
    return Several(_detection_per_key(workload, make, query) for query in workload)


def _part_per_key(workload: Workload, make: MakeExecutor, query: CompiledQuery, part: Part, window: Window) -> PerKey:
    return PerKey(partial(make, query, part, window), replace(workload, queries=(query,)))


def _detection_per_key(workload: Workload, make: Callable[[CompiledQuery], Executor], query: CompiledQuery) -> PerKey:
    return PerKey(partial(make, query), replace(workload, queries=(query,)))


class IndependentAlgorithm(Algorithm):
    """Shares nothing between queries: a subclass has `part_executor`, for one key, or `part_operator`, for all keys."""

    def part_executor(self, query: CompiledQuery, part: Part, window: Window) -> Executor:
        """Evaluates an automaton of a query on one key over windows of time."""
        raise NotImplementedError(f"{self.name} has neither an executor nor an operator of an automaton")

    def part_operator(self, plan: Plan, query: CompiledQuery, part: Part, window: Window) -> KeyedOperator:
        """Evaluates an automaton of a query on all keys over windows of time; by default an executor per key."""
        return _part_per_key(plan.workload, self.part_executor, query, part, window)

    def operator(self, plan: Plan) -> Operator:
        return independent(plan.workload, partial(self.part_operator, plan))
