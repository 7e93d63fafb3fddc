"""Numbers of sub-patterns."""

from itertools import combinations, permutations
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern, SubPatternTable, mask_of, operands_of
from tests.algorithms.detection.mcep.planning.workloads import random_patterns, table_of


def test_sets_of_operands() -> None:
    assert list(operands_of(0b10110)) == [1, 2, 4]
    assert mask_of([4, 1, 2]) == 0b10110


def test_projections_of_a_sequence() -> None:
    """Section 4.1: SEQ(B, D) is a projection of SEQ(A, B, C, D)."""
    table = table_of("SEQ(A, B, C, D)", "SEQ(B, D)", "SEQ(D, B)", "B AND D")
    assert table.of(0, 0b1010) == table.whole(1)
    assert table.of(0, 0b1010) != table.whole(2)
    assert table.of(0, 0b1010) != table.whole(3)
    assert table.of(0, 0b0010) == table.of(2, 0b10) == table.of(3, 0b01)


def test_and_has_no_order() -> None:
    table = table_of("A AND B AND C", "C AND A AND B")
    assert table.whole(0) == table.whole(1)
    first, second = (table.places(pattern, 0b111) for pattern in (0, 1))
    assert [table[0].elements[one] for one in first] == [table[1].elements[one] for one in second]


@pytest.mark.parametrize(
    "other",
    [
        "SEQ(A a, B b) WHERE a.x > b.x",
        "SEQ(A a, B b)",
        "SEQ(A a, B b) WHERE a.x < b.y",
        "SEQ(A a, B+ b) WHERE a.x < b.x",
        "SEQ(A a, B b) WHERE a.x < b.x AND b.x > 1",
        "SEQ(A a, B b) WHERE a.x < b.x WITHIN 10 events",
        "SEQ(A a, B b) WHERE a.x < b.x AND [g]",
    ],
)
def test_what_tells_sub_patterns_apart(other: str) -> None:
    table = table_of("SEQ(A a, B b) WHERE a.x < b.x", other)
    assert table.whole(0) != table.whole(1)


def test_windows_and_negation_do_not_tell_them_apart() -> None:
    table = table_of("SEQ(A, B)", "SEQ(A, NOT N, B) WITHIN 1 hour")
    assert table.whole(0) == table.whole(1)


def test_equal_operands_of_an_and_are_told_by_their_conditions() -> None:
    table = table_of("A p AND A q AND B b WHERE p.x < b.x", "B b AND A p AND A q WHERE b.x > q.x")
    assert table.whole(0) == table.whole(1)
    assert table.of(0, 0b101) != table.of(0, 0b110)


@pytest.mark.parametrize("seed", range(30))
def test_equal_numbers_mean_that_operands_correspond(seed: int) -> None:
    """Against a search for an isomorphism in all orders."""
    random = Random(seed)
    table = SubPatternTable(random_patterns(random, 4, 4, "AB"))
    sets = [(p, mask) for p in range(4) for mask in range(1, table[p].everything + 1)]
    same = 0
    for (p, a), (q, b) in combinations(sets, 2):
        equal = table.of(p, a) == table.of(q, b)
        same += equal
        assert equal == isomorphic(table[p], a, table[q], b)
        if equal:
            places = zip(table.places(p, a), table.places(q, b), strict=True)
            assert corresponds(table[p], table[q], dict(places))
    assert same


def isomorphic(one: DetectionPattern, a: int, other: DetectionPattern, b: int) -> bool:
    mine = list(operands_of(a))
    if a.bit_count() != b.bit_count() or (len(mine) > 1 and one.ordered != other.ordered):
        return False
    return any(corresponds(one, other, dict(zip(mine, order, strict=True))) for order in permutations(operands_of(b)))


def corresponds(one: DetectionPattern, other: DetectionPattern, to: dict[int, int]) -> bool:
    def related(pattern: DetectionPattern, a: int, b: int) -> set[object]:
        forth = {c.comparison for c in pattern.conditions if (c.left, c.right) == (a, b)}
        back = {c.comparison.exchanged for c in pattern.conditions if (c.left, c.right) == (b, a)}
        return {*forth, *back}

    return all(one.elements[a] == other.elements[b] for a, b in to.items()) and all(
        related(one, a, c) == related(other, to[a], to[c]) and (not one.ordered or (a < c) == (to[a] < to[c]))
        for a, c in permutations(to, 2)
    )
