"""The counts of sequences in a window: the count combination of Sharon's shared method (dissertation 22.3).

Two parts of a sequence combine as x.y: counts multiply, a sum is sx * cy + cx * sy, a minimum is the lesser of both.
The result is the first cell of `Values`.
"""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.sequences.kernels.blocks import (
    SlotRow,
    between_channels,
    between_windows,
    dot,
    dot_real,
    least_of_both,
    slot_offset,
)
from cepbench.algorithms.sequences.kernels.counters import BLOCK, CELL, Counters, LiveSlots, Values
from cepbench.algorithms.sequences.kernels.program import (
    BY_WINDOW,
    Chains,
    LinkRecord,
    PerFamily,
    SegmentRecord,
    SequenceRecord,
)
from cepbench.algorithms.sequences.kernels.rows import add_to, clear_cell, copy_spread, fill_spread
from cepbench.queries.aggregates import NO_VALUE


@inner
def take_snapshots(
    segment: SegmentRecord, chains: Chains, slots: LiveSlots, values: Values, plain: Counters, modular: bool
) -> None:
    """Stores the counts of a segment's links so far, for each open window.

    They are stored in the next slot of START events or, if the segment has a slot per window, at its first place there.
    O(n) per link and window for n live slots of the previous segment; O(1) if that is the first of its sequence or has
    a slot per window, since all windows are copied (the closed ones are empty).
    """
    for u in range(segment.link, segment.link_end):
        link = chains.link[u]
        sequence = chains.sequence[link.sequence]
        entry = chains.link[link.before].plain if link.before >= 0 else sequence.plain
        if entry < 0 and link.before < 0:
            _copy_first_results(u, segment, chains, slots, values)
        elif entry < 0 and chains.segment[chains.link[link.before].segment].slots == BY_WINDOW:
            _copy_carried(u, segment, chains, slots, values)
        else:
            _keep_cells(u, segment, chains, slots, values, plain, modular)


@inlined
def _copy_first_results(u: int, segment: SegmentRecord, chains: Chains, slots: LiveSlots, values: Values) -> None:
    """Stores the counts of a sequence's first segment in each window."""
    link, at, span = chains.link[u], slots.snapshot[u], slots.opened.shape[1]
    sequence, place = chains.sequence[link.sequence], slots.place[link.segment]
    width, first, channel = chains.query[link.query].width, chains.segment[sequence.segment], sequence.channel
    step, by = between_channels(segment, place, span), between_windows(segment)
    to = at.ring + slot_offset(segment, place, width.ring * span)
    for _ in range(width.ring):
        source = chains.channel[channel]
        if source >= 0:
            copy_spread(values.ring, to, by, first.result.ring + source, first.width.ring, span)
            copy_spread(values.over, to, by, first.result.ring + source, first.width.ring, span)
        else:
            fill_spread(values.ring, to, by, values.ring.dtype.type(0), span)
            fill_spread(values.over, to, by, False, span)
        channel += 1
        to += step
    to = at.real + slot_offset(segment, place, width.real * span)
    for _ in range(width.real):
        source = chains.channel[channel]
        if source >= 0:
            copy_spread(values.real, to, by, first.result.real + source, first.width.real, span)
        else:
            fill_spread(values.real, to, by, 0.0, span)
        channel += 1
        to += step
    to = at.least + slot_offset(segment, place, width.least * span)
    for _ in range(width.least):
        source = chains.channel[channel]
        if source >= 0:
            copy_spread(values.least, to, by, first.result.least + source, first.width.least, span)
        else:
            fill_spread(values.least, to, by, NO_VALUE, span)
        channel += 1
        to += step


