import multiprocessing
import os
from pathlib import Path

import pandas as pd
import pytest

from cepbench.experiments.cell_files import CellFiles, locked
from cepbench.experiments.errors import SweepError
from cepbench.metrics.figure import Axis, Declared, Figure
from cepbench.metrics.record import FORMAT, Samples
from cepbench.metrics.results import load_results
from cepbench.metrics.status import Status
from tests.experiments.records import record


def test_records_come_back(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    assert files.open(["a"]) == {}
    a = record("fast", {"n": 1}).model_copy(update={"cell": "a"})
    files.write(a)
    assert files.open(["a"]) == {"a": a}
    assert sorted(path.name for path in (tmp_path / "e/quick/cells").iterdir()) == ["a.json", "a.parquet"]
    assert pd.read_parquet(tmp_path / "e/quick/cells/a.parquet")["service"][0].tolist() == a.samples.service
    assert '"service": [' not in (tmp_path / "e/quick/cells/a.json").read_text()
    without = a.model_copy(update={"cell": "b", "samples": Samples()})
    files.write(without)
    assert files.open(["b"]) == {"b": without}


def test_a_record_without_its_samples_is_an_unfinished_cell(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    files.open(["a"])
    a = record("fast", {"n": 1}).model_copy(update={"cell": "a"})
    samples = tmp_path / "e/quick/cells/a.parquet"
    files.write(a.model_copy(update={"samples": Samples(service=[1.0])}))
    content = samples.read_bytes()
    files.write(a)
    samples.write_bytes(content)
    assert files.open(["a"]) == {}
    files.write(a)
    samples.unlink()
    assert files.open(["a"]) == {}
    files.write(a)
    assert files.open(["a"]) == {"a": a}


@pytest.mark.parametrize("last", [".next.parquet", ".json", ".parquet"])
def test_a_record_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch, last):
    """A kill after each of the files: samples that wait, the record, samples in place."""
    files, cells = CellFiles(tmp_path, "e", "quick"), tmp_path / "e/quick/cells"
    files.open(["a"])
    old = record("fast", {"n": 1}).model_copy(update={"cell": "a", "samples": Samples(service=[1.0])})
    new = old.model_copy(update={"samples": Samples(service=[2.0])})
    files.write(old)

    class Killed(BaseException):
        pass

    replace = os.replace

    def killing(source, target):
        replace(source, target)
        if Path(target).name == f"a{last}":
            raise Killed

    monkeypatch.setattr(os, "replace", killing)
    with pytest.raises(Killed):
        files.write(new)
    monkeypatch.undo()
    assert files.open(["a"]) == {"a": old if last == ".next.parquet" else new}
    assert files.open([]) == {}  # put aside, and taken back
    assert files.open(["a"]) == {"a": old if last == ".next.parquet" else new}
    files.write(old)
    assert files.open(["a"]) == {"a": old}
    assert sorted(path.name for path in cells.iterdir()) == ["a.json", "a.parquet"]


def test_records_of_earlier_versions_hold_their_samples(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    files.open(["a"])
    a = record("fast", {"n": 1}).model_copy(update={"cell": "a"})
    assert a.samples.service
    (tmp_path / "e/quick/cells/a.json").write_text(a.model_dump_json(indent=1))
    assert files.open(["a"]) == {"a": a}


def test_other_configurations_are_put_aside_and_taken_back(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    files.open([])
    a = record("fast", {"n": 1}).model_copy(update={"cell": "a"})
    files.write(a)
    assert files.open(["b"]) == {}
    assert list((tmp_path / "e/quick/cells").iterdir()) == []
    assert files.open(["a", "b"]) == {"a": a}


def described(title):
    axis = Axis(name="n", label="n")
    return Figure(id="1", experiment="e", profile="quick", title=title, paper="p", x=axis, panels=(), algorithms=())


def cell(name):
    return record("fast", {"n": 1}).model_copy(update={"cell": name, "experiment": "e", "profile": "quick"})


def test_what_was_put_aside_can_be_read_with_its_figure_and_only_there(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    files.open(["a"])
    files.write(cell("a"))
    files.write_figure(described("before"))
    assert files.others(["b"]) == ["a"]
    files.open(["b"])
    assert files.others(["b"]) == []
    files.write(cell("b"))
    files.write_figure(described("after"))
    [superseded] = load_results(tmp_path / "e/quick/superseded")
    assert (superseded.figure.title, superseded.records) == ("before", (cell("a"),))
    for root in (tmp_path, tmp_path / "e", tmp_path / "e/quick"):
        [current] = load_results(root)
        assert (current.figure.title, current.records) == ("after", (cell("b"),))


def test_what_is_put_aside_is_counted_and_its_folder_named(tmp_path):
    superseding = CellFiles(tmp_path, "e", "quick").superseding
    remedy = f"kept in {tmp_path}/e/quick/superseded, which you may delete; "
    assert superseding(["a"]).startswith(f"1 cell of another configuration is {remedy}")
    assert superseding(["a", "b"]).startswith(f"2 cells of another configuration are {remedy}")


def test_cells_put_aside_after_a_kill_have_a_figure_too(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    files.open(["a"])
    files.write(cell("a"))  # killed before the figure
    files.open(["b"])
    files.write(cell("b"))
    files.write_figure(described("after"))
    assert load_results(tmp_path / "e/quick/superseded")[0].records == (cell("a"),)


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_putting_aside_goes_on_after_a_kill(tmp_path, monkeypatch, moves):
    files = CellFiles(tmp_path, "e", "quick")
    files.open(["a", "b"])
    for name in "ab":
        files.write(cell(name))

    class Killed(BaseException):
        pass

    done, replace = [], os.replace

    def killing(source, target):
        if len(done) == moves:
            raise Killed
        done.append(replace(source, target))

    monkeypatch.setattr(os, "replace", killing)
    with pytest.raises(Killed):
        files.open(["c"])
    monkeypatch.undo()
    assert files.open(["c"]) == {}
    assert files.open(["a", "b"]) == {"a": cell("a"), "b": cell("b")}


def test_a_broken_file_is_an_unfinished_cell(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    files.open(["a"])
    (tmp_path / "e/quick/cells/a.json").write_text('{"cell": "a"')
    assert files.open(["a"]) == {}


def test_only_wanted_cells_are_read_and_none_is_moved(tmp_path: Path) -> None:
    files = CellFiles(tmp_path, "e", "quick")
    for name in "ab":
        files.write(record("fast", {"n": 1}).model_copy(update={"cell": name}))
    assert set(files.read(["b", "c"])) == {"b"}
    assert set(files.read(["a", "b"])) == {"a", "b"}


def test_records_of_another_format_are_run_again(tmp_path: Path) -> None:
    files = CellFiles(tmp_path, "e", "quick")
    for name, changes in (("a", {"format": FORMAT + 1}), ("b", {})):
        files.write(record("fast", {"n": 1}).model_copy(update={"cell": name, **changes}))
    assert set(files.open(["a", "b"])) == {"b"}


def test_errors_are_run_again(tmp_path):
    files = CellFiles(tmp_path, "e", "quick")
    files.open([])
    for name, status in (("a", Status.ERROR), ("b", Status.TIMEOUT), ("c", Status.WRONG)):
        files.write(record("fast", {"n": 1}, status).model_copy(update={"cell": name}))
    assert set(files.open(["a", "b", "c"])) == {"b", "c"}


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SweepError, match="not writable"), locked(tmp_path / "file"):
        pass
    (tmp_path / "results").mkdir()
    (tmp_path / "results/e").write_text("")
    with pytest.raises(SweepError, match="not writable"):
        CellFiles(tmp_path / "results", "e", "quick").open([])


def _hold(folder, ready, release):
    with locked(folder):
        ready.set()
        release.wait(30)


def test_one_sweep_per_folder(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, ready, release))
    holder.start()
    assert ready.wait(30)
    with (
        pytest.raises(SweepError, match=rf"another sweep \(process {holder.pid}\) runs in this folder"),
        locked(tmp_path),
    ):
        pass
    holder.kill()  # a lock does not outlive its owner
    holder.join()
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_text() == str(os.getpid())


def test_what_a_killed_sweep_had_half_written_is_removed(tmp_path: Path) -> None:
    left = [tmp_path / "e/quick/cells/.a.json.0.tmp", tmp_path / "e/quick/.figure.json.1.tmp"]
    for file in left:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"half")
    CellFiles(tmp_path, "e", "quick").open(["a"])
    assert not any(file.exists() for file in left)


def test_claims_are_stored_before_the_first_cell(tmp_path: Path) -> None:
    files = CellFiles(tmp_path, "e", "quick")
    files.open(["a"])
    claims = (Declared(text="It grows.", expected="more", size="n 1"),)
    files.declare(claims)
    assert files.declared() == claims
    (tmp_path / "e/quick/declared.json").write_text("[{}]")
    with pytest.raises(SweepError, match=r"declared\.json: missing or unreadable claims"):
        files.declared()
