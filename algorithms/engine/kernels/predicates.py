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
    """Whether all predicates of list `which` hold for columns of event `left` and, if binary, of event `right`."""
    for k in range(predicates.ptr[which], predicates.ptr[which + 1]):
        predicate = predicates.one[k]
        column = predicate.right_column
        if predicate.real:
            a = predicate.left_factor * left_reals[predicate.left_column, left]
            b = predicate.real_constant
            if column >= 0:
                b = predicate.right_factor * right_reals[column, right]
            if not compare(predicate.op, a, b):
                return False
        else:
            x = left_ints[predicate.left_column, left]
            y = predicate.int_constant if column < 0 else right_ints[column, right]
            if not compare(predicate.op, x, y):
                return False
    return True
