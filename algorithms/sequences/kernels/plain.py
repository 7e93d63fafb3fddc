"""Updates of plain counters by the events of one time stamp: one number for each place of a sequence
(the prefix counters of A-Seq without expiration, dissertation 22.2).
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.cells import ONE, product_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.sequences.kernels.counters import Counters, CounterState
from cepbench.algorithms.sequences.kernels.program import Program
from cepbench.algorithms.sequences.kernels.rows import add_to


@inlined
def update_plain(touched: int, program: Program, state: CounterState, modular: bool) -> None:
    """Adds the totals of the current time to plain counters: O(1) per symbol and place."""
    symbol = state.gathered.touched[0]
    if touched == 1 and program.clear_ptr[symbol] == program.clear_ptr[symbol + 1]:
        _update_alone(symbol, program, state, modular)
    else:
        _update_together(touched, program, state, modular)


@inlined
def _update_alone(symbol: int, program: Program, state: CounterState, modular: bool) -> None:
    """Adds the events of one symbol, from later places to earlier ones."""
    plain, number = state.plain, state.gathered.number[symbol]
    begin, end = program.plain_ptr[symbol], program.plain_ptr[symbol + 1]
    if number == ONE:  # a separate loop, since this is the most frequent case
        for q in range(begin, end):
            target = program.plain[q]
            add_to(plain, target.entry, plain.ring[target.source], plain.over[target.source])
    else:
        for q in range(begin, end):
            target = program.plain[q]
            more, over = _multiple(plain, target.source, number, modular)
            add_to(plain, target.entry, more, over)
    state.slots.clock[0].updates += end - begin


@inlined
def _multiple(plain: Counters, entry: np.uint64, number: np.uint64, modular: bool) -> tuple[float, bool]:
    """A plain counter times a number."""
    count = plain.ring[entry]
    if number == ONE:
        return count, plain.over[entry]
    over = plain.over[entry] | (modular & product_exceeds(np.uint64(count), number))
    return count * plain.ring.dtype.type(number), over


@inlined
def _update_together(touched: int, program: Program, state: CounterState, modular: bool) -> None:
    """Adds the events of several symbols; all read the counts before the time stamp."""
    gathered, plain, change = state.gathered, state.plain, state.change
    for t in range(touched):
        symbol = gathered.touched[t]
        for q in range(program.plain_ptr[symbol], program.plain_ptr[symbol + 1]):
            source = program.plain[q].source
            change.ring[q], change.over[q] = _multiple(plain, source, gathered.number[symbol], modular)
    for t in range(touched if len(program.clear) > 0 else 0):
        symbol = gathered.touched[t]
        for q in range(program.clear_ptr[symbol], program.clear_ptr[symbol + 1]):
            entry = program.clear[q]
            plain.ring[entry] = plain.ring.dtype.type(0)
            plain.over[entry] = False
    for t in range(touched):
        symbol = gathered.touched[t]
        for q in range(program.plain_ptr[symbol], program.plain_ptr[symbol + 1]):
            add_to(plain, program.plain[q].entry, change.ring[q], change.over[q])
        state.slots.clock[0].updates += program.plain_ptr[symbol + 1] - program.plain_ptr[symbol]
