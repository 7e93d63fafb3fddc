import io
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.image import imread

from cepbench.metrics.figure import Axis, Panel, Scale
from cepbench.metrics.files import Unwritable
from cepbench.metrics.record import Summary
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.censored import LABELS, SIGNS
from cepbench.plots.draw import draw, render, write_drawings
from cepbench.plots.style import STYLES, Page


def lines(axes):
    return {line.get_gid(): line for line in axes.lines if line.get_gid()}


def test_every_failure_has_its_own_sign_and_legend_entry(figure, record):
    failed = [status for status in Status if status is not Status.OK]
    assert set(SIGNS) == set(LABELS) == set(failed)
    records = [record(point={"events": 10 ** (1 + i)}, status=status, reason="why") for i, status in enumerate(failed)]
    drawing = draw(figure(), records)
    names = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert names == ["GRETA", *(LABELS[status] for status in failed)]


def test_a_cell_that_is_not_run_has_a_sign_and_breaks_the_line(figure, record):
    def at(algorithm, *sizes):
        return [record(algorithm, {"events": size}, summary=Summary(latency_p50=0.1 * size)) for size in sizes]

    drawing = draw(figure(), [*at("cogra", 1, 2, 3, 4), *at("greta", 1, 2, 4)])
    panel = lines(drawing.axes[0])
    assert list(panel["greta not run"].get_xdata()) == [3]
    assert np.isnan(panel["greta"].get_ydata()).tolist() == [False, False, True, False]
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == ["GRETA", "COGRA", "not run"]
    whole = draw(figure(), [*at("cogra", 1, 2, 3, 4), *at("greta", 1, 2, 3, 4)])
    assert [text.get_text() for text in whole.legends[0].get_texts()] == ["GRETA", "COGRA"]


def test_the_legend_has_a_line_where_a_panel_has_one(figure, record):
    records = [record("cogra", {"events": x}, summary=Summary(latency_p50=0.1)) for x in (1, 2, 3)]
    records += [record("greta", {"events": 1}, summary=Summary(latency_p50=0.2))]
    handles = draw(figure(), records).legends[0].legend_handles
    assert [(handle.get_label(), handle.get_linestyle()) for handle in handles[:2]] == [
        ("GRETA", "None"),
        ("COGRA", "-"),
    ]


def test_censored_points_of_the_sweep(figure, sweep):
    latency, throughput, _ = draw(figure(), sweep).axes
    curve = lines(latency)["sase"]
    assert curve.get_color() == STYLES["sase"].color
    drawn = dict(zip(curve.get_xdata(), curve.get_ydata(), strict=True))
    assert np.isfinite([drawn[1e3], drawn[1e4]]).all()
    assert np.isnan([drawn[1e5], drawn[1e6], drawn[1e7]]).all()
    timeouts = [line for line in latency.lines if line.get_gid() == "sase timeout"]
    assert {tuple(line.get_ydata()) for line in timeouts} == {(60.0,)}
    assert [text.get_text() for text in latency.texts] == ["limit 60 s"]
    assert "sase wrong" in lines(latency)
    wrong = lines(latency)["sase wrong"]
    assert 0.8 < wrong.get_ydata()[0] <= 1  # on the rail, in fractions of the panel
    assert lines(throughput)["sase timeout"].get_ydata()[0] < 0.2
    assert min(latency.get_ylim()) > 1e-9  # the time of a wrong answer does not even move the axis


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_an_axis_holds_the_limits_of_failed_runs(figure, record, scale):
    records = [record(summary=Summary(latency_p50=0.001)), record(point={"events": 10**6}, status=Status.TIMEOUT)]
    low, high = (
        draw(figure(panels=(figure().panels[0].model_copy(update={"scale": scale}),)), records).axes[0].get_ylim()
    )
    assert low < 0.001
    assert high > 60.0


