from math import inf

import pytest

from cepbench.metrics.figure import Axis, Panel, Scale
from cepbench.metrics.record import Summary
from cepbench.metrics.status import Status
from cepbench.plots.points import coordinates, curves

LATENCY = Panel(metric="latency_p50", label="Latency", unit="s")
THROUGHPUT = Panel(metric="throughput", label="Throughput", unit="events/s")
STATE = Panel(metric="state_peak", label="State", unit="B")


def only(figure, panel, records):
    (curve,) = curves(figure, panel, records)
    (point,) = curve.points
    return point


def test_a_wrong_answer_is_never_a_time(figure, record):
    records = [
        record(status=Status.WRONG, reason="differs", summary=Summary(latency_p50=1e-9)),
        record(round=1, summary=Summary(latency_p50=2.0)),
    ]
    point = only(figure(), LATENCY, records)
    assert point.measured == (2.0,)
    assert [f.status for f in point.failures] == [Status.WRONG]
    assert not only(figure(), LATENCY, records[:1]).drawn


def test_errors_and_unsupported_queries_have_no_number(figure, record):
    for status in (Status.ERROR, Status.UNSUPPORTED):
        point = only(figure(), LATENCY, [record(status=status, summary=Summary(latency_p50=1.0))])
        assert point.estimate is None


def test_a_timeout_stands_at_the_limit_of_a_latency_and_counts_as_slower_than_everything(figure, record):
    records = [record(round=i, summary=Summary(latency_p50=1.0 + i, throughput=5.0)) for i in range(2)]
    records += [record(round=2 + i, status=Status.TIMEOUT) for i in range(3)]
    point = only(figure(), LATENCY, records)
    assert not point.drawn
    assert point.estimate.median == inf
    assert point.measured == (1.0, 2.0)
    assert (point.failures[0].limit, point.failures[0].count) == (60.0, 3)
    throughput = only(figure(), THROUGHPUT, records)
    assert throughput.estimate.median == -inf
    assert throughput.failures[0].limit is None


def test_a_panel_over_an_algorithm_draws_gains_at_the_same_point(figure, record):
    gain = Panel(metric="throughput", label="Gain", over="slow", algorithms=("fast",))
    records = [record(algorithm="fast", point={"n": n}, summary=Summary(throughput=100.0 * n)) for n in (1, 2, 3, 4)]
    records += [
        record(algorithm="slow", point={"n": 1}, round=i, summary=Summary(throughput=v))
        for i, v in enumerate((5.0, 20.0, 10.0))
    ]
    records += [record(algorithm="slow", point={"n": 2}, summary=Summary(throughput=50.0))]
    records += [record(algorithm="slow", point={"n": 3}, status=Status.TIMEOUT)]
    [curve] = curves(figure(x=Axis(name="n", label="n"), algorithms=("fast", "slow")), gain, records)
    assert curve.algorithm == "fast"
    assert [(point.x, point.measured) for point in curve.points] == [(1, (10.0,)), (2, (4.0,))]


def test_gains_of_failures_stand_at_no_limit(figure, record):
    gain = Panel(metric="latency_p50", label="Slower by", over="slow")
    records = [
        record(algorithm="slow", summary=Summary(latency_p50=4.0)),
        record(algorithm="fast", status=Status.TIMEOUT),
    ]
    fast, slow = curves(figure(algorithms=("fast", "slow")), gain, records)
    assert [failure.limit for failure in fast.points[0].failures] == [None]
    assert slow.points[0].measured == (1.0,)


def test_one_timeout_of_three_moves_the_median_but_does_not_hide_it(figure, record):
    records = [record(round=i, summary=Summary(latency_p50=float(i))) for i in (1, 2)]
    point = only(figure(), LATENCY, [*records, record(status=Status.TIMEOUT)])
    assert point.drawn
    assert point.estimate.median == 2.0


@pytest.mark.parametrize(
    ("metric", "limit"),
    [
        ("latency_p99", 60.0),
        ("service_total", 60.0),
        ("throughput", None),
        ("sustainable", None),
        ("plan_seconds", None),
        ("details.search_seconds", None),
    ],
)
def test_a_timeout_has_a_limit_where_the_metric_is_a_time_of_the_run(figure, record, metric, limit):
    point = only(figure(), Panel(metric=metric, label="Metric"), [record(status=Status.TIMEOUT)])
    assert [failure.limit for failure in point.failures] == [limit]


@pytest.mark.parametrize(("metric", "limit"), [("plan_seconds", 7.0), ("latency_p99", None), ("service_total", None)])
def test_planning_that_did_not_end_has_the_limit_of_planning(figure, record, metric, limit):
    late = record(status=Status.TIMEOUT, plan_limit_seconds=7.0)
    point = only(figure(), Panel(metric=metric, label="Metric"), [late])
    assert [failure.limit for failure in point.failures] == [limit]


def test_memory_exhaustion_counts_as_more_than_everything(figure, record):
    records = [record(memory=True, round=i, summary=Summary(process_peak=7 + i)) for i in range(2)]
    records += [record(memory=True, round=i, status=Status.OUT_OF_MEMORY) for i in (2, 3, 4)]
    point = only(figure(), Panel(metric="process_peak", label="Memory", unit="B"), records)
    assert point.estimate.median == inf
    assert point.measured == (7.0, 8.0)
    assert (point.failures[0].limit, point.failures[0].count) == (4 << 30, 3)
    slow = [record(summary=Summary(throughput=5.0)), record(round=1, status=Status.OUT_OF_MEMORY)]
    assert only(figure(), THROUGHPUT, [*slow, slow[1]]).estimate.median == -inf


