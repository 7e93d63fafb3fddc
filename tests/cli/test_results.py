"""Drawings, report and comparison of what was measured, from results of our own."""

import json
from pathlib import Path

import matplotlib.image
import pandas as pd
import pytest

from cepbench.metrics.figure import Axis, Figure, Panel
from cepbench.metrics.record import Record, Summary
from cepbench.metrics.status import Status
from cepbench.metrics.table import load_frame
from tests.cli.conftest import Cepbench


def save(root: Path, experiment: str, seconds: float, commit: str | None = None, committed: str | None = None) -> None:
    """One measured cell."""
    x, panel = Axis(name="events", label="Events"), Panel(metric="latency_p50", label="Latency", unit="s")
    figure = Figure(
        id="0.1",
        experiment=experiment,
        profile="smoke",
        title="t",
        paper="p",
        x=x,
        panels=(panel,),
        algorithms=("sase",),
    )
    record = Record(
        cell=experiment, group="g", experiment=experiment, profile="smoke", algorithm="sase", point={"events": 10},
        round=0, configuration={}, status=Status.OK, limit_seconds=1, limit_bytes=1,
        summary=Summary(latency_p50=seconds), provenance={"commit": commit, "committed": committed},
    )  # fmt: skip
    cells = root / experiment / "smoke" / "cells"
    cells.mkdir(parents=True)
    (cells.parent / "figure.json").write_text(figure.model_dump_json())
    (cells / "0.json").write_text(record.model_dump_json())


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for experiment, seconds in (("first", 1.0), ("second", 2.0)):
        save(tmp_path / "results", experiment, seconds)
    return tmp_path / "results"


def test_only_the_named_experiment_is_drawn(cepbench: Cepbench, results: Path, tmp_path: Path) -> None:
    ended = cepbench("plot", "second", "--results", results, "-o", tmp_path / "drawings")
    written = [tmp_path / "drawings" / f"second.{kind}" for kind in ("pdf", "svg", "png")]
    assert (ended.status, ended.out.splitlines()) == (0, [str(path) for path in written])
    assert sorted((tmp_path / "drawings").iterdir()) == sorted(written)


def test_the_report_stands_in_the_results_folder(cepbench: Cepbench, results: Path) -> None:
    ended = cepbench("report", "--results", results)
    assert (ended.status, ended.out) == (0, f"{results / 'report.html'}\n")
    page = (results / "report.html").read_text()
    assert page.count("<section") == 5  # a figure, claims, cells, capabilities and licenses
    assert "GRETA supports skip-till-any-match only" in page


def test_a_comparison_reports_how_the_second_differs_from_the_first(cepbench: Cepbench, tmp_path: Path) -> None:
    save(tmp_path / "before", "first", 1.0)
    save(tmp_path / "after", "first", 4.0)
    command = ("compare", tmp_path / "before", tmp_path / "after")
    (row,) = json.loads(cepbench(*command, "--format", "json").out)
    assert (row["latency_p50_a"], row["latency_p50_b"], row["latency_p50_ratio"]) == (1.0, 4.0, 4.0)
    reported = cepbench(*command).out
    assert " ".join(reported.splitlines()[-1].split()) == "latency_p50 x4 1 s -> 4 s 1 cell no verdict: one run"
    assert cepbench(*command, "--format", "table").out == reported


def test_compare_takes_two_folders_or_two_algorithms(cepbench, tmp_path):
    ended = cepbench("compare", tmp_path)
    assert (ended.status, ended.out) == (2, "")
    assert "two results folders, or two algorithms" in ended.err
    ended = cepbench("compare", tmp_path, tmp_path, "--of", "sase")
    assert ended.status == 2
    assert "--of and --to go together" in ended.err
    ended = cepbench("compare", tmp_path, "--of", "sase", "--to", "greta")
    assert ended.status == 2
    assert "no cells of algorithm 'greta'; there are those of none" in ended.err