@pytest.mark.parametrize(
    ("metric", "upwards"),
    [
        ("latency_p50", True),
        ("service_total", True),
        ("plan_seconds", True),
        ("throughput", False),
        ("sustainable", False),
    ],
)
def test_the_arrow_of_a_timeout_points_to_where_the_true_value_lies(figure, record, metric, upwards):
    panel = Panel(metric=metric, label="Metric")
    axes = draw(figure(panels=(panel,)), [record(status=Status.TIMEOUT)]).axes[0]
    shaft, *head = np.split(lines(axes)["greta timeout"].get_marker().vertices, [2])
    assert max(shaft[:, 1]) == -min(shaft[:, 1])
    assert (np.mean(head[0][:, 1]) > 0) == upwards


def test_ticks_keep_out_of_the_rail(figure, sweep):
    memory = draw(figure(), sweep).axes[2]
    top = max(memory.yaxis.get_majorticklocs())
    assert memory.transData.transform((1e3, top))[1] < memory.transAxes.transform((0, 0.83))[1]


def test_axis_labels_name_units_and_ticks_are_for_people(figure, sweep):
    drawing = draw(figure(), sweep)
    drawing.draw_without_rendering()
    latency, throughput, memory = drawing.axes
    assert throughput.get_ylabel() == "Throughput (events/s)"
    assert {"1 s", "10 ms"} <= {text.get_text() for text in latency.get_yticklabels()}
    assert {"1 MB"} <= {text.get_text() for text in memory.get_yticklabels()}
    assert [text.get_text() for text in latency.get_xticklabels()] == ["1 k", "10 k", "100 k", "1 M", "10 M"]


def test_few_rounds_are_points_and_many_have_an_interval(figure, record):
    records = [record(round=i, summary=Summary(latency_p50=1.0 + i)) for i in range(7)]
    one = (figure().panels[0],)
    few = draw(figure(panels=one), records[:4]).axes[0]
    assert not few.containers
    assert any(len(line.get_ydata()) == 4 for line in few.lines)
    many = draw(figure(panels=one), records).axes[0]
    assert len(many.containers) == 1


def test_an_interval_reaches_from_its_lower_to_its_upper_end(figure, record):
    values = (1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 40.0)  # of seven values, the least and the greatest bound the median
    records = [record(round=i, summary=Summary(latency_p50=value)) for i, value in enumerate(values)]
    axes = draw(figure(panels=figure().panels[:1]), records).axes[0]
    assert lines(axes)["greta"].get_ydata().tolist() == [4.0]
    (bar,) = axes.containers[0].lines[2]
    ((low, high),) = bar.get_segments()
    assert (low[1], high[1]) == (pytest.approx(1.0), pytest.approx(40.0))


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_bars_are_as_high_as_their_medians(figure, record, scale):
    axis = Axis(name="semantics", label="Semantics", scale=Scale.CATEGORY, values=("next", "any"))
    seconds = {("sase", "next"): 2.0, ("sase", "any"): 30.0, ("cogra", "next"): 0.25, ("cogra", "any"): 0.5}
    records = [record(a, {"semantics": s}, summary=Summary(latency_p50=took)) for (a, s), took in seconds.items()]
    panel = figure().panels[0].model_copy(update={"scale": scale})
    axes = draw(figure(x=axis, panels=(panel,)), records).axes[0]
    bars = sorted(axes.patches, key=lambda bar: bar.get_x())
    assert {bar.get_y() for bar in bars} == {axes.get_ylim()[0]}
    tops = [bar.get_y() + bar.get_height() for bar in bars]
    assert tops == pytest.approx([2.0, 0.25, 30.0, 0.5])  # SASE left of COGRA, in each category


