import io
from itertools import pairwise

import pytest
from matplotlib.image import imread

from cepbench.metrics.figure import Axis, Panel, PanelPart, PublishedCurve, Scale
from cepbench.metrics.files import Unwritable
from cepbench.metrics.record import Summary
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.draw import draw, render, write_drawings
from cepbench.plots.style import COUNTERFACTUAL, Page

LATENCY = Panel(metric="latency_p50", label="Latency", unit="s")
SCALES = [(x, y) for x in (Scale.LOG, Scale.LINEAR, Scale.CATEGORY) for y in (Scale.LOG, Scale.LINEAR)]
PHASES = tuple(PanelPart(metric=f"details.{name}_seconds", label=name) for name in ("construction", "search"))
PUBLISHED = PublishedCurve(label="published", of="greta", source="a table", points=((0, 1), (1, 0), (2, 3)))


@pytest.mark.parametrize("case", ["empty", "single", "censored", "zero", "text", "negative", "parts"])
def test_whatever_was_measured_can_be_drawn(figure, record, case):
    """Lines, bars and stacks on axes of all scales."""

    def at(point, algorithm="greta", latency=1.0, **details):
        shown = Summary(latency_p50=latency, details={f"{name}_seconds": spent for name, spent in details.items()})
        return record(algorithm, {"events": point}, summary=shown)

    records = {
        "empty": [],
        "single": [at(1000)],
        "censored": [
            record(name, status=status)
            for name, status in (("sase", Status.TIMEOUT), ("greta", Status.ERROR), ("cogra", Status.UNSUPPORTED))
        ],
        "zero": [at(n, latency=n * 1.0, construction=0.0) for n in (0, 1, 10)]
        + [record("sase", {"events": 1}, status=Status.ERROR)],
        "text": [at(text) for text in ("a", "$x_1$", "事")],
        "negative": [at(n, latency=n * 1.0) for n in (-5, 1, 10)],
        "parts": [at(5, search=2.0), at(6, construction=1.0, search=2.0)],
    }[case]
    panels = [
        LATENCY.model_copy(
            update={"scale": y, "x": Axis(name="events", label="Events", scale=x), "published": (PUBLISHED,)}
        )
        for x, y in SCALES
    ]
    stacked = Panel(label="Parts", unit="s", kind="bars", parts=PHASES)
    assert render(draw(figure(panels=(*panels, stacked)), records), "png")


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


def test_both_ends_of_a_sweep_are_labelled(figure, record):
    records = [record("greta", {"events": n}, summary=Summary(latency_p50=1.0)) for n in (1, 2, 3, 4, 6, 9, 11, 12)]
    drawing = draw(figure(x=Axis(name="events", label="Events"), panels=(LATENCY,)), records)
    drawing.draw_without_rendering()
    labels = [text.get_text() for text in drawing.axes[0].get_xticklabels()]
    assert (labels[0], labels[-1], "11" in labels) == ("1", "12", False)


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
    texts = []
    for axes in filter(lambda axes: axes.get_visible(), drawing.axes):
        for side in (axes.xaxis, axes.yaxis):
            boxes = [
                (label.get_text(), label.get_window_extent(renderer))
                for label in side.get_ticklabels()
                if label.get_text()
            ]
            boxes = [(text, box) for text, box in boxes if box.width and drawing.bbox.contains(*box.min)]
            for (text, box), (_, neighbor) in pairwise(sorted(boxes, key=lambda pair: tuple(pair[1].min))):
                if box.overlaps(neighbor):
                    texts.append(text)
            box = side.label.get_window_extent(renderer)
            if side.label.get_text() and not (box.x0 >= -1 and box.x1 <= drawing.bbox.width + 1):
                texts.append(side.label.get_text())
    return texts


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
        draw(figure(algorithms=tuple(listed)), [record(name, {"events": 10}) for name in listed], page=Page(width=3.3))
        for listed in (names[:1], names)
    )
    heights = [drawing.axes[0].get_position().height * drawing.get_figheight() for drawing in (small, large)]
    assert heights[1] > 0.9 * heights[0]


def test_counterfactuals_have_long_dashes(figure, record):
    records = [record(name, {"events": n}) for name in ("greta", "cogra") for n in (1, 2, 3)]
    layout = figure(algorithms=("greta", "cogra"), panels=(LATENCY,), counterfactuals=("cogra",))
    lines = {line.get_gid(): line for line in draw(layout, records).axes[0].lines}
    assert [lines[name].is_dashed() for name in ("greta", "cogra")] == [False, True]
    assert lines["cogra"]._unscaled_dash_pattern == (0, COUNTERFACTUAL)
