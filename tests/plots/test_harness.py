import pytest

from cepbench.metrics.record import Load, Realised, Summary
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.metrics.values import floor
from cepbench.plots.draw import all_styles, write_drawings
from cepbench.plots.lines import floor_points
from cepbench.plots.points import curves
from cepbench.plots.provenance import flat
from cepbench.plots.section import FLOOR_LINE, notices, section, share

EMPTY = Realised(events=10, windows=0, rows=0, substreams=1)


def timed(least, total=1.0, **more):
    return Summary(floor_total=least, floor_batch=least, service_total=total, latency_p50=total, **more)


def test_the_share_of_the_time_on_one_event_per_window(record):
    assert share(record(summary=timed(0.25))) == 0.25
    assert share(record(summary=timed(0.25), status=Status.WRONG)) == 0
    assert share(record(summary=Summary(service_total=1.0))) == 0
    assert share(record(summary=timed(0.0, 0.0))) == 0


def test_notices_name_the_cells(record):
    records = [
        record(point={"events": 1}, summary=timed(0.2)),
        record(point={"events": 2}, summary=timed(0.4)),
        record(point={"events": 3}, summary=timed(0.1), load=Load(waited=0.3), realised=EMPTY),
    ]
    text = str(notices(records))
    assert "more than a tenth of the time, in 2 cells: greta at events 2 (40%), greta at events 1 (20%)." in text
    assert (
        "1 of 3 cells are noisy because other work ran on the machine; greta at events 3 most: the worker lost 30%"
        in text
    )
    assert "1 of 3 cells have an empty answer: no window has a match." in text
    assert notices([record(summary=timed(0.1))]) is None


def test_only_the_largest_shares_are_named(record):
    records = [record(point={"events": n}, summary=timed(0.2 + n / 100)) for n in range(8)]
    text = str(notices(records))
    assert "in 8 cells: greta at events 7 (27%)" in text
    assert "greta at events 3 (23%) and 3 more." in text


def test_the_shortest_time_on_one_event_per_window_is_drawn_thin_where_the_axis_reaches(figure, record, tmp_path):
    def measured(total):
        return [
            record("sase", {"events": 10}, summary=timed(0.02, total)),
            record("greta", {"events": 10}, summary=timed(0.01, total)),
            record("greta", {"events": 20}, summary=timed(0.04, total)),
        ]

    layout = figure()
    assert floor_points(curves(layout, layout.panels[0], measured(0.05))) == [(10.0, 0.01), (20.0, 0.04)]
    for total, shown in ((0.05, True), (9.0, False)):  # far below the algorithms, the line is not on the axis
        results = Results(tmp_path, layout, tuple(measured(total)))
        section_ = str(section(results, write_drawings(results, tmp_path), tmp_path, all_styles([results])))
        assert (FLOOR_LINE in section_) is shown


def test_lost_workers_are_reported(record):
    lost = record(point={"events": 2}, lost=("no executor was left for 60 s",))
    slots = [record(provenance={"spark": {"defaultParallelism": number}}) for number in ("2", "2", "1")]
    asked = record(provenance={"spark": {"defaultParallelism": "4"}}, configuration={"slots": 4})
    text = str(notices([lost, *slots, asked]))
    assert "In 1 of 5 cells a worker was lost, and the cell was measured again; greta at events 2: no executor" in text
    assert "The number of slots (workers side by side) changed during the run: 2 in 2 cells, 1 in 1 cells." in text
    assert notices([slots[0], slots[1], asked]) is None


def test_workers_of_a_cluster_are_words():
    worker = {"host": "a", "parent": 7, "python": "3.11", "versions": {}, "architecture": "arm64", "cores": 4}
    assert flat({"workers": [{**worker, "memory_bytes": 8 * 10**9}]}) == {
        "workers": "a (4 cores, 8 GB, Python 3.11, arm64)"
    }


def test_a_repeated_cell_has_the_interval_of_its_runs(figure, record):
    runs = {"latency_p50": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    layout = figure()

    def estimate(*records):
        (curve,) = curves(layout, layout.panels[0], records)
        return curve.points[0].estimate

    alone = estimate(record(summary=Summary(latency_p50=3.5), runs=runs))
    assert (alone.median, alone.low, alone.high) == (3.5, 1.0, 6.0)
    # Of several cells, each counts once: they differ by more than the runs of one.
    rounds = [record(summary=Summary(latency_p50=3.5), runs=runs, round=n) for n in (1, 2)]
    assert estimate(*rounds).values == (3.5, 3.5)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("latency_max", 0.5),
        ("service_total", 6.0),
        ("service_per_window", 2.0),
        ("throughput", 6.0),
        ("plan_seconds", None),
    ],
)
def test_the_floor_by_metric(record, metric, expected):
    realised = Realised(events=1, windows=3, rows=3, substreams=1)
    assert floor(record(summary=Summary(floor_total=6.0, floor_batch=0.5), realised=realised), metric)[0] == expected
    assert floor(record(summary=Summary(), realised=realised), metric)[0] is None


def test_the_floor_per_window_needs_windows(record):
    for realised in (None, Realised(events=1, windows=0, rows=0, substreams=1)):
        assert floor(record(summary=Summary(floor_total=6.0), realised=realised), "service_per_window")[0] is None
