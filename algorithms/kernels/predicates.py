"""Evaluation of predicate tables (`queries.tables.Predicates`): one kernel for all queries."""

from numba import njit


@njit(cache=True, inline="always")
def compare(op, left, right):
    """`left op right` for operator codes of `queries.tables.OPERATORS`."""
    if op == 0:
        return left < right
    if op == 1:
        return left <= right
    if op == 2:
        return left > right
    if op == 3:
        return left >= right
    if op == 4:
        return left == right
    return left != right


@njit(cache=True, inline="always")
def hold(predicates, which, left_ints, left_reals, left, right_ints, right_reals, right):
    """Whether all predicates of list `which` hold for columns of event `left` and, if binary, of event `right`."""
    for k in range(predicates.ptr[which], predicates.ptr[which + 1]):
        column = predicates.right_column[k]
        if predicates.real[k]:
            a = predicates.left_factor[k] * left_reals[predicates.left_column[k], left]
            if column < 0:
                b = predicates.real_constant[k]
            else:
                b = predicates.right_factor[k] * right_reals[column, right]
            if not compare(predicates.op[k], a, b):
                return False
        else:
            x = left_ints[predicates.left_column[k], left]
            y = predicates.int_constant[k] if column < 0 else right_ints[column, right]
            if not compare(predicates.op[k], x, y):
                return False
    return True
