"""Queries whose chains of segments are alike share snapshots, combinations and rows (dissertation 22.3)."""

from __future__ import annotations

import pytest

from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.algorithms.sequences.executor import sequence_operator
from cepbench.verification.evaluators import OneKey
from tests.algorithms.sequences.sharon.plans import case_of, plan_for, wrong
from tests.contract.streams import batch

WINDOW = "WITHIN 8 s SLIDE 2 s"
EVENTS = [{"time": i // 2, "type": "ABCDEFAB"[(i * 5) % 8], "x": i % 3, "y": i / 4} for i in range(90)]


def query(name: str, pattern: str, returns: str = "COUNT(*)") -> str:
    return f"{name}: RETURN {returns} PATTERN SEQ({', '.join(pattern)}) {WINDOW}"


def links(texts: list[str], *patterns: str) -> tuple[int, float]:
    """The links of a plan and what it combines; its answers must be right."""
    case = case_of(texts, EVENTS, (20, 50))
    plan = plan_for(case, *patterns)
    assert wrong(case, plan) is None
    operator = sequence_operator(plan)
    executor = OneKey(operator)
    executor.process(batch(case.events))
    executor.finish()
    [counter] = operator.parts
    assert isinstance(counter, SequenceCounter)
    return len(counter.counting.program.chains.link), executor.details()["combinations"]


def test_queries_of_one_chain_share_a_link() -> None:
    alone = links([query("q1", "ABCD"), query("q2", "AB"), query("q3", "CD")], "AB", "CD")
    assert alone[0] == 1
    assert links([query(f"q{i}", "ABCD") for i in range(4)], "AB", "CD") == alone


def test_chains_that_part_share_what_is_before() -> None:
    texts = [query("q1", "ABCDEF"), query("q2", "ABCDEF"), query("q3", "ABCD"), query("q4", "EFCD")]
    assert links(texts, "AB", "CD", "EF")[0] == 3


def test_what_is_not_shared_parts_chains() -> None:
    assert links([query("q1", "ACD"), query("q2", "ACD")], "CD")[0] == 2


@pytest.mark.parametrize("returns", ["SUM(A.x)", "COUNT(A)", "MIN(A.x)", "SUM(A.y)"])
def test_queries_that_count_otherwise_have_links_of_their_own(returns: str) -> None:
    texts = [query("q1", "ABCD"), query("q2", "ABCD", returns), query("q3", "ABCD", returns), query("q4", "ABCD")]
    assert links(texts, "AB", "CD")[0] == 2


def test_an_aggregate_of_what_comes_later_does_not_part_chains() -> None:
    """The first link ends before the place over which the queries aggregate, but their channels differ."""
    same = [query("q1", "ABCDEF", "SUM(E.x)"), query("q2", "ABCDEF", "SUM(E.x)")]
    assert links(same, "AB", "CD", "EF")[0] == 2
    other = [query("q1", "ABCDEF", "SUM(E.x)"), query("q2", "ABCDEF", "SUM(F.x)")]
    assert links(other, "AB", "CD", "EF")[0] == 3


def test_alike_queries_between_others_have_their_own_rows() -> None:
    texts = [query("q1", "EFAB"), query("q2", "ABCD"), query("q3", "CDEF"), query("q4", "ABCD"), query("q5", "EFAB")]
    assert links([*texts, query("q6", "DCBA")], "AB", "CD", "EF")[0] == 3
