"""Verdicts: bands, intervals, bounds, sizes, draws and causes, by the same rules for all figures."""

from collections.abc import Sequence
from typing import Any

import pytest

from cepbench.experiments.verdicts.causes import counterfactual_series
from cepbench.metrics.figure import Counterfactual, Verdict
from cepbench.metrics.record import Load, Record, Summary
from cepbench.metrics.status import Status
from tests.experiments.claiming import at, claim, judge, ran
from tests.experiments.records import record

HOLDS, STRONGER, WEAKER, OPPOSITE, OPEN = Verdict
CUT = Status.TIMEOUT


def ratio(measured: float, **claimed: Any) -> Verdict:
    """The verdict on slow / fast."""
    return judge([at("slow", 1, measured), at("fast", 1, 1.0)], to="fast", **claimed).verdict


@pytest.mark.parametrize(
    ("claimed", "verdicts"),
    [
        (
            {"factor": 8},
            {4.0: HOLDS, 16.0: HOLDS, 3.9: WEAKER, 16.1: STRONGER, 1.0: WEAKER, 0.97: WEAKER, 0.9: OPPOSITE},
        ),
        ({"orders": 2}, {32: HOLDS, 316: HOLDS, 31: WEAKER, 317: STRONGER, 0.9: OPPOSITE}),
        ({"factor": 2}, {1.42: HOLDS, 4.0: HOLDS, 1.4: WEAKER, 1.0: WEAKER, 0.9: OPPOSITE}),
        ({"factor": 1}, {0.5: HOLDS, 2.0: HOLDS, 2.1: OPPOSITE, 0.4: OPPOSITE}),
        ({"factor": [8, 20]}, {4.0: HOLDS, 40: HOLDS, 3.9: WEAKER, 40.1: STRONGER, 0.9: OPPOSITE}),
        ({"factor": [1.5, 2]}, {1.23: HOLDS, 4.0: HOLDS, 1.2: WEAKER}),
        ({"orders": [1, 2]}, {3.2: HOLDS, 316: HOLDS, 3.1: WEAKER, 317: STRONGER}),
        ({"at_least": 3}, {3.0: HOLDS, 900: HOLDS, 2.9: WEAKER, 0.9: OPPOSITE}),
        ({"at_most": 0.5}, {0.5: HOLDS, 0.01: HOLDS, 0.6: WEAKER, 1.1: OPPOSITE}),
        ({"at_most": 4}, {4.0: HOLDS, 0.1: HOLDS, 4.1: WEAKER}),
        ({"direction": "more"}, {1.1: HOLDS, 1.04: WEAKER, 0.9: OPPOSITE}),
        ({"direction": "less"}, {0.9: HOLDS, 0.97: WEAKER, 1.1: OPPOSITE}),
    ],
)
def test_the_band_of_a_ratio(claimed: dict[str, Any], verdicts: dict[float, Verdict]) -> None:
    assert {measured: ratio(measured, **claimed) for measured in verdicts} == verdicts


def test_an_interval_that_touches_an_edge_of_the_band_is_marked() -> None:
    cells = [ran("slow", 1, [3.0, 3.1, 3.2, 3.3, 4.2]), at("fast", 1, 1.0)]
    touching = {factor: judge(cells, to="fast", factor=factor).edge for factor in (4, 8, 10)}
    assert touching == {4: False, 8: True, 10: False}
    assert judge([at("slow", 1, 9.0), at("fast", 1, 1.0)], to="fast", factor=8).edge is False


def test_a_direction_of_bytes_needs_no_tolerance() -> None:
    cells = [at(name, 1, size, "state_peak", memory=Status.OK) for name, size in (("slow", 1001.0), ("fast", 1e3))]
    assert judge(cells, to="fast", metric="state_peak", direction="more").verdict is HOLDS
    same = [at(name, 1, 1e3, "state_peak", memory=Status.OK) for name in ("slow", "fast")]
    assert judge(same, to="fast", metric="state_peak", direction="more").verdict is WEAKER
    assert judge(same, to="fast", metric="state_peak", factor=1).verdict is HOLDS


def test_a_limit_of_the_memory_run_cuts_off_memory_and_not_times() -> None:
    metrics = {"latency_max": 3.0, "state_peak": 3}
    slow = record("slow", {"n": 1}, memory=Status.TIMEOUT, **metrics)
    fast = record("fast", {"n": 1}, memory=Status.OK, latency_max=1.0, state_peak=1)
    assert judge([slow, fast], to="fast", factor=3).verdict is HOLDS
    memory = judge([slow, fast], to="fast", metric="state_peak", factor=3)
    assert (memory.verdict, memory.reason) == (OPEN, "slow was cut off by a limit")
    alone = record("fast", {"n": 1}, latency_max=1.0)
    assert judge([slow, alone], to="fast", metric="state_peak", factor=3).reason == "fast was not run"


def test_the_median_decides_not_an_end_of_the_interval() -> None:
    cells = [ran("slow", 1, [3.0, 3.1, 3.2, 3.3, 4.2]), at("fast", 1, 1.0)]
    result = judge(cells, to="fast", factor=8)
    assert (result.verdict, result.measured, result.low, result.high) == (WEAKER, 3.2, 3.0, 4.2)
    assert judge(cells, to="fast", factor=6).verdict is HOLDS


