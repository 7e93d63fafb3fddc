"""Published measurements that a panel shows beside our own, read from `published/`."""

from __future__ import annotations

import csv
from math import isfinite
from pathlib import Path

from pydantic import Field

from cepbench.experiments.errors import ExperimentError
from cepbench.metrics.figure import PublishedCurve
from cepbench.metrics.record import Strict

PUBLISHED = Path(__file__).parent / "published"
REMARK = "#"


class Overlay(Strict):
    """One published curve: the columns `x` and `y` of a CSV `file` below `experiments/published/`.

    `scale` converts the numbers of the file into the unit of the panel (0.001 for milliseconds as seconds). The curve
    has the color of the algorithm `of`.
    """

    file: str
    x: str
    y: str
    label: str = "published"
    of: str | None = None
    scale: float = Field(default=1.0, gt=0)


def published(overlay: Overlay, folder: Path = PUBLISHED) -> PublishedCurve:
    """The curve of an overlay, its points by x. Raises `ExperimentError`, which names the file and the column."""
    path = folder / overlay.file
    if not path.is_file():
        raise ExperimentError(f"overlay: unknown file {overlay.file!r}; choose one of {', '.join(_files(folder))}")
    lines = path.read_text(encoding="utf-8").splitlines()
    source = " ".join(line.removeprefix(REMARK).strip() for line in lines if line.startswith(REMARK))
    rows = list(csv.DictReader(line for line in lines if not line.startswith(REMARK)))
    columns = list(rows[0]) if rows else []
    for name in (overlay.x, overlay.y):
        if name not in columns:
            named = ", ".join(columns) or "none"
            raise ExperimentError(f"overlay: {overlay.file} has no column {name!r}; there are {named}")
    points = tuple((_number(overlay, overlay.x, row), overlay.scale * _number(overlay, overlay.y, row)) for row in rows)
    return PublishedCurve(label=overlay.label, of=overlay.of, source=source, points=tuple(sorted(points)))


def _number(overlay: Overlay, name: str, row: dict[str, str]) -> float:
    try:
        number = float(row[name])
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise ExperimentError(f"overlay: {overlay.file}, column {name}: expected a number, not {row[name]!r}")
    return number


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.csv"))
