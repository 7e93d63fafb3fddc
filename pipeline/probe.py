"""Checks of every executor of a cluster before any work: shared folders, and equal versions."""

from __future__ import annotations

import os
import platform
import socket
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pyspark.sql import SparkSession

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.cluster import is_local
from cepbench.pipeline.session import executor_count
from cepbench.pipeline.store import STREAM_FILE, is_store
from cepbench.pipeline.tasks import run_tasks

PACKAGES = ("pyspark", "pyarrow", "numpy", "numba", "llvmlite", "pandas")
"""Packages whose versions affect results or the compilation of kernels."""
ROUNDS = 20
HOLD_SECONDS = 0.3
"""Seconds for which a task occupies its slot, so that others run elsewhere."""


@dataclass(frozen=True)
class Worker:
    """The Python environment of an executor. `parent` distinguishes executors of one machine."""

    host: str
    parent: int
    python: str
    versions: tuple[str, ...]
    architecture: str
    cores: int
    memory_bytes: int

    @property
    def environment(self) -> dict[str, str]:
        """The part that must be equal on all machines."""
        versions = dict(zip(PACKAGES, self.versions, strict=True))
        return {"Python": self.python, **versions, "architecture": self.architecture}


def this_worker() -> Worker:
    """The environment of this process."""
    return Worker(
        socket.gethostname(),
        os.getppid(),
        ".".join(platform.python_version_tuple()[:2]),
        _versions(),
        platform.machine(),
        os.cpu_count() or 1,
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    )


def check_workers(spark: SparkSession, folders: Sequence[Path], inputs: Sequence[Path] = ()) -> list[Worker]:
    """Probes all executors, until each has answered; [] in local mode.

    All executors write to `folders`, which must exist; `inputs` are stores, files and folders of files to be read.
    Raises `CepbenchError` with the host whose environment differs from the driver's, or that cannot see a folder, or
    whose files the driver cannot see.
    """
    if is_local(str(spark.sparkContext.master)):
        return []
    here, mark = this_worker(), f".cepbench-probe-{uuid.uuid4().hex}"
    folders = [folder.resolve() for folder in folders]
    look = partial(_look, folders, mark, [(path.resolve(), _content(path)) for path in inputs])
    workers: dict[tuple[str, int], Worker] = {}
    try:
        for folder in folders:
            (folder / mark).touch()
        for _ in range(ROUNDS):
            slots = max(1, spark.sparkContext.defaultParallelism)
            for worker, blind in run_tasks(spark, look, range(2 * slots)):
                workers[worker.host, worker.parent] = worker
                _check_environment(worker, here)
                if blind:
                    raise CepbenchError(
                        f"{blind[0]}: the worker on {worker.host} does not see what is there; use storage that all "
                        "machines share (docs/cluster.md)"
                    )
            if len(workers) >= executor_count(spark):
                break
        for folder in folders:
            for worker in workers.values():
                if not (folder / f"{mark}.{worker.host}.{worker.parent}").is_file():
                    raise CepbenchError(
                        f"{folder}: what the worker on {worker.host} writes there is not seen here; use a folder on "
                        "storage that all machines share (docs/cluster.md)"
                    )
    finally:
        for folder in folders:
            for file in folder.glob(f"{mark}*"):
                file.unlink(missing_ok=True)
    return sorted(workers.values(), key=lambda worker: (worker.host, worker.parent))


def described(workers: Sequence[Worker]) -> list[dict[str, object]]:
    """Workers as fields of a record."""
    return [{**asdict(worker), "versions": dict(zip(PACKAGES, worker.versions, strict=True))} for worker in workers]


def _look(
    folders: Sequence[Path], mark: str, inputs: Sequence[tuple[Path, str]], item: int
) -> tuple[Worker, list[str]]:
    """Looks for the driver's marks in folders, and leaves its own there; returns the paths that it does not see."""
    time.sleep(HOLD_SECONDS)
    worker = this_worker()
    blind = [str(folder) for folder in folders if not (folder / mark).is_file()]
    blind += [str(path) for path, content in inputs if _content(path) != content]
    for folder in folders:
        with suppress(OSError):
            (folder / f"{mark}.{worker.host}.{worker.parent}").touch()
    return worker, blind


def _content(path: Path) -> str:
    """A value that is equal if two machines see the same at a path: a store's description, a file's size."""
    try:
        if is_store(path):
            return blake2b((path / STREAM_FILE).read_bytes(), digest_size=16).hexdigest()
        return f"{path.stat().st_size} bytes" if path.is_file() else "a folder" * path.is_dir()
    except OSError:
        return ""


def _check_environment(worker: Worker, here: Worker) -> None:
    for name, theirs in worker.environment.items():
        ours = here.environment[name]
        if theirs != ours:
            raise CepbenchError(
                f"the worker on {worker.host} has {name} {theirs}, and the driver {ours}; install the same on all "
                "machines (docs/cluster.md)"
            )


@cache
def _versions() -> tuple[str, ...]:
    return tuple(installed(name) or "none" for name in PACKAGES)


def installed(name: str) -> str | None:
    """The version of a package in this environment; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
