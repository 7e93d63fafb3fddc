"""Arrays of MCEP's engines: nodes of a plan with stores of instances, and the bound events (MCEP, Sections 3.1 and 5).

A node has a store of rows (`kernels.rows`) that bind events. A binding is an event, or the last one of a set of events.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates


class Kind(IntEnum):
    """Kinds of nodes: single events, sets of events, negated events, and joins of two other nodes."""

    LEAF = 0
    KLEENE = 1
    ABSENT = 2
    JOIN = 3


class Check(IntEnum):
    """Checks of a fresh and an older binding: the older one is entirely before, or after; or they share no event."""

    BEFORE = -1
    AFTER = -2
    APART = -3


class Full(IntEnum):
    """Tables that can be full."""

    SLAB = 1
    BINDINGS = 2
    ENTRIES = 3
    MATCHES = 4
    POSITIONS = 5
    DIGESTS = 6


class NodeRecord:
    """A node. `kind`: a `Kind`; `reach`: its window, in time or, if it `counts`, in events; `width`: number of places.

    `stored`: other nodes read its rows; `kept`: also rows of earlier events. `held`: negated events are kept until
    matches that wait for them are settled.
    """

    kind: int
    reach: int
    counts: bool
    width: int
    stored: bool
    kept: bool
    held: bool


class StoreRecord:
    """Rows `base..size - 1` of a node, of so many `words` each, from word `offset` of the slab on; `room`: capacity in
    rows.

    Rows from `fresh` on were created by event `stamp`. When there are `limit` rows, expired ones are searched.
    """

    words: int
    offset: int
    room: int
    base: int
    size: int
    fresh: int
    stamp: int
    limit: int


class JoinRecord:
    """Creates rows of a node from fresh rows of node `fresh` and older ones of node `older`.

    `bound`: the fresh slot that must be after the whole older row, or NONE. `copy`: where the sources of its slots
    begin. `check`, `check_end`: its checks. `index` of the older rows, or NONE; `within`, `within_end`: the bounds of
    its look-ups.
    """

    fresh: int
    older: int
    bound: int
    copy: int
    check: int
    check_end: int
    index: int
    within: int
    within_end: int


class CheckRecord:
    """A check of the binding in slot `fresh` of a fresh row against that in slot `older` of an older one.

    `which`: a `Check`, or the number of a list of conditions that must hold for all of their events.
    """

    fresh: int
    older: int
    which: int


class IndexRecord:
    """An index of the rows of node `node` by `column`, a value of the (last) event in a slot.

    Rows are sorted in blocks of `block`, after look-ups have scanned each one `patience` times on average.
    """

    node: int
    slot: int
    real: bool
    column: int
    factor: float
    block: int
    patience: int


class BoundRecord:
    """A condition on the key of an index: the value of the event in fresh `slot`, `op`, the older event's value."""

    slot: int
    real: bool
    column: int
    factor: float
    op: int


class EntriesRecord:
    """Location of the entries of an index: capacity `room` from `offset` on, followed by as much working space.

    The first `filled` rows of the store have entries, of which the first `sorted` are in sorted runs. `entered`: total
    number of entries so far; `passed`: number of unsorted entries that look-ups have scanned.
    """

    offset: int
    room: int
    filled: int
    sorted: int
    entered: int
    passed: int


class PatternRecord:
    """A pattern; rows of its node are matches if they lie within its own `reach`.

    If it `waits`, matches are decided at the end of their spans; with `digests` they are not written. In a SEQ
    (`ordered`) slots are in the order of events.
    """

    reach: int
    counts: bool
    ordered: bool
    waits: bool
    digests: bool
    absence: int
    absence_end: int


class AbsenceRecord:
    """No event of node `node` may lie between slots `gap - 1` and `gap`; `last` if the gap is at the end."""

    node: int
    gap: int
    last: bool


class ExclusionRecord:
    """No event of node `node` may lie between slots `before` and `after` of a row."""

    node: int
    before: int
    after: int


class BindingRecord:
    """An event, and the binding of the earlier events of its set (`below`), which has `length` events.

    `time`: of the event; `first`: time of the set's first event; `number`: among the events of the key; `place`: in the
    input.
    """

    time: int
    first: int
    number: int
    place: int
    below: int
    length: int


