"""The provenance of a measurement: code, versions, machine, Spark."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.plugins import digests, file_of
from cepbench.events.errors import CepbenchError
from cepbench.metrics.figure import COMMITS_FOLDER
from cepbench.metrics.record import Record
from cepbench.pipeline.probe import PACKAGES, installed

ROOT = Path(__file__).resolve().parent.parent


def environment(spark: dict[str, str] | None = None) -> dict[str, Any]:
    """The provenance as JSON values; `spark` is the configuration of the session."""
    return {
        **commit(),
        "versions": {
            "python": platform.python_version(),
            **{name: installed(name) for name in ("cepbench", *PACKAGES)},
        },
        **({"plugins": plugins} if (plugins := digests()) else {}),
        "system": f"{platform.system()} {platform.release()}",
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": psutil.virtual_memory().total,
        **({} if spark is None else {"spark": spark}),
    }


def changed_plugins(
    records: Mapping[str, Record], algorithms: Mapping[str, type[Algorithm] | None]
) -> dict[str, tuple[str, ...]]:
    """Cells that an earlier version of a plug-in file gave, by the name of the file.

    `records` and `algorithms` are by cell. A file that was only renamed has not changed.
    """
    now, changed = digests(), dict[str, tuple[str, ...]]()
    for cell, record in records.items():
        kind = algorithms[cell]
        file = None if kind is None else file_of(kind)
        if file in now and now[file] not in record.provenance.get("plugins", {}).values():
            changed[file] = (*changed.get(file, ()), cell)
    return changed


def commit() -> dict[str, Any]:
    """The commit of the sources, its time, and whether they differ from it; all None outside of a Git checkout."""
    revision = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain")
    committed = _git("show", "-s", "--format=%ct", "HEAD")
    moment = None if committed is None else datetime.fromtimestamp(int(committed), UTC).isoformat(timespec="seconds")
    return {"commit": revision, "committed": moment, "dirty": None if changed is None else bool(changed)}


def commit_folder(results: Path) -> Path:
    """The folder for results of this commit: `<results>/commits/<commit>`, with `-changed` if the sources differ.

    Raises `CepbenchError` outside of a Git checkout.
    """
    origin = commit()
    if origin["commit"] is None:
        raise CepbenchError("cepbench does not run from a Git checkout: results cannot be kept by commit")
    return results / COMMITS_FOLDER / f"{origin['commit'][:12]}{'-changed' if origin['dirty'] else ''}"


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(("git", "-C", str(ROOT), *arguments), capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu() -> str:
    """The name of the processor model."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
