"""Turns rows of a final node into matches: checks windows and negation of its patterns, and reports the matches
(MCEP, Sections 2 and 3.1).
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.detection.mcep.kernels.bindings import index_of
from cepbench.algorithms.detection.mcep.kernels.rows import Word, binding_in, end_time, first_point, last_point, row_at
from cepbench.algorithms.detection.mcep.kernels.state import EngineState, Full, PlanTables
from cepbench.algorithms.detection.mcep.kernels.stores import first_from, is_free
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.trend_hash import BASE, finished, mixed


@inner
def emitted(n: int, row: int, point: int, tables: PlanTables, state: EngineState) -> bool:
    """Reports a row of node n for each of its patterns; False if there is no space. O(l) per match."""
    if state.counters[0].suppress_output:
        return True
    for f in range(tables.final_ptr[n], tables.final_ptr[n + 1]):
        p = tables.final[f]
        pattern = tables.pattern[p]
        if first_point(row, state) < point - pattern.reach or not _is_absent(p, row, point, tables, state):
            continue
        length = _positions(n, row, pattern.ordered, tables, state)
        if length < 0:
            return False
        if pattern.digests:
            _digest(p, length, state)
        elif not _write(p, n, row, point, length, tables, state):
            return False
    return True


@inlined
def has_excluded(n: int, row: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether a negated event lies inside a row of node n. O(log n) per exclusion."""
    for h in range(tables.exclusion_ptr[n], tables.exclusion_ptr[n + 1]):
        exclusion = tables.exclusion[h]
        if _is_excluded(exclusion.node, row, exclusion.before, exclusion.after, state):
            return True
    return False


@inlined
def _is_excluded(node: int, row: int, before: int, after: int, state: EngineState) -> bool:
    """Whether an event of negated node `node` lies between two slots of a row."""
    earlier = state.binding[index_of(binding_in(row, before, state), state)].time
    later = state.binding[index_of(binding_in(row, after, state), state)].first
    return not is_free(node, earlier, later, state)


@inlined
def _is_absent(p: int, row: int, point: int, tables: PlanTables, state: EngineState) -> bool:
    """Whether a match contains no negated event; a trailing NOT is not checked here. O(log n) per gap."""
    pattern = tables.pattern[p]
    for a in range(pattern.absence, pattern.absence_end):
        absence = tables.absence[a]
        if absence.last:
            continue
        if absence.gap:
            if _is_excluded(absence.node, row, absence.gap - 1, absence.gap, state):
                return False
            continue
        begin = state.binding[index_of(binding_in(row, 0, state), state)].first
        r = first_from(absence.node, Word.ENDED, begin, state) - 1
        latest = row_at(absence.node, r, state)
        if r >= state.store[absence.node].base and last_point(latest, state) >= point - pattern.reach:
            return False
    return True


@inlined
def _positions(n: int, row: int, ordered: bool, tables: PlanTables, state: EngineState) -> int:
    """Writes the positions of a row's events after those of all matches, ascending; returns their number, or -1 without
    space.
    """
    positions, written = state.positions, state.counters[0].positions
    width, length = tables.node[n].width, 0
    for slot in range(width):
        length += state.binding[index_of(binding_in(row, slot, state), state)].length
    if written + length > len(positions):
        state.counters[0].full = Full.POSITIONS
        return -1
    target = written + length
    for slot in range(width - 1, -1, -1):
        b = binding_in(row, slot, state)
        while b != NONE:
            target -= 1
            binding = state.binding[index_of(b, state)]
            positions[target] = binding.place
            b = binding.below
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
def _write(p: int, n: int, row: int, point: int, length: int, tables: PlanTables, state: EngineState) -> bool:
    """Writes a match, after its positions; False if there is no space. It waits if its pattern does."""
    count = state.counters[0]
    if count.matches == len(state.match):
        count.full = Full.MATCHES
        return False
    first = state.binding[index_of(binding_in(row, 0, state), state)].first
    for slot in range(1, tables.node[n].width):
        first = min(first, state.binding[index_of(binding_in(row, slot, state), state)].first)
    match, pattern = state.match[count.matches], tables.pattern[p]
    count.matches += 1
    count.positions += length
    match.pattern, match.first, match.last, match.stop = p, first, end_time(row, state), count.positions
    match.due = first_point(row, state) + pattern.reach
    match.window = first_point(row, state) if pattern.waits else point - pattern.reach
    match.settled, match.alive = not pattern.waits, True
    if pattern.waits:
        count.waiting += 1
        count.waiting_positions += length
    return True


@inlined
def _digest(p: int, length: int, state: EngineState) -> None:
    """Adds the digest of a match, whose positions come after those of all matches, to those of the current event."""
    count, current = state.counters[0], state.event_digest[p]
    h = np.uint64(0)
    for k in range(count.positions, count.positions + length):
        h = h * BASE + mixed(state.positions[k])
    if current.matches == 0:
        state.marked[count.marked] = p
        count.marked += 1
    current.matches += np.uint64(1)
    current.digest += finished(h)


@inlined
def forget_digests(state: EngineState) -> None:
    """Drops the digested matches of the current event."""
    for k in range(state.counters[0].marked):
        current = state.event_digest[state.marked[k]]
        current.matches, current.digest = np.uint64(0), np.uint64(0)
    state.counters[0].marked = 0


@inlined
def report_digests(time: int, tables: PlanTables, state: EngineState) -> bool:
    """Adds the digests of the current event to those of their windows; False if there is no space."""
    count = state.counters[0]
    if count.digest_rows + count.marked > len(state.digest):
        count.full = Full.DIGESTS
        return False
    for k in range(count.marked):
        p = state.marked[k]
        pattern, current = tables.pattern[p], state.event_digest[p]
        window = (count.seen if pattern.counts else time) - pattern.reach
        if current.row == NONE or state.digest[current.row].window != window:
            current.row = count.digest_rows
            count.digest_rows += 1
            row = state.digest[current.row]
            row.pattern, row.window, row.matches, row.digest = p, window, np.uint64(0), np.uint64(0)
        row = state.digest[current.row]
        row.matches += current.matches
        row.digest += current.digest
    forget_digests(state)
    return True


@kernel
def settle(tables: PlanTables, state: EngineState) -> None:
    """Settles the waiting matches that no event at or after point `now`, or number `seen`, can invalidate.

    O(log n) per waiting match and negated type.
    """
    count = state.counters[0]
    for m in range(count.matches):
        match = state.match[m]
        pattern = tables.pattern[match.pattern]
        if match.settled or match.due >= (count.seen if pattern.counts else count.now):
            continue
        match.settled = True
        for a in range(pattern.absence, pattern.absence_end):
            absence = tables.absence[a]
            if absence.last:
                r = first_from(absence.node, Word.ENDED, match.last + 1, state)
                if (
                    r < state.store[absence.node].size
                    and last_point(row_at(absence.node, r, state), state) <= match.due
                ):
                    match.alive = False
