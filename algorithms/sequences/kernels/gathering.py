"""Totals over the events of one time stamp, per symbol (docs/semantics.md, rule 1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.cells import sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.sequences.kernels.counters import ClockRecord, Gathered
from cepbench.algorithms.sequences.kernels.program import Program
from cepbench.queries.aggregates import NO_VALUE


@inlined
def gather(i: int, symbol: int, events: KernelEvents, program: Program, clock: ClockRecord, gathered: Gathered) -> None:
    """Adds event i to the totals of a symbol at the current time."""
    if gathered.number[symbol] == 0:
        gathered.touched[clock.touched] = symbol
        clock.touched += 1
    gathered.number[symbol] += np.uint64(1)
    for c in range(program.ring_ptr[symbol], program.ring_ptr[symbol + 1]):
        weight = program.ring[c]
        more = np.uint64(events.ints[program.ring_column[weight], i])
        total = gathered.ring[symbol, weight] + more
        gathered.over[symbol, weight] |= sum_exceeds(total, more)
        gathered.ring[symbol, weight] = total
    for c in range(program.real_ptr[symbol], program.real_ptr[symbol + 1]):
        weight = program.real[c]
        gathered.real[symbol, weight] += events.reals[program.real_column[weight], i]
    for c in range(program.least_ptr[symbol], program.least_ptr[symbol + 1]):
        weight = program.least[c]
        value = events.ints[program.least_column[weight], i]
        gathered.least[symbol, weight] = min(gathered.least[symbol, weight], value)


@inlined
def forget(symbol: int, program: Program, gathered: Gathered) -> None:
    """Resets the totals of a symbol."""
    gathered.number[symbol] = np.uint64(0)
    for c in range(program.ring_ptr[symbol], program.ring_ptr[symbol + 1]):
        gathered.ring[symbol, program.ring[c]] = np.uint64(0)
        gathered.over[symbol, program.ring[c]] = False
    for c in range(program.real_ptr[symbol], program.real_ptr[symbol + 1]):
        gathered.real[symbol, program.real[c]] = 0.0
    for c in range(program.least_ptr[symbol], program.least_ptr[symbol + 1]):
        gathered.least[symbol, program.least[c]] = NO_VALUE
