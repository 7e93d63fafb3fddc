"""What MCEP's engines read and write: nodes of a plan with stores of instances, and the events that these bind
(MCEP, Sections 3.1 and 5).

A node has a store of rows, one per instance of its sub-pattern, in the order in which they ended. A row has the words
`FIRST`, `LAST` (points of its first and last event on the axis of the span), `ENDED` (the time of its last event), and
from `SLOTS` on a binding per place of the sub-pattern. A binding is an event, or the last one of a set of events.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.trend_hash import Hashes
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

NOBODY = -1
FAR = 2**62
"""Later than every event."""

LEAF, KLEENE, ABSENT, JOIN = range(4)
"""Kinds of nodes: single events, sets of events, events that are negated, and what is made of two other nodes."""

FIRST, LAST, ENDED, SLOTS = range(4)

BEFORE, AFTER, APART = -1, -2, -3
"""Checks of a fresh and an older binding: the older one is all before, or after; or they have no event in common."""

SEEN, NOW, OWN, TOUCHED, USED, ORIGIN, LOW, BINDINGS, WORDS, ROWS, INSTANCES, LOOKED = range(12)
MATCHES, WRITTEN, WAITING, WAITING_WRITTEN, DIGESTS, MARKED, LACK, MUTE = range(12, 20)
PEAK_BYTES, PEAK_EVENTS, PEAK_ROWS, PEAK_MATCHES, INDEXED = range(20, 25)
COUNTERS = 25
"""See `EngineState.counters`."""

OF_SLAB, OF_BINDINGS, OF_MATCHES, OF_WAITING, OF_DIGESTS, OF_INDICES = range(1, 7)
"""What there is too little room in (`LACK`)."""

WAITING_BYTES = 56
"""A match that waits for the end of its span; and 8 bytes per event."""


class NodeRecord:
    """A node. `reach` of its window, in time or, if it `counts`, in events; `width` places.

    `stored`: other nodes read its rows, and if it is `kept`, also those of earlier events. `held`: negated events are
    kept until matches that wait for them are settled.
    """

    kind: int
    reach: int
    counts: bool
    width: int
    stored: bool
    kept: bool
    held: bool


class StoreRecord:
    """Rows `base..size - 1` of a node, from word `offset` of the slab on; there is `room` for rows.

    Those from `fresh` on were made by event `stamp`; expired ones are looked for when there are `limit`.
    """

    offset: int
    room: int
    base: int
    size: int
    fresh: int
    stamp: int
    limit: int


class JoinRecord:
    """A way to make rows of a node: of fresh rows of node `mine` with older ones of node `theirs`.

    `bound`: the fresh slot that all of the older row must be before; or NOBODY. `copy`: where the sources of its slots
    begin. `check`, `check_end`: its checks. `index` of the older rows, or NOBODY; `within`, `within_end`: the bounds of
    what it is asked for.
    """

    mine: int
    theirs: int
    bound: int
    copy: int
    check: int
    check_end: int
    index: int
    within: int
    within_end: int


class CheckRecord:
    """A check of the binding in slot `mine` of a fresh row with that in slot `theirs` of an older one.

    `which` is `BEFORE`, `AFTER` or `APART`, or the number of a list of conditions that hold for all of their events.
    """

    mine: int
    theirs: int
    which: int


class IndexRecord:
    """An index of the rows of node `node` by a value of the (last) event in a slot, of which it is a `column`.

    Rows are sorted in blocks of `block`, once look-ups have passed each one `patience` times on average.
    """

    node: int
    slot: int
    real: bool
    column: int
    factor: float
    block: int
    patience: int


class BoundRecord:
    """A condition on what an index has: a value of the event in a `slot` of a fresh row `op` that of the older one."""

    slot: int
    real: bool
    column: int
    factor: float
    op: int


class EntriesRecord:
    """Where the entries of an index are: `room` from `offset` on, and as much behind them to work with.

    The first `filled` rows of the store have entries, of which the first `sorted` are in sorted runs. So many were ever
    `entered`, and look-ups have `passed` so many that were not sorted.
    """

    offset: int
    room: int
    filled: int
    sorted: int
    entered: int
    passed: int


class PatternRecord:
    """A pattern of which a node's rows are matches if they lie within its own `reach`.

    If it `waits`, matches are decided at the end of their spans; with `digests` they are not written. In a SEQ
    (`ordered`) slots have the order of events.
    """

    reach: int
    counts: bool
    ordered: bool
    waits: bool
    digests: bool
    absence: int
    absence_end: int


class AbsenceRecord:
    """No event of node `node` may be between slots `gap - 1` and `gap`; `last` if the gap is at the end."""

    node: int
    gap: int
    last: bool


class HindranceRecord:
    """No event of node `node` may be between slots `before` and `after` of a row."""

    node: int
    before: int
    after: int


class BindingRecord:
    """An event, with the binding of the events before it in its set (`below`), of which it has `length`.

    `time` of it and of the `first` event; its `number` among those of its key, and `place` in the input.
    """

    time: int
    first: int
    number: int
    place: int
    below: int
    length: int


class MatchRecord:
    """A match of a pattern: times of its first and last event, and where its positions end.

    `due`: the point by which nothing can undo it; `window`: what is told of it. It is `settled` once it is due, and not
    `alive` if it was undone.
    """

    pattern: int
    first: int
    last: int
    due: int
    window: int
    stop: int
    settled: bool
    alive: bool


class PlanTables(NamedTuple):
    """A plan of N nodes, children before parents. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - `node[N]` (`NodeRecord`); `local`: predicates per node.
    - `step_ptr[T + 1]`, `step`: the nodes that may have a new row with an event of a type, ascending.
    - `join_ptr[N + 1]`, `join` (`JoinRecord`); `copy`: slots of the fresh row, or ~slots of the older one.
    - `check` (`CheckRecord`); `pairs`: lists of conditions from a fresh to an older event.
    - `index_ptr[N + 1]`, `indices` (`IndexRecord`): the indices of a node; `bound` (`BoundRecord`).
    - `hindrance_ptr[N + 1]`, `hindrance` (`HindranceRecord`): what no row of a node may have between its events.
    - `final_ptr[N + 1]`, `final`: the patterns of a node; `pattern[P]` (`PatternRecord`), `absence` (`AbsenceRecord`),
      without those that its nodes have decided.
    """

    node: Records
    local: Predicates
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
    hindrance_ptr: Ints
    hindrance: Records
    final_ptr: Ints
    final: Ints
    pattern: Records
    absence: Records


class EngineState(NamedTuple):
    """State of an engine on one key.

    - `store[N]` (`StoreRecord`), `slab`: words of the rows.
    - `binding[V]` (`BindingRecord`), `ints[I, V]`, `reals[F, V]`: their columns. Binding b is at b - counters[ORIGIN].
    - `entries[K]` (`EntriesRecord`): of the indices; `key`, `entry`: the value and the row of each entry.
    - `touched[N]`: nodes with rows of the current event; `marked[P]`: patterns with matches of it that are digested,
      `matches[P]`, `digest[P]`: their number and sum, `row[P]`: the row of digests of the last window, or NOBODY.
    - `counters`: events SEEN, the time NOW, the binding that the current event has as its OWN, TOUCHED nodes, words
      USED of the slab, the binding at the ORIGIN, the LOW one that is live, the end of BINDINGS, live WORDS and ROWS,
      INSTANCES made, pairs LOOKED at; MATCHES and positions WRITTEN, those WAITING; rows of DIGESTS, MARKED patterns;
      what there is a LACK of; MUTE: whether matches are forgotten; the largest
      state; entries of indices that are INDEXED or free.
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
    matches: Hashes
    digest: Hashes
    row: Ints
    counters: Ints


class EngineOutput(NamedTuple):
    """Matches: `found` and `waiting` (`MatchRecord`) with their positions; digests by pattern and window."""

    found: Records
    positions: Ints
    waiting: Records
    waiting_positions: Ints
    digested: Ints
    window: Ints
    matches: Hashes
    digest: Hashes