def test_a_trend_over_commits(cepbench: Cepbench, tmp_path: Path) -> None:
    kept = tmp_path / "results" / "commits"
    for commit, day, seconds in (("aaaa" * 10, 3, 4.0), ("cccc" * 10, 1, 1.0), ("bbbb" * 10, 2, 2.0)):
        save(kept / commit[:12], "first", seconds, commit, f"2026-01-0{day}")
    ended = cepbench("compare", kept, "--trend", tmp_path / "trend.png")
    assert ended.out.splitlines() == [
        "commits: ccccccc, bbbbbbb, aaaaaaa",
        "first smoke sase latency_p50: ccccccc 1, bbbbbbb x2 (no interval), aaaaaaa x4 (no interval)",
    ]
    assert matplotlib.image.imread(tmp_path / "trend.png").shape[1] > 500
    rows = json.loads(cepbench("compare", *sorted(kept.iterdir()), "--format", "json").out)
    assert [(row["commit"], row["ratio"]) for row in rows] == [("aaaaaaa", 1.0), ("bbbbbbb", 0.5), ("ccccccc", 0.25)]
    two = (kept / "aaaaaaaaaaaa", kept / "bbbbbbbbbbbb")
    assert "aaaaaaa, bbbbbbb" in cepbench("compare", *two, "--metric", "latency_p50").out
    assert "1 cell in both" in cepbench("compare", *two).out
    assert "ccccccc, bbbbbbb, aaaaaaa" in cepbench("compare", kept / "cccccccccccc", kept).out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--trend", "trend.xlsx"], "FILE.pdf, FILE.svg or FILE.png"),
        (["--metric", "time"], "choose one of latency_mean"),
        (["--of", "a", "--to", "b", "--trend", "t.png"], "in one results folder, or in two"),
        (["--of", "a", "--to", "b", "--metric", "latency_p50"], "in two, without --trend or --metric"),
    ],
)
def test_what_a_trend_cannot_be(cepbench: Cepbench, results: Path, more: list[str], message: str) -> None:
    ended = cepbench("compare", results, results, *more)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


def test_cells_are_exported_as_one_table(cepbench: Cepbench, results: Path, tmp_path: Path) -> None:
    ended = cepbench("export", results, "-o", tmp_path / "cells.csv")
    assert (ended.status, ended.out.split(":")[1].split(",")[0]) == (0, " 2 cells")
    reported = pd.read_csv(tmp_path / "cells.csv")
    assert reported["experiment"].tolist() == ["first", "second"]
    assert reported["latency_p50"].tolist() == [1.0, 2.0]
    assert reported["point.events"].tolist() == [10, 10]
    assert cepbench("export", results, "-o", tmp_path / "cells.parquet").status == 0
    again = pd.read_parquet(tmp_path / "cells.parquet")
    assert list(again.columns) == list(reported.columns)
    assert again["point.events"].tolist() == ["10", "10"]
    wrong = cepbench("export", results, "-o", tmp_path / "cells.xlsx")
    assert (wrong.status, "FILE.csv or FILE.parquet" in wrong.err) == (2, True)


def test_several_runs_are_exported_as_one_table(cepbench: Cepbench, results: Path, tmp_path: Path) -> None:
    origin = {"cpu": "a CPU", "cores": 2, "memory_bytes": 16 * 10**9, "system": "Linux 6", "commit": "abc"}
    file = results / "first" / "smoke" / "cells" / "0.json"
    record = Record.model_validate_json(file.read_text())
    record = record.model_copy(update={"provenance": origin, "started": "2026-02-01T23:59:00+00:00"})
    file.write_text(record.model_dump_json())
    save(tmp_path / "other", "first", 3.0)
    assert cepbench("export", results, tmp_path / "other", results, "-o", tmp_path / "cells.csv").status == 0
    cells = pd.read_csv(tmp_path / "cells.csv", keep_default_na=False)
    assert cells["latency_p50"].tolist() == [1.0, 3.0, 2.0]
    assert cells["run"].tolist() == ["results", "other", "results"]
    assert cells["machine"].tolist() == ["a CPU, 2 cores, 16 GB, Linux 6", "not recorded", "not recorded"]
    assert cells["commit"].tolist() == ["abc", "", ""]
    assert cells["date"].tolist() == ["2026-02-01", "", ""]
    assert load_frame([results, tmp_path / "other"])["run"].tolist() == ["results", "other", "results"]
    assert "run" not in load_frame(results)


def test_the_table_has_no_time_of_a_cell_that_is_not_ok(results: Path) -> None:
    file = results / "first" / "smoke" / "cells" / "0.json"
    file.write_text(file.read_text().replace('"status":"ok"', '"status":"wrong"'))
    cells = load_frame(results)
    assert cells["status"].tolist() == ["wrong", "ok"]
    assert cells["latency_p50"].isna().tolist() == [True, False]


def test_every_column_of_the_table_is_documented(results: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "measurement.md").read_text().partition("## Export")[2]
    columns = load_frame(results).columns
    for name in columns[: columns.get_loc("seconds") + 1]:
        assert f"`{name.replace('point.events', 'point.<axis>')}`" in text, name


