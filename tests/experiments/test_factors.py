"""Factors: the band around the paper's number, and who decides where repetitions scatter."""

import pytest

from cepbench.experiments.claims import Factor
from cepbench.experiments.verdicts.factors import grade
from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Status
from tests.experiments.claiming import change, claim, curve, factor, judge, number, runs
from tests.experiments.records import record

REPRODUCED, STRONGER, WEAKER, CONTRADICTED, OPEN = Verdict


def ratio(value: float, **claimed: float) -> Verdict:
    """The verdict on slow / fast = `value`, measured once."""
    return judge(factor(**claimed), curve("slow", [value]) + curve("fast", [1.0])).verdict


@pytest.mark.parametrize(
    ("value", "claimed", "expected"),
    [
        (1.998, {"factor": 2}, REPRODUCED),
        (180_277, {"factor": 12}, STRONGER),
        (9, {"factor": 18}, REPRODUCED),
        (36, {"factor": 18}, REPRODUCED),
        (8.99, {"factor": 18}, WEAKER),
        (36.01, {"factor": 18}, STRONGER),
        (1.06, {"factor": 18}, WEAKER),
        (1.04, {"factor": 18}, CONTRADICTED),  # times that differ by 5 % are the same
        (0.1, {"factor": 18}, CONTRADICTED),
        (0.9, {"factor": 1.5}, CONTRADICTED),  # in the band, in the other direction
        (0.5, {"factor": 1}, REPRODUCED),
        (2, {"factor": 1}, REPRODUCED),
        (2.01, {"factor": 1}, CONTRADICTED),
        (0.49, {"factor": 1}, CONTRADICTED),
        (32, {"orders": 2}, REPRODUCED),
        (316, {"orders": 2}, REPRODUCED),
        (31, {"orders": 2}, WEAKER),
        (317, {"orders": 2}, STRONGER),
        (0.5, {"orders": 2}, CONTRADICTED),
        (3, {"orders": 0}, REPRODUCED),
        (4, {"orders": 0}, CONTRADICTED),
        (50, {"at_least": 50}, REPRODUCED),
        (5000, {"at_least": 50}, REPRODUCED),  # above is not stronger
        (49, {"at_least": 50}, WEAKER),
        (1, {"at_least": 50}, CONTRADICTED),
        (0.7, {"at_most": 0.7}, REPRODUCED),
        (0.9, {"at_most": 0.7}, WEAKER),
        (0.96, {"at_most": 0.7}, CONTRADICTED),
        (1, {"at_most": 1}, REPRODUCED),
        (1.2, {"at_most": 1}, CONTRADICTED),
    ],
    ids=lambda given: " ".join(f"{name} {n}" for name, n in given.items()) if isinstance(given, dict) else None,
)
def test_the_band_of_a_ratio(value: float, claimed: dict[str, float], expected: Verdict) -> None:
    assert ratio(value, **claimed) is expected


def test_counts_are_exact_where_times_are_not() -> None:
    records = [record(name, {"n": 1}, details={"updates": v}) for name, v in (("slow", 103.0), ("fast", 100.0))]
    assert judge(factor(metric="details.updates", factor=18), records).verdict is WEAKER


@pytest.mark.parametrize(
    ("value", "claimed", "expected"),
    [
        (0.36, {"factor": 0.36}, REPRODUCED),
        (0.17, {"factor": 0.36}, WEAKER),
        (0.9, {"factor": 0.36}, STRONGER),
        (0.0, {"factor": 0.36}, CONTRADICTED),
        (40.0, {"at_least": 39}, REPRODUCED),
        (11.0, {"at_least": 39}, WEAKER),
        (3.0, {"at_most": 3}, REPRODUCED),
        (9.0, {"at_most": 3}, WEAKER),
    ],
)
def test_the_band_of_a_number_itself(value: float, claimed: dict[str, float], expected: Verdict) -> None:
    assert judge(number("last", **claimed), curve("fast", [1.0, value])).verdict is expected


