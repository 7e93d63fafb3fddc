import pytest

from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Status
from tests.experiments.claiming import curve, judge, ratio, trend
from tests.experiments.records import record


@pytest.mark.parametrize(("at", "expected"), [("max", 30), ("min", 10), ("first", 10), ("last", 20)])
def test_ratio_at_a_point(at, expected):
    records = curve("slow", [1.0, 3.0, 2.0]) + curve("fast", [0.1, 0.1, 0.1])
    result = judge(ratio(at, at_least=20), records)
    assert result.measured == pytest.approx(expected)
    assert result.verdict is (Verdict.REPRODUCED if expected >= 20 else Verdict.NOT_REPRODUCED)
    assert (result.unit, result.reason, result.expected) == ("x", "", "at least 20")
    assert "latency_max of slow / fast" in result.computation


def test_a_part_of_the_whole():
    claim = ratio(metric="details.graph_seconds", to="slow", to_metric="service_total", at_most=0.1)
    records = [record("slow", {"n": n}, service_total=8.0 * n, details={"graph_seconds": 0.4}) for n in (1, 2)]
    result = judge(claim, records)
    assert (result.measured, result.verdict) == (pytest.approx(0.05), Verdict.REPRODUCED)
    assert result.computation.startswith("details.graph_seconds of slow / service_total of slow, max over n")


def test_parts_are_told_in_their_units():
    claim = {"kind": "value", "algorithm": "slow", "at_least": 1}
    assert (
        judge(
            {**claim, "metric": "details.x_bytes_peak"},
            [record("slow", {"n": 1}, measurement="memory", details={"x_bytes_peak": 5.0})],
        ).unit
        == "B"
    )
    assert (
        judge({**claim, "metric": "details.x_seconds"}, [record("slow", {"n": 1}, details={"x_seconds": 5.0})]).unit
        == "s"
    )


def test_medians_of_repetitions():
    records = [record("slow", {"n": 1}, repetition=r, latency_max=v) for r, v in enumerate([1.0, 100.0, 2.0])]
    records += [record("fast", {"n": 1}, latency_max=1.0)]
    assert judge(ratio(at_least=2), records).measured == 2


def test_a_timeout_may_prove_a_claim():
    # The limit is 10 s and the other one took 0.01 s: the ratio is at least 1000.
    records = curve("slow", [0.5, None]) + curve("fast", [0.01, 0.01])
    proven = judge(ratio(at_least=900), records)
    assert proven.verdict is Verdict.REPRODUCED
    assert proven.measured == pytest.approx(1000)
    assert "cut off by a limit" in proven.reason
    open_ = judge(ratio(at_least=1100), records)
    assert open_.verdict is Verdict.NOT_COMPARABLE
    assert open_.measured == pytest.approx(1000)
    refuted = judge(ratio(at_most=900), records)
    assert refuted.verdict is Verdict.NOT_REPRODUCED


def test_a_timeout_of_several_arrival_batches_bounds_the_largest_one():
    records = curve("slow", [None], batches=4) + curve("fast", [0.01], batches=4)
    assert judge(ratio(at_least=250), records).verdict is Verdict.REPRODUCED
    assert judge(ratio(at_least=251), records).verdict is Verdict.NOT_COMPARABLE
    # A mean says less: the rows of the other batches may have been fast.
    mean = curve("slow", [None], "latency_mean") + curve("fast", [0.01], "latency_mean", batches=4)
    assert judge(ratio(metric="latency_mean", at_least=1), mean).verdict is Verdict.NOT_COMPARABLE


def test_a_timeout_of_the_other_one_bounds_from_above():
    records = curve("slow", [1.0]) + curve("fast", [None]) + curve("third", [0.1])
    assert judge(ratio(at_least=2), records).verdict is Verdict.NOT_REPRODUCED
    assert judge(ratio(at_most=2), records).verdict is Verdict.REPRODUCED


def test_throughput_of_a_timeout_is_at_most_events_over_the_limit():
    records = curve("slow", [None], "throughput") + curve("fast", [10**6], "throughput")
    # 1000 events in at least 10 s: at most 100 events/s.
    result = judge({**ratio(at_least=10**4, metric="throughput"), "of": "fast", "to": "slow"}, records)
    assert result.verdict is Verdict.REPRODUCED
    assert result.measured == pytest.approx(10**4)


def test_both_timed_out_says_nothing():
    result = judge(ratio(at_least=2), curve("slow", [None]) + curve("fast", [None]))
    assert result.verdict is Verdict.NOT_COMPARABLE
    assert result.measured is None
    assert "no point at which both were measured" in result.reason


def test_out_of_memory_says_nothing_about_time():
    records = [record("slow", {"n": 1}, Status.OUT_OF_MEMORY), *curve("fast", [1.0])]
    assert judge(ratio(at_least=2), records).verdict is Verdict.NOT_COMPARABLE


@pytest.mark.parametrize("status", [Status.WRONG, Status.ERROR, Status.UNSUPPORTED])
def test_other_ends_are_not_comparable(status):
    records = [*curve("slow", [1.0, 2.0]), *curve("fast", [1.0]), record("fast", {"n": 2}, status)]
    result = judge(ratio(at_least=1), records)
    assert result.verdict is Verdict.NOT_COMPARABLE
    assert result.reason == f"fast is {status.value} at n 2"
    assert judge(ratio(at_least=1), curve("slow", [1.0])).reason == "fast was not run"