def test_bars_over_categories(figure, record):
    axis = Axis(name="semantics", label="Semantics", scale=Scale.CATEGORY, values=("next", "any"))
    records = [
        record(a, {"semantics": s}, summary=Summary(latency_p50=0.5))
        for a in ("sase", "cogra")
        for s in ("any", "next")
    ]
    axes = draw(figure(x=axis, panels=figure().panels[:1]), records).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["next", "any"]
    assert len(axes.patches) == 4


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("x", [Scale.LOG, Scale.LINEAR, Scale.CATEGORY])
@pytest.mark.parametrize("case", ["empty", "single", "censored", "zero", "text", "negative"])
@pytest.mark.sampled(3)
def test_whatever_was_measured_can_be_drawn(figure, record, case, x, scale):
    records = {
        "empty": [],
        "single": [record(summary=Summary(latency_p50=0.5))],
        "censored": [
            record(name, status=status)
            for name, status in (("sase", Status.TIMEOUT), ("greta", Status.ERROR), ("cogra", Status.UNSUPPORTED))
        ],
        "zero": [record(point={"events": n}, summary=Summary(latency_p50=n * 1.0)) for n in (0, 1, 10)]
        + [record("sase", {"events": 1}, status=Status.ERROR)],
        "text": [record(point={"events": text}, summary=Summary(latency_p50=1.0)) for text in ("a", "$x_1$", "事")],
        "negative": [record(point={"events": n}, summary=Summary(latency_p50=n * 1.0)) for n in (-5, 1, 10)],
    }[case]
    panel = Panel(metric="latency_p50", label="Latency", unit="s", scale=scale)
    assert render(draw(figure(x=Axis(name="events", label="Events", scale=x), panels=(panel,)), records), "png")


def test_facets_are_rows(figure, record):
    records = [
        record(point={"events": n, "data": d}, summary=Summary(latency_p50=1.0)) for n in (1, 2) for d in ("a", "b")
    ]
    drawing = draw(figure(facet=Axis(name="data", label="Data"), panels=figure().panels[:2]), records)
    assert [axes.get_title(loc="left") for axes in drawing.axes] == [
        "(a) Data = a",
        "(b) Data = a",
        "(c) Data = b",
        "(d) Data = b",
    ]


def test_panels_may_have_an_x_axis_of_their_own(figure, record):
    records = [record(point={"events": n, "groups": 5}, summary=Summary(latency_p50=n)) for n in (1, 2, 4)]
    records += [record(point={"events": 2, "groups": g}, summary=Summary(latency_p50=10 * g)) for g in (3, 7)]
    latency = figure().panels[0]
    panels = (
        latency.model_copy(update={"where": {"groups": 5}}),
        latency.model_copy(update={"where": {"events": 2}, "x": Axis(name="groups", label="Groups"), "letter": ""}),
    )
    left, right = draw(figure(panels=panels), records).axes
    assert (left.get_xlabel(), right.get_xlabel()) == ("Events per window", "Groups")
    assert lines(left)["greta"].get_xdata().tolist() == [1, 2, 4]
    assert dict(zip(*lines(right)["greta"].get_data(), strict=True)) == {3: 30, 5: 2, 7: 70}
    assert [axes.get_title(loc="left") for axes in (left, right)] == ["(a)", "(b)"]


def test_titles_tell_panels_with_the_same_axis_apart(figure, record):
    records = [record(point={"events": 1, "data": d, "k": 1}, summary=Summary(latency_p50=1.0)) for d in ("a", "b")]
    panels = [figure().panels[0].model_copy(update={"where": {"data": d, "k": 1}}) for d in ("a", "b")]
    drawing = draw(figure(panels=panels), records)
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["(a) data = a", "(a) data = b"]


def test_a_figure_names_its_algorithms(figure, record):
    records = [record(name, summary=Summary(latency_p50=1.0)) for name in ("cet", "cet[detect=time]", "cogra")]
    names = ("cet", "cet[detect=time]", "cogra")
    drawing = draw(figure(algorithms=names, labels={"cet[detect=time]": "T-CET"}), records)
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == ["CET", "T-CET", "COGRA"]


def test_files_are_deterministic_and_fonts_are_embedded(tmp_path, figure, sweep):
    results = Results(tmp_path, figure(), tuple(sweep))
    first = {kind: path.read_bytes() for kind, path in write_drawings(results).items()}
    second = {kind: path.read_bytes() for kind, path in write_drawings(results, tmp_path / "again").items()}
    assert first == second
    assert sorted(path.name for path in tmp_path.glob("*.*")) == ["greta-13.1.pdf", "greta-13.1.png", "greta-13.1.svg"]
    assert b"/FontFile2" in first["pdf"]
    assert b"/Type3" not in first["pdf"]
    assert imread(io.BytesIO(first["png"])).std() > 0.01


