"""The result of `cepbench bench`: algorithms on the same work, the best one first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

from cepbench.metrics.record import Status

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Entry:
    """One algorithm. Seconds, events per second, bytes; None if not measured.

    - `seconds`: the median over `runs` of a whole run, with its interval from six runs on.
    - `state`: the peak of the algorithm's state; `process`: the peak of its process above that of an operator that
      does nothing.
    - `compile_seconds`: loading and compiling kernels, and `plan_seconds`: the optimizer, both outside of `seconds`.
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
        found: dict[str, Any] = finite(asdict(self))
        return found


def ranked(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries in order, with ranks. Only successful runs are ranked: a wrong answer has no time.

    The rank is one more than the number of algorithms whose intervals are wholly below; equal ranks are equal within
    noise.
    """
    order = list(Status)
    found = sorted(
        entries, key=lambda entry: (order.index(entry.status), inf if entry.seconds is None else entry.seconds)
    )
    well = [entry for entry in found if entry.status is Status.OK]
    return tuple(
        replace(entry, rank=1 + sum(_ends(other)[1] < _ends(entry)[0] for other in well)) if entry in well else entry
        for entry in found
    )


def _ends(entry: Entry) -> tuple[float, float]:
    """The interval of its time; without one, the time as both ends."""
    seconds = inf if entry.seconds is None else entry.seconds
    return (seconds, seconds) if entry.low is None or entry.high is None else (entry.low, entry.high)


def finite(value: Any) -> Any:
    """A value as JSON, at any depth: "inf" for infinity, None for NaN."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return None if isnan(value) else str(value)
    return value