def test_an_interval_from_no_effect_to_the_band_decides_nothing() -> None:
    around = [ran("slow", 1, [0.8, 0.9, 1.15, 1.2, 1.3]), at("fast", 1, 1.0)]
    result = judge(around, to="fast", direction="more")
    assert (result.verdict, result.measured) == (OPEN, 1.15)
    assert result.reason == "the interval reaches from no effect to the paper's number"
    assert judge(around, to="fast", factor=8).verdict is WEAKER
    assert judge(around, to="fast", at_most=1.1).verdict is WEAKER  # no effect is what it claims
    assert judge(around, of="fast", to="slow", direction="less").verdict is OPEN
    wide = [ran("slow", 1, [0.8, 0.9, 1.15, 1.2, 99.0]), at("fast", 1, 1.0)]
    assert judge(wide, to="fast", factor=8).verdict is OPEN
    short = [ran("slow", 1, [0.8, 0.9, 0.9, 0.9, 1.1]), at("fast", 1, 1.0)]
    assert judge(short, to="fast", factor=8).verdict is WEAKER  # and not opposite, since the interval has no effect
    assert (
        judge([ran("slow", 1, [0.8, 0.8, 0.8, 0.8, 0.9]), at("fast", 1, 1.0)], to="fast", factor=8).verdict is OPPOSITE
    )
    assert judge(wide, to="fast", factor=1).verdict is HOLDS
    assert judge(wide, factor=1.15).verdict is HOLDS  # a number by itself has no effect


def test_a_verdict_that_noise_decides_is_open() -> None:
    def cells(slowed: float) -> list[Record]:
        load = Load(slowed=slowed)
        return [at("slow", 1, 8.0).model_copy(update={"load": load}), at("fast", 1, 1.0)]

    disturbed = judge(cells(2.0), to="fast", factor=10)
    assert (disturbed.verdict, disturbed.measured, disturbed.calm) == (OPEN, 8.0, 4.0)
    assert disturbed.reason == "without the time that noisy cells lost, its verdict is another one"
    certain = judge(cells(1.25), to="fast", factor=10)
    assert (certain.verdict, certain.calm, certain.noisy, certain.cells) == (HOLDS, 6.4, 1, 2)
    quiet = judge(cells(1.0), to="fast", factor=10)
    assert (quiet.verdict, quiet.calm, quiet.noisy, quiet.cells) == (HOLDS, None, 0, 2)
    memory = [at(name, 1, size, "state_peak", memory=Status.OK) for name, size in (("slow", 8.0), ("fast", 1.0))]
    noisy = [cell.model_copy(update={"load": Load(slowed=2.0)}) for cell in memory]
    exact = judge(noisy, to="fast", metric="state_peak", factor=10)
    assert (exact.verdict, exact.noisy, exact.cells) == (HOLDS, 0, 0)


def test_without_noise_a_number_is_judged_by_its_interval_too() -> None:
    """Below no effect, with an interval that contains it, a number is weaker and not opposite, noise or not."""
    slow = ran("slow", 1, [0.9, 1.1, 1.4]).model_copy(update={"load": Load(slowed=1.3)})
    result = judge([slow, at("fast", 1, 1.0)], to="fast", factor=9)
    assert (result.verdict, result.measured, result.calm) == (WEAKER, 1.1, pytest.approx(1.1 / 1.3))


def test_without_noise_an_interval_that_reaches_no_effect_leaves_a_claim_open() -> None:
    slow = ran("slow", 1, [1.2, 1.3, 1.4]).model_copy(update={"load": Load(slowed=1.25)})
    result = judge([slow, at("fast", 1, 1.0)], to="fast", direction="more")
    assert (result.verdict, result.measured) == (OPEN, 1.3)
    reason = "without the time that noisy cells lost, the interval reaches from no effect to the paper's number"
    assert result.reason == reason


def floored(algorithm: str, seconds: float, least: float) -> Record:
    return record(algorithm, {"n": 1}, latency_max=seconds, service_total=seconds, floor_batch=least, floor_total=least)


def test_times_near_those_of_one_event_per_window_decide_nothing() -> None:
    cells = [floored("slow", 3.0, 0.1), floored("fast", 0.3, 0.1)]
    result = judge(cells, to="fast", factor=10)
    reason = (
        "the time of fast is mostly fixed costs at n 1: 3.0 times that with one event per window, of 10 that are needed"
    )
    assert (result.verdict, result.measured, result.reason) == (OPEN, 10.0, reason)
    assert judge([cells[0], floored("fast", 0.3, 0.03)], to="fast", factor=10).verdict is HOLDS
    assert judge(cells, to="fast", metric="service_total", factor=10).verdict is OPEN
    noisy = floored("fast", 1.2, 0.1).model_copy(update={"load": Load(slowed=2.0)})
    without = judge([cells[0], noisy], to="fast", factor=3)
    assert (without.verdict, without.measured) == (OPEN, 2.5)
    assert without.reason.startswith("without the time that noisy cells lost, the time of fast is mostly fixed costs")
    assert judge(cells, of="fast", at_most=0.5).verdict is HOLDS


