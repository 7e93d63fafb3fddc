"""The state of SPASS on a stream: events that some sequence may use, the rows of its stores, and sums per window
(dissertation 21, 25.1).

A store contains the instances of one symbol (one event each) or of one shared sub-sequence (several events each), in
the order of their END events.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Codes, Flags, Ints, Reals
from cepbench.algorithms.engine.kernels.cells import Cells, add, clear, copy, is_empty
from cepbench.algorithms.engine.kernels.compilation import inner, kernel
from cepbench.algorithms.engine.kernels.events import RowCells, fits
from cepbench.queries.records import Records


class Arriving(NamedTuple):
    """Part of a batch, read-only: `time` int64[n], `kind` int32[n], `ints` int64[I, n], `reals` float64[F, n].

    `flags` bool[C, n]: the events that pass each condition. `window` int64[n]: the last window that contains the event;
    -1 if there is none.
    """

    time: Ints
    kind: Codes
    ints: Ints
    reals: Reals
    flags: Flags
    window: Ints


class SymbolTables(NamedTuple):
    """The symbols that events of type t can match: `symbol[symbol_ptr[t]:symbol_ptr[t + 1]]`.

    - `local[S]`: the row in `flags` of a symbol's condition, or -1. `stored[S]`: whether a sequence has the symbol; its
      store has the same number.
    - `negates[negates_ptr[s]:negates_ptr[s + 1]]`: gaps in which events of symbol s are negated.
    """

    symbol_ptr: Ints
    symbol: Ints
    local: Ints
    stored: Flags
    negates_ptr: Ints
    negates: Ints


class CountersRecord:
    """Events `stored`; the number of the first one: event n is at index n - base; the current time `now`."""

    stored: int
    base: int
    now: int


class Arrived(NamedTuple):
    """Live events in time order.

    - `time[V]`, `window[V]` (the last that contains the event), `ints[I, V]`, `reals[F, V]`.
    - `barrier[G, V]`: the latest event negated in gap g before the event's time, or -1: an earlier event can come
      directly before this one across the gap if its time is not before the barrier.
    - `negated_before[G]`, `negated[G]`: the latest negated event before the current time, and up to it.
    - `counters[1]`: `CountersRecord`.
    """

    time: Ints
    window: Ints
    ints: Ints
    reals: Reals
    barrier: Ints
    negated_before: Ints
    negated: Ints
    counters: Records


class Stores(NamedTuple):
    """Rows `0..size[s]-1` of store s, each of `width[s]` events; its capacity is `room[s]` rows.

    Row r is at `begin[s] + r` of `last` (time of its END) and `bucket` (where sequences that begin with it are summed),
    and its event numbers are `events[cells[s] + r * width[s]:][:width[s]]`. Rows are sorted by `last`.
    """

    begin: Ints
    cells: Ints
    width: Ints
    room: Ints
    size: Ints
    last: Ints
    bucket: Ints
    events: Ints


@kernel
def arrive(
    batch: Arriving, start: int, stop: int, span: int, symbols: SymbolTables, arrived: Arrived, stores: Stores
) -> None:
    """Stores those of the events start..stop-1 of a batch that match a symbol; needs space for all, and `span` buckets.

    O(1) per event and symbol of its type.
    """
    count = arrived.counters[0]
    for i in range(start, stop):
        if batch.window[i] < 0:
            continue
        if batch.time[i] != count.now:
            count.now = batch.time[i]
            for g in range(len(arrived.negated)):
                arrived.negated_before[g] = arrived.negated[g]
        at = count.stored
        kept = False
        for k in range(symbols.symbol_ptr[batch.kind[i]], symbols.symbol_ptr[batch.kind[i] + 1]):
            s = symbols.symbol[k]
            if not fits(symbols.local[s], i, batch):
                continue
            for n in range(symbols.negates_ptr[s], symbols.negates_ptr[s + 1]):
                arrived.negated[symbols.negates[n]] = batch.time[i]
            if symbols.stored[s]:
                kept = True
                row = stores.begin[s] + stores.size[s]
                stores.last[row] = batch.time[i]
                stores.bucket[row] = batch.window[i] % span
                stores.events[stores.cells[s] + stores.size[s]] = count.base + at
                stores.size[s] += 1
        if kept:
            arrived.time[at], arrived.window[at] = batch.time[i], batch.window[i]
            for c in range(batch.ints.shape[0]):
                arrived.ints[c, at] = batch.ints[c, i]
            for c in range(batch.reals.shape[0]):
                arrived.reals[c, at] = batch.reals[c, i]
            for g in range(len(arrived.negated)):
                arrived.barrier[g, at] = arrived.negated_before[g]
            count.stored = at + 1


@kernel
def expire(low: int, arrived: Arrived, stores: Stores) -> None:
    """Drops events whose windows are all before `low`, and the rows that start with them. O(n) for n stored objects."""
    count = arrived.counters[0]
    size = count.stored
    gone = 0
    while gone < size and arrived.window[gone] < low:
        gone += 1
    if gone == 0:
        return
    for v in range(gone, size):
        w = v - gone
        arrived.time[w], arrived.window[w] = arrived.time[v], arrived.window[v]
        for c in range(arrived.ints.shape[0]):
            arrived.ints[c, w] = arrived.ints[c, v]
        for c in range(arrived.reals.shape[0]):
            arrived.reals[c, w] = arrived.reals[c, v]
        for g in range(arrived.barrier.shape[0]):
            arrived.barrier[g, w] = arrived.barrier[g, v]
    count.stored = size - gone
    count.base += gone
    for s in range(len(stores.size)):
        _drop_rows(s, count.base, stores)


@inner
def _drop_rows(s: int, oldest: int, stores: Stores) -> None:
    begin, cells, width = stores.begin[s], stores.cells[s], stores.width[s]
    kept = 0
    for r in range(stores.size[s]):
        if stores.events[cells + r * width] < oldest:
            continue
        if kept < r:
            stores.last[begin + kept] = stores.last[begin + r]
            stores.bucket[begin + kept] = stores.bucket[begin + r]
            for j in range(width):
                stores.events[cells + kept * width + j] = stores.events[cells + r * width + j]
        kept += 1
    stores.size[s] = kept


@kernel
def close_windows(low: int, high: int, top: int, buckets: Cells, total: Cells, rows: RowCells) -> int:
    """Rows of windows low..high-1 of one query, the latest first; returns the number of windows with a match.

    Bucket b (modulo their number) has the sequences whose START is in no window after b. All of them end inside the
    lowest open window, so those of window k are in the buckets k..top. Buckets below `high` are cleared. O(top - low).
    """
    size = 0
    span = len(buckets.over)
    clear(total, 0)
    for k in range(top, low - 1, -1):
        add(total, 0, buckets, k % span)
        if k < high:
            clear(buckets, k % span)
            if not is_empty(total, 0):
                rows.window[size] = k
                copy(rows.cells, size, total, 0)
                size += 1
    return size
