"""Records and their samples, wherever a process was killed that wrote them."""

import subprocess
import sys
from pathlib import Path

import pytest

from cepbench.metrics.record import Record, Samples
from cepbench.metrics.record_files import NEXT_SUFFIX, SAMPLES_SUFFIX, SamplesError, read_record, write_record
from cepbench.metrics.status import Status


def record(*latency: float) -> Record:
    return Record(
        cell="c", group="g", experiment="e", profile="smoke", algorithm="greta", point={},
        round=1, configuration={}, status=Status.OK, limit_seconds=1.0, limit_bytes=1,
        samples=Samples(latency=list(latency)),
    )  # fmt: skip


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    for written in (record(), record(1.0, 2.0), record(3.0)):
        write_record(tmp_path, written)
        assert read_record(tmp_path / "c.json") == written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", f"c{SAMPLES_SUFFIX}"]


def test_every_field_of_the_samples_is_kept(tmp_path: Path) -> None:
    numbers = {name: [n + 1, n + 2] for n, name in enumerate(Samples.model_fields)}
    shown = record().model_copy(update={"samples": Samples(**numbers)})
    write_record(tmp_path, shown)
    assert read_record(tmp_path / f"{shown.cell}.json") == shown


def test_samples_that_wait_are_those_of_a_record_that_names_them(tmp_path: Path) -> None:
    write_record(tmp_path, record(1.0))
    (tmp_path / f"c{SAMPLES_SUFFIX}").rename(tmp_path / f"c{NEXT_SUFFIX}")
    assert read_record(tmp_path / "c.json") == record(1.0)


def test_samples_that_wait_for_a_later_record_change_nothing(tmp_path: Path) -> None:
    write_record(tmp_path, record(2.0))
    (tmp_path / f"c{SAMPLES_SUFFIX}").rename(tmp_path / "later")
    write_record(tmp_path, record(1.0))
    (tmp_path / "later").rename(tmp_path / f"c{NEXT_SUFFIX}")
    assert read_record(tmp_path / "c.json") == record(1.0)


def test_a_record_beside_other_samples_is_none(tmp_path: Path) -> None:
    write_record(tmp_path, record(1.0))
    (tmp_path / f"c{SAMPLES_SUFFIX}").write_bytes(b"others")
    with pytest.raises(SamplesError, match="not the samples of its record"):
        read_record(tmp_path / "c.json")


def test_reading_leaves_no_thread_behind_that_could_abort_the_process(tmp_path: Path) -> None:
    write_record(tmp_path, record(1.0, 2.0))
    program = (
        "import os, sys; from pathlib import Path; from cepbench.metrics.record_files import read_record\n"
        "before = os.listdir('/proc/self/task'); read_record(Path(sys.argv[1]))\n"
        "print(len(os.listdir('/proc/self/task')) - len(before))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "c.json")], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "0\n"
