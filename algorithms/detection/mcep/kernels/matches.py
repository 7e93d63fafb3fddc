"""Turns rows of a final node into matches: checks windows and negation of its patterns, and reports the matches
(MCEP, Sections 2 and 3.1).
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.detection.mcep.kernels.state import (
    ENDED,
    FAR,
    FIRST,
    LAST,
    NOBODY,
    OF_DIGESTS,
    OF_MATCHES,
    OF_WAITING,
    SLOTS,
    EngineOutput,
    EngineState,
    PlanTables,
    SizeRecord,
)
from cepbench.algorithms.detection.mcep.kernels.stores import first_from, is_free
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.trend_hash import BASE, finished, mixed
from cepbench.queries.records import Records


@inner
def emitted(n: int, at: int, point: int, tables: PlanTables, state: EngineState, output: EngineOutput) -> bool:
    """Reports the row of node n at word `at` for each of its patterns; False if there is no space. O(l) per match."""
    count = state.counters[0]
    if count.suppress_output:
        return True
    for f in range(tables.final_ptr[n], tables.final_ptr[n + 1]):
        p = tables.final[f]
        pattern = tables.pattern[p]
        if state.slab[at + FIRST] < point - pattern.reach or not _is_absent(p, at, point, tables, state):
            continue
        if pattern.waits:
            done = _written(p, n, at, point, tables, state, output.waiting, output.waiting_positions, count.waiting)
            if not done:
                count.full_array = OF_WAITING
                return False
        elif pattern.digests:
            length = _positions(n, at, count.output.positions, pattern.ordered, tables, state, output.positions)
            if length < 0:
                count.full_array = OF_MATCHES
                return False
            _digested(p, count.output.positions, length, state, output.positions)
        elif not _written(p, n, at, point, tables, state, output.match, output.positions, count.output):
            count.full_array = OF_MATCHES
            return False
    return True


@inlined
def has_excluded(n: int, at: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether a negated event lies inside the row of node n at word `at`. O(log n) per exclusion."""
    for h in range(tables.exclusion_ptr[n], tables.exclusion_ptr[n + 1]):
        exclusion = tables.exclusion[h]
        if _is_excluded(exclusion.node, at, exclusion.before, exclusion.after, tables, state):
            return True
    return False


