"""Workload analysis: which queries can share which Kleene sub-patterns (Definitions 4 and 5)."""

import pytest

from cepbench.algorithms.trends.hamlet.plan import plan_of
from cepbench.algorithms.trends.hamlet.workload import SharableSet, sharable_sets
from cepbench.algorithms.trends.snapshots.members import members_of
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch
from tests.streams import stream

SCHEMA = batch([{**event, "y": 0.5} for event in stream("A0/1 B1/1 C2/1 D3/1")]).schema


def sets_of(*texts: str) -> list[SharableSet]:
    queries = [parse_query(f"q{n}: RETURN {text}") for n, text in enumerate(texts)]
    members = members_of(compile_workload(queries, SCHEMA))
    return list(sharable_sets(members))


def shared(*texts: str) -> list[tuple[str, list[int]]]:
    """Each shared sub-pattern: its type and the queries that have it."""
    return [
        (group[0].type, [one.members[unit.member].query.index for unit in group])
        for one in sets_of(*texts)
        for group in one.shared
    ]


@pytest.mark.parametrize(
    ("items", "share"),
    [
        (("COUNT(*)", "COUNT(*)"), True),
        (("COUNT(*)", "SUM(B.x)"), False),
        (("COUNT(*)", "MIN(B.x)"), False),
        (("MIN(B.x)", "MIN(B.x)"), True),
        (("MIN(B.x)", "MAX(B.x)"), False),
        (("MIN(B.x)", "MIN(B.y)"), False),
        (("SUM(B.x)", "AVG(B.y)"), True),
        (("AVG(B.x)", "COUNT(B)"), True),
        (("COUNT(*), AVG(B.x)", "COUNT(B)"), True),
    ],
)
def test_aggregates_of_one_class_share(items: tuple[str, str], share: bool) -> None:
    patterns = shared(*(f"{item} PATTERN SEQ({kind}, B+)" for item, kind in zip(items, "AC", strict=True)))
    assert patterns == ([("B", [0, 1])] if share else [])


def test_a_set_keeps_as_many_sums_as_have_a_flag() -> None:
    names = [f"x{number}" for number in range(70)]
    schema = batch([{"time": 0, "type": kind, **dict.fromkeys(names, 1)} for kind in "ABC"]).schema

    def sets(first: int, second: int) -> int:
        sums = [", ".join(f"SUM(B.{name})" for name in part) for part in (names[:first], names[first : first + second])]
        texts = [f"q{n}: RETURN {part} PATTERN SEQ(A, B+)" for n, part in enumerate(sums)]
        compiled = compile_workload([parse_query(text) for text in texts], schema)
        return len(sharable_sets(members_of(compiled)))

    assert (sets(15, 16), sets(16, 16)) == (1, 2)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("SEQ(A, B+)", "SEQ(C, B+)"), [("B", [0, 1])]),
        (("(SEQ(A, B+))+", "SEQ(B+, C)"), [("B", [0, 1])]),
        (("SEQ(A+, B+)", "SEQ(A+, C)", "SEQ(B+, C)"), [("A", [0, 1]), ("B", [0, 2])]),
        (("SEQ(A, B)", "SEQ(A, B+)"), []),
        (("SEQ(A+, B)", "SEQ(A, B+)"), []),
        (("B{2,}", "B+"), []),
        (("SEQ(A, NOT B, C+)", "C+"), [("C", [0, 1])]),
        (("SEQ(A, NOT C, C+)", "C+"), []),
        (("SEQ(A, NOT SEQ(B, D), C+)", "C+"), []),
        (("SEQ(C+, NOT SEQ(B, D))", "C+"), []),
        (("SEQ(C+, NOT SEQ(B, D), A)", "C+"), [("C", [0, 1])]),
    ],
)
def test_sharable_sub_patterns(patterns: tuple[str, ...], expected: list[tuple[str, list[int]]]) -> None:
    assert shared(*(f"COUNT(*) PATTERN {pattern}" for pattern in patterns)) == expected


def test_both_sides_of_a_conjunction_share() -> None:
    assert shared("COUNT(*) PATTERN B+ & SEQ(A, B+)", "COUNT(*) PATTERN SEQ(C, B+)") == [("B", [0, 0, 1])]


def test_predicates_on_the_edge_into_the_loop_forbid_sharing() -> None:
    texts = [f"COUNT(*) PATTERN SEQ(A, B+) WHERE {w}" for w in ("A.x < B.x", "A.x > 1", "B.x < NEXT(B).x")]
    assert shared(*texts) == [("B", [1, 2])]


def test_queries_that_share_with_a_third_one_are_in_one_set() -> None:
    texts = ("COUNT(*) PATTERN A+", "COUNT(*) PATTERN SEQ(A+, B+)", "COUNT(*) PATTERN B+", "COUNT(*) PATTERN C+")
    assert [len(one.members) for one in sets_of(*texts)] == [3, 1]


def test_details_of_a_plan_count_what_can_be_shared() -> None:
    queries = [
        parse_query(f"q{n}: RETURN COUNT(*) PATTERN {p}")
        for n, p in enumerate(("SEQ(A, B+)", "B+", "C+", "C+ WITHIN 5 EVENTS"))
    ]
    plan = plan_of(compile_workload(queries, SCHEMA))
    assert plan.details == {"sharable_sets": 1, "sharable_sub_patterns": 1, "sharing_queries": 2}
    assert [len(one.members) for one in plan.sets] == [2]
    assert [member.query.index for member in plan.alone] == [2]
