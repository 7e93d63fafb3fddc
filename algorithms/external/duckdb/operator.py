"""Queries on DuckDB: events wait as arrays until windows close, and one statement returns the rows of these windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cepbench.algorithms.base import KeyedBatch, KeyedOperator, StateSize
from cepbench.algorithms.external.duckdb.session import current, numbers, rows_of_statement
from cepbench.algorithms.external.duckdb.statement import Statement
from cepbench.algorithms.rows import AggregateRows, MatchRows, QueryRows, Rows, rows_of
from cepbench.events.batch import DTYPES
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.aggregates import NO_VALUE, Transform
from cepbench.queries.columns import sortable
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.model import Aggregates

Ints = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]

NEVER = 2**62
"""A point, or a window, after all others."""


class _OnDuckDB(KeyedOperator):
    """Keeps the events of types that a query names until no window needs them any more.

    - `_held`: columns of events by name, in batches: `key`, `event` (its position in the input), `time`, `type`,
      `number` (in its key), and attributes.
    - `_held_by`, `_most_by`: by key, the number of held events, and their maximum since the last call of `state`.
    """

    def __init__(self, query: CompiledQuery, schema: Schema, statement: Statement, types: Sequence[str] | None) -> None:
        self.query, self.statement = query, statement
        self._types = None if types is None else np.array(sorted({schema.type_code(name) for name in types}))
        self._columns = {"key": np.int64, "event": np.int64, "time": np.int64, "type": np.int32, "number": np.int64}
        attributes: dict[str, Any] = {
            name: DTYPES[schema.kinds[attribute]] for attribute, name in statement.attributes.items()
        }
        self._columns |= attributes
        self._event_bytes = sum(np.dtype(kind).itemsize for kind in self._columns.values())
        self._held: list[Columns] = []
        self._held_by: Ints = np.zeros(0, np.int64)
        self._most_by: Ints = np.zeros(0, np.int64)
        self._seen: Ints = np.zeros(0, np.int64)  # by key: number of its events
        self._latest: Ints = np.zeros(0, np.int64)  # by key: no later event is older
        self._now = 0

    def state(self) -> StateSize:
        """The held events. What DuckDB needs for a statement is free again when it returns."""
        events = int(np.maximum(self._held_by, self._most_by).sum())
        self._most_by[:] = 0
        return StateSize(events * self._event_bytes, {"events": events})

    def load(self) -> None:
        """Opens the connection, and plans the statement on no events."""
        current()
        self._execute({name: np.zeros(0, kind) for name, kind in self._columns.items()})

    def finish(self) -> Rows:
        return self._end(None)

    def end(self, keys: Ints) -> tuple[Rows, StateSize]:
        most = int(np.maximum(self._held_by[keys], self._most_by[keys]).max(initial=0))
        rows = self._end(keys)
        for by in (self._held_by, self._most_by, self._seen, self._latest):
            by[keys] = 0
        return rows, StateSize(most * self._event_bytes, {"events": most})

    def _end(self, keys: Ints | None) -> Rows:
        """The rows of all windows of some keys, or of all, which then hold no events."""
        raise NotImplementedError

    def _execute(self, events: Columns) -> pa.Table:
        """The rows of the statement; subclasses add columns to the events."""
        return rows_of_statement(self.statement.sql, events)

    def _add(self, batch: KeyedBatch) -> None:
        """Keeps the events of a batch. Raises `OutOfOrder`."""
        self._now = batch.latest(self._now)
        self._make_room(batch.known)
        events, sizes = batch.events, np.diff(batch.offsets)
        if len(events):
            self._latest[batch.keys] = events.time[batch.offsets[1:] - 1]
            key = np.repeat(batch.keys, sizes)
            number = np.arange(len(key)) + np.repeat(self._seen[batch.keys] - batch.offsets[:-1], sizes)
            self._seen[batch.keys] += sizes
            columns: Columns = {"key": key, "event": events.position, "time": events.time, "type": events.type}
            columns["number"] = number
            columns |= {name: events.columns[attribute] for attribute, name in self.statement.attributes.items()}
            if self._types is not None:
                named = np.isin(events.type, self._types)
                if not named.all():
                    columns = {name: column[named] for name, column in columns.items()}
            self._held.append(columns)
            self._count(columns["key"], 1)
        if events.watermark is not None:
            np.maximum(self._latest, events.watermark, out=self._latest)

    def _make_room(self, keys: int) -> None:
        """Lets arrays by key have room for so many keys."""
        more = np.zeros(max(0, keys - len(self._seen)), np.int64)
        if len(more):
            self._held_by, self._most_by = np.append(self._held_by, more), np.append(self._most_by, more)
            self._seen, self._latest = np.append(self._seen, more), np.append(self._latest, more)

    def _all(self) -> Columns:
        """All held events."""
        if not self._held:
            return {name: np.zeros(0, kind) for name, kind in self._columns.items()}
        if len(self._held) > 1:
            self._held = [{name: np.concatenate([part[name] for part in self._held]) for name in self._held[0]}]
        return self._held[0]

    def _drop(self, unneeded: NDArray[np.bool_]) -> None:
        """Drops some of the held events."""
        events = self._all()
        if unneeded.any():
            self._count(events["key"][unneeded], -1)
            self._held = [] if unneeded.all() else [{name: part[~unneeded] for name, part in events.items()}]

    def _count(self, key: Ints, sign: int) -> None:
        self._held_by += sign * np.bincount(key, minlength=len(self._held_by))
        np.maximum(self._most_by, self._held_by, out=self._most_by)


class WindowsOnDuckDB(_OnDuckDB):
    """Returns the rows of the windows that batches closed. `_low`: by key, the first window that is open."""

    def __init__(
        self,
        query: CompiledQuery,
        schema: Schema,
        statement: Statement,
        types: Sequence[str] | None,
        window: Window,
    ) -> None:
        super().__init__(query, schema, statement, types)
        self.window = window
        self._low: Ints = np.zeros(0, np.int64)

    def process(self, batch: KeyedBatch) -> Rows:
        self._add(batch)
        low = self._first_at(self._latest)
        return self._close(np.maximum(low, self._low))

    def _end(self, keys: Ints | None) -> Rows:
        low = self._low.copy()
        low[slice(None) if keys is None else keys] = NEVER
        rows = self._close(low)
        self._low[low == NEVER] = 0
        return rows

    def _make_room(self, keys: int) -> None:
        super()._make_room(keys)
        self._low = np.append(self._low, np.zeros(max(0, keys - len(self._low)), np.int64))

    def _close(self, low: Ints) -> Rows:
        """The rows of the windows before `low`, by key."""
        before, self._low = self._low, low
        if not (low > before)[self._held_by > 0].any():
            return {}
        events = self._all()
        key, last = events["key"], events["time"] // self.window.slide
        k_first = np.maximum(self._first_at(events["time"]), before[key])
        k_last = np.minimum(last, low[key] - 1)
        closing = k_first <= k_last
        rows: Rows = {}
        if closing.any():
            closed = {
                name: column[closing] for name, column in (events | {"k_first": k_first, "k_last": k_last}).items()
            }
            table = rows_of_statement(self.statement.sql, closed)
            rows = rows_of(self.query.index, [self._rows(table)])
        self._drop(last < low[key])
        return rows

    def _first_at(self, time: Ints) -> Ints:
        first: Ints = np.maximum((time - self.window.within) // self.window.slide + 1, 0)
        return first

    def _execute(self, events: Columns) -> pa.Table:
        return super()._execute({**events, "k_first": events["time"], "k_last": events["time"]})

    def _rows(self, table: pa.Table) -> QueryRows:
        key, k = numbers(table["key"]), numbers(table["k"])
        if not isinstance(self.query.query.returns, Aggregates):
            return MatchRows(k, *_lists(table["match"]), key=key)
        layout, size = self.query.layout, len(key)
        words = np.uint64 if self.query.arithmetic == "modular" else np.float64
        ring = [numbers(table[f"c{i}"]).astype(words) for i in range(len(layout.ring))]
        real = [numbers(table[f"r{i}"], 0.0).astype(np.float64) for i in range(len(layout.real))]
        least = []
        for i, channel in enumerate(layout.least):
            assert channel.column is not None
            column = table[f"l{i}"]
            keys = sortable(numbers(column))
            keys = np.invert(keys) if channel.column.transform is Transform.INVERTED_KEY else keys
            least.append(np.where(numbers(column.is_null(), False), np.int64(NO_VALUE), keys))
        return AggregateRows(
            k,
            np.stack(ring, axis=1),
            np.zeros(size, np.uint64),
            np.stack(real, axis=1) if real else np.empty((size, 0)),
            np.stack(least, axis=1) if least else np.empty((size, 0), np.int64),
            key=key,
        )


class DetectionOnDuckDB(_OnDuckDB):
    """Returns the matches that batches decide.

    Points are times, or the numbers of events if the span counts events. `_decided`: by key, the point before which
    first events have been decided; for queries with a trailing NOT, whose matches wait for the ends of their spans.
    """

    def __init__(self, query: CompiledQuery, schema: Schema, statement: Statement, types: Sequence[str]) -> None:
        super().__init__(query, schema, statement, types)
        assert query.window is not None
        self.counts_events = query.window.counts_events
        self.counts_matches = isinstance(query.query.returns, Aggregates)
        self.waits = any(part.clause.waits for part in query.clauses)
        self._decided: Ints = np.zeros(0, np.int64)
        self._matches: dict[int, int] = {}  # by key, if matches are counted

    def process(self, batch: KeyedBatch) -> Rows:
        held = sum(len(part["key"]) for part in self._held)
        self._add(batch)
        reach = self.query.reach
        now = self._seen if self.counts_events else self._latest
        if not self.waits:
            due = np.arange(len(self._all()["key"])) >= held
            rows = self._decide(due)
            self._drop(self._point() < now[self._all()["key"]] - reach)
            return rows
        return self._decide_before(np.maximum(now - reach, self._decided))

    def _end(self, keys: Ints | None) -> Rows:
        decided = self._decided.copy()
        decided[slice(None) if keys is None else keys] = NEVER
        rows = self._decide_before(decided) if self.waits else {}
        self._decided[decided == NEVER] = 0
        self._drop((decided == NEVER)[self._all()["key"]])
        if not self.counts_matches:
            return rows
        ended = sorted(self._matches) if keys is None else [key for key in keys.tolist() if key in self._matches]
        counts = np.array([self._matches.pop(key) for key in ended], np.int64)
        words = counts.astype(np.uint64 if self.query.arithmetic == "modular" else np.float64)
        size = len(ended)
        counted = AggregateRows.counting(
            np.zeros(size, np.int64), words, np.zeros(size, np.bool_), np.array(ended, np.int64)
        )
        return rows_of(self.query.index, [counted])

    def _make_room(self, keys: int) -> None:
        super()._make_room(keys)
        self._decided = np.append(self._decided, np.zeros(max(0, keys - len(self._decided)), np.int64))

    def _decide_before(self, decided: Ints) -> Rows:
        """The matches whose first events lie before a point, by key, and that have not been decided before."""
        point, key = self._point(), self._all()["key"]
        rows = self._decide((point >= self._decided[key]) & (point < decided[key]))
        self._decided = decided
        self._drop(self._point() < decided[self._all()["key"]] - self.query.reach)
        return rows

    def _decide(self, due: NDArray[np.bool_]) -> Rows:
        """The matches that `due` events decide."""
        if not due.any():
            return {}
        table = self._execute({**self._all(), "due": due})
        key = numbers(table["key"])
        if self.counts_matches:
            for number, count in zip(key.tolist(), numbers(table["c0"]).tolist(), strict=True):
                self._matches[number] = self._matches.get(number, 0) + count
            return {}
        times = np.stack([numbers(table["started"]), numbers(table["ended"])], axis=1)
        first, last = ("first", "last") if self.counts_events else ("started", "ended")
        window = numbers(table[first]) if self.waits else numbers(table[last]) - self.query.reach
        return rows_of(self.query.index, [MatchRows(window, *_lists(table["match"]), times, key=key)])

    def _execute(self, events: Columns) -> pa.Table:
        point = events["number" if self.counts_events else "time"]
        home = point // (self.query.reach + 1)
        due = events.get("due", np.zeros(len(point), np.bool_))
        return super()._execute({**events, "k_first": home - 1, "k_last": home, "due": due})

    def _point(self) -> Ints:
        return self._all()["number" if self.counts_events else "time"]


def _lists(column: pa.ChunkedArray) -> tuple[Ints, Ints]:
    """The offsets and the items of a column of lists of events."""
    lists = column.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], pa.list_(pa.int64()))
    offsets = lists.offsets.to_numpy().astype(np.int64)
    items: Ints = lists.values.to_numpy()[offsets[0] : offsets[-1]]
    return offsets - offsets[0], items
