"""What sequences have counted in a window: the count combination of Sharon's shared method (dissertation 22.3).

Two parts of a sequence combine as x.y: counts multiply, a sum is sx * cy + cx * sy, a minimum the lesser of both.
The result is the first cell of `Values`.
"""

from __future__ import annotations

from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.sequences.kernels.counters import (
    CELL,
    Counters,
    LiveSlots,
    Values,
)
from cepbench.algorithms.sequences.kernels.program import (
    BY_WINDOW,
    Chains,
    LinkRecord,
    PerFamily,
    SegmentRecord,
    SequenceRecord,
)
from cepbench.algorithms.sequences.kernels.rows import add_to, clear_cell, dot, dot_real, least_of_both, row_of


@kernel
def take_snapshots(
    segment: SegmentRecord, chains: Chains, slots: LiveSlots, values: Values, plain: Counters, modular: bool
) -> None:
    """Keeps what the links of a segment have counted so far in each open window.

    That is in the next slot of START events, or, if the segment has a slot per window, at its first place there.
    O(n) per link and window for n live slots of the segment before, O(1) if that is a sequence's first segment.
    """
    clock, span = slots.clock[0], slots.opened.shape[1]
    for u in range(segment.link, segment.link_end):
        link, at = chains.link[u], slots.snapshot[u]
        place, width = slots.place[link.segment], chains.query[link.query].width
        by_window = segment.slots == BY_WINDOW
        step = segment.rows * place.capacity if by_window else place.capacity
        row = clock.low % span
        for _ in range(clock.low, clock.high + 1):
            counted_before(chains.sequence[link.sequence], link.before, row, chains, slots, values, plain, modular)
            entry = at.ring + (row if by_window else row * width.ring * place.capacity + place.tail)
            for c in range(width.ring):
                values.ring[entry] = values.ring[c]
                values.over[entry] = values.over[c]
                entry += step
            entry = at.real + (row if by_window else row * width.real * place.capacity + place.tail)
            for c in range(width.real):
                values.real[entry] = values.real[c]
                entry += step
            entry = at.least + (row if by_window else row * width.least * place.capacity + place.tail)
            for c in range(width.least):
                values.least[entry] = values.least[c]
                entry += step
            row = row + 1 if row + 1 < span else 0


@inlined
def counted_before(
    sequence: SequenceRecord,
    u: int,
    row: int,
    chains: Chains,
    slots: LiveSlots,
    values: Values,
    plain: Counters,
    modular: bool,
) -> None:
    """Sets the cell to what a sequence has counted up to link u, or in its first segment if u is -1.

    `row` is that of the window. O(n) for n live slots of the link's segment, O(1) for the first one.
    """
    width = chains.query[sequence.query].width
    clear_cell(width, CELL, values)
    entry = chains.link[u].plain if u >= 0 else sequence.plain
    if entry >= 0:
        values.ring[0] = plain.ring[entry]
        values.over[0] = plain.over[entry]
    elif u < 0:
        _first_result(sequence, width, row, chains, values)
    elif chains.segment[chains.link[u].segment].slots == BY_WINDOW:
        _carried(chains.link[u], row, chains, slots, values)
    else:
        _combined(chains.link[u], slots.snapshot[u], width, row, chains, slots, values, modular)


@inlined
def _first_result(sequence: SequenceRecord, width: PerFamily, row: int, chains: Chains, values: Values) -> None:
    segment = chains.segment[sequence.segment]
    at = sequence.channel
    entry = segment.result.ring + row * segment.width.ring
    for c in range(width.ring):
        channel = chains.channel[at + c]
        if channel >= 0:
            values.ring[c] = values.ring[entry + channel]
            values.over[c] = values.over[entry + channel]
    at += width.ring
    entry = segment.result.real + row * segment.width.real
    for c in range(width.real):
        channel = chains.channel[at + c]
        if channel >= 0:
            values.real[c] = values.real[entry + channel]
    at += width.real
    entry = segment.result.least + row * segment.width.least
    for c in range(width.least):
        channel = chains.channel[at + c]
        if channel >= 0:
            values.least[c] = values.least[entry + channel]


@inlined
def _carried(link: LinkRecord, row: int, chains: Chains, slots: LiveSlots, values: Values) -> None:
    """Takes the counters of the segment's last place: they hold what was counted before, too."""
    segment, place = chains.segment[link.segment], slots.place[link.segment]
    step = segment.rows * place.capacity
    last = step - place.capacity + row
    for c in range(segment.width.ring):
        values.ring[c] = values.ring[place.at.ring + last + c * step]
        values.over[c] = values.over[place.at.ring + last + c * step]
    for c in range(segment.width.real):
        values.real[c] = values.real[place.at.real + last + c * step]
    for c in range(segment.width.least):
        values.least[c] = values.least[place.at.least + last + c * step]


@inlined
def _combined(
    link: LinkRecord,
    snapshot: PerFamily,
    width: PerFamily,
    row: int,
    chains: Chains,
    slots: LiveSlots,
    values: Values,
    modular: bool,
) -> None:
    """Combines the counters of the whole segment with the snapshots of what came before, slot by slot."""
    segment, place, clock = chains.segment[link.segment], slots.place[link.segment], slots.clock[0]
    low, at, step = slots.opened[link.segment, row], link.channel, segment.rows * place.capacity
    size, last = place.tail - low, step - place.capacity + low
    clock.combinations += size
    if size == 0:
        return
    x, y = snapshot.ring + row * width.ring * place.capacity + low, place.at.ring + last
    before, count = row_of(values, x, size), row_of(values, y, size)
    values.ring[0], values.over[0] = dot(before, count, modular)
    for c in range(1, width.ring):
        x += place.capacity
        values.ring[c], values.over[c] = dot(row_of(values, x, size), count, modular)
        channel = chains.channel[at + c]
        if channel > 0:
            more, over = dot(row_of(values, y + channel * step, size), before, modular)
            add_to(values, c, more, over)
    at += width.ring
    x, y = snapshot.real + row * width.real * place.capacity + low, place.at.real + last
    for c in range(width.real):
        values.real[c] = dot_real(values.real[x : x + size], count)
        channel = chains.channel[at + c]
        if channel >= 0:
            own = y + channel * step
            values.real[c] += dot_real(values.real[own : own + size], before)
        x += place.capacity
    at += width.real
    x, y = snapshot.least + row * width.least * place.capacity + low, place.at.least + last
    for c in range(width.least):
        channel = chains.channel[at + c]
        own = y + channel * step if channel >= 0 else x
        values.least[c] = least_of_both(values.least[x : x + size], values.least[own : own + size], before, count)
        x += place.capacity
