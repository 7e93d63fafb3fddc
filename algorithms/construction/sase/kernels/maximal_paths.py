"""Marks which events of a window can begin, continue or end its complete matches. The stacks hold pointers for complete
matches only (dissertation Chapter 4; 8.1 compares SASE with it).
"""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.stacks import EVENTS, NOBODY, Stacks, is_continued
from cepbench.queries.tables import Tables

LIVE, FIRST, LAST = 1, 2, 4


@kernel
def mark_roles(earliest: int, tables: Tables, stacks: Stacks, role: Ints) -> None:
    """Sets `role[V]` in the window that starts at `earliest`; O(V + E) for V events and E pointers.

    An event is LIVE if some match binds it: a path leads to it from a START event, and from it to an END event. It is
    FIRST (LAST) if it has no live predecessor (successor). A complete match leads from a FIRST to a LAST event.
    """
    for v in range(stacks.counters[EVENTS]):
        role[v] = 0
        if stacks.time[v] < earliest:
            continue
        first = True
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            first = first and not _is_live(stacks.target[at], role)
        if not first or (tables.start[stacks.position[v]] and not is_continued(v, role, stacks)):
            role[v] = LIVE | LAST | (FIRST if first else 0)
    for v in range(stacks.counters[EVENTS] - 1, -1, -1):
        if role[v] & LAST and not tables.end[stacks.position[v]]:
            role[v] = 0
        if role[v]:
            for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
                if _is_live(stacks.target[at], role):
                    role[stacks.target[at]] &= ~LAST


@inlined
def _is_live(u: int, role: Ints) -> bool:
    return u != NOBODY and role[u] & LIVE != 0