@inlined
def _copy_carried(u: int, segment: SegmentRecord, chains: Chains, slots: LiveSlots, values: Values) -> None:
    """Stores the counts of the previous segment with a slot per window: the counters of its last place."""
    link, at, span = chains.link[u], slots.snapshot[u], slots.opened.shape[1]
    g, place, width = chains.link[link.before].segment, slots.place[link.segment], chains.query[link.query].width
    before = slots.place[g]
    stride = chains.segment[g].rows * before.capacity
    last = stride - before.capacity
    step, by = between_channels(segment, place, span), between_windows(segment)
    to = at.ring + slot_offset(segment, place, width.ring * span)
    for c in range(width.ring):
        copy_spread(values.ring, to + c * step, by, before.at.ring + last + c * stride, 1, span)
        copy_spread(values.over, to + c * step, by, before.at.ring + last + c * stride, 1, span)
    to = at.real + slot_offset(segment, place, width.real * span)
    for c in range(width.real):
        copy_spread(values.real, to + c * step, by, before.at.real + last + c * stride, 1, span)
    to = at.least + slot_offset(segment, place, width.least * span)
    for c in range(width.least):
        copy_spread(values.least, to + c * step, by, before.at.least + last + c * stride, 1, span)


@inlined
def _keep_cells(
    u: int,
    segment: SegmentRecord,
    chains: Chains,
    slots: LiveSlots,
    values: Values,
    plain: Counters,
    modular: bool,
) -> None:
    """Stores counts that are plain or must be computed, window by window."""
    clock, span = slots.clock[0], slots.opened.shape[1]
    link, at = chains.link[u], slots.snapshot[u]
    sequence, place, width = chains.sequence[link.sequence], slots.place[link.segment], chains.query[link.query].width
    step, by = between_channels(segment, place, span), between_windows(segment)
    ring = at.ring + slot_offset(segment, place, width.ring * span)
    real = at.real + slot_offset(segment, place, width.real * span)
    least = at.least + slot_offset(segment, place, width.least * span)
    row = clock.low % span
    for _ in range(clock.low, clock.high + 1):
        counted_before(sequence, link.before, row, chains, slots, values, plain, modular)
        for c in range(width.ring):
            values.ring[ring + row * by + c * step] = values.ring[c]
            values.over[ring + row * by + c * step] = values.over[c]
        for c in range(width.real):
            values.real[real + row * by + c * step] = values.real[c]
        for c in range(width.least):
            values.least[least + row * by + c * step] = values.least[c]
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
    """Sets the first cell to the count of a sequence up to link u, or in its first segment if u is -1.

    `row` is that of the window. O(n) for n live slots of the link's segment, O(1) for the first segment.
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
    """Reads the counters of the segment's last place, which include the counts before the segment."""
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
    """Combines the counters of the whole segment with the snapshots of the counts before it, slot by slot."""
    segment, place, clock = chains.segment[link.segment], slots.place[link.segment], slots.clock[0]
    span, low, high, at = slots.opened.shape[1], slots.opened[link.segment, row], place.tail, link.channel
    clock.combinations += high - low
    if high == low:
        return
    step, by, stride = between_channels(segment, place, span), between_windows(segment), segment.rows * place.capacity
    last = stride - place.capacity
    before, count = SlotRow(snapshot.ring + row * by, width.ring * step), SlotRow(place.at.ring + last, BLOCK)
    values.ring[0], values.over[0] = dot(values, before, count, low, high, modular)
    for c in range(1, width.ring):
        kept = SlotRow(before.at + c * step, before.apart)
        values.ring[c], values.over[c] = dot(values, kept, count, low, high, modular)
        channel = chains.channel[at + c]
        if channel > 0:
            product, over = dot(values, before, SlotRow(count.at + channel * stride, BLOCK), low, high, modular)
            add_to(values, c, product, over)
    at += width.ring
    for c in range(width.real):
        kept = SlotRow(snapshot.real + row * by + c * step, width.real * step)
        values.real[c] = dot_real(values, kept, count, low, high)
        channel = chains.channel[at + c]
        if channel >= 0:
            values.real[c] += dot_real(
                values, SlotRow(place.at.real + last + channel * stride, BLOCK), before, low, high
            )
    at += width.real
    for c in range(width.least):
        kept = SlotRow(snapshot.least + row * by + c * step, width.least * step)
        channel = chains.channel[at + c]
        least = SlotRow(place.at.least + last + channel * stride, BLOCK) if channel >= 0 else kept
        values.least[c] = least_of_both(values, kept, least, before, count, low, high)