def test_a_drawing_has_the_size_and_format_asked_for(cepbench: Cepbench, results: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "my.mplstyle"
    sheet.write_text("lines.linewidth: 5\nsavefig.dpi: 100\n")
    asked = ["--width", "4", "--height", "2", "--format", "png", "--style", sheet, "--font", "DejaVu Sans"]
    ended = cepbench("plot", "first", "--results", results, "-o", tmp_path / "d", *asked)
    assert (ended.status, ended.out.splitlines()) == (0, [str(tmp_path / "d" / "first.png")])
    height, width, _ = matplotlib.image.imread(tmp_path / "d" / "first.png").shape
    assert (width, height) == (400, 235)


def test_a_report_is_of_one_choice_of_results(cepbench: Cepbench, results: Path) -> None:
    ended = cepbench("report", results, "--results", results)
    assert ended.status == 2
    [line] = [line for line in ended.err.splitlines() if "not both" in line]
    assert f"give --results {results} or {results}, not both" in line


def test_a_report_elsewhere_leaves_the_archive_alone(cepbench: Cepbench, results: Path, tmp_path: Path) -> None:
    before = sorted(results.rglob("*"))
    ended = cepbench("report", "--results", results, "-o", tmp_path / "out" / "page.html", "--format", "png")
    assert ended.status == 0
    assert sorted(results.rglob("*")) == before
    assert (tmp_path / "out" / "page-figures" / "first" / "smoke" / "first.png").exists()
    assert "page-figures/first/smoke/first." in (tmp_path / "out" / "page.html").read_text()


def two_panels(root: Path) -> Path:
    """Results of two algorithms and two metrics."""
    save(root, "first", 1.0)
    place = root / "first" / "smoke"
    figure = Figure.model_validate_json((place / "figure.json").read_text())
    panels = (*figure.panels, Panel(metric="throughput", label="Throughput", unit="events/s", algorithms=("greta",)))
    both = figure.model_copy(update={"panels": panels, "algorithms": ("sase", "greta")})
    (place / "figure.json").write_text(both.model_dump_json())
    return root


def test_a_selection_is_drawn_without_touching_what_was_measured(
    cepbench: Cepbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = two_panels(tmp_path / "results")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    command = ("plot", "first", "--results", root, "--format", "svg")
    ended = cepbench(*command, "-a", "sase", "--panel", "latency_p50", "--xlabel", "Size", "--ylabel", "Time")
    assert (ended.status, ended.out) == (0, "first.svg\n")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    whole = cepbench(*command, "-o", "whole")
    assert whole.status == 0
    assert len((tmp_path / "here" / "first.svg").read_bytes()) < len(Path(whole.out.strip()).read_bytes())


def test_one_metric_is_drawn_to_one_file(cepbench: Cepbench, tmp_path: Path) -> None:
    command = ("plot", "first", "--results", two_panels(tmp_path / "results"), "-a", "sase")
    ended = cepbench(*command, "--metric", "service_total", "-o", tmp_path / "fig.pdf")
    assert (ended.status, ended.out) == (0, f"{tmp_path / 'fig.pdf'}\n")
    assert (tmp_path / "fig.pdf").read_bytes().startswith(b"%PDF")
    ended = cepbench(*command, "--metric", "speed")
    assert (ended.status, "no panel 'speed'" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "fig.pdf", "--format", "pdf"), "fig.pdf is one file: give one EXPERIMENT, and no --format"),
        (("-a", "cet"), "first: no algorithm 'cet'; choose from sase, greta"),
        (("--panel", "c"), "first: no panel 'c'; choose one of a (latency_p50), b (throughput)"),
        (("-a", "sase", "--panel", "b"), "first: no panel shows sase"),
        (("--ylabel", "Time"), "--ylabel: the panels have different metrics (latency_p50, throughput)"),
        (("--font", "No Such Font"), "--font 'No Such Font': no such font on this machine"),
        (("frst",), "has no cells of experiment 'frst'; choose one of first; did you mean first?"),
    ],
)
def test_what_cannot_be_selected_is_said(
    cepbench: Cepbench, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    ended = cepbench("plot", "--results", two_panels(tmp_path / "results"), *options)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


def test_several_profiles_in_one_folder_have_names_of_their_own(cepbench: Cepbench, tmp_path: Path) -> None:
    save(tmp_path / "results", "first", 1.0)
    place = tmp_path / "results" / "first"
    figure = (place / "smoke" / "figure.json").read_text().replace('"smoke"', '"quick"')
    (place / "quick").mkdir()
    (place / "quick" / "figure.json").write_text(figure)
    ended = cepbench("plot", "--results", tmp_path / "results", "--format", "svg", "-o", tmp_path / "all")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["first-quick.svg", "first-smoke.svg"]
    assert ended.status == 0


def test_many_figures_are_drawn_by_several_processes(
    cepbench: Cepbench, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, page = cepbench("report", "--results", results), results / "report.html"
    content = page.read_bytes()
    monkeypatch.setattr("cepbench.cli.results.MANY", 2)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    several = cepbench("report", "--results", results)
    assert (several.status, several.out, several.err) == (alone.status, alone.out, "drawing 2 figures\n")
    assert page.read_bytes() == content