def test_a_time_that_is_longer_than_its_work_bounds_a_ratio() -> None:
    cells = [floored("slow", 30.0, 0.1), floored("fast", 0.3, 0.1)]  # 0.3 s are at most the work of `fast`
    beyond = judge(cells, to="fast", factor=10)
    assert (beyond.verdict, beyond.measured, beyond.low, beyond.high, beyond.bound) == (
        STRONGER,
        100.0,
        100.0,
        None,
        True,
    )
    assert judge(cells, to="fast", direction="more").verdict is HOLDS
    assert judge(cells, to="fast", orders=3).verdict is OPEN  # the work may be that much more
    upper = judge(cells, of="fast", to="slow", at_most=0.5)
    assert (upper.verdict, upper.high, upper.bound) == (HOLDS, 0.01, True)
    rates = [
        floored(name, 1.0, least).model_copy(
            update={"summary": Summary(throughput=rate, service_total=1.0, floor_total=least)}
        )
        for name, rate, least in (("slow", 1.0, 0.01), ("fast", 50.0, 0.5))
    ]
    faster = judge(rates, of="fast", to="slow", metric="throughput", factor=10)
    assert (faster.verdict, faster.measured, faster.bound) == (STRONGER, 50.0, True)
    both = judge([floored("slow", 30.0, 10.0), cells[1]], to="fast", factor=10)
    assert (both.verdict, both.measured, both.bound) == (OPEN, 100.0, False)


def test_the_median_of_workers_and_of_draws_decides_whether_times_are_of_work() -> None:
    def fast(n: int, *floors: float) -> list[Record]:
        cells = [floored("fast", 0.3, least) for least in floors]
        return [cell.model_copy(update={"point": {"n": n}, "round": i + 1}) for i, cell in enumerate(cells)]

    slow = [floored("slow", 3.0, 0.1).model_copy(update={"point": {"n": n}}) for n in (1, 2, 3)]
    claimed = {"to": "fast", "factor": 10, "where": {"n": 1}}
    assert judge([*slow, *fast(1, 0.01, 0.1, 0.01)], **claimed).verdict is HOLDS
    assert judge([*slow, *fast(1, 0.1, 0.1, 0.01)], **claimed).verdict is OPEN
    drawn = {"to": "fast", "factor": 10, "draws": "n"}
    draws = [*slow, *fast(1, 0.1), *fast(2, 0.01), *fast(3, 0.01)]
    assert judge(draws, **drawn).verdict is HOLDS
    assert judge(draws, **drawn, average="mean").verdict is OPEN  # each draw is a part of a mean
    assert judge([*slow, *fast(1, 0.1), *fast(2, 0.1), *fast(3, 0.01)], **drawn).verdict is OPEN


def test_a_number_by_itself() -> None:
    cells = [at("slow", 1, 3.0)]
    assert [judge(cells, **claimed).verdict for claimed in ({"factor": 5}, {"factor": 7}, {"factor": 1})] == [
        HOLDS,
        WEAKER,
        STRONGER,
    ]
    assert judge(cells, at_most=2).verdict is WEAKER
    assert judge(cells, factor=5).unit == "s"


def test_a_part_of_a_whole() -> None:
    cells = [record("slow", {"n": 1}, latency_max=9.0, service_total=10.0)]
    result = judge(cells, to="slow", to_metric="service_total", factor=0.9)
    assert (result.verdict, result.measured, result.unit) == (HOLDS, 0.9, "%")
    bounded = judge(cells, to="slow", to_metric="service_total", at_most=0.95)
    assert (bounded.verdict, bounded.expected) == (HOLDS, "at most 95 %")


CURVE = [(1, 3.0), (2, 12.0), (4, 48.0), (8, 192.0), (16, 768.0)]


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [
        ({"power": 2}, HOLDS),
        ({"power": 1.5}, STRONGER),
        ({"power": 3}, WEAKER),
        ({"power": 0}, OPPOSITE),
        ({"at_least": 1.9}, HOLDS),
        ({"at_most": 1.9}, WEAKER),
        ({"at_most": -3}, OPPOSITE),
        ({"direction": "more"}, HOLDS),
        ({"direction": "less"}, OPPOSITE),
    ],
)
def test_a_slope(claimed: dict[str, Any], verdict: Verdict) -> None:
    cells = [at("slow", n, value) for n, value in CURVE]
    result = judge(cells, slope={"n": [1, 16]}, **claimed)
    assert (result.verdict, result.measured, result.size) == (verdict, pytest.approx(2.0), "n 1 to 16")


def test_one_noisy_point_does_not_move_a_slope_far() -> None:
    cells = [at("slow", n, value * (3 if n == 8 else 1)) for n, value in CURVE]
    result = judge(cells, slope={"n": [1, 16]}, power=2)
    assert result.verdict is HOLDS
    assert result.measured == pytest.approx(2.0, abs=0.3)
    assert (result.low or 9) < 2 < (result.high or 0)