@pytest.mark.parametrize(("at", "expected"), [("max", 30), ("min", 10), ("first", 10), ("last", 20)])
def test_a_ratio_at_a_point(at: str, expected: float) -> None:
    records = curve("slow", [1.0, 3.0, 2.0]) + curve("fast", [0.1, 0.1, 0.1])
    result = judge(factor(at, factor=expected), records)
    assert result.measured == pytest.approx(expected)
    assert (result.verdict, result.unit, result.reason) == (REPRODUCED, "x", "")
    assert result.expected == f"{expected} times ({expected / 2:g} to {expected * 2})"
    assert "latency_max of slow / fast" in result.computation


@pytest.mark.parametrize(
    ("how", "values", "expected"),
    [
        ("last/first", [2.0, 7.0, 6.0], 3.0),
        ("first/last", [6.0, 7.0, 2.0], 3.0),
        ("max/min", [2.0, 8.0, 4.0], 4.0),
        ("max/min", [2.0, 2.0], 1.0),
    ],
)
def test_changes_along_the_axis(how: str, values: list[float], expected: float) -> None:
    result = judge(change(how, factor=expected), curve("fast", values))
    assert (result.measured, result.verdict) == (pytest.approx(expected), REPRODUCED)


def test_changes_of_a_ratio_along_the_axis() -> None:
    records = [*curve("fast", [2.0, 3.0, 4.0]), *curve("slow", [8.0, 30.0, 80.0])]
    told = factor(change="last/first", factor=5)
    result = judge(told, records)
    assert (result.measured, result.verdict) == (pytest.approx(20 / 4), REPRODUCED)
    assert result.computation == "last/first of latency_max of slow / fast over n, medians"
    # Where one of both was not measured, there is no ratio.
    assert judge(told, [*records, *curve("slow", [1.0] * 4)[3:]]).measured == pytest.approx(5)
    assert judge({**told, "at_least": 1.0, "factor": None}, records[::-1]).verdict is REPRODUCED
    assert judge(told, [*records[:1], *records[3:]]).verdict is OPEN


def test_points_go_by_the_axis_and_not_by_the_order_of_records() -> None:
    records = curve("fast", [2.0, 7.0, 6.0])
    for shuffled in ((2, 1, 0), (1, 2, 0)):
        assert judge(change("last/first", factor=3), [records[i] for i in shuffled]).measured == 3.0


def test_a_part_of_the_whole() -> None:
    told = factor(metric="details.graph_seconds", to="slow", at_most=0.1) | {"to_metric": "service_total"}
    records = [record("slow", {"n": n}, service_total=8.0 * n, details={"graph_seconds": 0.4}) for n in (1, 2)]
    result = judge(told, records)
    assert (result.measured, result.verdict, result.unit) == (pytest.approx(0.05), REPRODUCED, "")
    assert result.computation.startswith("details.graph_seconds of slow / service_total of slow, max over n")


def test_numbers_have_the_unit_of_their_metric() -> None:
    def unit(metric: str, **summary: object) -> str:
        kind = "memory" if metric.endswith("peak") else "time"
        return judge(number("max", metric, at_least=1), [record("fast", {"n": 1}, measurement=kind, **summary)]).unit

    assert unit("details.x_bytes_peak", details={"x_bytes_peak": 5.0}) == "B"
    assert unit("details.x_seconds", details={"x_seconds": 5.0}) == "s"
    assert unit("throughput", throughput=5.0) == "events/s"


# --- repetitions ------------------------------------------------------------------------------------------------------


def test_the_median_decides_and_the_interval_is_told() -> None:
    # Medians 2 and 1; the ratio lies between 1.6 / 1.0 and 100 / 1.0.
    result = judge(factor(factor=4), [*runs("slow", 1, [1.6, 100.0, 2.0]), *runs("fast", 1, [1.0])])
    assert (result.verdict, result.measured) == (REPRODUCED, 2)
    assert (result.low, result.high) == (pytest.approx(1.6), pytest.approx(100))
    assert result.reason == "the median decides: the interval of repetitions reaches from weaker to stronger"


def test_six_runs_have_an_interval_by_order_statistics() -> None:
    # Of nine values the second and the eighth are the 95 % interval.
    slow = runs("slow", 1, [9.0, 10.0, 10.5, 11.0, 11.0, 11.2, 11.5, 12.0, 400.0])
    result = judge(factor(factor=10), [*slow, *runs("fast", 1, [1.0])])
    assert (result.low, result.measured, result.high) == (10.0, 11.0, 12.0)


