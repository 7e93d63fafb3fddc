"""The layout of snapshots, and the loops that combine them with counters (dissertation 22.3). All are O(n) for n slots.

A START event writes a value for each window, and a window that closes reads one value of each START event. So snapshots
are stored in blocks of a few slots; in a block, those of one window and channel are contiguous. In rows of all slots,
as counters are stored, a START event would write to as many memory pages as there are windows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.cells import ONE, ZERO, is_modular, product_exceeds, sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.sequences.kernels.counters import BLOCK, BLOCK_BITS, PlaceRecord, Values
from cepbench.algorithms.sequences.kernels.program import BY_WINDOW, SegmentRecord
from cepbench.queries.aggregates import NO_VALUE


class SlotRow(NamedTuple):
    """Slots of one row: slot i is at `at + spread(i, apart)`. If all slots are contiguous, `apart` is `BLOCK`."""

    at: int
    apart: int


@inlined
def spread(slot: int, apart: int) -> int:
    """Distance of a slot from the first one if blocks are `apart` values apart."""
    return (slot >> BLOCK_BITS) * apart + (slot & (BLOCK - 1))


@inlined
def slot_offset(segment: SegmentRecord, place: PlaceRecord, rows: int) -> int:
    """Offset of the snapshots of the next slot, given the number of rows; 0 if there is a slot per window."""
    return 0 if segment.slots == BY_WINDOW else spread(place.tail, rows * BLOCK)


@inlined
def between_windows(segment: SegmentRecord) -> int:
    """Distance between the snapshots of two windows."""
    return 1 if segment.slots == BY_WINDOW else BLOCK


@inlined
def between_channels(segment: SegmentRecord, place: PlaceRecord, span: int) -> int:
    """Distance between the snapshots of two channels; with a slot per window, they are at its first place."""
    return segment.rows * place.capacity if segment.slots == BY_WINDOW else span * BLOCK


@inlined
def _run(slot: int, high: int, left: SlotRow, right: SlotRow) -> int:
    """Number of slots from this one on that are contiguous in both rows: all, or those of the block."""
    if left.apart == BLOCK and right.apart == BLOCK:
        return high - slot
    return min(high, (slot | (BLOCK - 1)) + 1) - slot


@inlined
def _products(values: Values, x: int, y: int, size: int) -> tuple[np.uint64, np.uint64, np.uint64, bool]:
    """Of contiguous values: the sum of products, the bits of either side, and whether one has overflowed."""
    total, left_bits, right_bits, flagged = ZERO, ZERO, ZERO, False
    left, right = values.counts[x : x + size], values.counts[y : y + size]  # otherwise each index might be negative
    left_over, right_over = values.over[x : x + size], values.over[y : y + size]
    for i in range(size):
        a, b = np.uint64(left[i]), np.uint64(right[i])
        total += a * b
        left_bits |= a
        right_bits |= b
        flagged |= left_over[i] | right_over[i]
    return total, left_bits, right_bits, flagged


@kernel
def dot(values: Values, left: SlotRow, right: SlotRow, low: int, high: int) -> tuple[Any, bool]:
    """The sum of products over slots `low..high`, and whether it overflowed."""
    if not is_modular(values):
        value = values.counts.dtype.type(0)
        for i in range(low, high):
            x, y = values.counts[left.at + spread(i, left.apart)], values.counts[right.at + spread(i, right.apart)]
            if x != 0 and y != 0:  # 0 times infinity is 0 here: there is no sequence
                value += x * y
        return value, False
    total, left_bits, right_bits, flagged = ZERO, ZERO, ZERO, False
    i = low
    while i < high:
        x, y, size = left.at + spread(i, left.apart), right.at + spread(i, right.apart), _run(i, high, left, right)
        product, left_ones, right_ones, over = _products(values, x, y, size)
        total += product
        left_bits |= left_ones
        right_bits |= right_ones
        flagged |= over
        i += size
    result = values.counts.dtype.type(total)
    if not flagged and _bits(left_bits) + _bits(right_bits) + _bits(np.uint64(high - low)) <= 64:
        return result, False
    return result, _exact_overflow(values, left, right, low, high)


@inlined
def _bits(value: np.uint64) -> int:
    bits = 0
    while value != ZERO:
        value >>= ONE
        bits += 1
    return bits


@inner
def _exact_overflow(values: Values, left: SlotRow, right: SlotRow, low: int, high: int) -> bool:
    total = ZERO
    for i in range(low, high):
        x, y = left.at + spread(i, left.apart), right.at + spread(i, right.apart)
        a, b = np.uint64(values.counts[x]), np.uint64(values.counts[y])
        a_counts, b_counts = values.over[x] | (a != ZERO), values.over[y] | (b != ZERO)
        if (values.over[x] and b_counts) or (values.over[y] and a_counts) or product_exceeds(a, b):
            return True
        product = a * b
        total += product
        if sum_exceeds(total, product):
            return True
    return False


@kernel
def dot_real(values: Values, reals: SlotRow, counts: SlotRow, low: int, high: int) -> float:
    """The sum of products of a float sum and a count."""
    total = 0.0
    for i in range(low, high):
        count = values.counts[counts.at + spread(i, counts.apart)]
        if count != 0:
            total += values.reals[reals.at + spread(i, reals.apart)] * float(count)
    return total


@kernel
def least_of_both(
    values: Values, left_least: SlotRow, right_least: SlotRow, left: SlotRow, right: SlotRow, low: int, high: int
) -> int:
    """The minimum over slots where both have a sequence."""
    minimum = NO_VALUE
    for i in range(low, high):
        x, y = left.at + spread(i, left.apart), right.at + spread(i, right.apart)
        if (values.counts[x] != 0 or values.over[x]) and (values.counts[y] != 0 or values.over[y]):
            value = values.ints[left_least.at + spread(i, left_least.apart)]
            minimum = min(minimum, value, values.ints[right_least.at + spread(i, right_least.apart)])
    return minimum