def test_a_slope_sees_only_its_stretch() -> None:
    cells = [at("slow", n, value) for n, value in [*CURVE, (32, 768.0), (64, 768.0)]]
    assert judge(cells, slope={"n": [1, 16]}, power=2).verdict is HOLDS


def test_a_bent_curve_has_no_slope() -> None:
    cells = [at("slow", n, value) for n, value in ((1, 1.0), (2, 1.0), (4, 1.1), (8, 2.0), (16, 40.0))]
    result = judge(cells, slope={"n": [1, 16]}, at_least=3)
    assert (result.verdict, (result.low or 0) <= 0, (result.high or 0) > 3) == (OPEN, True, True)


def test_growth_between_two_sizes_in_either_direction() -> None:
    cells = [at("slow", n, value) for n, value in CURVE]
    grown = judge(cells, between={"n": [2, 8]}, factor=16)
    assert (grown.verdict, grown.measured, grown.unit) == (HOLDS, 16.0, "x")
    assert judge(cells, between={"n": [8, 2]}, at_most=0.1).measured == 1 / 16
    gain = [*cells, *(at("fast", n, 3.0) for n, _ in CURVE)]
    assert judge(gain, to="fast", between={"n": [1, 16]}, factor=256).verdict is HOLDS


def test_what_a_limit_cut_off_is_a_bound_which_decides_beyond_the_band() -> None:
    cells = [at("slow", 1, None, limit=10.0), at("fast", 1, 0.001)]
    result = judge(cells, to="fast", orders=4)
    assert (result.verdict, result.measured, result.low, result.high) == (OPEN, 10_000.0, 10_000.0, None)
    assert result.reason == "slow was cut off by a limit"
    both = judge([at("slow", 1, None, limit=10.0), at("fast", 1, None)], to="fast", factor=4)
    assert both.reason == "slow and fast were cut off by a limit"
    beyond = judge(cells, to="fast", orders=3)
    assert (beyond.verdict, beyond.measured, beyond.bound, beyond.reason) == (STRONGER, 10_000.0, True, "")
    turned = judge(cells, of="fast", to="slow", at_most=0.5)
    assert (turned.verdict, turned.measured, turned.low) == (HOLDS, 0.0001, None)
    assert judge(cells, of="fast", to="slow", direction="more").verdict is OPPOSITE
    curve = [*(at("slow", n, value) for n, value in CURVE[:4]), at("slow", 16, None), at("fast", 16, 1.0)]
    assert judge(curve, slope={"n": [1, 16]}, power=2).verdict is OPEN


def test_an_empty_answer_is_no_limit() -> None:
    result = judge([record("slow", {"n": 1}), at("fast", 1, 1.0)], to="fast", factor=2)
    assert (result.verdict, result.measured, result.bound) == (OPEN, None, False)
    assert result.reason == "slow has no latency_max at n 1: no window has a match"
    counted = judge([at("slow", 1, 1.0)], metric="details.paths", at_most=2)
    assert counted.reason == "slow has no details.paths at n 1"


def test_out_of_memory_says_nothing_about_time() -> None:
    result = judge([record("slow", {"n": 1}, Status.OUT_OF_MEMORY), at("fast", 1, 1.0)], to="fast", factor=2)
    assert (result.verdict, result.low, result.high) == (OPEN, None, None)


@pytest.mark.parametrize("detail", ["fell_back", "thinned", "stopped_early"])
def test_an_incomplete_search_leaves_a_claim_open(detail: str) -> None:
    cells = [record("slow", {"n": 1}, latency_max=8.0, details={detail: 1.0}), at("fast", 1, 1.0)]
    result = judge(cells, to="fast", factor=8)
    assert (result.verdict, result.measured) == (OPEN, 8.0)
    words = {"fell_back": "fell back to another plan", "thinned": "left plans out", "stopped_early": "stopped early"}
    assert result.reason == f"the search of slow {words[detail]}"
    drawn = [
        record(name, {"n": 1, "seed": seed}, latency_max=time, details={detail: more})
        for seed in (1, 2, 3)
        for name, time, more in (("slow", 8.0, float(seed > 1)), ("fast", 1.0, 0.0))
    ]
    several = judge(drawn, to="fast", factor=8, where={"n": 1}, draws="seed")
    assert several.reason == f"the search of slow {words[detail]} in 2 of 3 draws"
    assert several.size == "n 1, 3 draws of seed"


def test_draws_of_an_axis_of_that_name_are_draws() -> None:
    drawn = [record("slow", {"n": 1, "draw": draw}, latency_max=8.0) for draw in (1, 2)]
    assert judge(drawn, where={"n": 1}, draws="draw", at_most=9).size == "n 1, 2 draws"


def test_another_size_than_the_claimed_one_leaves_it_open_and_shows_the_nearest() -> None:
    cells = [at(name, n, value) for name, value in (("slow", 8.0), ("fast", 1.0)) for n in (1, 10, 100)]
    result = judge(cells, to="fast", factor=8, where={"n": 5000})
    assert (result.verdict, result.measured, result.size) == (OPEN, 8.0, "n 100")
    assert result.reason == "n 5000 was not measured"
    part = judge(cells, slope={"n": [1, 1000]}, power=0)
    assert (part.verdict, part.reason, part.size) == (OPEN, "n 1 to 1000 was not measured", "n 1 to 100")


