"""Files are whole or not there."""

import os
from pathlib import Path

import pytest

from cepbench.metrics.files import Unwritable, write


def test_all_is_on_disk_before_the_file_is_moved_into_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, synced = tmp_path / "new" / "file", list[int]()

    def note(descriptor: int) -> None:
        assert not place.exists()
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", note)
    assert write(place, b"content").read_bytes() == b"content"
    assert synced == [len(b"content")]
    assert [path.name for path in place.parent.iterdir()] == ["file"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("is a file")
    with pytest.raises(Unwritable, match=r"folder/file: cannot be written: file exists"):
        write(tmp_path / "folder" / "file", b"")
