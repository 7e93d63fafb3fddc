"""Published curves are drawn thin, where the axis was measured, and told of."""

import pytest

from cepbench.metrics.figure import Panel, PublishedCurve
from cepbench.metrics.record import Summary
from cepbench.metrics.results import Results
from cepbench.plots.draw import draw, write_drawings
from cepbench.plots.report import write_report
from cepbench.plots.style import STYLES

POINTS = ((10.0, 7.0), (100.0, 0.5), (1000.0, 2.0), (10_000.0, 9000.0))


def panel(scale="log", of="greta", **changes):
    curve = PublishedCurve(label="published", of=of, source="a table", points=changes.pop("points", POINTS))
    return Panel(metric="latency_p50", label="Latency", unit="s", scale=scale, published=(curve,), **changes)


def records_of(record):
    return [record(point={"events": n}, summary=Summary(latency_p50=1.0)) for n in (100, 1000)]


def drawn(axes):
    return {line.get_gid(): line for line in axes.lines if line.get_gid()}


def test_a_published_curve_is_thin_and_has_the_colour_of_its_algorithm(figure, record):
    axes = draw(figure(panels=(panel(),)), records_of(record)).axes[0]
    ours, theirs = drawn(axes)["greta"], drawn(axes)["published greta"]
    assert theirs.get_color() == ours.get_color() == STYLES["greta"].color
    assert theirs.get_linewidth() < ours.get_linewidth()
    assert theirs.get_marker() != ours.get_marker()
    assert theirs.get_zorder() < ours.get_zorder()


def test_published_points_are_drawn_where_the_axis_was_measured_and_move_the_other_one(figure, record):
    axes = draw(figure(panels=(panel(),)), records_of(record)).axes[0]
    line = drawn(axes)["published greta"]
    assert list(zip(line.get_xdata(), line.get_ydata(), strict=True)) == [(100.0, 0.5), (1000.0, 2.0)]
    low, high = axes.get_ylim()
    assert low < 0.5
    assert 2.0 < high < 9000
    high_only = draw(figure(panels=(panel(points=((100.0, 300.0),)),)), records_of(record)).axes[0]
    assert high_only.get_ylim()[1] > 300


@pytest.mark.parametrize(("scale", "expected"), [("log", [2.0]), ("linear", [0.0, 2.0])])
def test_zero_has_no_place_on_a_logarithmic_axis(figure, record, scale, expected):
    axes = draw(figure(panels=(panel(scale, points=((100, 0), (1000, 2))),)), records_of(record)).axes[0]
    assert list(drawn(axes)["published greta"].get_ydata()) == expected
    assert axes.get_yscale() == scale


def test_the_legend_has_one_entry_for_all_published_curves(figure, record):
    panels = (panel(), panel(of=None), panel(of="nobody"))
    drawing = draw(figure(panels=panels), records_of(record))
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == ["GRETA", "published"]
    without = draw(figure(panels=(panel().model_copy(update={"published": ()}),)), records_of(record))
    assert [text.get_text() for text in without.legends[0].get_texts()] == ["GRETA"]


@pytest.mark.parametrize("told", [True, False])
def test_the_report_says_where_published_numbers_come_from(figure, record, save, tmp_path, told):
    shown = panel() if told else panel().model_copy(update={"published": ()})
    save(tmp_path, figure(panels=(shown,)), records_of(record))
    page = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert ("were not measured here" in page) == told
    assert ("(a table)" in page) == told


def test_a_figure_with_published_curves_survives_its_file(figure, record, tmp_path):
    made = figure(panels=(panel(),))
    assert type(made).model_validate_json(made.model_dump_json()) == made
    assert set(write_drawings(Results(tmp_path, made, tuple(records_of(record))))) == {"pdf", "svg", "png"}