def test_a_folder_that_cannot_be_written_is_named(tmp_path, figure):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unwritable, match=r"file.*cannot be written"):
        write_drawings(Results(tmp_path, figure(), ()), tmp_path / "file")


LATENCY = Panel(metric="latency_p50", label="Latency", unit="s")


def test_both_ends_of_a_sweep_are_labelled(figure, record):
    records = [record("greta", {"events": n}, summary=Summary(latency_p50=1.0)) for n in (1, 2, 3, 4, 6, 9, 11, 12)]
    drawing = draw(figure(x=Axis(name="events", label="Events"), panels=(LATENCY,)), records)
    drawing.draw_without_rendering()
    told = [text.get_text() for text in drawing.axes[0].get_xticklabels()]
    assert (told[0], told[-1], "11" in told) == ("1", "12", False)


def test_a_logarithmic_axis_has_three_labels_at_least_and_a_long_name_two_lines(figure, record):
    values = {1: 0.00015, 2: 0.05}  # 2.5 decades, of which two begin inside
    records = [record("greta", {"events": n}, summary=Summary(latency_p50=value)) for n, value in values.items()]
    panel = LATENCY.model_copy(update={"label": "Updates of trends in all windows"})
    drawing = draw(figure(panels=(panel,)), records)
    drawing.draw_without_rendering()
    low, high = drawing.axes[0].get_ylim()
    assert sum(low <= place <= high for place in drawing.axes[0].yaxis.get_majorticklocs()) >= 3
    assert drawing.axes[0].get_ylabel() == "Updates of trends in all\nwindows"


def overlapping(drawing) -> list[str]:
    """The labels of ticks that overlap the next one, and texts that leave the drawing."""
    renderer = drawing.canvas.get_renderer()
    found = []
    for axes in filter(lambda axes: axes.get_visible(), drawing.axes):
        for side in (axes.xaxis, axes.yaxis):
            boxes = [
                (label.get_text(), label.get_window_extent(renderer))
                for label in side.get_ticklabels()
                if label.get_text()
            ]
            boxes = [(text, box) for text, box in boxes if box.width and drawing.bbox.contains(*box.min)]
            for (text, box), (_, other) in pairwise(sorted(boxes, key=lambda pair: tuple(pair[1].min))):
                if box.overlaps(other):
                    found.append(text)
            box = side.label.get_window_extent(renderer)
            if side.label.get_text() and not (box.x0 >= -1 and box.x1 <= drawing.bbox.width + 1):
                found.append(side.label.get_text())
    return found


@pytest.mark.parametrize(("width", "kind"), [(2, "lines"), (3.3, "lines"), (7, "lines"), (3.3, "heat"), (7, "heat")])
def test_panels_wrap_so_that_labels_stay_apart_and_inside(figure, record, width, kind):
    x = Axis(name="events", label="Events of a window of a customer", scale=Scale.LOG)
    metrics = ("latency_p50", "latency_p95", "latency_p99")
    panels = [Panel(metric=metric, label="Latency", unit="s", kind=kind) for metric in metrics]
    values = [200, 400, 450, 500, 600, 1200, 2500, 20000, 100_000]
    records = [record(name, {"events": n}) for n in values for name in ("sase", "greta")]
    drawing = draw(figure(x=x, panels=tuple(panels)), records, page=Page(width=width))
    assert overlapping(drawing) == []
    assert drawing.get_figwidth() == width


def test_a_legend_of_many_rows_leaves_the_panels_their_height(figure, record):
    names = [f"sase[optimizer={'abcdefgh'[n] * 20}]" for n in range(8)]
    small, large = (
        draw(figure(algorithms=tuple(some)), [record(name, {"events": 10}) for name in some], page=Page(width=3.3))
        for some in (names[:1], names)
    )
    heights = [drawing.axes[0].get_position().height * drawing.get_figheight() for drawing in (small, large)]
    assert heights[1] > 0.9 * heights[0]