@pytest.mark.parametrize(
    ("values", "claimed", "expected"),
    [
        ([0.9, 1.2, 1.4], {"factor": 5}, CONTRADICTED),  # no effect that the repetitions show
        ([0.9, 1.2, 3.0], {"factor": 5}, OPEN),  # from none to half of it
        ([1.1, 1.2, 1.4], {"factor": 5}, WEAKER),
        ([0.9, 2.6, 3.0], {"factor": 5}, OPEN),
        ([0.9, 0.95, 1.3], {"at_most": 0.5}, CONTRADICTED),
        ([0.3, 0.8, 1.3], {"at_most": 0.5}, OPEN),
        ([0.9, 1.0, 1.3], {"factor": 1}, REPRODUCED),
        ([0.95, 1.998, 2.1], {"factor": 2}, OPEN),
        ([1.9, 1.998, 2.1], {"factor": 2}, REPRODUCED),
    ],
)
def test_an_effect_must_exceed_the_noise(values: list[float], claimed: dict[str, float], expected: Verdict) -> None:
    assert judge(factor(**claimed), [*runs("slow", 1, values), *runs("fast", 1, [1.0])]).verdict is expected


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_timeout_may_prove_a_factor() -> None:
    # The limit is 10 s and the other one took 0.01 s: the ratio is at least 1000.
    records = curve("slow", [0.5, None]) + curve("fast", [0.01, 0.01])
    for claimed, expected in [
        ({"factor": 400}, STRONGER),
        ({"factor": 2000}, REPRODUCED),
        ({"factor": 2001}, OPEN),
        ({"orders": 3}, REPRODUCED),
        ({"orders": 2}, STRONGER),
        ({"at_least": 1000}, REPRODUCED),
        ({"at_least": 1001}, OPEN),
        ({"factor": 1}, CONTRADICTED),
        ({"at_most": 900}, CONTRADICTED),
    ]:
        result = judge(factor(**claimed), records)
        assert result.verdict is expected, claimed
        assert (result.measured, result.low, result.high) == (pytest.approx(1000), pytest.approx(1000), None)
        assert "cut off by a limit: the number is at least 1000" in result.reason


def test_a_timeout_of_the_other_one_bounds_from_above() -> None:
    records = curve("slow", [1.0]) + curve("fast", [None]) + curve("third", [0.1])
    result = judge(factor(factor=2), records)  # at most 0.1
    assert (result.verdict, result.measured, result.low) == (CONTRADICTED, pytest.approx(0.1), None)
    assert judge(factor(at_most=0.1), records).verdict is REPRODUCED
    assert judge(factor(at_most=0.05), records).verdict is OPEN
    assert judge(factor(factor=1), records).verdict is CONTRADICTED


def test_a_band_between_two_bounds_is_open() -> None:
    # Medians of two runs, one of them cut off: from 0.1 to infinity, and the band of "equal" lies inside.
    slow = [*curve("slow", [0.1]), record("slow", {"n": 1}, Status.TIMEOUT, repetition=2, limit=0.1)]
    assert judge(factor(factor=1), [*slow, *curve("fast", [1.0])]).verdict is OPEN


def test_cut_off_on_both_sides_says_nothing() -> None:
    result = judge(factor(factor=2), curve("slow", [None]) + curve("fast", [None]))
    assert (result.verdict, result.measured) == (OPEN, None)
    assert "no point at which both were measured" in result.reason


def test_the_largest_value_may_be_one_that_was_cut_off() -> None:
    # At 2 the latency is at least 4 s, so the largest one is at least 5 s; nothing bounds it from above.
    records = [*curve("fast", [5.0, None], limit=4.0), *curve("other", [1.0, 1.0])]
    result = judge(number("max", at_most=6), records)
    assert (result.verdict, result.measured, result.high) == (OPEN, 5.0, None)
    assert judge(number("max", at_least=5), records).verdict is REPRODUCED
    assert judge(number("max", at_most=4.5), records).verdict is WEAKER


