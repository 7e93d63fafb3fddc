"""Verdicts where cells were cut off by a limit: what is known is an interval."""

import pytest

from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Status
from tests.experiments.claiming import curve, judge, ratio, trend, value
from tests.experiments.records import record

FAILS = {"kind": "fails", "algorithm": "slow", "survivors": ["fast"]}


def test_a_timeout_may_exceed_the_largest_measured_value() -> None:
    # At 2 the latency is at least 4 s, so the largest one is at least 5 s; nothing bounds it from above.
    records = [*curve("fast", [5.0, None], limit=4.0), *curve("other", [1.0, 1.0])]
    at_most = judge(value("max", at_most=6), records)
    assert (at_most.verdict, at_most.measured) == (Verdict.NOT_COMPARABLE, 5.0)
    assert "cut off by a limit" in at_most.reason
    assert judge(value("max", at_least=5), records).verdict is Verdict.REPRODUCED
    assert judge(value("max", at_most=4.5), records).verdict is Verdict.NOT_REPRODUCED


def test_a_timeout_may_undercut_the_smallest_measured_value() -> None:
    # 1000 events in more than 10 s: at 2 the throughput is at most 100 events/s.
    records = [*curve("fast", [80.0, None], "throughput"), *curve("other", [1.0, 1.0])]
    assert judge(value("min", "throughput", at_least=60), records).verdict is Verdict.NOT_COMPARABLE
    assert judge(value("min", "throughput", at_most=80), records).verdict is Verdict.REPRODUCED
    assert judge(value("min", "throughput", at_least=90), records).verdict is Verdict.NOT_REPRODUCED


def test_the_service_time_of_a_timeout_is_at_least_the_limit() -> None:
    records = [*curve("slow", [None], limit=10.0), *curve("fast", [0.01], "service_total")]
    result = judge(ratio(metric="service_total", at_least=900), records)
    assert (result.verdict, result.measured) == (Verdict.REPRODUCED, pytest.approx(1000))
    assert judge(ratio(metric="service_total", at_least=1100), records).verdict is Verdict.NOT_COMPARABLE
    assert judge(ratio(metric="service_total", at_most=900), records).verdict is Verdict.NOT_REPRODUCED
    # It needs nobody else who finished.
    alone = judge(value("max", "service_total", at_least=10), curve("fast", [None], limit=10.0))
    assert alone.verdict is Verdict.REPRODUCED


def test_a_ratio_to_a_timeout_lies_between_nothing_and_the_measured_one_over_the_limit() -> None:
    records = [*curve("slow", [1.0]), *curve("fast", [None], limit=10.0), *curve("third", [0.1])]
    assert judge(ratio(at_most=0.1), records).verdict is Verdict.REPRODUCED
    assert judge(ratio(at_most=0.05), records).verdict is Verdict.NOT_COMPARABLE
    assert judge(ratio(at_least=0.05), records).verdict is Verdict.NOT_COMPARABLE
    assert judge(ratio(at_least=0.11), records).verdict is Verdict.NOT_REPRODUCED


def test_a_timeout_has_the_arrival_batches_of_its_own_group() -> None:
    # Five batches at 2: one of them took 2 s, and nothing says that one took 10 s.
    records = [
        *curve("slow", [1.0, None], limit=10.0),
        *curve("fast", [1.0], batches=1),
        *curve("fast", [1.0], start=2, batches=5),
    ]
    assert judge(ratio("last", at_least=2), records).verdict is Verdict.REPRODUCED
    assert judge(ratio("last", at_least=3), records).verdict is Verdict.NOT_COMPARABLE


def test_a_power_law_is_fitted_to_what_was_measured() -> None:
    records = [*curve("fast", [1.0, 2.0, None], limit=100.0), *curve("other", [1.0, 1.0, 1.0])]
    result = judge(trend("slope", at_least=0.5), records)
    assert result.measured == pytest.approx(1.0)


