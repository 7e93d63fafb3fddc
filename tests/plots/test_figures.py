"""All figures, drawn from stored records: an algorithm looks alike in each of them."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from cepbench.experiments.figure import figure as figure_of
from cepbench.experiments.load import experiments, load
from cepbench.experiments.points import points
from cepbench.metrics.record import Summary
from cepbench.metrics.results import Results, load_results
from cepbench.plots.draw import all_styles, draw
from cepbench.plots.style import STYLES, VARIANTS, style, styles, variant
from tests.plots.conftest import make_record, write_results

OWN = ("mine", "mine[depth=3]", "gloria[optimizer=own]")


def stored(folder: Path) -> None:
    """Every figure at four points of its sweep, with algorithms of one's own in each second one."""
    for number, path in enumerate(experiments().values()):
        experiment = load(path)
        named = [*experiment.series, *(OWN if number % 2 else ())]
        records = []
        for place, point in enumerate(list(points(experiment))[:4]):
            for row, name in enumerate(named):
                value = (1.0 + row) * (1 + place)
                told = dict.fromkeys(("latency_mean", "latency_max", "latency_p50", "throughput", "state_peak"), value)
                changes = {"experiment": experiment.id, "profile": "quick", "summary": Summary(**told)}
                records.append(make_record(name, point, **changes))
        made = figure_of(experiment.model_copy(update={"claims": ()}), "quick", records)
        write_results(folder, made.model_copy(update={"algorithms": tuple(named)}), records)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    folder = tmp_path_factory.mktemp("results")
    stored(folder)
    return list(load_results(folder))


@pytest.fixture(scope="module")
def drawings(everything: list[Results]) -> list[Figure]:
    """Of all of them, as on one page, but not laid out, which takes half of the time."""
    look = all_styles(everything)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepbench.plots.draw.ConstrainedLayoutEngine.execute", lambda *_: None)
        return [draw(found.figure, found.records, look) for found in everything]


@pytest.mark.full
def test_an_algorithm_looks_alike_in_all_figures(everything: list[Results], drawings: list[Figure]) -> None:
    assert len(everything) == len(experiments())
    look = all_styles(everything)
    for found, drawing in zip(everything, drawings, strict=True):
        named = {name: look[name] for name in found.figure.algorithms}
        assert len(set(named.values())) == len(named), found.figure.experiment
        lines = {line.get_gid(): line for axes in drawing.axes for line in axes.lines}
        for name, expected in named.items():
            line = lines.get(name)
            if line is not None:
                assert (to_hex(line.get_color()), line.get_marker()) == (expected.color, expected.marker)
    # What the papers compare does not depend on what else was measured.
    for found in everything:
        alone = styles(load(experiments()[found.figure.experiment]).series)
        assert {name: look[name] for name in alone} == alone


def test_variants_of_the_figures_are_assigned_and_apart() -> None:
    for path in experiments().values():
        names = load(path).series
        assert all(variant(name) in STYLES.keys() | VARIANTS.keys() for name in names), path.name
        for one, other in combinations([style(name) for name in names], 2):
            assert np.linalg.norm(np.subtract(to_rgb(one.color), to_rgb(other.color))) > 0.25, path.name
            assert one.marker != other.marker, path.name


def test_what_differs_in_limits_only_looks_alike() -> None:
    assert style("cet[memory=14500]") == style("cet[memory=1GiB]") == style("cet")
    assert style("gloria[optimizer=noprune, costs=paper]") == style("gloria[costs=paper, optimizer=noprune]")
    assert style("gloria[costs=paper]") != style("gloria")


@pytest.mark.full
def test_panels_are_told_apart_in_words(everything: list[Results], drawings: list[Figure]) -> None:
    for found, drawing in zip(everything, drawings, strict=True):
        titles = [axes.get_title(loc="left") for axes in drawing.axes if axes.get_visible()]
        assert [title for title in titles if " = " in title and not found.figure.facet] == []


def test_coincident_lines_both_show(figure, record) -> None:
    records = [
        record(name, {"events": size}, summary=Summary(latency_p50=size * factor))
        for name, factor in (("greta", 1.0), ("cogra", 1.01), ("sase", 5.0))
        for size in (10, 100, 1000)
    ]
    [axes] = draw(figure(panels=figure().panels[:1]), records).axes
    lines = {line.get_gid(): line for line in axes.lines}
    widths = [lines[name].get_linewidth() for name in ("greta", "cogra")]
    assert max(widths) - min(widths) > 1
    assert lines["sase"].get_linewidth() == min(widths)
    below, above = sorted((lines["greta"], lines["cogra"]), key=lambda line: -line.get_linewidth())
    assert below.get_markersize() > above.get_markersize()
    assert axes.lines.index(below) < axes.lines.index(above)


def test_two_points_are_no_line(figure, record) -> None:
    for sizes, line in (((10, 100), "None"), ((10, 100, 1000), "-")):
        records = [record("greta", {"events": size}, summary=Summary(latency_p50=float(size))) for size in sizes]
        [axes] = draw(figure(panels=figure().panels[:1], algorithms=("greta",)), records).axes
        [drawn] = [found for found in axes.lines if found.get_gid() == "greta"]
        assert drawn.get_linestyle() == line
        assert drawn.get_marker() == "^"
