"""Algorithms on the same work, the best one first: what `cepbench bench` finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from cepbench.metrics.record import Status

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Entry:
    """One algorithm. Seconds, events per second, bytes; what was not measured is None.

    - `seconds`: the median over `runs` of a whole run, with its interval from six runs on.
    - `state`: the peak of what the algorithm keeps; `process`: of its process, above one that does nothing.
    - `compile_seconds`: loading and compiling kernels, and `plan_seconds`: the optimiser, both outside of `seconds`.
    """

    algorithm: str
    status: Status
    reason: str = ""
    rank: int | None = None
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int | None = None
    throughput: float | None = None
    state: int | None = None
    process: int | None = None
    rows: int | None = None
    plan_seconds: float | None = None
    compile_seconds: float | None = None


@dataclass(frozen=True)
class Ranking:
    """All algorithms that were asked for: those with an answer by their time, and then the others."""

    events: int
    queries: int
    limit_seconds: float
    entries: tuple[Entry, ...]

    def frame(self) -> pd.DataFrame:
        """A row per algorithm, without columns that say nothing."""
        import pandas as pd

        rows = [asdict(entry) | {"status": entry.status.value} for entry in self.entries]
        return pd.DataFrame(rows).replace({"": None}).dropna(axis="columns", how="all")

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which has no infinity."""
        found: dict[str, Any] = finite(asdict(self))
        return found


def ranked(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """In their order, with ranks. Only what ended well is ranked: a wrong answer has no time."""
    order = list(Status)
    found = sorted(
        entries, key=lambda entry: (order.index(entry.status), inf if entry.seconds is None else entry.seconds)
    )
    return tuple(
        Entry(**{**vars(entry), "rank": place if entry.status is Status.OK else None})
        for place, entry in enumerate(found, start=1)
    )


def finite(value: Any) -> Any:
    """With None for numbers that are infinite or none, at any depth."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