def test_a_size_of_another_kind_has_no_nearest_one() -> None:
    result = judge([at("slow", 1, 8.0), at("fast", 1, 1.0)], to="fast", factor=8, where={"stream": "low"})
    assert (result.verdict, result.reason) == (OPEN, "no point has stream low")


def two_axes(values: dict[tuple[int, int], float]) -> list[Any]:
    return [record("slow", {"n": n, "k": k}, latency_max=value) for (n, k), value in values.items()]


def test_the_points_of_a_claim_are_of_one_sweep() -> None:
    cells = two_axes({(1, 5): 1.0, (2, 5): 2.0, (4, 5): 4.0, (2, 6): 7.0, (4, 7): 99.0})
    along = [[{"n": n, "k": 5} for n in (1, 2, 4)], [{"n": 2, "k": k} for k in (5, 6)], [{"n": 4, "k": 7}]]
    assert judge(cells, along, between={"n": [1, 4]}, factor=4).measured == 4.0
    assert judge(cells, along, between={"k": [5, 6]}, factor=3).measured == 3.5
    assert judge(cells, along, where={"n": 1}, factor=1).measured == 1.0
    assert judge(cells, along, between={"k": [5, 8]}, factor=3).reason == "k 5 to 8 was not measured"


def test_points_of_several_sweeps_that_differ_in_nothing_else_belong_together() -> None:
    cells = two_axes({(1, 5): 1.0, (2, 5): 2.0, (4, 5): 4.0, (4, 6): 9.0})
    apart = [[{"n": 1, "k": 5}], [{"n": n, "k": 5} for n in (2, 4)], [{"n": 4, "k": 6}]]
    assert judge(cells, apart, between={"n": [1, 4]}, factor=4).measured == 4.0


def test_several_points_of_one_size_are_refused() -> None:
    result = judge(two_axes({(2, 5): 2.0, (2, 6): 7.0}), where={"n": 2}, factor=2)
    assert result.verdict is OPEN
    assert result.reason == "several points have this size, such as n 2, k 6; name more axes in where"


def test_draws_give_the_median_and_the_share_that_holds() -> None:
    gains = {1: 2.0, 2: 7.0, 3: 8.0, 4: 9.0, 5: 30.0, 6: 8.5, 7: 8.0}
    cells = two_axes({(1, draw): gain for draw, gain in gains.items()})
    cells += [record("fast", {"n": 1, "k": draw}, latency_max=1.0) for draw in gains]
    result = judge(cells, to="fast", where={"n": 1}, draws="k", factor=8)
    assert (result.measured, result.low, result.high) == (8.0, 2.0, 30.0)
    assert (result.verdict, result.held, result.draws) == (HOLDS, 5, 7)
    assert result.size == "n 1, 7 draws of k"


def test_the_mean_over_draws_is_that_of_the_paper_beside_their_median() -> None:
    cells = two_axes({(1, draw): gain for draw, gain in enumerate((6.0, 6.0, 6.0, 6.0, 26.0))})
    cells += [record("fast", {"n": 1, "k": draw}, latency_max=1.0) for draw in range(5)]
    result = judge(cells, to="fast", draws="k", average="mean", factor=10)
    assert (result.measured, result.verdict, result.held) == (10.0, HOLDS, 4)
    assert (result.low, result.high) == pytest.approx((2, 18))
    assert result.size == "5 draws of k, their mean; their median is 6"


@pytest.mark.parametrize(
    ("metric", "values", "ratios"),
    [("latency_max", {1: (8.0, 2.0, 4.0), 2: (8.0, 4.0, 1.0)}, [4, 8]), ("throughput", {1: (8.0, 2.0, 4.0)}, [2])],
)
def test_the_runner_up_is_the_best_in_each_draw(
    metric: str, values: dict[int, tuple[float, ...]], ratios: list[float]
) -> None:
    names = ("slow", "left", "right")
    cells = [
        record(name, {"k": draw}, **{metric: number})
        for draw, numbers in values.items()
        for name, number in zip(names, numbers, strict=True)
    ]
    result = judge(cells, metric=metric, to=["left", "right"], draws="k", at_least=1)
    assert result.measured == sum(ratios) / len(ratios)


def test_one_lucky_draw_does_not_hold() -> None:
    gains = {1: 2.0, 2: 2.0, 3: 3.0, 4: 3.0, 5: 50.0}
    cells = two_axes({(1, draw): gain for draw, gain in gains.items()})
    cells += [record("fast", {"n": 1, "k": draw}, latency_max=1.0) for draw in gains]
    result = judge(cells, to="fast", draws="k", factor=18)
    assert (result.verdict, result.held, result.high) == (WEAKER, 0, 50.0)


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [({"direction": "more"}, HOLDS), ({"factor": 80}, WEAKER), ({"factor": 18}, OPEN), ({"factor": 8}, HOLDS)],
)
def test_a_median_between_two_numbers_is_judged_where_both_have_the_same_verdict(
    claimed: dict[str, Any], verdict: Verdict
) -> None:
    cells = [record("slow", {"k": k}, latency_max=latency) for k, latency in enumerate([6.0, 8.0, 10.0])]
    cells += [record("fast", {"k": k}, latency_max=1.0) for k in range(3)]
    cells += [record(name, {"k": 3}, CUT) for name in ("slow", "fast")]  # any ratio: the median is between 7 and 9
    result = judge(cells, to="fast", draws="k", **claimed)
    assert (result.verdict, result.low, result.high) == (verdict, 7.0, 9.0)


