"""What holds for claims of all kinds: their points, what they need, and what cells that were cut off say."""

from typing import Any

import pytest

from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Status
from tests.experiments.claiming import TEN, along, change, curve, factor, judge, number, order, shape
from tests.experiments.records import record

REPRODUCED, STRONGER, WEAKER, CONTRADICTED, OPEN = Verdict
TWICE = curve("slow", [2.0, 2.0, 2.0]) + curve("fast", [1.0, 1.0, 1.0])


# --- what a claim needs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("needs", "profile", "reason"),
    [
        ({"least": {"n": 4}}, "quick", ""),
        ({"least": {"n": 5}}, "quick", "needs n at least 5, not 4"),
        ({"least": {"m": 5}}, "quick", "needs m at least 5"),
        ({"most": {"n": 1}}, "quick", ""),
        ({"most": {"n": 0.5}}, "quick", "needs n at most 0.5, not 1"),
        ({"points": [{"n": 2}]}, "quick", ""),
        ({"points": [{"n": 2}, {"n": 3}]}, "quick", "needs slow measured at n 3"),
        ({"profile": "quick"}, "quick", ""),
        ({"profile": "laptop"}, "quick", "needs the profile laptop or a larger one"),
        ({"profile": "laptop"}, "paper", ""),
    ],
)
def test_what_a_claim_needs(needs: dict[str, Any], profile: str, reason: str) -> None:
    result = judge({**factor(factor=2), "needs": needs}, TWICE, profile)
    assert (result.verdict, result.reason) == (OPEN if reason else REPRODUCED, reason)
    assert result.measured == 2.0  # told in any case


def test_a_point_that_was_cut_off_was_not_measured() -> None:
    records = curve("slow", [2.0, 2.0]) + curve("fast", [1.0, None], limit=0.1)
    result = judge({**factor("first", factor=2), "needs": {"points": [{"n": 2}]}}, records)
    assert (result.verdict, result.reason) == (OPEN, "needs fast measured at n 2")


def test_a_point_is_measured_by_the_run_of_its_metric() -> None:
    told = {**factor(metric="state_peak", factor=1), "needs": {"points": [{"n": 1}]}}
    time = [record(a, {"n": 1}, latency_max=1.0) for a in ("slow", "fast")]
    memory = [record(a, {"n": 1}, measurement="memory", state_peak=5) for a in ("slow", "fast")]
    assert judge(told, [*time, *memory]).verdict is REPRODUCED
    assert "needs fast measured at n 1" in judge(told, [*time, memory[0]]).reason


def test_needs_are_asked_of_the_points_of_the_claim() -> None:
    records = [record(a, {"n": n, "m": n}, latency_max=1.0) for a in ("slow", "fast") for n in (1, 9)]
    told = {**factor(factor=1), "needs": {"least": {"n": 9}}}
    assert judge(told, records).verdict is REPRODUCED
    assert judge({**told, "where": {"m": 1}}, records).reason == "needs n at least 9, not 1"


def test_needs_and_what_is_unknown_are_both_told() -> None:
    result = judge({**factor(factor=2), "needs": {"profile": "paper"}}, curve("slow", [1.0]))
    assert result.reason == "needs the profile paper or a larger one; fast was not run"


def test_a_cause_is_told_where_a_claim_is_not_reproduced() -> None:
    told = {"cause": "The plan is another one.", "evidence": "4 graphlets instead of 1"}
    weaker = judge({**factor(factor=10), **told}, TWICE)
    assert (weaker.cause, weaker.evidence) == ("The plan is another one.", "4 graphlets instead of 1")
    reproduced = judge({**factor(factor=2), **told}, TWICE)
    assert (reproduced.cause, reproduced.evidence) == ("", "")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (factor(factor=18), "18 times (9 to 36)"),
        (factor(orders=2), "2 orders of magnitude (10^1.5 to 10^2.5 times)"),
        (factor(at_least=5), "at least 5 times"),
        (number("last", at_most=3), "at most 3"),
        (number("last", factor=0.9), "0.9 (0.45 to 1.8)"),
        (shape("constant"), "constant"),
        (shape("exponential", direction="falls"), "exponential fall"),
        (shape("quadratic", or_less=True), "at most quadratic growth"),
        (shape(direction="falls"), "falls"),
        (order("a", "b", "c", better="higher"), "a before b before c everywhere (higher is better)"),
        (order("a", "b", crossing=[2, 4]), "a lower up to a crossing between 2 and 4, then b"),
        (order("a", peak=3), "largest at 3"),
        ({"kind": "limit", "fails": ["a"], "since": 5}, "a does not finish, for n at least 5"),
        ({"kind": "limit", "survivors": ["a"]}, "a finishes"),
    ],
)
def test_expectations_in_words(fields: dict[str, Any], words: str) -> None:
    assert judge(fields, []).expected == words


# --- points -----------------------------------------------------------------------------------------------------------


