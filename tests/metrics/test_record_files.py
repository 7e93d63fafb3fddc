"""Records and their samples, wherever a process was killed that wrote them."""

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