def test_draws_that_were_cut_off_leave_the_median_known_as_long_as_they_are_few() -> None:
    def judged(*latencies: float | None) -> Any:
        cells = [
            record("slow", {"n": 1, "k": k}, latency_max=value) if value else record("slow", {"n": 1, "k": k}, CUT)
            for k, value in enumerate(latencies)
        ]
        cells += [record("fast", {"n": 1, "k": k}, latency_max=1.0) for k in range(len(latencies))]
        return judge(cells, to="fast", draws="k", factor=8)

    few = judged(8.0, 9.0, None)
    assert (few.verdict, few.measured, few.held, few.draws) == (HOLDS, 9.0, 2, 3)
    assert judged(8.0, None, None).verdict is OPEN


@pytest.mark.parametrize("status", [Status.WRONG, Status.ERROR, Status.UNSUPPORTED])
def test_an_invalid_cell_leaves_a_claim_open(status: Status) -> None:
    cells = [at("slow", 1, 8.0), record("slow", {"n": 2}, status), at("fast", 1, 1.0)]
    assert judge(cells, to="fast", factor=8, where={"n": 1}).reason == f"slow is {status.value} at n 2"


def test_an_algorithm_that_was_not_run_leaves_a_claim_open() -> None:
    assert judge([at("slow", 1, 8.0)], to="fast", factor=8).reason == "fast was not run"
    apart = [at("slow", 1, 8.0), at("fast", 2, 1.0)]
    assert judge(apart, to="fast", factor=8).reason == "slow and fast were not run at the same point"


CAUSE = {
    "by": "size",
    "why": "It grows.",
    "evidence": [{"metric": "latency_max", "of": "slow", "between": {"n": [1, 2]}}],
}


def test_a_cause_has_numbers_of_the_same_records() -> None:
    cells = [at("slow", 1, 2.0), at("slow", 2, 6.0), *(at("fast", n, 1.0) for n in (1, 2))]
    result = judge(cells, to="fast", where={"n": 2}, factor=100, cause=CAUSE)
    assert (result.verdict, result.cause, result.why) == (WEAKER, "size", "It grows.")
    [shown] = result.evidence
    assert (shown.what, shown.measured, shown.unit) == ("growth of the latency_max of slow at n 1 to 2", 3.0, "x")
    elsewhere = {**CAUSE, "evidence": [{"metric": "latency_max", "of": "slow", "where": {"n": 99}}]}
    [nearest] = judge(cells, to="fast", where={"n": 2}, factor=100, cause=elsewhere).evidence
    assert nearest.what == "latency_max of slow at n 2 (n 99 was not measured)"


def test_what_holds_or_is_open_has_no_cause() -> None:
    cells = [at("slow", 1, 2.0), at("slow", 2, 6.0), *(at("fast", n, 1.0) for n in (1, 2))]
    assert judge(cells, to="fast", where={"n": 2}, factor=6, cause=CAUSE).cause == ""
    assert judge(cells, to="fast", where={"n": 99}, factor=600, cause=CAUSE).cause == ""


def counterfactual(cells: Sequence[Record], sweeps: Any = None, **fields: Any) -> Counterfactual:
    """The counterfactual of a claim that does not hold."""
    shown = judge(cells, sweeps, **fields).counterfactual
    assert shown is not None
    return shown


def paper(**kind: Any) -> dict[str, Any]:
    return {"by": "paper", "why": "w", **kind}


def test_a_mode_is_judged_by_the_band_of_its_claim() -> None:
    slow, fast = (f"{name}[search=enumerate, k=1]" for name in ("slow", "fast"))
    cells = [at(name, 1, value) for name, value in (("slow[k=1]", 1.1), ("fast[k=1]", 1.0), (slow, 5.0), (fast, 1.0))]
    mode = paper(mode={"of": slow, "to": fast})
    claimed = {"of": "slow[k=1]", "to": "fast[k=1]", "factor": 6, "cause": mode}
    shown = counterfactual(cells, **claimed)
    assert (shown.kind, shown.what, shown.measured) == ("mode", "with search=enumerate", 5.0)
    assert (shown.unit, shown.verdict) == ("x", HOLDS)
    assert judge(cells, **claimed).verdict is WEAKER
    counted = paper(mode={"of": slow, "to": fast, "metric": "details.paths"})
    assert counterfactual(cells, **{**claimed, "cause": counted}).what.startswith(
        "with search=enumerate, in details.paths"
    )
    absent = counterfactual(cells[:2], **claimed)
    assert (absent.what, absent.verdict) == (f"with search=enumerate: {slow} was not run", OPEN)
    assert judge(cells, **{**claimed, "factor": 1.1}).counterfactual is None


