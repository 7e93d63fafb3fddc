"""The counts of sequences in a window: the count combination of Sharon's shared method (dissertation 22.3).

Part x of a sequence precedes part y. `_combined` combines both as x.y: counts multiply (cx * cy), a sum is
sx * cy + cx * sy, a minimum is the lesser of both. The first cell of `Values` holds the result.
"""

from __future__ import annotations

from typing import NamedTuple

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
    REAL,
    RING,
    Chains,
    LinkRecord,
    QueryRecord,
    SegmentRecord,
    SequenceRecord,
)
from cepbench.algorithms.sequences.kernels.rows import add_to, clear_cell, clear_spread, copy_spread


class StoredCounts(NamedTuple):
    """Counts that are stored per window, up to some place: channel c in row w is at `at + c * channels + w * windows`.

    `source`: offset of the channels of the query in `Chains.source`.
    """

    source: int
    at: int
    channels: int
    windows: int


@inner
def take_snapshots(segment: SegmentRecord, chains: Chains, slots: LiveSlots, values: Values, plain: Counters) -> None:
    """Stores the counts of a segment's links so far, for each open window.

    They are stored in the next slot of START events or, if the segment has a slot per window, at its first place there.
    O(n) per link and window for n live slots of the previous segment; O(1) if that is the first of its sequence or has
    a slot per window, since all windows are copied (the closed ones are empty).
    """
    clock, span = slots.clock[0], slots.opened.shape[1]
    for u in range(segment.link, segment.link_end):
        link = chains.link[u]
        sequence, query, place = chains.sequence[link.sequence], chains.query[link.query], slots.place[link.segment]
        step, by = between_channels(segment, place, span), between_windows(segment)
        to = slots.snapshot[u] + slot_offset(segment, place, query.width * span)
        if _is_stored(sequence, link.before, chains):
            _copy_stored(_stored(sequence, link.before, chains, slots), query, 0, span, to, step, by, chains, values)
            continue
        row = clock.low % span
        for _ in range(clock.low, clock.high + 1):
            counted_before(sequence, link.before, row, chains, slots, values, plain)
            copy_spread(values, to + row * by, step, CELL, 1, query.width)
            row = row + 1 if row + 1 < span else 0


@inlined
def counted_before(
    sequence: SequenceRecord, u: int, row: int, chains: Chains, slots: LiveSlots, values: Values, plain: Counters
) -> None:
    """Sets the first cell to the count of a sequence up to link u, or in its first segment if u is -1.

    `row` is that of the window. O(n) for n live slots of the link's segment, O(1) for the first segment.
    """
    query = chains.query[sequence.query]
    entry = _plain_entry(sequence, u, chains)
    if entry >= 0:
        values.counts[CELL], values.over[CELL] = plain.counts[entry], plain.over[entry]
    elif _is_stored(sequence, u, chains):
        _copy_stored(_stored(sequence, u, chains, slots), query, row, 1, CELL, 1, 1, chains, values)
    else:
        _combined(chains.link[u], slots.snapshot[u], query, row, chains, slots, values)


@inlined
def _plain_entry(sequence: SequenceRecord, u: int, chains: Chains) -> int:
    """The plain counter of a sequence up to link u, or -1."""
    return chains.link[u].plain if u >= 0 else sequence.plain


@inlined
def _is_stored(sequence: SequenceRecord, u: int, chains: Chains) -> bool:
    """Whether the counts up to link u are stored per window: those of the first segment, or of one with such slots."""
    if _plain_entry(sequence, u, chains) >= 0:
        return False
    return bool(u < 0 or chains.segment[chains.link[u].segment].slots == BY_WINDOW)


@inlined
def _stored(sequence: SequenceRecord, u: int, chains: Chains, slots: LiveSlots) -> StoredCounts:
    """The results of the first segment, or the counters of the last place, which include the counts before it."""
    if u < 0:
        segment = chains.segment[sequence.segment]
        return StoredCounts(sequence.source, segment.result, 1, segment.width)
    link = chains.link[u]
    place = slots.place[link.segment]
    stride = chains.segment[link.segment].rows * place.capacity
    return StoredCounts(link.source, place.at + stride - place.capacity, stride, 1)


@inlined
def _copy_stored(
    stored: StoredCounts,
    query: QueryRecord,
    row: int,
    size: int,
    to: int,
    step: int,
    by: int,
    chains: Chains,
    values: Values,
) -> None:
    """Copies the counts of `size` windows from `row` on to words that are `step` apart per channel and `by` per window.

    A channel for which no place counts is empty.
    """
    for c in range(query.width):
        source = chains.source[stored.source + c]
        if source >= 0:
            at = stored.at + source * stored.channels + row * stored.windows
            copy_spread(values, to, by, at, stored.windows, size)
        else:
            clear_spread(values, to, by, chains.channel[query.channel + c].empty, size)
        to += step


@inlined
def _combined(
    link: LinkRecord,
    snapshot: int,
    query: QueryRecord,
    row: int,
    chains: Chains,
    slots: LiveSlots,
    values: Values,
) -> None:
    """Sets the first cell to x.y, summed over slots: x are the snapshots of the counts before the segment, y the
    counters of the whole segment.
    """
    segment, place, clock = chains.segment[link.segment], slots.place[link.segment], slots.clock[0]
    span, low, high = slots.opened.shape[1], slots.opened[link.segment, row], place.tail
    clock.combinations += high - low
    if high == low:
        clear_cell(values, CELL, chains.channel[query.channel : query.channel + query.width])
        return
    step, stride = between_channels(segment, place, span), segment.rows * place.capacity
    x_at, y_at = snapshot + row * between_windows(segment), place.at + stride - place.capacity
    x_count, y_count = SlotRow(x_at, query.width * step), SlotRow(y_at, BLOCK)
    for c in range(query.width):
        source, kind = chains.source[link.source + c], chains.channel[query.channel + c].kind
        x_channel, y_channel = SlotRow(x_at + c * step, x_count.apart), SlotRow(y_at + source * stride, BLOCK)
        if kind == RING:
            values.counts[CELL + c], values.over[CELL + c] = dot(values, x_channel, y_count, low, high)
            if source > 0:
                product, over = dot(values, x_count, y_channel, low, high)
                add_to(values, CELL + c, product, over)
        elif kind == REAL:
            values.reals[CELL + c] = dot_real(values, x_channel, y_count, low, high)
            if source > 0:
                values.reals[CELL + c] += dot_real(values, y_channel, x_count, low, high)
        else:
            least = y_channel if source > 0 else x_channel
            values.ints[CELL + c] = least_of_both(values, x_channel, least, x_count, y_count, low, high)
