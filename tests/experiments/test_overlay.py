"""Published curves: from the files below `experiments/published/` to the panels of a figure."""

import csv
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.figure import figure
from cepbench.experiments.load import load
from cepbench.experiments.overlay import PUBLISHED, Overlay, published
from tests.experiments.files import SMALL, write
from tests.experiments.records import record

RAW = Path(__file__).parents[3] / "shared" / "reference" / "gloria" / "measurements"
COLUMNS = {
    "noprune_ms": ("NoPrune Optimizer",),
    "gloria_ms": ("Normal Optimizer", "normal_time"),
    "greedy_ms": ("Greedy Optimizer", "greedy_time"),
    "greta_ms": ("notshare_time",),
    "noprune_bytes": ("NoPrune Memory",),
    "gloria_bytes": ("Normal Memory",),
    "greedy_bytes": ("Greedy Memory",),
    "gloria_events_per_ms": ("normal_throu",),
    "greedy_events_per_ms": ("greedy_throu",),
    "greta_events_per_ms": ("notshare_throu",),
    "gloria_snapshots": ("normal_snap",),
    "greedy_snapshots": ("greedy_snap",),
}
SWEPT = {"queries": ("QueryNum", "query_num"), "length": ("K_length",), "layers": ("K_layers",), "share": ("K_ratio",)}
FILES = sorted(PUBLISHED.rglob("*.csv"))


def table(path: Path) -> list[dict[str, str]]:
    """A CSV file without its remarks and the blanks that lines begin with."""
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(line.strip() for line in lines if not line.startswith("#")))


def overlaid(tmp_path: Path, *overlays: dict[str, Any], **panel: Any) -> Path:
    drawn = {**SMALL["plot"]["panels"][0], "overlay": list(overlays), **panel}
    return write(tmp_path, plot={**SMALL["plot"], "panels": [drawn]})


GIVEN = {"file": "gloria/bus-seq.csv", "x": "queries", "y": "noprune_ms"}


def test_a_file_becomes_points_in_the_unit_of_the_panel(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "times.csv").write_text("# taken from\n# a table\nn,ms,more\n20,3,x\n10,1.5,y\n")
    curve = published(Overlay(file="some/times.csv", x="n", y="ms", scale=0.001, of="greta", label="theirs"), tmp_path)
    assert curve.points == ((10.0, 0.0015), (20.0, 0.003))
    assert (curve.source, curve.label, curve.of) == ("taken from a table", "theirs", "greta")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"file": "some/other.csv"}, r"overlay: unknown file 'some/other.csv'; choose one of some/times.csv"),
        ({"y": "s"}, r"overlay: some/times.csv has no column 's'; there are n, ms, more"),
        ({"y": "more"}, r"overlay: some/times.csv, column more: expected a number, not 'x'"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(tmp_path: Path, fields: dict[str, str], reason: str) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "times.csv").write_text("n,ms,more\n20,3,x\n")
    with pytest.raises(ExperimentError, match=reason):
        published(Overlay(**{"file": "some/times.csv", "x": "n", "y": "ms", **fields}), tmp_path)


def test_the_figure_carries_published_curves(tmp_path: Path) -> None:
    path = overlaid(tmp_path, {**GIVEN, "of": "slow", "scale": 0.001}, {**GIVEN, "y": "greedy_ms", "label": "greedy"})
    point = {"events": 100, "within": 50}
    drawn = figure(load(path), "quick", [record("slow", point, latency_max=1.0)])
    first, second = drawn.panels[0].published
    assert first.points[0] == (20.0, pytest.approx(0.065))
    assert (first.label, first.of) == ("published", "slow")
    assert (second.label, second.of) == ("greedy", None)
    assert "github.com/LeiMa0324/Gloria" in second.source


@pytest.mark.parametrize(
    ("overlay", "panel", "reason"),
    [
        ({**GIVEN, "of": "hamlet"}, {}, "plot.panels.0: 'hamlet' is not among the algorithms counting, slow"),
        ({**GIVEN, "y": "ms"}, {}, "overlay: gloria/bus-seq.csv has no column 'ms'"),
        (GIVEN, {"kind": "bars"}, "overlay: published curves are drawn in panels of lines"),
        (
            GIVEN,
            {"x": {"name": "events", "label": "Events", "scale": "category"}},
            "plot.panels.0.overlay: published curves need an axis of numbers",
        ),
        ({**GIVEN, "scale": 0}, {}, "expected more than 0"),
    ],
)
def test_mistakes_show_before_anything_runs(
    tmp_path: Path, overlay: dict[str, Any], panel: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ExperimentError, match=reason):
        load(overlaid(tmp_path, overlay, **panel))


def test_every_published_file_tells_its_source() -> None:
    assert len(FILES) == 13
    assert all(file.read_text().startswith("# github.com/LeiMa0324/Gloria, ") for file in FILES)


@pytest.mark.skipif(not RAW.exists(), reason="needs the published material beside the repository")
@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_published_numbers_are_the_medians_of_the_raw_ones(file: Path) -> None:
    raw = table(RAW / file.read_text().partition("Gloria, ")[2].partition(":")[0])
    carried = table(file)
    axis, *names = list(carried[0])
    [swept] = [name for name in SWEPT[axis] if name in raw[0]]
    assert {float(row[axis]) for row in carried} == {round(float(row[swept]), 4) for row in raw}
    for row in carried:
        iterations = [iteration for iteration in raw if round(float(iteration[swept]), 4) == float(row[axis])]
        assert f"over {len(iterations)} iterations" in file.read_text()
        for name in names:
            [column] = [name for name in COLUMNS[name] if name in raw[0]]
            assert float(row[name]) == median(float(iteration[column]) for iteration in iterations), (row, name)
