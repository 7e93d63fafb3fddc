"""Allocates the arrays of a sequence counter, and moves their contents when more START events need space."""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.peak import KeySizes
from cepbench.algorithms.sequences.kernels.counters import (
    BLOCK,
    ClockRecord,
    Counters,
    CounterState,
    Gathered,
    KeyCounters,
    LiveSlots,
    PlaceRecord,
    RegionRecord,
    Values,
)
from cepbench.algorithms.sequences.kernels.program import BY_START, BY_WINDOW, Chains, Program
from cepbench.algorithms.sequences.program import VALUE_BYTES, Counting
from cepbench.queries.records import Records, records_of

AT_FIRST = 2 * BLOCK
"""Initial capacity of a segment in START events: two blocks, so that half of the capacity is at least one block."""


def new_lane(counting: Counting, span: int) -> KeyCounters:
    """The counters of a key in `span` windows before the first event, without values."""
    program = counting.program
    segments, symbols, plain = len(program.chains.segment), len(program.plain_ptr) - 1, len(program.plain)
    clock = np.zeros(1, records_of(ClockRecord))
    clock["now"] = clock["high"] = -1
    place = np.zeros(segments, records_of(PlaceRecord))
    place["tail"] = np.choose(program.chains.segment["slots"], (0, 1, span))
    place["capacity"] = np.choose(program.chains.segment["slots"], (AT_FIRST, 1, span))
    snapshot = np.zeros(len(program.chains.link), np.int64)
    region = np.zeros(1, records_of(RegionRecord))
    region["size"] = lay_out(counting, place, snapshot, span)
    return KeyCounters(
        LiveSlots(clock, place, np.zeros((segments, span), np.int64), snapshot),
        region,
        Counters(program.unit.copy(), np.zeros(len(program.unit), np.bool_)),
        Counters(np.zeros(plain, program.unit.dtype), np.zeros(plain, np.bool_)),
        Gathered(np.zeros(symbols, np.uint64), np.zeros(symbols, np.int64), np.zeros(symbols, np.int64)),
    )


def values_of(words: Ints, over: Flags, dtype: Any) -> Values:
    """Words with their flags, and views of them; counts are of a dtype."""
    return Values(words.view(dtype), words.view(np.float64), words, over)


def empty_words(counting: Counting, lane: KeyCounters) -> Ints:
    """The words of a key before the first event."""
    program, chains = counting.program, counting.program.chains
    words = np.zeros(lane.region["size"][0], np.int64)
    if not chains.channel["empty"].any():
        return words
    span = lane.slots.opened.shape[1]
    totals = words[program.totals : counting.totals]
    totals.reshape(-1, len(program.total))[:] = program.total["empty"]
    for segment, place in zip(chains.segment, lane.slots.place, strict=True):
        empty = chains.channel["empty"][segment["channel"] :][: segment["width"]]
        counters = np.repeat(empty, segment["rows"] * place["capacity"])
        words[place["at"] :][: len(counters)] = counters
        if segment["first"]:
            words[segment["result"] :][: span * len(empty)] = np.tile(empty, span)
    return words


def largest_sizes(lanes: KeyCounters, program: Program) -> KeySizes:
    """Counters of live START events, results of open windows, and snapshots by key; peaks since the last call."""
    clock, place = lanes.slots.clock[:, 0], lanes.slots.place
    active = clock["now"] >= 0
    windows = np.maximum(clock["high"] - clock["low"] + 1, 0)
    now = _sizes(program, windows[active], (place["tail"] - place["head"])[active])
    peaks = _sizes(program, clock["peak_windows"][active], place["peak"][active])
    forget_peak(lanes.slots)
    size, aggregates, snapshots, events = np.where(peaks[0] > now[0], peaks, now)
    return KeySizes(size, {"aggregates": aggregates, "snapshots": snapshots, "events": events})


def forget_peak(slots: LiveSlots) -> None:
    """Resets the peaks of live slots."""
    slots.clock["peak_bytes"] = slots.clock["peak_windows"] = slots.place["peak"] = 0