def test_a_mode_names_the_parameters_that_it_leaves_out() -> None:
    cells = [at(name, 1, value) for name, value in (("a[k=1]", 9.0), ("b[k=1]", 9.0), ("a", 1.0))]
    shown = counterfactual(cells, of="b[k=1]", to="a[k=1]", factor=9, cause=paper(mode={"to": "a"}))
    assert (shown.what, shown.measured) == ("without k=1", 9.0)


def test_a_mode_with_another_metric_names_its_number() -> None:
    cells = [record(name, {"n": 1}, latency_max=1.0, service_total=x) for name, x in (("slow", 9.0), ("fast", 1.0))]
    shown = counterfactual(cells, to="fast", factor=8, cause=paper(mode={"metric": "service_total"}))
    assert (shown.what, shown.measured) == ("in service_total of slow over fast", 9.0)


def test_a_mode_at_another_size_names_it() -> None:
    cells = [at(name, n, x) for name, n, x in (("slow", 1, 1.0), ("slow", 2, 9.0), ("fast", 1, 1.0), ("fast", 2, 1.0))]
    shown = counterfactual(cells, to="fast", where={"n": 1}, factor=8, cause=paper(mode={"where": {"n": 2}}))
    assert (shown.what, shown.measured) == ("in latency_max of slow over fast at n 2", 9.0)


def test_a_grid_has_the_share_and_the_region_in_which_the_claim_holds() -> None:
    cells = [at(name, n, 1.0 if name == "fast" else float(n)) for name in ("slow", "fast") for n in (1, 3, 5, 7, 99)]
    shown = counterfactual(cells, to="fast", factor=4, where={"n": 1}, cause=paper(grid=["n"]))
    assert (shown.kind, shown.held, shown.points, shown.region) == ("grid", 3, 5, "n 3 to 7")
    nowhere = counterfactual(cells, to="fast", factor=40, where={"n": 1}, cause=paper(grid=["n"]))
    assert (nowhere.held, nowhere.points, nowhere.region) == (0, 5, "")
    alone = [cell for cell in cells if cell.algorithm == "slow"]
    undecided = counterfactual(alone, to="fast", factor=40, where={"n": 1}, cause=paper(grid=["n"]))
    assert undecided.what == "on the grid of n: its 5 points decide nothing"
    assert counterfactual([], to="fast", factor=4, where={"n": 1}, cause=paper(grid=["n"])).what.endswith(
        "no point was measured"
    )


def law(sizes: Sequence[float], to: float, **fields: Any) -> Counterfactual:
    cells = [at(name, n, 1.0 if name == "fast" else 2.0 * n) for name in ("slow", "fast") for n in sizes]
    cause = paper(law={"over": "n", "at": to})
    return counterfactual(cells, to="fast", where={"n": sizes[-1]}, cause=cause, **{"orders": 4, **fields})


def test_a_law_extrapolates_by_two_decades_at_most() -> None:
    shown = law([1, 2, 4, 8, 16], 1600)
    assert (shown.kind, shown.measured, shown.verdict) == ("law", pytest.approx(3200), HOLDS)
    assert shown.what == "by the law over n of slow from 1 to 16 (5 sizes) and of fast from 1 to 16 (5 sizes), at 1600"
    assert law([1, 2, 4, 8], 16).what == "by the law over n, at 16: 4 sizes of slow are too few"
    far = law([1, 2, 4, 8, 16], 16000)
    assert (far.verdict, far.measured) == (OPEN, None)
    assert far.what == "by the law over n, at 16000: it lies 3.0 decades beyond the largest size of slow"


def test_a_law_has_the_interval_of_its_line() -> None:
    values = [2.0, 4.4, 7.6, 16.8, 31.0]
    cells = [*(at("slow", 2**n, value) for n, value in enumerate(values)), *(at("fast", 2**n, 1.0) for n in range(5))]
    shown = counterfactual(cells, to="fast", where={"n": 16}, orders=4, cause=paper(law={"over": "n", "at": 1600}))
    assert shown.low is not None
    assert shown.measured is not None
    assert shown.high is not None
    assert shown.low < shown.measured < shown.high
    assert (shown.low, shown.measured, shown.high) == tuple(map(pytest.approx, (1643.342, 2945.460, 5279.324)))


def test_each_system_has_a_law_of_its_own_over_its_own_sizes() -> None:
    cells = [at("slow", n, float(n**2)) for n in (1, 2, 4, 8, 16)]
    cells += [at("fast", n, float(n)) for n in (16, 32, 64, 128, 256)]
    shown = counterfactual(cells, to="fast", where={"n": 16}, orders=2, cause=paper(law={"over": "n", "at": 1600}))
    assert (shown.measured, shown.verdict) == (pytest.approx(1600), STRONGER)
    assert "of slow from 1 to 16 (5 sizes) and of fast from 16 to 256 (5 sizes)" in shown.what


