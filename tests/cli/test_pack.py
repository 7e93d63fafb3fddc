"""Results in one file, in place of their folder."""

import json
from pathlib import Path

import pytest

from cepbench.metrics.results import load_results
from tests.cli.conftest import Cepbench
from tests.cli.test_results import save


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for experiment in ("cet-8.5", "mine"):
        save(tmp_path / "results", experiment, 1.0)
    return tmp_path / "results"


@pytest.fixture
def pack(cepbench: Cepbench, results: Path, tmp_path: Path) -> Path:
    assert cepbench("pack", "--results", results, tmp_path / "run.tar.xz").status == 0
    return tmp_path / "run.tar.xz"


def test_packing_reports_what_is_in_the_file(cepbench: Cepbench, results: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.tar.xz"
    ended = cepbench("pack", "--results", results, file)
    assert ended.status == 0
    assert ended.out.splitlines()[0].startswith(f"{file}: 2 figures, 2 cells, 0.0")
    assert "without the experiment files of mine," in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run.zip",), "a pack is called FILE.tar.xz"),
        (("run.tar.xz", "--profile", "paper"), "no figures of profile 'paper'; there are figures of: smoke"),
    ],
)
def test_what_cannot_be_packed(
    cepbench: Cepbench, results: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    ended = cepbench("pack", tmp_path / arguments[0], *arguments[1:], "--results", results)
    assert (ended.status, message in ended.err) == (2, True)
    assert not (tmp_path / arguments[0]).exists()


def test_commands_read_a_pack_as_its_folder(cepbench: Cepbench, results: Path, pack: Path, tmp_path: Path) -> None:
    assert cepbench("compare", results, pack).out == cepbench("compare", results, results).out
    for source, name in ((results, "folder.csv"), (pack, "pack.csv")):
        assert cepbench("export", source, "-o", tmp_path / name).status == 0
    assert (tmp_path / "pack.csv").read_bytes() == (tmp_path / "folder.csv").read_bytes()
    assert cepbench("plot", "mine", "--results", pack, "-o", tmp_path / "d", "--format", "svg").status == 0
    assert (tmp_path / "d" / "mine.svg").exists()


def test_a_pack_becomes_a_folder_again(cepbench: Cepbench, results: Path, pack: Path, tmp_path: Path) -> None:
    folder, again = tmp_path / "unpacked", tmp_path / "again.tar.xz"
    ended = cepbench("unpack", pack, "--results", folder)
    assert (ended.status, ended.out) == (0, f"{folder}: 2 figures, 2 cells\n")
    assert cepbench("pack", again, "--results", folder).status == 0
    assert again.read_bytes() == pack.read_bytes()
    # A part with another figure is joined; one with a figure that the folder has is refused as a whole.
    save(tmp_path / "part", "cet-8.6", 2.0)
    assert cepbench("pack", again, "--results", tmp_path / "part").status == 0
    assert cepbench("unpack", again, "--results", folder).status == 0
    before = load_results(folder)
    assert {swept.figure.experiment for swept in before} == {"cet-8.5", "cet-8.6", "mine"}
    save(tmp_path / "part", "mine", 2.0)
    save(tmp_path / "part", "cet-8.7", 2.0)
    assert cepbench("pack", again, "--results", tmp_path / "part").status == 0
    ended = cepbench("unpack", again, "--results", folder)
    assert (ended.status, "has results already; move them, or choose another --results" in ended.err) == (2, True)
    assert load_results(folder) == before


def test_the_page_of_a_pack_stands_beside_it(cepbench: Cepbench, pack: Path) -> None:
    ended = cepbench("report", pack)
    assert (ended.status, ended.out) == (0, f"{pack.parent / 'run.html'}\n")
    assert 'id="mine-smoke-run"' in (pack.parent / "run.html").read_text()


def test_a_damaged_pack_is_refused_in_one_line(cepbench: Cepbench, pack: Path) -> None:
    pack.write_bytes(pack.read_bytes()[:-50])
    for arguments in (("report", pack), ("compare", pack, pack), ("review", pack, "--against", pack)):
        ended = cepbench(*arguments)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err == f"cepbench: {pack}: not a pack, or a damaged one; `cepbench pack` writes packs\n"


def test_review_ends_with_1_if_something_differs(cepbench: Cepbench, results: Path, pack: Path) -> None:
    assert cepbench("review", pack, "--against", results).status == 0
    file = results / "mine" / "smoke" / "cells" / "0.json"
    file.write_text(file.read_text().replace('"status":"ok"', '"status":"timeout"'))
    ended = cepbench("review", pack, "--against", results)
    assert ended.status == 1
    assert "  timeout -> ok: sase " in ended.out
    document = json.loads(cepbench("review", pack, "--against", results, "--json").out)
    assert document["differs"] is True
    assert [figure["theirs"] for figure in document["figures"]] == [{"ok": 1}, {"ok": 1}]
