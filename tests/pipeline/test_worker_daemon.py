"""Workers are forks of a process that has loaded packages and kernels, and processes of their own all the same."""

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile
from zipimport import zipimporter

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.engine.kernels import compilation
from cepbench.algorithms.registry import ALGORITHMS
from cepbench.pipeline import worker_daemon
from cepbench.pipeline.session import session
from cepbench.pipeline.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _found(item: int) -> tuple[int, int, bool, int]:
    from cepbench.algorithms.engine.kernels.compilation import loaded

    there = "cepbench.algorithms.trends.online.kernels.reach.visits" in sys.modules
    return os.getpid(), os.getppid(), there, loaded()


@pytest.mark.spark
@pytest.mark.full
def test_fresh_workers_begin_with_packages_and_kernels(spark: "SparkSession") -> None:
    assert session("local[2]").sparkContext is spark.sparkContext
    found = run_tasks(session("local[2]", reuse_workers=False), _found, [0, 1, 2])
    assert len({process for process, *_ in found}) == 3
    assert len({parent for _, parent, *_ in found}) == 1
    assert all(there for _, _, there, _ in found)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_daemon_does_not_compile(compiled: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Algorithm] = []
    marker = tmp_path / "marker"
    if compiled:
        marker.touch()
    monkeypatch.setattr("cepbench.algorithms.engine.kernels.compilation.common_marker", lambda: marker)
    monkeypatch.setattr("cepbench.pipeline.warmup.warm_up_common", asked.append)
    monkeypatch.setattr("gc.freeze", lambda: None)
    worker_daemon.preload()
    assert len(asked) == (sum(not kind.starts for kind in ALGORITHMS) if compiled else 0)
    assert "flink" not in {algorithm.name for algorithm in asked}


def test_a_marker_is_for_these_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "algorithms" / "kernels").mkdir(parents=True)
    source = tmp_path / "algorithms" / "kernels" / "a.py"
    source.write_text("one = 1")
    monkeypatch.setattr(compilation, "_ROOT", tmp_path)
    before = compilation.common_marker()
    assert compilation.common_marker() == before
    source.write_text("two = 2")
    assert compilation.common_marker() != before


def test_archives_are_not_read_by_every_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archive = tmp_path / "two.zip"
    with ZipFile(archive, "w") as file:
        file.writestr("loaded_before.py", "")
        file.writestr("needed_later.py", "")
    monkeypatch.syspath_prepend(str(archive))
    importlib.import_module("loaded_before")
    assert isinstance(sys.path_importer_cache[str(archive)], zipimporter)
    worker_daemon.forget_archives()
    assert not any(isinstance(importer, zipimporter) for importer in sys.path_importer_cache.values())
    importlib.import_module("needed_later")
