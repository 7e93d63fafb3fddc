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

from numpy.typing import NDArray

from cepbench.algorithms.detection.core.kernels.automaton import (
    NOTHING,
    START,
    UNKNOWN,
    Cea,
    Lack,
    classified,
    letter_of,
    undecided,
)
from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.cells import sum_exceeds, times
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.queries.records import Records


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


class CountersRecord:
    """Numbers of the products.

    - of the log: the front begins at `low` and ends at `mid`; `committed` events are in a product, `logged` also
      includes those of the current time; `starts` among them.
    - `seen`: events so far; `now`: the time; `touched`: states that the current time leads to.
    - `asked`: the decision or target that the automaton lacks.
    - `steps` and `flips` so far; the largest numbers of events and starts.
    """

    low: int
    mid: int
    committed: int
    logged: int
    starts: int
    seen: int
    now: int
    touched: int
    asked: int
    steps: int
    flips: int
    max_logged: int
    max_starts: int


class Products(NamedTuple):
    """Counts for C states.

    - `log[N]`: events by time (`LogRecord`): those before `mid` are in the front, those before `committed` in the back.
    - `row[M, C]`: for a start in the front, the ways to each state over the events from that start to the front's end.
    - `back[C, C]`: `back[s, t]`: ways from t to s over the back; `fresh[C, C]`: what the current time adds.
    - `front[C, C]`, `gain[C, C]`: while events are moved: ways from s to t, and what one time adds.
    - `reached[C]`: whether a run has been in a state; `touched[C]`: the states that the current time leads to.
    - `total[1]`: matches.
    - `counters[1]`: `CountersRecord`.
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
    counters: Records


@kernel
def count(
    begin: int, events: KernelEvents, setting: Records, local: Ints, cea: Cea, products: Products
) -> tuple[int, int]:
    """Counts the matches that events `begin..` end; returns the next event and what is lacking to read it (or 0).

    O(predicates + edges * Q) amortized per event.
    """
    mark = products.counters[0]
    for i in range(begin, len(events.time)):
        decision = classified(i, events, local, cea)
        if decision == UNKNOWN:
            mark.asked = undecided(i, events, local, cea)
            return i, Lack.DECISION
        if decision == NOTHING:
            mark.seen += 1
            continue
        letter = letter_of(decision)
        if mark.logged == len(products.log):
            return i, Lack.LOG
        if mark.starts == len(products.row.value):
            return i, Lack.ROWS
        time = events.time[i]
        point = mark.seen if setting[0].counts else time
        if time > mark.now:
            _commit(cea, products)
            mark.now = time
        first, last = cea.edge_ptr[letter], cea.edge_ptr[letter + 1]
        for at in range(first, last):
            if cea.edge[at].target == UNKNOWN and products.reached[cea.edge[at].source]:
                mark.asked = at
                return i, Lack.TARGET
        mark.seen += 1
        _slide(point - setting[0].reach, cea, products)
        starts = _take_edges(first, last, setting[0].modular, cea, products)
        event = products.log[mark.logged]
        event.point, event.time, event.letter, event.row = point, time, letter, NONE
        mark.logged += 1
        mark.starts += starts
        mark.max_logged = max(mark.max_logged, mark.logged)
        mark.max_starts = max(mark.max_starts, mark.starts)
    return len(events.time), 0


@inlined
def _slide(floor: int, cea: Cea, products: Products) -> None:
    """Moves the span to `floor`: LOW becomes the first event of the front which can begin a match."""
    mark = products.counters[0]
    if mark.mid < mark.committed and products.log[mark.mid].point < floor:
        _flip(floor, cea, products)
    while mark.low < mark.mid and (products.log[mark.low].row == NONE or products.log[mark.low].point < floor):
        mark.low += 1


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
            products.counters[0].steps += states
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
            products.counters[0].steps += states
    return starts


@inlined
def _touch(state: int, products: Products) -> None:
    """Records that the current time leads to a state."""
    mark = products.counters[0]
    for k in range(mark.touched):
        if products.touched[k] == state:
            return
    products.touched[mark.touched] = state
    mark.touched += 1


@inlined
def _commit(cea: Cea, products: Products) -> None:
    """Advances time: adds the last time to the back; its events did not follow one another."""
    mark = products.counters[0]
    states = len(cea.list_ptr) - 1
    for k in range(mark.touched):
        s = products.touched[k]
        _add_row(products.back, s, products.fresh, s, states)
        _clear_row(products.fresh, s, states)
        products.reached[s] = True
        mark.steps += states
    mark.touched = 0
    mark.committed = mark.logged


@inlined
def _count_runs(state: int, states: int, modular: bool, products: Products) -> None:
    """Adds the runs in a state that began within the span."""
    mark, total, back = products.counters[0], products.total, products.back
    if state == START:
        _add(total, total.value.dtype.type(1), False)
        return
    _add(total, back.value[state, START], back.over[state, START])
    if mark.low == mark.mid:
        return
    row, nothing = products.log[mark.low].row, total.value.dtype.type(0)
    for t in range(1, states):
        x, x_over = products.row.value[row, t], products.row.over[row, t]
        value, over = times(x, x_over, back.value[state, t], back.over[state, t], nothing, modular)
        _add(total, value, over)


@inlined
def _flip(floor: int, cea: Cea, products: Products) -> None:
    """Drops the events before `floor` and moves those of the back to the front. O(Q) per edge of an event."""
    mark, log = products.counters[0], products.log
    states = len(cea.list_ptr) - 1
    gone = mark.mid
    while gone < mark.committed and log[gone].point < floor:
        gone += 1
    for at in range(gone, mark.logged):
        log[at - gone] = log[at]
    mark.committed, mark.logged = mark.committed - gone, mark.logged - gone
    mark.low, mark.mid, mark.starts = 0, mark.committed, 0
    mark.flips += 1
    for s in range(states):
        _clear_row(products.front, s, states)
        _clear_row(products.gain, s, states)
        _clear_row(products.back, s, states)
        _clear_row(products.fresh, s, states)
        products.back.value[s, s] = products.back.value.dtype.type(1)
        if s != START:
            products.front.value[s, s] = products.front.value.dtype.type(1)
    at = mark.committed
    while at > 0:
        at = _before(at, states, cea, products)
    mark.touched = 0
    for at in range(mark.committed, mark.logged):  # the current time, after a back that is empty now
        letter = log[at].letter
        mark.starts += _keep(cea.edge_ptr[letter], cea.edge_ptr[letter + 1], states, cea, products)


@inlined
def _before(end: int, states: int, cea: Cea, products: Products) -> int:
    """Prepends the last time before event `end` to the product; returns its first event."""
    mark, log, front = products.counters[0], products.log, products.front
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
            mark.steps += states
        if _begins(letter, cea):
            row = mark.starts
            mark.starts = row + 1
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