def test_memory_is_read_from_memory_runs():
    records = [record(a, {"n": 1}, measurement="time", latency_max=1.0) for a in ("slow", "fast")]
    assert judge(ratio(metric="state_peak", at_least=1), records).verdict is Verdict.NOT_COMPARABLE
    records += [record("slow", {"n": 1}, measurement="memory", state_peak=600)]
    records += [record("fast", {"n": 1}, measurement="memory", state_peak=100)]
    assert judge(ratio(metric="state_peak", at_least=6), records).verdict is Verdict.REPRODUCED


def test_only_points_of_the_claim():
    records = [record(a, {"n": 1, "half": h}, latency_max=v) for a, h, v in
               [("slow", "low", 9.0), ("fast", "low", 1.0), ("slow", "high", 2.0), ("fast", "high", 1.0)]]  # fmt: skip
    assert judge({**ratio(at_least=1), "where": {"half": "high"}}, records).measured == 2
    both = judge({**ratio(at_least=1), "where": {"half": "high", "n": 2}}, records)
    assert both.reason == "slow was not run"


def test_only_points_since_a_value_of_the_axis():
    records = curve("fast", [0.1, 8.0, 4.0, 0.2])
    result = judge({**trend("last/first", at_most=0.1), "since": 2}, records)
    assert (result.measured, result.verdict) == (pytest.approx(0.025), Verdict.REPRODUCED)
    assert judge(trend("last/first", at_most=0.1), records).verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("measure", "values", "expected"),
    [
        ("slope", [1.0, 4.0, 16.0], 2.0),
        ("slope", [1.0, 2.0, 4.0], 1.0),
        # Logarithms 0, 0, 0, 3 at 0, 1, 2, 3: the products of the deviations add up to 4.5, the squares to 5.
        ("slope", [1.0, 1.0, 1.0, 8.0], 0.9),
        ("steepest", [1.0, 2.0, 32.0], 4.0),
        ("steepest", [1.0, 32.0, 64.0], 5.0),
        ("last/first", [2.0, 7.0, 6.0], 3.0),
        ("spread", [2.0, 8.0, 4.0], 4.0),
        ("spread", [2.0, 2.0], 1.0),
    ],
)
def test_trends(measure, values, expected):
    assert judge(trend(measure, at_least=expected - 0.01, at_most=expected + 0.01), curve("fast", values)).verdict is (
        Verdict.REPRODUCED
    )


def test_trends_that_were_cut_off():
    cut = [*curve("fast", [0.001, 0.01, None]), record("other", {"n": 4}, latency_max=1.0)]
    assert judge(trend("last/first", at_least=10**4), cut).verdict is Verdict.REPRODUCED  # at least 10 s / 1 ms
    assert judge(trend("last/first", at_least=10**5), cut).verdict is Verdict.NOT_COMPARABLE
    assert judge(trend("spread", at_most=3), cut).verdict is Verdict.NOT_REPRODUCED
    assert judge(trend("steepest", at_least=9), cut).verdict is Verdict.REPRODUCED  # log2(1000)
    assert judge(trend("slope", at_least=1), curve("fast", [None, None, 1.0])).verdict is Verdict.NOT_COMPARABLE
    assert judge(trend("slope", at_least=1), curve("fast", [1.0])).verdict is Verdict.NOT_COMPARABLE


def test_points_go_by_the_axis_and_not_by_the_order_of_records() -> None:
    records = curve("fast", [2.0, 7.0, 6.0])
    for order in ((2, 1, 0), (1, 2, 0)):
        assert judge(trend("last/first", at_least=3), [records[i] for i in order]).measured == 3.0


def test_values():
    claim = {"kind": "value", "metric": "throughput", "algorithm": "fast", "at": "last", "at_least": 39}
    result = judge(claim, curve("fast", [50.0, 40.0], "throughput"))
    assert (result.verdict, result.measured, result.unit) == (Verdict.REPRODUCED, 40.0, "events/s")


def test_growth_between_points_of_one_axis_value_is_not_comparable():
    records = [record("fast", {"n": 1, "m": m}, latency_max=1.0) for m in (1, 2)]
    result = judge(trend("steepest", at_least=1), records)
    assert result.verdict is Verdict.NOT_COMPARABLE
    assert "several points" in result.reason


@pytest.mark.parametrize(
    ("values", "at", "expected"),
    [([1.0, 3.0, 2.0], 2, Verdict.REPRODUCED), ([1.0, 3.0, 4.0], 2, Verdict.NOT_REPRODUCED)],
)
def test_where_a_curve_peaks(values, at, expected):
    result = judge(trend("peak", at_least=at, at_most=at), curve("fast", values))
    assert result.verdict is expected
    assert (result.measured, result.unit) == (at if expected is Verdict.REPRODUCED else 4, "")


def test_a_peak_that_a_limit_may_hide_is_not_comparable():
    records = [*curve("fast", [100.0, None]), *curve("slow", [1.0, 1.0])]
    assert judge(trend("peak", at_least=1, at_most=1), records).verdict is Verdict.NOT_COMPARABLE
