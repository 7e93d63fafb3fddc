from pathlib import Path

from algorithms.kernels import cells, compilation
from algorithms.kernels.compilation import cache_folder, sources

KERNELS = Path(compilation.__file__).parent


def test_every_change_of_a_source_has_a_folder_of_its_own(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("one")
    second.write_text("two")
    before = cache_folder((first, second))
    assert cache_folder((first, second)) == before
    second.write_text("three")
    assert cache_folder((first, second)) != before


def test_what_a_kernel_reads_at_second_hand_is_a_source_of_it_too() -> None:
    names = {source.name for source in sources(KERNELS / "graph.py")}
    assert {"graph.py", "panes.py", "predicates.py", "cells.py", "tables.py", "aggregates.py"} <= names
    assert "trend_hash.py" not in names
    assert "automaton.py" not in names


def test_kernels_are_kept_with_their_sources() -> None:
    assert cache_folder(sources(KERNELS / "cells.py")).is_dir()
    assert Path(cells.__file__) in sources(KERNELS / "cells.py")
