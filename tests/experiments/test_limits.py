"""Limits: who ends and who does not."""

from typing import Any

import pytest

from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Status
from tests.experiments.claiming import claim, curve, judge
from tests.experiments.records import record

REPRODUCED, STRONGER, WEAKER, CONTRADICTED, OPEN = Verdict
FAILS: dict[str, Any] = {"kind": "limit", "fails": ["slow"], "survivors": ["fast"]}


def test_one_fails_where_the_other_ends() -> None:
    records = curve("slow", [1.0, None, None]) + curve("fast", [1.0, 1.0, 1.0])
    result = judge(FAILS, records)
    assert (result.verdict, result.measured, result.reason) == (REPRODUCED, 2.0, "")
    assert result.expected == "slow does not finish where fast finishes"
    # With fewer groups being harder, 4 was tried and 2 was not.
    tried = [*curve("slow", [None, None], seconds=0), record("slow", {"n": 4}, Status.TIMEOUT)]
    assert judge(FAILS, [*tried, *curve("fast", [1.0, 1.0, 1.0])]).measured == 4.0


def test_without_a_size_an_end_everywhere_decides_nothing() -> None:
    result = judge(FAILS, curve("slow", [1.0]) + curve("fast", [1.0]))
    assert (result.verdict, result.measured) == (OPEN, None)
    assert result.reason.startswith("slow finished everywhere, and the claim names no size")


def test_both_fail() -> None:
    both = judge(FAILS, curve("slow", [1.0, None]) + curve("fast", [1.0, None]))
    assert (both.verdict, both.reason) == (CONTRADICTED, "fast did not finish at n 2 either")
    assert judge(FAILS, curve("slow", [None])).reason == "fast was not run"


@pytest.mark.parametrize(
    ("slow", "fast", "since", "expected", "reason"),
    [
        ([1.0, None, None], [1.0] * 3, 2, REPRODUCED, ""),
        ([None, None, None], [1.0] * 3, 2, REPRODUCED, ""),
        ([1.0, None, 1.0], [1.0] * 3, 2, WEAKER, "at 1 of 2 points: slow finished at n 4"),
        ([1.0, None, None], [1.0, 1.0, None], 2, WEAKER, "at 1 of 2 points: fast did not finish at n 4 either"),
        ([1.0, 1.0, 1.0], [1.0] * 3, 2, CONTRADICTED, "slow finished everywhere"),
        ([None, 1.0, 1.0], [1.0] * 3, 2, CONTRADICTED, "slow finished everywhere"),
        ([1.0, None, None], [1.0] * 3, 5, OPEN, "no point has n at least 5"),
    ],
)
def test_from_a_size_on_it_holds_at_every_point(
    slow: list[float | None], fast: list[float | None], since: float, expected: Verdict, reason: str
) -> None:
    result = judge({**FAILS, "since": since}, curve("slow", slow) + curve("fast", fast))
    assert (result.verdict, result.reason) == (expected, reason)


def test_up_to_a_size() -> None:
    # Fewer groups are harder.
    records = curve("slow", [None, None, 1.0]) + curve("fast", [1.0] * 3)
    result = judge({**FAILS, "until": 3}, records)
    assert (result.verdict, result.expected) == (
        REPRODUCED,
        "slow does not finish where fast finishes, for n at most 3",
    )
    assert judge({**FAILS, "until": 4}, records).verdict is WEAKER


def test_a_survivor_may_fail_where_the_algorithm_finishes() -> None:
    result = judge(FAILS, [*curve("slow", [1.0, None]), *curve("fast", [None, 1.0])])
    assert (result.verdict, result.measured, result.reason) == (REPRODUCED, 2.0, "")


def test_without_a_size_one_point_at_which_the_survivor_finishes_is_enough() -> None:
    result = judge(FAILS, [*curve("slow", [None, None]), *curve("fast", [1.0, None])])
    assert (result.verdict, result.measured, result.reason) == (REPRODUCED, 1.0, "")
    assert judge(FAILS, [*curve("slow", [None, None]), *curve("fast", [None, 1.0])]).measured == 2.0


def test_a_survivor_that_was_not_run_there_has_not_survived() -> None:
    result = judge(FAILS, [*curve("slow", [1.0, None]), *curve("fast", [1.0])])
    assert (result.verdict, result.reason) == (OPEN, "nobody else was run at n 2")
    nowhere = judge(FAILS, [*curve("slow", [None]), *curve("fast", [1.0], start=4)])
    assert (nowhere.verdict, nowhere.reason) == (OPEN, "slow and fast were not run at the same point")


def test_several_fail_and_several_survive() -> None:
    told = {"kind": "limit", "fails": ["a", "b"], "survivors": ["c", "d"]}
    records = curve("a", [None]) + curve("b", [None]) + curve("c", [1.0]) + curve("d", [1.0])
    result = judge(told, records)
    assert (result.verdict, result.expected) == (REPRODUCED, "a and b do not finish where c and d finish")
    assert judge({**told, "fails": ["a", "c"], "survivors": ["d"]}, records).verdict is OPEN
    assert judge({"kind": "limit", "survivors": ["c", "d"]}, records).verdict is REPRODUCED
    assert judge({"kind": "limit", "survivors": ["a", "c"]}, records).verdict is CONTRADICTED


def test_a_survivor_survives_at_every_point() -> None:
    result = judge({"kind": "limit", "survivors": ["fast"]}, curve("fast", [1.0, 1.0, None]))
    assert (result.verdict, result.reason) == (WEAKER, "at 2 of 3 points: fast did not finish at n 4")


@pytest.mark.parametrize("failed", ["slow", "fast"])
def test_to_run_out_of_memory_is_to_fail(failed: str) -> None:
    one, other = record("slow", {"n": 1}, Status.TIMEOUT), record("fast", {"n": 1}, latency_max=1.0)
    if failed == "slow":
        one = record("slow", {"n": 1}, Status.OUT_OF_MEMORY)
    else:
        other = record("fast", {"n": 1}, Status.OUT_OF_MEMORY)
    assert judge(FAILS, [one, other]).verdict is (REPRODUCED if failed == "slow" else CONTRADICTED)


def test_planning_that_does_not_end_is_to_fail() -> None:
    slow = [record("slow", {"n": 1}, Status.TIMEOUT, plan_limit=7.0)]
    assert judge(FAILS, [*slow, *curve("fast", [1.0])]).verdict is REPRODUCED


def test_one_run_of_several_that_was_cut_off_is_a_failure() -> None:
    slow = [record("slow", {"n": 1}, latency_max=1.0), record("slow", {"n": 1}, Status.TIMEOUT, repetition=2)]
    for runs in (slow, slow[::-1]):
        assert judge(FAILS, [*runs, *curve("fast", [1.0])]).verdict is REPRODUCED


@pytest.mark.parametrize("status", [Status.WRONG, Status.ERROR, Status.UNSUPPORTED])
@pytest.mark.parametrize("bad", ["slow", "fast"])
def test_who_fails_otherwise_decides_nothing(status: Status, bad: str) -> None:
    records = [*curve("slow", [None]), *curve("fast", [1.0]), record(bad, {"n": 2}, status)]
    result = judge(FAILS, records)
    assert (result.verdict, result.reason) == (OPEN, f"{bad} is {status.value} at n 2")


def test_a_limit_is_about_somebody() -> None:
    with pytest.raises(ValueError, match="give fails, survivors or both"):
        claim(kind="limit")