def test_the_smallest_value_may_be_one_that_was_cut_off() -> None:
    # 1000 events in more than 10 s: at 2 the throughput is at most 100 events/s.
    records = [*curve("fast", [80.0, None], "throughput"), *curve("other", [1.0, 1.0])]
    assert judge(number("min", "throughput", at_least=60), records).verdict is OPEN
    assert judge(number("min", "throughput", at_most=80), records).verdict is REPRODUCED
    assert judge(number("min", "throughput", at_least=90), records).verdict is OPEN  # at most 80, perhaps 0


def test_changes_that_were_cut_off() -> None:
    cut = [*curve("fast", [0.001, 0.01, None]), record("other", {"n": 4}, latency_max=1.0)]
    assert judge(change("last/first", at_least=10**4), cut).verdict is REPRODUCED  # at least 10 s / 1 ms
    assert judge(change("last/first", at_least=10**5), cut).verdict is OPEN
    assert judge(change("max/min", factor=1), cut).verdict is CONTRADICTED


def test_a_median_of_repetitions_that_were_cut_off_is_a_bound() -> None:
    fast = [record("fast", {"n": 1}, latency_max=1.0)]
    slow = [record("slow", {"n": 1}, repetition=r, latency_max=5.0) for r in (1, 2)]
    cut = [record("slow", {"n": 1}, Status.TIMEOUT, repetition=r, limit=10.0) for r in (3, 4, 5)]
    known = judge(factor(factor=5), [*fast, *slow, *cut[:1]])
    assert (known.verdict, known.measured, known.low, known.high) == (REPRODUCED, 5.0, 5.0, None)
    result = judge(factor(at_least=10), [*fast, *slow, *cut])
    assert (result.verdict, result.measured) == (REPRODUCED, 10.0)
    assert judge(factor(at_most=20), [*fast, *slow, *cut]).verdict is OPEN


def test_a_fallen_back_search_is_a_bound() -> None:
    def searched(name: str, seconds: float, fell: float) -> list:
        told = {"fell_back": fell, "search_seconds": seconds, "pruned_share_peak": 0.5}
        return [record(name, {"n": 1}, plan_seconds=seconds, latency_mean=1.0, details=told)]

    slow, fast = searched("slow", 10.0, 1), searched("fast", 0.1, 0)
    for metric in ("plan_seconds", "details.search_seconds"):
        assert judge(factor(metric=metric, at_least=100), slow + fast).verdict is REPRODUCED
        assert judge(factor(metric=metric, factor=30), slow + fast).verdict is STRONGER
        result = judge(factor(metric=metric, factor=1000), slow + fast)
        assert (result.verdict, result.measured) == (OPEN, pytest.approx(100))
        assert "the search of slow fell back at n 1" in result.reason
    for metric in ("latency_mean", "details.pruned_share_peak"):  # of another plan than the one asked for
        result = judge(factor(metric=metric, factor=2), slow + fast)
        assert (result.verdict, result.measured) == (OPEN, None)
        assert "the search of slow fell back at n 1" in result.reason
    both = judge(factor(metric="plan_seconds", factor=100), slow + searched("fast", 0.1, 1))
    assert (both.verdict, both.measured) == (OPEN, None)


# --- the schema -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "give one of factor, orders, at_least, at_most"),
        ({"factor": 2, "at_least": 2}, "give one of factor"),
        ({"factor": 0.5}, "factor 0.5 is below 1: give it the other way round"),
        ({"factor": 2, "to_metric": "makespan", "change": "last/first"}, "give either to_metric or change"),
        ({"factor": 2, "to": None, "to_metric": "makespan"}, "to_metric needs to"),
        ({"factor": 2, "cause": "because"}, "a cause stands with its evidence"),
    ],
)
def test_claims_that_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claim(**{**factor(), **fields})


def test_a_grade_rises_with_the_number() -> None:
    told = claim(**factor(factor=18))
    assert isinstance(told, Factor)
    grades = [grade(told, x / 10) for x in range(1, 1000)]
    assert list(dict.fromkeys(grades)) == [CONTRADICTED, WEAKER, REPRODUCED, STRONGER]
