"""Folders of code are ours alone, or not used."""

import os
from pathlib import Path

import pytest

from cepbench.pipeline import packages


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return packages.cache_folder()


def test_a_folder_is_made_that_nobody_else_sees(folder: Path) -> None:
    assert packages.private_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert packages.private_folder() == folder


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o755])
def test_a_folder_that_others_can_enter_is_not_used(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    assert packages.private_folder() is None


def test_a_link_is_not_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert packages.private_folder() is None


def test_a_folder_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    owner = folder.lstat().st_uid
    monkeypatch.setattr(packages, "cache_folder", lambda: folder)
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert packages.private_folder() is None
