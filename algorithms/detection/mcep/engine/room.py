"""Allocates the arrays of an engine on one key, and grows them; kernels own no arrays."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.detection.mcep.engine.tables import EngineTables
from cepbench.algorithms.detection.mcep.kernels.indices import ENTRY_WORDS, LEAST_ROOM
from cepbench.algorithms.detection.mcep.kernels.state import (
    NOBODY,
    BindingRecord,
    CountersRecord,
    EngineOutput,
    EngineState,
    EntriesRecord,
    MatchRecord,
    StoreRecord,
)
from cepbench.algorithms.detection.mcep.kernels.stores import LEAST_LIMIT
from cepbench.queries.records import records_of

FIRST_ROOM = 8
"""Initial capacity of a node in rows."""
FIRST_BINDINGS = 256
FIRST_MATCHES = 1024
FIRST_POSITIONS = 8192
FIRST_WAITING = 64
FIRST_DIGESTS = 1024
FIRST_ENTRIES = 1024


def new_state(tables: EngineTables) -> EngineState:
    """A state without rows and events."""
    nodes, patterns = len(tables.strides), len(tables.tables.pattern)
    count = np.zeros(1, records_of(CountersRecord))
    store = np.zeros(nodes, records_of(StoreRecord))
    store["room"], store["stamp"], store["limit"] = FIRST_ROOM, NOBODY, LEAST_LIMIT
    ends = np.cumsum(FIRST_ROOM * tables.strides)
    store["offset"] = ends - FIRST_ROOM * tables.strides
    used = int(ends[-1]) if nodes else 0
    count["slab_used"] = used
    return EngineState(
        store,
        np.zeros(2 * used, np.int64),
        np.zeros(FIRST_BINDINGS, records_of(BindingRecord)),
        np.zeros((len(tables.columns.ints), FIRST_BINDINGS), np.int64),
        np.zeros((len(tables.columns.reals), FIRST_BINDINGS), np.float64),
        np.zeros(len(tables.tables.indices), records_of(EntriesRecord)),
        np.zeros(0, np.float64),
        np.zeros(0, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(patterns, np.int64),
        np.zeros(patterns, np.uint64),
        np.zeros(patterns, np.uint64),
        np.full(patterns, NOBODY, np.int64),
        count,
    )


def new_output(patterns: int) -> EngineOutput:
    """Output arrays of the kernel, and space for waiting matches."""
    match, rows = records_of(MatchRecord), FIRST_DIGESTS + patterns
    return EngineOutput(
        np.zeros(FIRST_MATCHES, match),
        np.zeros(FIRST_POSITIONS, np.int64),
        np.zeros(FIRST_WAITING, match),
        np.zeros(4 * FIRST_WAITING, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.uint64),
        np.zeros(rows, np.uint64),
    )


def more_slab(state: EngineState, tables: EngineTables, grow: bool) -> EngineState:
    """Rearranges the slab so that each node has space for twice its rows; doubles the slab if it is to `grow`.

    O(words); rows begin at 0 after `kernels.detection.purge`.
    """
    store = state.store.copy()
    store["room"] = np.maximum(FIRST_ROOM, 2 * store["size"])
    ends = np.cumsum(store["room"] * tables.strides)
    store["offset"] = ends - store["room"] * tables.strides
    length = len(state.slab) * (2 if grow else 1)
    while length < 2 * ends[-1]:
        length *= 2
    slab = np.zeros(length, np.int64)
    for n, stride in enumerate(tables.strides.tolist()):
        begin, words = int(state.store["offset"][n]), int(store["size"][n]) * stride
        slab[store["offset"][n] : store["offset"][n] + words] = state.slab[begin : begin + words]
    state.counters[0]["slab_used"] = ends[-1]
    return state._replace(store=store, slab=slab)


def more_entries(state: EngineState, tables: EngineTables, grow: bool) -> EngineState:
    """Empty indices with at least twice the space that the stores need, or twice as many entries if they `grow`."""
    entries = state.entries.copy()
    for name in ("offset", "room", "filled", "sorted"):
        entries[name] = 0
    needed = 4 * int(np.maximum(LEAST_ROOM, 2 * state.store["size"][tables.tables.indices["node"]]).sum())
    length = max(FIRST_ENTRIES, len(state.key) * (2 if grow else 1))
    while length < needed:
        length *= 2
    state.counters[0]["live_words"] -= ENTRY_WORDS * int(state.entries["filled"].sum())
    state.counters[0]["entries_used"] = 0
    return state._replace(entries=entries, key=np.zeros(length, np.float64), entry=np.zeros(length, np.int64))
