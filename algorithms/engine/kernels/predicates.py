"""Evaluation of predicate tables (`queries.tables.Predicates`): one kernel for all queries."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints, Place, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.queries.tables import EQUAL, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL, Predicates


@inlined
def compare(op: int | np.int64, left: float, right: float) -> bool:
    """`left op right` for operator codes of `queries.tables.OPERATORS`."""
    if op == LESS:
        return left < right
    if op == LESS_OR_EQUAL:
        return left <= right
    if op == GREATER:
        return left > right
    if op == GREATER_OR_EQUAL:
        return left >= right
    if op == EQUAL:
        return left == right
    return left != right


@inlined
def hold(
    predicates: Predicates, which: Place, left_ints: Ints, left_reals: Reals, left: int, right_ints: Ints,
    right_reals: Reals, right: int,
) -> bool:  # fmt: skip
    """Whether all predicates of list `which` hold for columns of events `left` and `right`."""
    for k in range(predicates.ptr[which], predicates.ptr[which + 1]):
        predicate = predicates.one[k]
        if predicate.real:
            a = predicate.left_factor * left_reals[predicate.left_column, left] + predicate.left_offset
            b = predicate.right_factor * right_reals[predicate.right_column, right] + predicate.right_offset
            if not compare(predicate.op, a, b):
                return False
        else:
            x, y = left_ints[predicate.left_column, left], right_ints[predicate.right_column, right]
            if predicate.int_offset != 0:
                beyond = leaves_64_bits(y, predicate.int_offset)
                if beyond != 0:
                    x, y = np.int64(0), beyond
                else:
                    y += predicate.int_offset
            if not compare(predicate.op, x, y):
                return False
    return True


@inlined
def leaves_64_bits(value: int, offset: int) -> int:
    """1 if `value + offset` is larger than every integer of 64 bits, -1 if it is smaller, otherwise 0."""
    # The sum itself is not compared: LLVM assumes that sums of signed integers do not wrap.
    if offset > 0:
        return 1 if value > np.int64(2**63 - 1) - offset else 0
    return -1 if value < np.int64(-(2**63)) - offset else 0
