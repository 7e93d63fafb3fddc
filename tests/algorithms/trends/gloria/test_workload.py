"""Workload analysis: members that have a transition in common, directly or through others."""

import pytest

from cepbench.algorithms.trends.gloria.plan import sharable_sets
from cepbench.algorithms.trends.snapshots.members import SetMember, members_of
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch


def members(*texts: str, names: tuple[str, ...] = ("x",)) -> list[SetMember]:
    schema = batch([{"time": 0, "type": kind, **dict.fromkeys(names, 1)} for kind in "ABCDE"]).schema
    queries = [parse_query(f"q{n}: RETURN {text}") for n, text in enumerate(texts)]
    return members_of(compile_workload(queries, schema))


def sets(*texts: str, names: tuple[str, ...] = ("x",)) -> list[list[int]]:
    return [[m.query.index for m in one] for one in sharable_sets(members(*texts, names=names))]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("SEQ(A, B)", "SEQ(A, B, C)"), [[0, 1]]),
        (("SEQ(A, B)", "SEQ(B, A)"), [[0], [1]]),
        (("SEQ(A, B)", "SEQ(C, D)", "SEQ(A, B, C, D)"), [[0, 1, 2]]),
        (("A+", "SEQ(A, B)", "SEQ(B, A+)"), [[0, 2], [1]]),
        (("SEQ(A, B)+", "SEQ(B, A)"), [[0, 1]]),
        (("A", "A"), [[0], [1]]),
        (("SEQ(A, B, A, C)", "SEQ(A, C)"), [[0], [1]]),
        (("SEQ(A, B) & SEQ(A, C)", "SEQ(A, C)"), [[0], [0, 1], [0]]),
    ],
)
def test_members_with_a_transition_in_common_share(patterns: tuple[str, ...], expected: list[list[int]]) -> None:
    assert sets(*(f"COUNT(*) PATTERN {pattern}" for pattern in patterns)) == expected


def test_members_of_one_aggregate_class_share_whatever_their_windows() -> None:
    texts = ["COUNT(*) PATTERN SEQ(A, B)", "SUM(B.x) PATTERN SEQ(A, B) WITHIN 5 s", "AVG(A.x) PATTERN SEQ(A, B)"]
    assert sets(*texts) == [[0], [1, 2]]


def test_queries_of_different_blocks_share_nothing() -> None:
    own = members(*["COUNT(*) PATTERN SEQ(A, B)"] * 5, "COUNT(*) PATTERN SEQ(C, D)")
    sets = [[m.query.index for m in one] for one in sharable_sets(own, block=2)]
    assert sets == [[0, 1], [2, 3], [4], [5]]


def test_a_set_keeps_as_many_sums_as_have_a_flag() -> None:
    names = tuple(f"x{number}" for number in range(70))

    def sums(first: int, last: int) -> str:
        return ", ".join(f"SUM(B.{name})" for name in names[first:last]) + " PATTERN SEQ(A, B)"

    assert sets(sums(0, 15), sums(15, 31), names=names) == [[0, 1]]
    assert sets(sums(0, 16), sums(16, 32), names=names) == [[0], [1]]
    assert sets(sums(0, 31), sums(0, 31), sums(31, 62), names=names) == [[0, 1], [2]]