def test_memory_exhaustion_stands_at_the_limit_of_process_memory_only(figure, record):
    failed = record(memory=True, status=Status.OUT_OF_MEMORY)
    assert only(figure(), STATE, [failed]).failures[0].limit is None
    process = Panel(metric="process_peak", label="Memory", unit="B")
    assert only(figure(), process, [failed]).failures[0].limit == 4 << 30


def test_each_metric_has_the_status_of_its_run(figure, record):
    cell = record(summary=Summary(latency_p50=1.0, state_peak=7), memory=True)
    assert only(figure(), STATE, [cell]).measured == (7.0,)
    late = cell.model_copy(update={"memory_status": Status.TIMEOUT})
    assert only(figure(), LATENCY, [late]).failures == ()
    assert [failure.status for failure in only(figure(), STATE, [late]).failures] == [Status.TIMEOUT]
    wrong = cell.model_copy(update={"status": Status.WRONG})
    assert [failure.status for failure in only(figure(), STATE, [wrong]).failures] == [Status.WRONG]
    assert curves(figure(), STATE, [cell.model_copy(update={"memory_status": None})]) == ()


def test_an_unsupported_query_is_told_of_in_every_panel(figure, record):
    refused = record(status=Status.UNSUPPORTED, reason="no negation")
    for panel in (LATENCY, STATE):
        point = only(figure(), panel, [refused])
        assert [(failure.status, failure.count) for failure in point.failures] == [(Status.UNSUPPORTED, 1)]


def test_curves_are_in_the_order_of_the_figure_and_points_in_the_order_of_x(figure, record):
    records = [
        record(a, {"events": x}, summary=Summary(latency_p50=1.0))
        for x in (100, 20, 3)
        for a in ("new", "cogra", "sase")
    ]
    lines = curves(figure(), LATENCY, records)
    assert [curve.algorithm for curve in lines] == ["sase", "cogra", "new"]
    assert [point.x for point in lines[0].points] == [3, 20, 100]


def test_a_cell_that_the_experiment_leaves_out_is_a_point_that_was_not_run(figure, record):
    records = [record("cogra", {"events": x}, summary=Summary(latency_p50=1.0)) for x in (1, 2, 3)]
    records += [record("greta", {"events": x}, summary=Summary(latency_p50=1.0)) for x in (1, 3)]
    records += [record("sase", {"events": 2})]  # has no such number anywhere
    by_algorithm = {curve.algorithm: curve for curve in curves(figure(), LATENCY, records)}
    assert {name: [point.x for point in curve.left_out] for name, curve in by_algorithm.items()} == {
        "sase": [],
        "greta": [2],
        "cogra": [],
    }
    assert [point.run for point in by_algorithm["sase"].points] == [False, True, False]


def test_series_facet_and_where_select(figure, record):
    records = [
        record(point={"events": 1, "sel": s, "data": d}, summary=Summary(latency_p50=s))
        for s in (0.1, 0.5)
        for d in ("stock", "bus")
    ]
    sweep = figure(series=Axis(name="sel", label="Selectivity"), facet=Axis(name="data", label="Data"))
    lines = curves(sweep, LATENCY, records, "bus")
    assert [(curve.series, curve.points[0].measured) for curve in lines] == [(0.1, (0.1,)), (0.5, (0.5,))]
    sliced = LATENCY.model_copy(update={"where": {"sel": 0.5}})
    assert [curve.series for curve in curves(sweep, sliced, records, "bus")] == [0.5]


def test_the_axis_fixes_the_order_of_categories(record):
    records = [record(point={"semantics": s}) for s in ("contiguous", "any", "other", "next")]
    axis = Axis(name="semantics", label="Semantics", scale=Scale.CATEGORY, values=("any", "next", "contiguous"))
    assert coordinates(records, axis) == ("any", "next", "contiguous", "other")


def test_five_workers_have_an_interval_and_five_runs_of_one_do_not(figure, record):
    seconds = [3.0, 1.0, 5.0, 2.0, 4.0]
    workers = [record(round=n, summary=Summary(latency_p50=took)) for n, took in enumerate(seconds, 1)]
    estimate = only(figure(), LATENCY, workers).estimate
    assert (estimate.median, estimate.low, estimate.high) == (3.0, 1.0, 5.0)
    assert only(figure(), LATENCY, workers[:4]).estimate.low is None
    single = record(summary=Summary(latency_p50=3.0), runs={"latency_p50": seconds})
    assert only(figure(), LATENCY, [single]).estimate.low is None


def test_a_curve_compares_the_same_draws(figure, record):
    draws = {1: (1, 2, 3), 2: (1, 2), 3: (1, 2, 3)}
    numbers = {1: 1.0, 2: 3.0, 3: 100.0}
    records = [
        record(point={"n": n, "draw": draw, "within": f"{n} s"}, summary=Summary(latency_p50=numbers[draw]))
        for n in draws
        for draw in draws[n]
    ]
    shown = figure(x=Axis(name="n", label="n"))
    [curve] = curves(shown, LATENCY, records)
    assert [point.measured for point in curve.points] == [(1.0, 3.0)] * 3
    fourth = [record(point={"n": 4, "draw": 9, "within": "4 s"}, summary=Summary(latency_p50=5.0))]
    [curve] = curves(shown, LATENCY, [*records, *fourth])
    assert [len(point.measured) for point in curve.points] == [3, 2, 3, 1]  # no draw is common to all
