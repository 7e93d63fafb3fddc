"""Experiments from the command line, with a small one of our own."""

import json
from collections import Counter
from pathlib import Path

import pytest

from cepbench.algorithms.external.core_engine.algorithm import CoreEngine
from cepbench.algorithms.external.duckdb.algorithm import DuckDB
from cepbench.algorithms.external.flink.algorithm import Flink
from cepbench.events.errors import CepbenchError
from cepbench.experiments.provenance import commit
from cepbench.experiments.sweep import Swept
from cepbench.metrics.files import Unwritable
from cepbench.metrics.status import Status
from tests.plots.conftest import make_figure, make_record, write_results

EXPERIMENT = """
id: small
figure: "0.1"
paper: none
title: A small experiment
departures: []
stream:
  generator: uniform
  parameters: {rate: 10, events: "${events}", seed: 1}
workload: |
  RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN 2 seconds
axes:
  events: [40, 80]
algorithms: [greta, cogra]
measurements: [time]
limits: {seconds: 60}
plot:
  x: {name: events, label: Events}
  panels:
    - {metric: latency_mean, label: Latency, unit: s}
claims:
  - text: COGRA is at least a little faster than GRETA.
    source: nowhere
    metric: latency_mean
    of: greta
    to: cogra
    where: {events: 80}
    at_least: 0.0001
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(EXPERIMENT)
    return file


def test_dry_run_lists_the_cells_and_runs_none(cepbench, small, tmp_path):
    ended = cepbench("run", small, "--dry-run", "--results", tmp_path / "results")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert len(lines) == 5
    assert lines[-1].startswith("4 of 4 cells to run")
    assert not (tmp_path / "results").exists()


def test_settings_change_the_cells(cepbench, small, tmp_path):
    ended = cepbench("run", small, "--dry-run", "--set", "axes.events=[10]", "--set", "algorithms=[cogra]")
    assert ended.out.splitlines()[-1].startswith("1 of 1 cells to run")


def test_the_profile_changes_the_cells(cepbench, tmp_path):
    listed = [
        cepbench("run", "greta-13.1", "--dry-run", "--profile", profile, "--results", tmp_path).out
        for profile in ("smoke", "quick", "headline")
    ]
    assert len(set(listed)) == 3
    assert cepbench("run", "greta-13.1", "--dry-run", "--results", tmp_path).out == listed[1]


def test_engines_are_measured_where_they_are_installed(cepbench, small, tmp_path, monkeypatch):
    small.write_text(f"{EXPERIMENT}engines: [flink, duckdb]\n")
    monkeypatch.setattr(Flink, "missing", staticmethod(lambda: "Flink is not available: why"))
    monkeypatch.setattr(DuckDB, "missing", staticmethod(lambda: None))
    monkeypatch.setattr(CoreEngine, "missing", staticmethod(lambda: None))
    command = ("run", small, "--dry-run", "--results", tmp_path / "results")
    assert "duckdb" not in cepbench(*command).out
    ended = cepbench(*command, "--engines")
    assert (ended.status, ended.err) == (0, "without flink: Flink is not available: why\n")
    assert sum("small duckdb at" in line for line in ended.out.splitlines()) == 2
    refused = cepbench(*command, "--with", "flink")
    assert (refused.status, refused.err) == (2, "cepbench: Flink is not available: why\n")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.OK, 0),
        (Status.TIMEOUT, 0),
        (Status.OUT_OF_MEMORY, 0),
        (Status.UNSUPPORTED, 0),
        (Status.WRONG, 1),
        (Status.ERROR, 1),
    ],
)
def test_a_wrong_answer_and_an_error_are_status_1(cepbench, small, tmp_path, monkeypatch, status, expected):
    swept = Swept((tmp_path,), Counter([Status.OK, status]), run=2)
    monkeypatch.setattr("cepbench.experiments.sweep.run_planned", lambda *_, **__: swept)
    assert cepbench("run", small, "--results", tmp_path / "results").status == expected


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("nothing", "path=value"),
        ("colour=red", "colour"),
        ("limits.seconds=-1", "limits.seconds"),
        ("algorithms=[nothing]", "nothing"),
        ("workload=PATTERN", "PATTERN"),
        ("stream.generator=nothing", "nothing"),
    ],
)
def test_bad_settings_are_refused(cepbench, small, tmp_path, setting, word):
    ended = cepbench("run", small, "--set", setting, "--results", tmp_path / "results")
    assert ended.status == 2
    assert word in ended.err
    assert not (tmp_path / "results").exists()


def test_results_folder_that_cannot_be_written(cepbench, small, tmp_path):
    (tmp_path / "file").write_text("")
    ended = cepbench("run", small, "--results", tmp_path / "file" / "results")
    assert ended.status == 2
    assert str(tmp_path / "file") in ended.err


@pytest.mark.spark("measuring")
def test_run_report_plot_and_compare(cepbench, small, tmp_path):
    results = tmp_path / "results"
    command = ("run", small, "--report", "--results", results, "--master", "local[2]")
    ended = cepbench(*command)
    assert ended.status == 0, ended.err
    assert "4 ok (4 run" in ended.out
    cells = [json.loads(file.read_text()) for file in results.glob("small/*/cells/*.json")]
    assert [cell["status"] for cell in cells] == ["ok"] * 4
    assert len({cell["digest"] for cell in cells}) == 2
    page = (results / "report.html").read_text()
    assert ended.out.count((results / "report.html").as_uri()) == 2  # where it is, at its first figure and at the end
    assert "COGRA is at least a little faster than GRETA." in page

    assert "(0 run" in cepbench(*command).out

    ended = cepbench("plot", "small", "--results", results, "-o", tmp_path / "drawings")
    assert ended.status == 0, ended.err
    drawn = ended.out.splitlines()
    assert sorted(Path(line).suffix for line in drawn) == [".pdf", ".png", ".svg"]
    assert all(Path(line).stat().st_size > 1000 for line in drawn)

    compared = cepbench("compare", results, results)
    assert compared.status == 0
    assert "4 cells in both" in compared.out
    assert len(json.loads(cepbench("compare", results, results, "--format", "json").out)) == 4


def test_results_are_kept_by_commit(cepbench, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "cepbench.experiments.planning.listing", lambda planned, results, _: asked.append(results) or []
    )
    origin = {"rev-parse": "0123456789abcdef" * 2, "status": "", "show": "1767225600"}
    monkeypatch.setattr("cepbench.experiments.provenance._git", lambda *words: origin[words[0]])
    command = ("run", "greta-13.1", "--profile", "smoke", "--dry-run", "--results", tmp_path)
    cepbench(*command)
    cepbench(*command, "--by-commit")
    assert commit()["committed"] == "2026-01-01T00:00:00+00:00"
    origin["status"] = " M plots/draw.py"
    cepbench(*command, "--by-commit")
    kept = tmp_path / "commits"
    assert asked == [tmp_path, kept / "0123456789ab", kept / "0123456789ab-changed"]
    monkeypatch.setattr("cepbench.experiments.provenance._git", lambda *words: None)
    refused = cepbench(*command, "--by-commit")
    assert refused.status == 2
    assert "not run from a Git checkout" in refused.err


@pytest.fixture
def measuring(monkeypatch):
    """A sweep that runs nothing, leaves one figure and ends as given; and the pages that it saw."""

    def sweep(planned, results, *_, measured, **__):
        measured(results / "none" / "headline")
        measured(write_results(results, make_figure(), [make_record()]))
        page = results / "report.html"
        pages.append(page.read_text() if page.exists() else None)
        if ends:
            raise ends[0]
        return Swept((), Counter([Status.OK]), run=1)

    ends, pages = [], []
    monkeypatch.setattr("cepbench.experiments.sweep.run_planned", sweep)
    return ends, pages


def test_the_report_is_there_before_the_sweep_ends(cepbench, small, measuring, tmp_path):
    ended = cepbench("run", small, "--report", "--results", tmp_path / "results")
    assert ended.status == 0
    assert "so far" in measuring[1][0]
    assert "so far" not in (tmp_path / "results" / "report.html").read_text()
    assert [line.split(": ")[0] for line in ended.out.splitlines()][-1] == "Report"


def test_an_interrupted_sweep_leaves_the_page_of_what_is_there(cepbench, small, measuring, tmp_path):
    measuring[0].append(KeyboardInterrupt())
    assert cepbench("run", small, "--report", "--results", tmp_path / "results").status == 130
    page = (tmp_path / "results" / "report.html").read_text()
    assert "Figure 13.1" in page
    assert "so far" not in page


def test_a_report_that_cannot_be_written_fails_after_the_sweep(cepbench, small, measuring, tmp_path, monkeypatch):
    def full(*_, **__):
        raise Unwritable("report.html: cannot be written: no space left on device")

    monkeypatch.setattr("cepbench.plots.report.write_drawings", full)
    ended = cepbench("run", small, "--report", "--results", tmp_path / "results")
    assert ended.status == 2
    assert measuring[1] == [None]  # the sweep went on to its end
    first, last = ended.err.splitlines()
    assert first == "cepbench: the report could not be written: report.html: cannot be written: no space left on device"
    assert last == "cepbench: report.html: cannot be written: no space left on device"


def test_a_sweep_that_cannot_begin_leaves_the_page_alone(cepbench, small, tmp_path, monkeypatch):
    def refused(*_, **__):
        raise CepbenchError("another sweep runs in this folder")

    page = tmp_path / "results" / "report.html"
    page.parent.mkdir()
    page.write_text("of the other sweep")
    monkeypatch.setattr("cepbench.experiments.sweep.run_planned", refused)
    assert cepbench("run", small, "--report", "--results", page.parent).status == 2
    assert page.read_text() == "of the other sweep"
