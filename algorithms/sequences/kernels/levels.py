"""Updates segments with slots level by level, so that all updates read the counts before the time stamp
(the shared method, dissertation 22.3).
"""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.sequences.kernels.counters import Arrivals, CounterState, Gathered
from cepbench.algorithms.sequences.kernels.places import clear_place, update_place
from cepbench.algorithms.sequences.kernels.program import Program, SegmentRecord


@inlined
def update_segments(touched: int, program: Program, state: CounterState, modular: bool) -> None:
    """Applies the totals of the current time to segments with slots, from the last places down.

    It is inlined into the stream's kernel, since passing the arguments of one place update costs as much as its work.
    """
    slots, gathered = state.slots, state.gathered
    for t in range(touched):
        symbol = gathered.touched[t]
        gathered.cursor[symbol] = program.target_ptr[symbol]
    while True:
        level = 0
        for t in range(touched):
            symbol = gathered.touched[t]
            if gathered.cursor[symbol] < program.target_ptr[symbol + 1]:
                level = max(level, program.target[gathered.cursor[symbol]].level)
        if level == 0:
            return
        for t in range(touched):
            symbol = gathered.touched[t]
            q = gathered.cursor[symbol]
            while q < program.target_ptr[symbol + 1] and program.target[q].level == level:
                g, j = program.target[q].segment, level // 2
                segment, place = program.chains.segment[g], slots.place[g]
                if level % 2:
                    clear_place(j, segment, place, state.values)
                else:
                    events = _arrivals(j, symbol, segment, program, gathered)
                    update_place(j, segment, place, slots.opened[g], events, slots.clock[0], state.values, modular)
                q += 1
            gathered.cursor[symbol] = q


@inlined
def _arrivals(j: int, symbol: int, segment: SegmentRecord, program: Program, gathered: Gathered) -> Arrivals:
    """The totals of a symbol, for place j of a segment."""
    channels = segment.width.ring + segment.width.real + segment.width.least
    begin = segment.code + (j - 1) * channels
    return Arrivals(
        program.code[begin : begin + channels],
        gathered.number[symbol],
        gathered.ring[symbol],
        gathered.over[symbol],
        gathered.real[symbol],
        gathered.least[symbol],
    )
