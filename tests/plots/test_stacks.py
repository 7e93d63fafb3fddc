import pytest
from matplotlib.colors import to_rgb

from cepbench.metrics.figure import Axis, Panel, PanelPart
from cepbench.metrics.record import Summary
from cepbench.metrics.status import Status
from cepbench.plots.draw import draw, render
from cepbench.plots.style import STYLES

PANEL = Panel.model_validate(
    {
        "label": "Optimiser time",
        "unit": "s",
        "kind": "bars",
        "parts": [
            {"metric": f"details.{phase}_seconds", "label": phase} for phase in ("construction", "expansion", "search")
        ],
    }
)
QUERIES = Axis(name="queries", label="Queries")
NAMES = ("sharon", "sharon[optimizer=greedy]")


def phases(record, algorithm, queries, **seconds):
    details = {f"{phase}_seconds": spent for phase, spent in seconds.items()}
    return record(algorithm, {"queries": queries}, summary=Summary(details=details))


@pytest.fixture
def measured(record):
    return [
        phases(record, "sharon", 10, construction=1.0, expansion=2.0, search=4.0),
        phases(record, "sharon", 70, construction=2.0, expansion=3.0, search=10.0),
        phases(record, "sharon[optimizer=greedy]", 10, construction=1.0, search=0.5),
        record("sharon[optimizer=greedy]", {"queries": 70}, status=Status.TIMEOUT),
    ]


def bars(axes):
    """(bottom, top) by algorithm and part, at each x."""
    found = {}
    for bar in axes.patches:
        if bar.get_gid():
            found.setdefault(bar.get_gid(), []).append((bar.get_y(), bar.get_y() + bar.get_height()))
    return found


def test_parts_stand_on_one_another(figure, measured):
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=NAMES), measured).axes[0]
    assert bars(axes) == {
        "sharon construction": [(0, 1), (0, 2)],
        "sharon expansion": [(1, 3), (2, 5)],
        "sharon search": [(3, 7), (5, 15)],
        "sharon[optimizer=greedy] construction": [(0, 1)],
        "sharon[optimizer=greedy] search": [(1, 1.5)],
    }
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "70"]
    assert axes.get_ylim()[1] > 15


def test_algorithms_stand_side_by_side_and_failures_are_marked(figure, measured):
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=NAMES), measured).axes[0]
    places = {bar.get_gid(): bar.get_x() + bar.get_width() / 2 for bar in axes.patches if bar.get_x() > 0.5}
    (timeout,) = [line for line in axes.lines if line.get_gid() == "sharon[optimizer=greedy] timeout"]
    assert timeout.get_xdata()[0] > 1 > places["sharon search"]
    assert timeout.get_ydata()[0] > 0.8  # on the rail, in fractions of the panel


def test_the_height_of_a_stack_is_above_it(figure, measured):
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=NAMES), measured).axes[0]
    assert [text.get_text().strip() for text in axes.texts][:3] == ["7 s", "15 s", "1.5 s"]


def test_the_legend_names_algorithms_and_parts_once(figure, measured):
    twice = (PANEL, PANEL.model_copy(update={"letter": "(b)"}))
    drawing = draw(figure(x=QUERIES, panels=twice, algorithms=NAMES, labels={NAMES[1]: "Greedy"}), measured)
    names = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert names == ["Sharon", "Greedy", "construction", "expansion", "search", "timeout"]


def test_parts_are_shades_of_the_algorithms_colour(figure, measured):
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=NAMES), measured).axes[0]
    colors = {bar.get_gid(): bar.get_facecolor()[:3] for bar in axes.patches if bar.get_gid()}
    assert colors["sharon construction"] == pytest.approx(to_rgb(STYLES["sharon"].color), abs=0.01)
    lightness = [sum(colors[f"sharon {part.label}"]) for part in PANEL.parts]
    assert lightness == sorted(lightness)
    assert colors["sharon[optimizer=greedy] construction"] != colors["sharon construction"]
    assert len({bar.get_hatch() for bar in axes.patches if bar.get_gid()}) == 3


def test_whatever_was_measured_can_be_stacked(figure, record):
    drawn = figure(x=QUERIES, panels=(PANEL,), algorithms=("sharon",))
    nothing = [record("sharon", {"queries": 1}, summary=Summary())]
    zero = [phases(record, "sharon", 1, construction=0.0, search=0.0)]
    failed = [record("sharon", {"queries": queries}, status=Status.ERROR) for queries in (1, 2)]
    for records in ([], nothing, zero, failed, [*zero, phases(record, "sharon", 2, search=3.0)]):
        assert render(draw(drawn, records), "png")


def test_bars_over_numbers(figure, record):
    records = [record("greta", {"queries": n}, summary=Summary(latency_p50=n)) for n in (3, 20, 100)]
    panel = Panel(metric="latency_p50", label="Latency", unit="s", kind="bars")
    axes = draw(figure(x=QUERIES, panels=(panel,)), records).axes[0]
    assert [bar.get_x() + bar.get_width() / 2 for bar in axes.patches] == pytest.approx([0, 1, 2])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["3", "20", "100"]


def test_a_part_that_only_later_bars_have(figure, record):
    records = [phases(record, "sharon", 5, search=2.0), phases(record, "sharon", 6, construction=1.0, search=2.0)]
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=("sharon",)), records).axes[0]
    assert bars(axes) == {"sharon construction": [(0, 1)], "sharon search": [(0, 2), (1, 3)]}
    assert axes.yaxis.get_majorticklocs().size > 1
    assert PANEL.parts[0] == PanelPart(metric="details.construction_seconds", label="construction")


def test_the_interval_of_a_stack_is_that_of_its_sum_in_each_run(figure, record):
    cell = phases(record, "sharon", 5, construction=4.0, search=3.0)
    runs = {"construction": [1.0, 2.0, 3.0, 5.0, 6.0, 7.0], "search": [5.0, 4.0, 3.0, 3.0, 2.0, 1.0]}
    told = {f"details.{phase}_seconds": seconds for phase, seconds in runs.items()}
    cell = cell.model_copy(update={"runs": told})
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=("sharon",)), [cell]).axes[0]
    (spread,) = [found for found in axes.collections if hasattr(found, "get_segments")]
    assert [sorted(end[1] for end in bar) for bar in spread.get_segments()] == [[6, 8]]
    (figures,) = [text for text in axes.texts if text.get_text().strip() == "7 s"]
    assert figures.get_position()[1] == 8
    assert axes.get_ylim()[1] > 9


def test_single_workers_of_a_stack_are_dots(figure, record):
    seconds = ((1.0, 2.0), (2.0, 4.0))
    cells = [
        phases(record, "sharon", 5, construction=first, search=second).model_copy(update={"round": number})
        for number, (first, second) in enumerate(seconds)
    ]
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=("sharon",)), cells).axes[0]
    assert [sorted(line.get_ydata()) for line in axes.lines if line.get_marker() == "."] == [[3, 6]]


def test_a_part_that_was_told_once_leaves_no_spread(figure, record):
    cell = phases(record, "sharon", 5, construction=4.0, search=3.0)
    cell = cell.model_copy(update={"runs": {"details.search_seconds": [1.0, 2.0, 3.0, 3.0, 4.0, 5.0]}})
    axes = draw(figure(x=QUERIES, panels=(PANEL,), algorithms=("sharon",)), [cell]).axes[0]
    assert not [found for found in axes.collections if hasattr(found, "get_segments")]
