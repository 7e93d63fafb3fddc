"""Chooses joins that find older rows by a condition, and their indices (`kernels.indices`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from cepbench.queries.tables import EQUAL, UNEQUAL, Predicates

ASSUMED_EQUAL, ASSUMED = 0.1, 1 / 3
"""Assumed share of matching pairs for a condition without statistics: of an equality, and of others."""

MAX_SHARE = 0.75
"""Maximum share of matching pairs: above it, an index saves less than it costs."""


class Sorting(NamedTuple):
    """When an index is sorted: in blocks of `block` rows, after look-ups have scanned each row `patience` times."""

    block: int = 16
    patience: int = 4


DEFAULT_SORTING = Sorting()


class IndexKey(NamedTuple):
    """The key by which rows of a node are looked up: a value of the event in a slot, as conditions read it."""

    node: int
    slot: int
    real: bool
    column: int
    factor: float


class JoinKey(NamedTuple):
    """A join: the nodes of the fresh and of the older row, and its checks."""

    fresh: int
    older: int
    bound: int
    copy: int
    check: int
    check_end: int


Bound = tuple[int, bool, int, float, int]
"""The fields of a `BoundRecord`."""


def chosen_index(
    join: JoinKey, checks: Sequence[tuple[int, int, int]], pairs: Predicates, shares: Mapping[int, Sequence[float]]
) -> tuple[IndexKey, list[Bound]] | None:
    """The index for a join with a condition other than `!=` and without offset, and the bounds of its look-ups.

    `shares[c]` is the share of pairs for which the conditions of check c hold, 1 if unknown. Of the values by which the
    older rows can be looked up, the one with the fewest pairs is chosen, with all conditions on it: two conditions can
    bound it from both sides.
    """
    bounds: dict[IndexKey, list[Bound]] = {}
    agreeing: dict[IndexKey, list[float]] = {}
    for c in range(join.check, join.check_end):
        fresh, older, which = checks[c]
        if which < 0:
            continue
        for predicate, share in zip(pairs.one[pairs.ptr[which] : pairs.ptr[which + 1]], shares[c], strict=True):
            op = int(predicate["op"])
            if op == UNEQUAL or predicate["left_offset"] or predicate["right_offset"]:
                continue
            real = bool(predicate["real"])
            key = IndexKey(join.older, older, real, int(predicate["right_column"]), float(predicate["right_factor"]))
            bound = fresh, real, int(predicate["left_column"]), float(predicate["left_factor"]), op
            bounds.setdefault(key, []).append(bound)
            assumed = ASSUMED_EQUAL if op == EQUAL else ASSUMED
            agreeing.setdefault(key, []).append(share if share < 1 else assumed)
    best = min(bounds, key=lambda key: (prod(agreeing[key]), key), default=None)
    return None if best is None or prod(agreeing[best]) > MAX_SHARE else (best, bounds[best])
