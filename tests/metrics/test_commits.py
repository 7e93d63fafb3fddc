"""Results of several commits, oldest first."""

from pathlib import Path
from typing import Any

from cepbench.metrics.commits import load_commits
from tests.plots.conftest import make_figure, make_record, write_results

LONG = "0123456789abcdef" * 2


def keep(folder: Path, started: str, **provenance: Any) -> Path:
    write_results(folder, make_figure(), [make_record(started=started, provenance=provenance)])
    return folder


def test_a_folder_of_commits_is_in_the_order_of_the_commits(tmp_path: Path) -> None:
    keep(tmp_path / "c" / "1", "2026-01-01", commit="1" + LONG, committed="2025-03-01")
    keep(tmp_path / "c" / "2", "2026-01-02", commit="2" + LONG, committed="2025-01-01", dirty=True)
    keep(tmp_path / "c" / "3", "2025-02-01", commit="3" + LONG)  # by its first cell
    (tmp_path / "c" / "empty").mkdir()
    assert [entry.name for entry in load_commits([tmp_path / "c"])] == ["2012345+", "3012345", "1012345"]
    named = [tmp_path / "c" / "1", tmp_path / "c" / "2"]
    assert [entry.name for entry in load_commits(named)] == ["1012345", "2012345+"]


def test_a_name_distinguishes_folders(tmp_path: Path) -> None:
    folders = [keep(tmp_path / name, "2026-01-01", commit=LONG) for name in ("before", "after")]
    assert [entry.name for entry in load_commits(folders)] == ["before", "after"]
    unknown = keep(tmp_path / "unknown", "2026-01-01")
    mixed = keep(tmp_path / "mixed", "2026-01-01", commit=LONG)
    write_results(mixed, make_figure(profile="smoke"), [make_record(profile="smoke", provenance={"commit": "f" * 40})])
    assert [entry.name for entry in load_commits([folders[0], unknown, mixed])] == [LONG[:7], "unknown", "mixed"]


def test_folders_without_results_are_left_out(tmp_path: Path) -> None:
    assert load_commits([tmp_path]) == []
