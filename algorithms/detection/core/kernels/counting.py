"""Counts matches within their span without a search (not from the paper).

A count per node would be too large: of the runs below a node, only those that start within the span may be counted, and
these differ for every later event. A count per start and state is exact, but an event would have to update the counts
of every start in the span.

The effect of an event on counts is linear. Let M be its matrix: M[s, t] is the number of ways from state s to state t
that skip or mark the event. The runs that start within a span and have reached t are row START of the product of the
matrices of its events. The product over a sliding span is kept as two products, of the older events (front) and of the
newer ones (back), as in the two stacks of Tangwongsan et al., General incremental sliding-window aggregation, PVLDB
2015.

    events   . . . x x x x | x x x x x e
                   ^ floor   ^ mid
             front: row START of the product of all events from each start on, up to mid
             back:  the product of all events from mid on, as it grows

When the span has left the front, all events are moved to it, from the last one back, with a row for each event that can
begin a match. Each event is moved once, so an event takes O(Q) amortized time per edge for Q states; space is O(Q) per
start in the span, and O(Q^2). Counts are exact modulo 2^64, with an overflow flag each, or floats.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.detection.core.kernels.automaton import (
    NOTHING,
    START,
    UNKNOWN,
    Cea,
    classified,
    letter_of,
    undecided,
)
from cepbench.algorithms.detection.core.kernels.update import OF_DECISIONS, OF_TARGETS
from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.cells import product_exceeds, sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.queries.records import Records

NONE = -1
(LOW, MID, COMMITTED, LOGGED, STARTS, SEEN, NOW, ASKED, TOUCHED, STEPS, FLIPS, MAX_LOGGED, MAX_STARTS) = range(13)
COUNTERS = 13
"""See `Products.counters`."""
OF_LOG, OF_ROWS = 11, 12
"""Arrays that lack space, in addition to those of `update`."""
LOG_BYTES = 32


class CountingRecord:
    """`reach`: the span in time or, if it `counts`, in events; `modular`: counts modulo 2^64, otherwise floats."""

    reach: int
    counts: bool
    modular: bool


class LogRecord:
    """An event of the span: its point, time and letter, and its row in the front if it can begin a match."""

    point: int
    time: int
    letter: int
    row: int


class Counts(NamedTuple):
    """Counts, and whether each has overflowed."""

    value: NDArray[Any]
    over: Flags


class Products(NamedTuple):
    """Counts for C states.

    - `log[N]`: events by time (`LogRecord`): those before MID are in the front, those before COMMITTED in the back.
    - `row[M, C]`: for a start in the front, the ways to each state over the events from that start to the front's end.
    - `back[C, C]`: `back[s, t]`: ways from t to s over the back; `fresh[C, C]`: what the current time adds.
    - `front[C, C]`, `gain[C, C]`: while events are moved: ways from s to t, and what one time adds.
    - `reached[C]`: whether a run has been in a state; `touched[C]`: the TOUCHED states that the current time leads to.
    - `total[1]`: matches.
    - `counters`: the front begins at LOW and ends at MID; COMMITTED events are in one of the products, LOGGED also
      includes those of the current time; STARTS among them; events SEEN; NOW; the decision ASKED for; counted STEPS;
      FLIPS; peaks of events and starts.
    """

    log: Records
    row: Counts
    back: Counts
    fresh: Counts
    front: Counts
    gain: Counts
    reached: Flags
    touched: Ints
    total: Counts
    counters: Ints


@kernel
def count(
    begin: int, events: KernelEvents, setting: Records, local: Ints, cea: Cea, products: Products
) -> tuple[int, int]:
    """Counts the matches that events `begin..` end; returns the next event and what is lacking to read it (or 0).

    O(predicates + edges * Q) amortized per event.
    """
    mark = products.counters
    for i in range(begin, len(events.time)):
        decision = classified(i, events, local, cea)
        if decision == UNKNOWN:
            mark[ASKED] = undecided(i, events, local, cea)
            return i, OF_DECISIONS
        if decision == NOTHING:
            mark[SEEN] += 1
            continue
        letter = letter_of(decision)
        if mark[LOGGED] == len(products.log):
            return i, OF_LOG
        if mark[STARTS] == len(products.row.value):
            return i, OF_ROWS
        time = events.time[i]
        point = mark[SEEN] if setting[0].counts else time
        if time > mark[NOW]:
            _commit(cea, products)
            mark[NOW] = time
        first, last = cea.edge_ptr[letter], cea.edge_ptr[letter + 1]
        for at in range(first, last):
            if cea.edge[at].target == UNKNOWN and products.reached[cea.edge[at].source]:
                mark[ASKED] = at
                return i, OF_TARGETS
        mark[SEEN] += 1
        _slide(point - setting[0].reach, cea, products)
        starts = _take_edges(first, last, setting[0].modular, cea, products)
        event = products.log[mark[LOGGED]]
        event.point, event.time, event.letter, event.row = point, time, letter, NONE
        mark[LOGGED] += 1
        mark[STARTS] += starts
        mark[MAX_LOGGED] = max(mark[MAX_LOGGED], mark[LOGGED])
        mark[MAX_STARTS] = max(mark[MAX_STARTS], mark[STARTS])
    return len(events.time), 0


@inlined
def _slide(floor: int, cea: Cea, products: Products) -> None:
    """Moves the span to `floor`: LOW becomes the first event of the front which can begin a match."""
    mark = products.counters
    if mark[MID] < mark[COMMITTED] and products.log[mark[MID]].point < floor:
        _flip(floor, cea, products)
    while mark[LOW] < mark[MID] and (products.log[mark[LOW]].row == NONE or products.log[mark[LOW]].point < floor):
        mark[LOW] += 1


@inlined
def _take_edges(first: int, last: int, modular: bool, cea: Cea, products: Products) -> int:
    """Takes the edges of an event: counts the matches that end, and stores the runs that continue until time advances.

    Returns 1 if matches can begin with the event, otherwise 0.
    """
    states = len(cea.list_ptr) - 1
    for at in range(first, last):
        edge = cea.edge[at]
        if edge.final and products.reached[edge.source]:
            _count_runs(edge.source, states, modular, products)
            products.counters[STEPS] += states
    return _keep(first, last, states, cea, products)


@inlined
def _keep(first: int, last: int, states: int, cea: Cea, products: Products) -> int:
    """Stores the runs that an event extends; returns 1 if some begin with it, otherwise 0."""
    starts = 0
    for at in range(first, last):
        edge = cea.edge[at]
        if edge.goes_on and edge.target != UNKNOWN and products.reached[edge.source]:
            if edge.source == START:
                starts = 1
            _touch(edge.target, products)
            _add_row(products.fresh, edge.target, products.back, edge.source, states)
            products.counters[STEPS] += states
    return starts


@inlined
def _touch(state: int, products: Products) -> None:
    """Records that the current time leads to a state."""
    mark = products.counters
    for k in range(mark[TOUCHED]):
        if products.touched[k] == state:
            return
    products.touched[mark[TOUCHED]] = state
    mark[TOUCHED] += 1


@inlined
def _commit(cea: Cea, products: Products) -> None:
    """Advances time: adds the last time to the back; its events did not follow one another."""
    mark = products.counters
    states = len(cea.list_ptr) - 1
    for k in range(mark[TOUCHED]):
        s = products.touched[k]
        _add_row(products.back, s, products.fresh, s, states)
        _clear_row(products.fresh, s, states)
        products.reached[s] = True
        mark[STEPS] += states
    mark[TOUCHED] = 0
    mark[COMMITTED] = mark[LOGGED]


@inlined
def _count_runs(state: int, states: int, modular: bool, products: Products) -> None:
    """Adds the runs in a state that began within the span."""
    mark, total, back = products.counters, products.total, products.back
    if state == START:
        _add(total, total.value.dtype.type(1), False)
        return
    _add(total, back.value[state, START], back.over[state, START])
    if mark[LOW] == mark[MID]:
        return
    row = products.log[mark[LOW]].row
    for t in range(1, states):
        x, y = products.row.value[row, t], back.value[state, t]
        x_over, y_over = products.row.over[row, t], back.over[state, t]
        if (x == 0 and not x_over) or (y == 0 and not y_over):
            continue
        over = x_over or y_over or (modular and product_exceeds(np.uint64(x), np.uint64(y)))
        _add(total, x * y, over)


@inlined
def _flip(floor: int, cea: Cea, products: Products) -> None:
    """Drops the events before `floor` and moves those of the back to the front. O(Q) per edge of an event."""
    mark, log = products.counters, products.log
    states = len(cea.list_ptr) - 1
    gone = mark[MID]
    while gone < mark[COMMITTED] and log[gone].point < floor:
        gone += 1
    for at in range(gone, mark[LOGGED]):
        log[at - gone] = log[at]
    mark[COMMITTED], mark[LOGGED] = mark[COMMITTED] - gone, mark[LOGGED] - gone
    mark[LOW], mark[MID], mark[STARTS] = 0, mark[COMMITTED], 0
    mark[FLIPS] += 1
    for s in range(states):
        _clear_row(products.front, s, states)
        _clear_row(products.gain, s, states)
        _clear_row(products.back, s, states)
        _clear_row(products.fresh, s, states)
        products.back.value[s, s] = products.back.value.dtype.type(1)
        if s != START:
            products.front.value[s, s] = products.front.value.dtype.type(1)
    at = mark[COMMITTED]
    while at > 0:
        at = _before(at, states, cea, products)
    mark[TOUCHED] = 0
    for at in range(mark[COMMITTED], mark[LOGGED]):  # the current time, after a back that is empty now
        letter = log[at].letter
        mark[STARTS] += _keep(cea.edge_ptr[letter], cea.edge_ptr[letter + 1], states, cea, products)


@inlined
def _before(end: int, states: int, cea: Cea, products: Products) -> int:
    """Prepends the last time before event `end` to the product; returns its first event."""
    mark, log, front = products.counters, products.log, products.front
    at = end
    while at > 0 and log[at - 1].time == log[end - 1].time:
        at -= 1
        letter = log[at].letter
        for k in range(cea.edge_ptr[letter], cea.edge_ptr[letter + 1]):
            edge = cea.edge[k]
            if edge.target == UNKNOWN or not edge.goes_on:
                continue
            if edge.source == START:
                _add_row(front, START, front, edge.target, states)
            else:
                _add_row(products.gain, edge.source, front, edge.target, states)
            mark[STEPS] += states
        if _begins(letter, cea):
            row = mark[STARTS]
            mark[STARTS] = row + 1
            _clear_row(products.row, row, states)
            _add_row(products.row, row, front, START, states)
            log[at].row = row
    for e in range(at, end):
        letter = log[e].letter
        for k in range(cea.edge_ptr[letter], cea.edge_ptr[letter + 1]):
            source = cea.edge[k].source
            if source != START:
                _add_row(front, source, products.gain, source, states)
                _clear_row(products.gain, source, states)
    return at


@inlined
def _begins(letter: int, cea: Cea) -> int:
    """1 if an event begins runs that can continue, otherwise 0."""
    for k in range(cea.edge_ptr[letter], cea.edge_ptr[letter + 1]):
        if cea.edge[k].source == START and cea.edge[k].goes_on:
            return 1
    return 0


@inlined
def _add(to: Counts, value: Any, over: bool) -> None:
    """Adds a count to a single one."""
    total = to.value[0] + value
    to.over[0] = to.over[0] or over or sum_exceeds(total, value)
    to.value[0] = total


@inlined
def _add_row(to: Counts, i: int, source: Counts, j: int, states: int) -> None:
    """Adds row j of `source` to row i."""
    for t in range(states):
        value = source.value[j, t]
        total = to.value[i, t] + value
        to.over[i, t] = to.over[i, t] or source.over[j, t] or sum_exceeds(total, value)
        to.value[i, t] = total


@inlined
def _clear_row(counts: Counts, i: int, states: int) -> None:
    for t in range(states):
        counts.value[i, t] = counts.value.dtype.type(0)
        counts.over[i, t] = False