def _sizes(program: Program, windows: Ints, live: Ints) -> Ints:
    """int64[4, S]: bytes, aggregates, snapshots and events of S keys.

    `windows` int64[S]: open windows per key; `live` int64[S, G]: live slots of each segment per key.
    """
    segment, link, open_in = program.chains.segment, program.chains.link, windows[:, np.newaxis]
    live = np.where(segment["slots"] == BY_WINDOW, open_in, live)
    by_start = segment["slots"] == BY_START
    values = (live * segment["rows"] + open_in * segment["first"]) * segment["width"]
    snapshots = (live * by_start)[:, link["segment"]] * open_in
    aggregates = len(program.unit) * (windows > 0) + values.sum(axis=1)
    kept = (snapshots * program.chains.query["width"][link["query"]]).sum(axis=1)
    size = VALUE_BYTES * (aggregates + kept)
    return np.stack([size, aggregates, snapshots.sum(axis=1), (live * by_start).sum(axis=1)])


def enlarge(lane: KeyCounters, counting: Counting) -> None:
    """Doubles the slots of segments that are more than half full, and updates the size of the region accordingly."""
    place, segment = lane.slots.place, counting.program.chains.segment
    crowded = (2 * (place["tail"] - place["head"]) > place["capacity"]) & (segment["slots"] == BY_START)
    place["capacity"] *= np.where(crowded, 2, 1)
    lane.region["size"] = lay_out(counting, place, lane.slots.snapshot, lane.slots.opened.shape[1])


def copy_values(old: CounterState, new: CounterState, counting: Counting) -> None:
    """Copies the values of a key to a region for at least as many slots."""
    chains, before, after = counting.program.chains, old.slots, new.slots
    copy_rows(old.values, 0, new.values, 0, 1, counting.results, counting.results)
    rows = (chains.segment["width"] * chains.segment["rows"]).tolist()
    for count, source, place in zip(rows, before.place, after.place, strict=True):
        size, wider = source["capacity"], place["capacity"]
        copy_rows(old.values, source["at"], new.values, place["at"], count, size, wider)
    kept = _snapshot_rows(chains, after.opened.shape[1]) * before.place["capacity"][chains.link["segment"]]
    for size, source, place in zip(kept.tolist(), before.snapshot.tolist(), after.snapshot.tolist(), strict=True):
        copy_rows(old.values, source, new.values, place, 1, size, size)


def copy_rows(old: Values, source: int, new: Values, place: int, rows: int, size: int, wider: int) -> None:
    """Copies words with their flags: rows of `size` words from `source` on to rows of `wider` words from `place` on."""
    for words, target in ((old.ints, new.ints), (old.over, new.over)):
        copied = words[source : source + rows * size].reshape(rows, size)
        target[place : place + rows * wider].reshape(rows, wider)[:, :size] = copied


def _snapshot_rows(chains: Chains, span: int) -> Ints:
    """Snapshot values per link and slot; a segment with a slot per window stores them at its first place instead."""
    by_start = chains.segment["slots"][chains.link["segment"]] == BY_START
    rows: Ints = chains.query["width"][chains.link["query"]] * span * by_start
    return rows


def lay_out(counting: Counting, place: Records, snapshot: Ints, span: int) -> int:
    """Writes the offsets of counters and snapshots to `place` and `snapshot`; returns the number of values."""
    chains = counting.program.chains
    segments = chains.link["segment"]
    counters = chains.segment["width"] * chains.segment["rows"] * place["capacity"]
    kept = _snapshot_rows(chains, span) * place["capacity"][segments]
    *begins, end = np.cumsum(np.concatenate([[counting.results], counters, kept])).tolist()
    place["at"] = begins[: len(place)]
    by_start = chains.segment["slots"][segments] == BY_START
    snapshot[:] = np.where(by_start, begins[len(place) :], place["at"][segments])
    return int(end)
