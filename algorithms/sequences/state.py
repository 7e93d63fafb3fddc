"""Allocates the arrays of a sequence counter, and moves their contents when more START events need space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.peak import KeySizes
from cepbench.algorithms.sequences.channels import FAMILIES
from cepbench.algorithms.sequences.kernels.counters import (
    BLOCK,
    ClockRecord,
    Counters,
    Gathered,
    KeyCounters,
    LiveSlots,
    PlaceRecord,
    Values,
)
from cepbench.algorithms.sequences.kernels.program import (
    BY_START,
    BY_WINDOW,
    Chains,
    PerFamily,
    Program,
)
from cepbench.algorithms.sequences.program import Counting, value_bytes
from cepbench.queries.aggregates import NO_VALUE
from cepbench.queries.records import Records, records_of

Ints = NDArray[np.int64]

AT_FIRST = 2 * BLOCK
"""Initial capacity of a segment in START events: two blocks, so that half of the capacity is at least one block."""
FAMILY_OF = {"ring": "ring", "over": "ring", "real": "real", "least": "least"}
"""Number of families of arrays in `Values`."""


def new_lane(counting: Counting, span: int) -> KeyCounters:
    """The counters of a key in `span` windows before the first event, without values."""
    program = counting.program
    segments, symbols, plain = len(program.chains.segment), len(program.plain_ptr) - 1, len(program.plain)
    dtype, weights = program.unit.dtype, counting.weights
    clock = np.zeros(1, records_of(ClockRecord))
    clock["now"] = clock["high"] = -1
    place = np.zeros(segments, records_of(PlaceRecord))
    place["tail"] = np.choose(program.chains.segment["slots"], (0, 1, span))
    place["capacity"] = np.choose(program.chains.segment["slots"], (AT_FIRST, 1, span))
    snapshot = np.zeros(len(program.chains.link), records_of(PerFamily))
    size = lay_out(counting, place, snapshot, span)
    return KeyCounters(
        LiveSlots(clock, place, np.zeros((segments, span), np.int64), snapshot),
        np.zeros(3, np.int64),
        size,
        Counters(program.unit.copy(), np.zeros(len(program.unit), np.bool_)),
        Counters(np.zeros(plain, dtype), np.zeros(plain, np.bool_)),
        Gathered(
            np.zeros(symbols, np.uint64),
            np.zeros((symbols, weights.ring), np.uint64),
            np.zeros((symbols, weights.ring), np.bool_),
            np.zeros((symbols, weights.real)),
            np.full((symbols, weights.least), NO_VALUE, np.int64),
            np.zeros(symbols, np.int64),
            np.zeros(symbols, np.int64),
        ),
        np.zeros(2 + segments, np.int64),
    )


def new_values(size: Ints, dtype: Any) -> Values:
    """Arrays with the given number of values of each family."""
    ring, real, least = size.tolist()
    return Values(np.zeros(ring, dtype), np.zeros(ring, np.bool_), np.zeros(real), np.full(least, NO_VALUE, np.int64))


def largest_sizes(lanes: KeyCounters, program: Program) -> KeySizes:
    """Counters of live START events, results of open windows, and snapshots by key; peaks since the last call."""
    clock, place, peak = lanes.slots.clock[:, 0], lanes.slots.place, lanes.peak
    active = clock["now"] >= 0
    now = _sizes(
        program, np.maximum(clock["high"] - clock["low"] + 1, 0)[active], (place["tail"] - place["head"])[active]
    )
    peaks = _sizes(program, peak[active, 1], peak[active, 2:])
    peak[:] = 0
    size, aggregates, snapshots, events = np.where(peaks[0] > now[0], peaks, now)
    return KeySizes(size, {"aggregates": aggregates, "snapshots": snapshots, "events": events})


def _sizes(program: Program, windows: Ints, live: Ints) -> Ints:
    """int64[4, S]: bytes, aggregates, snapshots and events of S keys.

    `windows` int64[S]: open windows per key; `live` int64[S, G]: live slots of each segment per key.
    """
    segment, link, open_in = program.chains.segment, program.chains.link, windows[:, np.newaxis]
    live = np.where(segment["slots"] == BY_WINDOW, open_in, live)
    by_start = segment["slots"] == BY_START
    plain = len(program.unit) * (windows > 0)
    values = live * segment["rows"] + open_in * segment["first"]
    kept = (live * by_start)[:, link["segment"]] * open_in
    width, snapshot = segment["width"], program.chains.query["width"][link["query"]]
    size = 9 * plain
    size += (values * value_bytes(*(width[family] for family in FAMILIES))).sum(axis=1)
    size += (kept * value_bytes(*(snapshot[family] for family in FAMILIES))).sum(axis=1)
    aggregates = plain + (values * sum(width[family] for family in FAMILIES)).sum(axis=1)
    return np.stack([size, aggregates, kept.sum(axis=1), (live * by_start).sum(axis=1)])


def enlarge(lane: KeyCounters, counting: Counting) -> Callable[[Values, Values], None]:
    """Doubles the slots of segments that are more than half full, and updates `lane.size` accordingly.

    Returns a function that copies the old values of the key to the new, empty ones.
    """
    chains, place, snapshot = counting.program.chains, lane.slots.place, lane.slots.snapshot
    span = lane.slots.opened.shape[1]
    was, snapshot_was = place.copy(), snapshot.copy()
    crowded = (2 * (place["tail"] - place["head"]) > place["capacity"]) & (chains.segment["slots"] == BY_START)
    place["capacity"] *= np.where(crowded, 2, 1)
    lane.size[:] = lay_out(counting, place, snapshot, span)
    capacities = list(zip(was["capacity"].tolist(), place["capacity"].tolist(), strict=True))

    def copy(values: Values, wider: Values) -> None:
        for array, family in FAMILY_OF.items():
            old, new, results = getattr(values, array), getattr(wider, array), getattr(counting.results, family)
            new[:results] = old[:results]
            rows = chains.segment["width"][family] * chains.segment["rows"]
            for g, count in enumerate(rows.tolist()):
                _copy(old, new, was["at"][family][g], place["at"][family][g], count, *capacities[g])
            kept = _snapshot_rows(chains, family, span)
            for u, count in enumerate(kept.tolist()):
                size = count * capacities[chains.link["segment"][u]][0]
                _copy(old, new, snapshot_was[family][u], snapshot[family][u], 1, size, size)

    return copy


def _copy(old: NDArray[Any], new: NDArray[Any], was: int, at: int, rows: int, size: int, wider: int) -> None:
    """Copies rows of slots to wider rows."""
    source = old[was : was + rows * size].reshape(rows, size)
    new[at : at + rows * wider].reshape(rows, wider)[:, :size] = source


def _snapshot_rows(chains: Chains, family: str, span: int) -> Ints:
    """Snapshot values per link and slot; a segment with a slot per window stores them at its first place instead."""
    by_start = chains.segment["slots"][chains.link["segment"]] == BY_START
    rows: Ints = chains.query["width"][family][chains.link["query"]] * span * by_start
    return rows


def lay_out(counting: Counting, place: Records, snapshot: Records, span: int) -> Ints:
    """Writes the offsets of counters and snapshots to `place` and `snapshot`; returns the numbers of values."""
    chains, slots = counting.program.chains, place["capacity"]
    segments = chains.link["segment"]
    by_start = chains.segment["slots"][segments] == BY_START
    sizes = []
    for family, results in zip(FAMILIES, counting.results, strict=True):
        counters = chains.segment["width"][family] * chains.segment["rows"] * slots
        kept = _snapshot_rows(chains, family, span) * slots[segments]
        *begins, end = np.cumsum(np.concatenate([[results], counters, kept])).tolist()
        at = place["at"][family]
        at[:] = begins[: len(place)]
        snapshot[family] = np.where(by_start, begins[len(place) :], at[segments])
        sizes.append(end)
    return np.array(sizes, np.int64)
