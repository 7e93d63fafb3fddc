from pathlib import Path

from algorithms.kernels.compilation import SOURCES, cache_folder


def test_every_change_of_a_source_has_a_folder_of_its_own(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("one")
    second.write_text("two")
    before = cache_folder((first, second))
    assert cache_folder((first, second)) == before
    second.write_text("three")
    assert cache_folder((first, second)) != before


def test_kernels_and_what_they_read_are_sources() -> None:
    names = {source.name for source in SOURCES}
    assert {"trend_hash.py", "cells.py", "tables.py", "aggregates.py"} <= names