def test_sizes_at_which_times_are_not_of_work_are_left_out_of_a_law() -> None:
    cells = [at("slow", n, float(n), floor_batch=1.0) for n in (1, 10, 20, 40, 80, 160)]
    shown = counterfactual(cells, factor=90, where={"n": 10}, cause=paper(law={"over": "n", "at": 1600}))
    assert "of slow from 10 to 160 (5 sizes)" in shown.what


def test_a_law_over_a_metric_has_the_sizes_along_an_axis() -> None:
    cells = [at("slow", n, 2.0 * n, details={"trends": 4.0**n}) for n in range(1, 6)]
    along = {"over": "details.trends", "along": "n", "at": 4.0**6}
    shown = counterfactual(cells, factor=90, where={"n": 5}, cause=paper(law=along))
    assert shown.what == "by the law over details.trends of slow from 4 to 1024 (5 sizes), at 4096"
    with pytest.raises(ValueError, match="along: 'n' is no metric"):
        claim(factor=2, cause=paper(law={"over": "n", "along": "k", "at": 3}))


def test_a_formula_is_evaluated_on_the_realised_workload() -> None:
    cells = [record(name, {"n": 3}, latency_max=2.0, details={"paths": 10.0}) for name in ("slow", "fast")]
    paths = {"metric": "details.paths", "of": "slow"}
    formula = {"formula": "paths ** 2 / (n + 2) - 1", "numbers": {"paths": paths}}
    shown = counterfactual(cells, to="fast", factor=42, where={"n": 3}, cause=paper(arithmetic=formula))
    assert (shown.kind, shown.measured, shown.verdict) == ("arithmetic", 19.0, WEAKER)
    assert shown.what == "by arithmetic, paths ** 2 / (n + 2) - 1 with paths = 10"
    nothing = counterfactual(
        cells, to="fast", factor=42, where={"n": 3}, cause=paper(arithmetic={"formula": "1 / (n - 3)"})
    )
    assert (nothing.measured, nothing.verdict) == (None, OPEN)


def test_an_open_claim_has_a_cause_only_with_a_counterfactual() -> None:
    cells = [at("slow", 1, None, limit=10.0), at("fast", 1, 0.001), at("slow[k=1]", 1, 10.0)]
    cause = paper(mode={"of": "slow[k=1]"})
    result = judge(cells, to="fast", orders=4, cause=cause)
    assert (result.verdict, result.cause) == (OPEN, "paper")
    assert result.counterfactual is not None
    assert (result.counterfactual.what, result.counterfactual.verdict) == ("with k=1", HOLDS)


def test_series_of_counterfactuals_are_compared_by_no_claim() -> None:
    claims = [
        claim(to="fast", factor=2, cause=paper(mode={"of": "slow[k=1]", "to": "other"})),
        claim(of="other", to="fast", factor=2),
    ]
    assert counterfactual_series(claims) == ("slow[k=1]",)


def test_who_ends_and_who_does_not() -> None:
    limit = {"fails": ["slow"], "ends": ["fast"], "where": {"n": 2}}
    cells = [at("slow", 1, 1.0), at("fast", 1, 1.0), at("fast", 2, 1.0)]
    assert judge([*cells, at("slow", 2, None)], **limit).verdict is HOLDS
    assert judge([*cells, record("slow", {"n": 2}, Status.OUT_OF_MEMORY)], **limit).verdict is HOLDS
    assert judge([*cells, at("slow", 2, None, limit=10.0)], **limit).reason == "within 10 s"
    short = record("fast", {"n": 2}, details={"fell_back": 1.0})
    assert judge([*cells[:2], short, at("slow", 2, None)], **limit).verdict is OPEN
    assert judge([*cells, at("slow", 2, 1.0, memory=Status.OUT_OF_MEMORY)], **limit).verdict is OPPOSITE
    ended = judge([*cells, at("slow", 2, 1.0)], **limit)
    assert (ended.verdict, ended.reason) == (OPPOSITE, "slow finished")
    late = judge([*cells[:2], at("fast", 2, None), at("slow", 2, None)], **limit)
    assert (late.verdict, late.reason) == (OPEN, "fast did not finish within our limits, either")
    assert judge(cells, **limit).reason == "slow was not run at n 2"


@pytest.mark.parametrize(
    ("claimed", "words"),
    [
        ({"to": "fast", "factor": 8}, "8 times"),
        ({"to": "fast", "factor": 1}, "no difference"),
        ({"to": "fast", "orders": 3}, "10^3 times"),
        ({"to": "fast", "orders": [3, 5]}, "10^3 to 10^5 times"),
        ({"to": "fast", "factor": [7, 76]}, "7 to 76 times"),
        ({"at_most": 3}, "at most 3"),
        ({"slope": {"n": [1, 2]}, "power": 2}, "n^2"),
        ({"slope": {"n": [1, 2]}, "power": 0}, "constant"),
        ({"slope": {"n": [1, 2]}, "at_least": 3}, "at least n^3"),
        ({"to": "fast", "direction": "more"}, "more"),
        ({"fails": ["slow", "big"], "ends": ["fast"]}, "slow and big do not end, fast ends"),
    ],
)
def test_expectations_in_words(claimed: dict[str, Any], words: str) -> None:
    assert judge([], **claimed).expected == words
