"""The end of a time stamp in the GRETA graph: windows close, panes are purged, invalid vertices are pruned
(dissertation Sections 11.2 and 11.4).
"""

from __future__ import annotations

from cepbench.algorithms.greta.kernels.vertices import LIVE, NO_BLOCK, PENDING, Blocks, KeyGraph, show
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import add
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, has_ended, opened
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import RowCells
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.kernels.windows import ANY, Windowed, close_window, commit
from cepbench.queries.tables import Tables


@inner
def advance_graph(
    now: int,
    negated: Ints,
    fixed: Windowed,
    blocks: Blocks,
    own: KeyGraph,
    out: RowCells,
    size: int,
) -> int:
    """Ends the current time stamp, closes windows that end by `now` and drops their panes; returns rows in `out`."""
    tables, window, state = fixed.tables, fixed.window, own.windows
    clock = state.clock
    note(own.counters[LIVE], clock)
    commit(negated, fixed.slots, ANY, state)
    for w in range(own.counters[PENDING]):
        show(own.waiting[w], blocks, own)
    own.counters[PENDING] = 0
    clock[NOW] = now
    closed = False
    while has_ended(clock[LOW], clock[HIGH], now, window):
        for p in range(len(own.position)):
            if own.position[p].late:
                _add_valid_ends(p, negated, tables, blocks, own)
        size = close_window(fixed.slots, state, out, size)
        closed = True
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    for p in range(len(own.position)):
        if closed or own.position[p].prunable:
            _purge(p, negated, tables, blocks, own)
    return size


@inlined
def _add_valid_ends(p: int, negated: Ints, tables: Tables, blocks: Blocks, own: KeyGraph) -> None:
    """Adds the END events of position p that no trailing negation invalidates to the lowest open window's result."""
    state = own.windows
    span = len(state.final.over)
    width = blocks.time.shape[1]
    k = state.clock[LOW]
    floor = -1
    for n in range(tables.trailing_ptr[p], tables.trailing_ptr[p + 1]):
        floor = max(floor, negated[tables.trailing[n]])
    block = own.position[p].head
    while block != NO_BLOCK:
        if blocks.block[block].low <= k <= blocks.block[block].high:
            for v in range(blocks.block[block].size):
                if blocks.time[block, v] >= floor:
                    add(state.final, k % span, blocks.cells, (block * span + k % span) * width + v)
        block = blocks.block[block].next


@inlined
def _purge(p: int, negated: Ints, tables: Tables, blocks: Blocks, own: KeyGraph) -> None:
    """Frees the oldest blocks of a position whose pane has left all windows, or whose vertices are all invalid."""
    floor = -1
    if own.position[p].prunable:
        floor = 2**62
        for e in range(len(tables.source)):
            if tables.source[e] == p:
                latest = -1
                for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
                    latest = max(latest, negated[tables.between[k]])
                floor = min(floor, latest)
    block = own.position[p].head
    while block != NO_BLOCK:
        size = blocks.block[block].size
        if blocks.block[block].high >= own.windows.clock[LOW] and (size == 0 or blocks.time[block, size - 1] >= floor):
            break
        following = blocks.block[block].next
        own.counters[LIVE] -= size
        blocks.free[blocks.left[0]] = block
        blocks.left[0] += 1
        block = following
    own.position[p].head = block
    if block == NO_BLOCK:
        own.position[p].tail = NO_BLOCK