def test_a_median_of_repetitions_that_were_cut_off_is_a_bound() -> None:
    fast = [record("fast", {"n": 1}, latency_max=1.0)]
    slow = [record("slow", {"n": 1}, repetition=r, latency_max=5.0) for r in (1, 2)]
    cut = [record("slow", {"n": 1}, Status.TIMEOUT, repetition=r, limit=10.0) for r in (3, 4, 5)]
    assert judge(ratio(at_least=5), [*fast, *slow, *cut[:1]]).reason == ""
    result = judge(ratio(at_least=10), [*fast, *slow, *cut])
    assert (result.verdict, result.measured) == (Verdict.REPRODUCED, 10.0)
    assert judge(ratio(at_most=20), [*fast, *slow, *cut]).verdict is Verdict.NOT_COMPARABLE


def test_fails() -> None:
    records = curve("slow", [1.0, None, None]) + curve("fast", [1.0, 1.0, 1.0])
    result = judge(FAILS, records)
    assert (result.verdict, result.measured) == (Verdict.REPRODUCED, 2.0)
    assert result.expected == "slow does not finish where fast finish"
    # With fewer groups being harder, 4 was tried and 2 was not.
    tried = [*curve("slow", [None, None, None], seconds=0)[:2], record("slow", {"n": 4}, Status.TIMEOUT)]
    assert judge(FAILS, [*tried, *curve("fast", [1.0, 1.0, 1.0])]).measured == 4.0
    assert judge(FAILS, curve("slow", [1.0]) + curve("fast", [1.0])).verdict is Verdict.NOT_REPRODUCED
    both = judge(FAILS, curve("slow", [1.0, None]) + curve("fast", [1.0, None]))
    assert both.verdict is Verdict.NOT_REPRODUCED
    assert "fast did not finish at n 2 either" in both.reason
    assert judge(FAILS, curve("slow", [None])).reason == "fast was not run"


def test_a_survivor_may_fail_where_the_algorithm_finishes() -> None:
    records = [*curve("slow", [1.0, None]), *curve("fast", [None, 1.0])]
    result = judge(FAILS, records)
    assert (result.verdict, result.measured, result.reason) == (Verdict.REPRODUCED, 2.0, "")


def test_one_point_at_which_the_survivor_finishes_is_enough() -> None:
    result = judge(FAILS, [*curve("slow", [None, None]), *curve("fast", [1.0, None])])
    assert (result.verdict, result.measured, result.reason) == (Verdict.REPRODUCED, 1.0, "")
    assert judge(FAILS, [*curve("slow", [None, None]), *curve("fast", [None, 1.0])]).measured == 2.0


def test_a_survivor_that_was_not_run_there_has_not_survived() -> None:
    result = judge(FAILS, [*curve("slow", [1.0, None]), *curve("fast", [1.0])])
    assert (result.verdict, result.reason) == (Verdict.NOT_COMPARABLE, "nobody else was run at n 2")


@pytest.mark.parametrize("failed", ["slow", "fast"])
def test_to_run_out_of_memory_is_to_fail(failed: str) -> None:
    one, other = record("slow", {"n": 1}, Status.TIMEOUT), record("fast", {"n": 1}, latency_max=1.0)
    if failed == "slow":
        one = record("slow", {"n": 1}, Status.OUT_OF_MEMORY)
    else:
        other = record("fast", {"n": 1}, Status.OUT_OF_MEMORY)
    expected = Verdict.REPRODUCED if failed == "slow" else Verdict.NOT_REPRODUCED
    assert judge(FAILS, [one, other]).verdict is expected


@pytest.mark.parametrize("status", [Status.WRONG, Status.ERROR, Status.UNSUPPORTED])
@pytest.mark.parametrize("bad", ["slow", "fast"])
def test_who_fails_otherwise_decides_nothing(status: Status, bad: str) -> None:
    records = [*curve("slow", [None]), *curve("fast", [1.0]), record(bad, {"n": 2}, status)]
    result = judge(FAILS, records)
    assert (result.verdict, result.reason) == (Verdict.NOT_COMPARABLE, f"{bad} is {status.value} at n 2")