class MatchRecord:
    """A match of a pattern: times of its first and last event, and the end of its positions.

    `due`: the point from which nothing can invalidate it; `window`: reported with it. `settled`: it does not wait, or
    is due. `alive`: it has not been invalidated.
    """

    pattern: int
    first: int
    last: int
    due: int
    window: int
    stop: int
    settled: bool
    alive: bool


class EventDigestRecord:
    """Number and digest of the matches of a pattern that the current event ends; `row`: the `DigestRecord` of the last
    window of the pattern, or NONE.
    """

    matches: np.uint64
    digest: np.uint64
    row: int


class DigestRecord:
    """Number and digest of the matches of a pattern in a window."""

    pattern: int
    window: int
    matches: np.uint64
    digest: np.uint64


class CountersRecord:
    """Numbers of an engine on one key.

    - `seen`: events so far; `now`: the time. `instances` created and `comparisons` of pairs of rows so far.
    - of the current event: `current_binding`, the binding of the event alone, or NONE; number of nodes `touched` and
      of patterns `marked`.
    - bindings `oldest..bindings - 1` are live.
    - `slab_used`: words of the slab in use, including gaps, and `entries_used` of indices; the live words and rows.
    - `matches`, with their `positions`, of which `waiting` and `waiting_positions` are not settled; `digest_rows`. With
      `suppress_output`, matches are dropped.
    - `full`: the table without room for the current event. `peak_...`: the largest state.
    """

    seen: int
    now: int
    instances: int
    comparisons: int
    current_binding: int
    touched: int
    marked: int
    oldest: int
    bindings: int
    slab_used: int
    entries_used: int
    live_words: int
    live_rows: int
    matches: int
    positions: int
    waiting: int
    waiting_positions: int
    digest_rows: int
    suppress_output: bool
    full: int
    peak_bytes: int
    peak_events: int
    peak_rows: int
    peak_matches: int


class PlanTables(NamedTuple):
    """A plan of N nodes, children before parents. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - `node[N]` (`NodeRecord`); `local`: predicates per node.
    - `step_ptr[T + 1]`, `step`: the nodes that can get a new row with an event of a type, ascending.
    - `join_ptr[N + 1]`, `join` (`JoinRecord`); `copy`: slots of the fresh row, or ~slots of the older one.
    - `check` (`CheckRecord`); `pairs`: lists of conditions from a fresh to an older event.
    - `index_ptr[N + 1]`, `indices` (`IndexRecord`): the indices of a node; `bound` (`BoundRecord`).
    - `exclusion_ptr[N + 1]`, `exclusion` (`ExclusionRecord`): negated events that no row of a node may contain.
    - `final_ptr[N + 1]`, `final`: the patterns of a node; `pattern[P]` (`PatternRecord`), `absence` (`AbsenceRecord`):
      negated types that are not checked by nodes.
    """

    node: Records
    local: Ints
    step_ptr: Ints
    step: Ints
    join_ptr: Ints
    join: Records
    copy: Ints
    check: Records
    pairs: Predicates
    index_ptr: Ints
    indices: Records
    bound: Records
    exclusion_ptr: Ints
    exclusion: Records
    final_ptr: Ints
    final: Ints
    pattern: Records
    absence: Records


class EngineState(NamedTuple):
    """State of an engine on one key.

    - `store[N]` (`StoreRecord`), `slab`: words of the rows.
    - `binding[V]` (`BindingRecord`), `ints[I, V]`, `reals[F, V]`: their columns, as a ring (`bindings.index_of`).
    - `entries[K]` (`EntriesRecord`): of the indices; `key`, `entry`: the value and the row of each entry.
    - `touched[N]`: nodes with rows of the current event; `marked[P]`: patterns with digested matches of this event, the
      sums of which are in `event_digest[P]` (`EventDigestRecord`).
    - the output, and matches that wait: `match` (`MatchRecord`) and `positions`; `digest` (`DigestRecord`).
    - `counters[1]`: `CountersRecord`.
    """

    store: Records
    slab: Ints
    binding: Records
    ints: Ints
    reals: Reals
    entries: Records
    key: Reals
    entry: Ints
    touched: Ints
    marked: Ints
    event_digest: Records
    match: Records
    positions: Ints
    digest: Records
    counters: Records