@inlined
def _is_excluded(node: int, at: int, before: int, after: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether an event of negated node `node` lies between two slots of a row."""
    origin = state.counters[0].origin
    earlier = state.binding[state.slab[at + SLOTS + before] - origin].time
    later = state.binding[state.slab[at + SLOTS + after] - origin].first
    return not is_free(node, earlier, later, tables, state)


@inlined
def _is_absent(p: int, at: int, point: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether a match contains no negated event; a trailing NOT is not checked here. O(log n) per gap."""
    pattern = tables.pattern[p]
    for a in range(pattern.absence, pattern.absence_end):
        absence = tables.absence[a]
        if absence.last:
            continue
        if absence.gap:
            if _is_excluded(absence.node, at, absence.gap - 1, absence.gap, tables, state):
                return False
            continue
        begin = state.binding[state.slab[at + SLOTS] - state.counters[0].origin].first
        r = first_from(absence.node, ENDED, begin, tables, state) - 1
        store = state.store[absence.node]
        if r >= store.base and state.slab[store.offset + r * SLOTS + LAST] >= point - pattern.reach:
            return False
    return True


@inlined
def _positions(
    n: int, at: int, written: int, ordered: bool, tables: PlanTables, state: EngineState, positions: Ints
) -> int:
    """Writes the positions of a row's events at `written`, ascending; returns their number, or -1 without space."""
    origin = state.counters[0].origin
    width = tables.node[n].width
    length = 0
    for slot in range(width):
        length += state.binding[state.slab[at + SLOTS + slot] - origin].length
    if written + length > len(positions):
        return -1
    target = written + length
    for slot in range(width - 1, -1, -1):
        b = state.slab[at + SLOTS + slot]
        while b != NOBODY:
            target -= 1
            positions[target] = state.binding[b - origin].place
            b = state.binding[b - origin].below
    if not ordered:
        for k in range(written + 1, written + length):
            place = positions[k]
            free = k
            while free > written and positions[free - 1] > place:
                positions[free] = positions[free - 1]
                free -= 1
            positions[free] = place
    return length


@inlined
def _written(
    p: int, n: int, at: int, point: int, tables: PlanTables, state: EngineState, into: Records, positions: Ints,
    size: SizeRecord,
) -> bool:  # fmt: skip
    """Writes a match to `into` and its `positions`, which have `size` so far; False if there is no space."""
    count = state.counters[0]
    pattern = tables.pattern[p]
    if size.matches == len(into):
        return False
    length = _positions(n, at, size.positions, pattern.ordered, tables, state, positions)
    if length < 0:
        return False
    first = FAR
    for slot in range(tables.node[n].width):
        first = min(first, state.binding[state.slab[at + SLOTS + slot] - count.origin].first)
    size.positions += length
    match = into[size.matches]
    size.matches += 1
    match.pattern, match.first, match.last, match.stop = p, first, state.slab[at + ENDED], size.positions
    match.due = state.slab[at + FIRST] + pattern.reach
    match.window = state.slab[at + FIRST] if pattern.waits else point - pattern.reach
    match.settled, match.alive = False, True
    return True


@inlined
def _digested(p: int, begin: int, length: int, state: EngineState, positions: Ints) -> None:
    """Adds the digest of a match to those of the current event."""
    count = state.counters[0]
    h = np.uint64(0)
    for k in range(begin, begin + length):
        h = h * BASE + mixed(positions[k])
    if state.matches[p] == 0:
        state.marked[count.marked] = p
        count.marked += 1
    state.matches[p] += np.uint64(1)
    state.digest[p] += finished(h)


@inlined
def forget_digests(state: EngineState) -> None:
    """Drops the digested matches of the current event."""
    for k in range(state.counters[0].marked):
        p = state.marked[k]
        state.matches[p], state.digest[p] = np.uint64(0), np.uint64(0)
    state.counters[0].marked = 0


@inlined
def report_digests(time: int, tables: PlanTables, state: EngineState, output: EngineOutput) -> bool:
    """Adds the digests of the current event to the rows of their windows; False if there is no space."""
    count = state.counters[0]
    if count.digest_rows + count.marked > len(output.window):
        count.full_array = OF_DIGESTS
        return False
    for k in range(count.marked):
        p = state.marked[k]
        pattern = tables.pattern[p]
        window = (count.seen if pattern.counts else time) - pattern.reach
        at = state.row[p]
        if at == NOBODY or output.window[at] != window:
            at = count.digest_rows
            count.digest_rows += 1
            state.row[p] = at
            output.digested[at], output.window[at] = p, window
            output.matches[at], output.digest[at] = np.uint64(0), np.uint64(0)
        output.matches[at] += state.matches[p]
        output.digest[at] += state.digest[p]
    forget_digests(state)
    return True


@kernel
def settle(tables: PlanTables, state: EngineState, output: EngineOutput) -> None:
    """Settles the waiting matches that no event at or after point `now`, or number `seen`, can invalidate.

    O(log n) per waiting match and negated type.
    """
    count = state.counters[0]
    for w in range(count.waiting.matches):
        match = output.waiting[w]
        pattern = tables.pattern[match.pattern]
        if match.due >= (count.seen if pattern.counts else count.now):
            continue
        match.settled = True
        for a in range(pattern.absence, pattern.absence_end):
            absence = tables.absence[a]
            if absence.last:
                r = first_from(absence.node, ENDED, match.last + 1, tables, state)
                store = state.store[absence.node]
                if r < store.size and state.slab[store.offset + r * SLOTS + LAST] <= match.due:
                    match.alive = False
