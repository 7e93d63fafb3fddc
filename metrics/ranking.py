"""The result of `cepbench bench`: algorithms on the same work, the best one first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

from cepbench.metrics.status import Status

if TYPE_CHECKING:
    import pandas as pd

PROCESSES = 5
"""Processes from which on the ranges of their times distinguish two algorithms."""
APART = 1.5
"""With fewer processes, only times that differ by this factor distinguish two algorithms."""


MOSTLY_FLOOR = 1 / 3
"""The share of the time on one event per window in a time from which on commands mention it."""


def floor_line(shares: Iterable[tuple[str, float | None]]) -> str | None:
    """A line on the algorithms whose time is mostly that on one event per window; None if there are none."""
    names = [name for name, share in shares if share is not None and share > MOSTLY_FLOOR]
    if not names:
        return None
    return f"With one event per window, {', '.join(names)} would take more than a third of the time, too."


@dataclass(frozen=True)
class Entry:
    """One algorithm. Seconds, events per second, bytes; None if not measured.

    - `seconds`: the time of a whole run: the median over `processes`, each of which has the median of its runs (`runs`
      in all). `low` and `high`: the lowest and the highest of the processes, if there are several.
    - `state`: the peak of the algorithm's state; `process`: the peak of its process above that of an operator that
      does nothing.
    - `compile_seconds`: loading and compiling kernels, and `plan_seconds`: the optimizer, both outside of `seconds`.
    - `floor`: the share of the time on one event per window in `seconds`.
    """

    algorithm: str
    status: Status
    reason: str = ""
    rank: int | None = None
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int | None = None
    processes: int | None = None
    throughput: float | None = None
    state: int | None = None
    process: int | None = None
    rows: int | None = None
    plan_seconds: float | None = None
    compile_seconds: float | None = None
    floor: float | None = None


@dataclass(frozen=True)
class Ranking:
    """All requested algorithms: those with an answer by their time, and then the others."""

    events: int
    queries: int
    limit_seconds: float
    entries: tuple[Entry, ...]

    def frame(self) -> pd.DataFrame:
        """A row per algorithm, without empty columns."""
        import pandas as pd

        rows = [asdict(entry) | {"status": entry.status.value} for entry in self.entries]
        return pd.DataFrame(rows).replace({"": None}).dropna(axis="columns", how="all")

    def as_dict(self) -> dict[str, Any]:
        """As JSON values; infinity is the text "inf"."""
        document: dict[str, Any] = finite(asdict(self))
        return document


def ranked(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries in order, with ranks. Only successful runs are ranked: a wrong answer has no time.

    The rank is one more than the number of algorithms that are faster beyond doubt (`is_faster`): algorithms of equal
    rank are not distinguishable.
    """
    order = list(Status)
    ordered = sorted(
        entries, key=lambda entry: (order.index(entry.status), inf if entry.seconds is None else entry.seconds)
    )
    well = [entry for entry in ordered if entry.status is Status.OK]
    return tuple(
        replace(entry, rank=1 + sum(is_faster(rival, entry) for rival in well)) if entry in well else entry
        for entry in ordered
    )


def is_faster(first: Entry, second: Entry) -> bool:
    """Whether the first algorithm is faster beyond doubt.

    Their ranges do not meet, and if one of them has fewer than `PROCESSES` processes, times differ by `APART`.
    """
    enough = min(first.processes or 1, second.processes or 1) >= PROCESSES
    factor = 1.0 if enough else APART
    return _ends(first)[1] < _ends(second)[0] and factor * _seconds(first) <= _seconds(second)


def _ends(entry: Entry) -> tuple[float, float]:
    """The range of its times; without one, the time as both ends."""
    return (_seconds(entry), _seconds(entry)) if entry.low is None or entry.high is None else (entry.low, entry.high)


def _seconds(entry: Entry) -> float:
    return inf if entry.seconds is None else entry.seconds


def finite(value: Any) -> Any:
    """A value as JSON, at any depth: "inf" for infinity, None for NaN."""
    if isinstance(value, dict):
        return {name: finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if isinstance(value, float) and not isfinite(value):
        return None if isnan(value) else str(value)
    return value
