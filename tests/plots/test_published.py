"""Published curves in the report."""

import pytest

from cepbench.metrics.figure import Panel, PublishedCurve
from cepbench.metrics.record import Summary
from cepbench.metrics.results import Results
from cepbench.plots.draw import write_drawings
from cepbench.plots.report import write_report

POINTS = ((10.0, 7.0), (100.0, 0.5), (1000.0, 2.0), (10_000.0, 9000.0))


def panel():
    curve = PublishedCurve(label="published", of="greta", source="a table", points=POINTS)
    return Panel(metric="latency_p50", label="Latency", unit="s", scale="log", published=(curve,))


def records_of(record):
    return [record(point={"events": n}, summary=Summary(latency_p50=1.0)) for n in (100, 1000)]


@pytest.mark.parametrize("overlaid", [True, False])
def test_the_report_says_where_published_numbers_come_from(figure, record, save, tmp_path, overlaid):
    shown = panel() if overlaid else panel().model_copy(update={"published": ()})
    save(tmp_path, figure(panels=(shown,)), records_of(record))
    page = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert ("were not measured here" in page) == overlaid
    assert ("(a table)" in page) == overlaid


def test_a_figure_with_published_curves_survives_its_file(figure, record, tmp_path):
    layout = figure(panels=(panel(),))
    assert type(layout).model_validate_json(layout.model_dump_json()) == layout
    assert set(write_drawings(Results(tmp_path, layout, tuple(records_of(record))))) == {"pdf", "svg", "png"}