def test_only_points_of_the_claim() -> None:
    values = [("slow", "low", 9.0), ("fast", "low", 1.0), ("slow", "high", 2.0), ("fast", "high", 1.0)]
    records = [record(a, {"n": 1, "half": h}, latency_max=v) for a, h, v in values]
    assert judge({**factor(factor=2), "where": {"half": "high"}}, records).measured == 2
    both = judge({**factor(factor=2), "where": {"half": "high", "n": 2}}, records)
    assert (both.verdict, both.reason) == (OPEN, "no point has half high, n 2")


def test_only_points_in_the_range_of_the_axis() -> None:
    records = curve("fast", [0.1, 8.0, 4.0, 0.2])
    result = judge({**change("first/last", factor=40), "since": 2}, records)
    assert (result.measured, result.verdict) == (pytest.approx(40), REPRODUCED)
    assert judge({**change("last/first", factor=80), "until": 2}, records).measured == pytest.approx(80)
    assert judge({**change("last/first", factor=80), "since": 2, "until": 4}, records).measured == pytest.approx(0.5)
    nowhere = judge({**change("last/first", factor=80), "since": 10, "until": 20}, records)
    assert (nowhere.verdict, nowhere.reason) == (OPEN, "no point has n at least 10 and at most 20")


def test_the_axis_of_a_claim_orders_its_points() -> None:
    records = [record("fast", {"n": n, "m": 10 - n}, latency_max=n) for n in TEN]
    assert judge({**shape(direction="falls"), "axis": "m"}, records[:9]).verdict is REPRODUCED
    assert judge({**shape(direction="falls"), "axis": "k"}, records).reason == "the points have no axis 'k'"


def test_memory_is_read_from_memory_runs() -> None:
    records = [record(a, {"n": 1}, measurement="time", latency_max=1.0) for a in ("slow", "fast")]
    assert judge(factor(metric="state_peak", factor=6), records).verdict is OPEN
    records += [record("slow", {"n": 1}, measurement="memory", state_peak=600)]
    records += [record("fast", {"n": 1}, measurement="memory", state_peak=100)]
    assert judge(factor(metric="state_peak", factor=6), records).measured == 6


@pytest.mark.parametrize("status", [Status.WRONG, Status.ERROR, Status.UNSUPPORTED])
def test_other_ends_are_not_comparable(status: Status) -> None:
    records = [*curve("slow", [1.0, 2.0]), *curve("fast", [1.0]), record("fast", {"n": 2}, status)]
    result = judge(factor(factor=1), records)
    assert (result.verdict, result.reason) == (OPEN, f"fast is {status.value} at n 2")
    assert judge(factor(factor=1), curve("slow", [1.0])).reason == "fast was not run"


def test_ranges_and_wheres_leave_a_shape_its_points() -> None:
    result = judge({**shape("linear"), "since": 3}, along(lambda n: n if n > 2 else 50.0))
    assert result.verdict is REPRODUCED
    assert "8 points of n" in result.computation


# --- cells that were cut off ------------------------------------------------------------------------------------------


def test_a_timeout_of_several_arrival_batches_bounds_the_largest_one() -> None:
    records = curve("slow", [None], batches=4) + curve("fast", [0.01], batches=4)
    assert judge(factor(at_least=250), records).verdict is REPRODUCED
    assert judge(factor(at_least=251), records).verdict is OPEN
    # A mean says less: the rows of the other batches may have been fast.
    mean = curve("slow", [None], "latency_mean") + curve("fast", [0.01], "latency_mean", batches=4)
    assert judge(factor(metric="latency_mean", at_least=1), mean).verdict is OPEN


def test_a_timeout_has_the_arrival_batches_of_its_own_group() -> None:
    # Five batches at 2: one of them took 2 s, and nothing says that one took 10 s.
    records = [
        *curve("slow", [1.0, None], limit=10.0),
        *curve("fast", [1.0], batches=1),
        *curve("fast", [1.0], start=2, batches=5),
    ]
    assert judge(factor("last", at_least=2), records).verdict is REPRODUCED
    assert judge(factor("last", at_least=3), records).verdict is OPEN


def test_throughput_of_a_timeout_is_at_most_events_over_the_limit() -> None:
    records = curve("slow", [None], "throughput") + curve("fast", [10**6], "throughput")
    # 1000 events in at least 10 s: at most 100 events/s.
    result = judge({**factor(at_least=10**4, metric="throughput"), "of": "fast", "to": "slow"}, records)
    assert (result.verdict, result.measured) == (REPRODUCED, pytest.approx(10**4))


def test_the_service_time_of_a_timeout_is_at_least_the_limit() -> None:
    records = [*curve("slow", [None], limit=10.0), *curve("fast", [0.01], "service_total")]
    result = judge(factor(metric="service_total", at_least=900), records)
    assert (result.verdict, result.measured) == (REPRODUCED, pytest.approx(1000))
    assert judge(factor(metric="service_total", at_least=1100), records).verdict is OPEN
    # It needs nobody else who finished.
    alone = judge(number("max", "service_total", at_least=10), curve("fast", [None], limit=10.0))
    assert alone.verdict is REPRODUCED


def test_out_of_memory_says_nothing_about_time() -> None:
    records = [record("slow", {"n": 1}, Status.OUT_OF_MEMORY), *curve("fast", [1.0])]
    assert judge(factor(factor=2), records).verdict is OPEN
