"""The result of `cepbench advise`: which algorithm to use for given queries and events."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cepbench.metrics.ranking import finite
from cepbench.metrics.status import Status

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Candidate:
    """One algorithm, and the predictions from a trial on the first `tried` events. Seconds and bytes.

    Each prediction is a value with its probable lower and upper bound. `measured`: the trial reached the end of the
    stream; the time of one process has no bounds. Without a `status` it was not tried. `setup_seconds` is the time to
    load, and possibly compile, kernels, which predictions exclude. `curve`: events and seconds of each prefix that was
    run. `floor`: the share of the time on one event per window in the seconds of the last prefix.
    """

    algorithm: str
    status: Status | None
    reason: str = ""
    tried: int = 0
    measured: bool = False
    seconds: float | None = None
    seconds_low: float | None = None
    seconds_high: float | None = None
    state: float | None = None
    state_low: float | None = None
    state_high: float | None = None
    setup_seconds: float | None = None
    plan_seconds: float | None = None
    floor: float | None = None
    curve: tuple[tuple[int, float], ...] = ()

    @property
    def ended(self) -> str:
        """The status in words."""
        return "not tried" if self.status is None else self.status.value


@dataclass(frozen=True)
class Advice:
    """All candidates, the best one first; `matches` of the whole stream, and the `most` in one observed window.

    `recommended` is a name, or None if no candidate succeeded; `because` is the reason, in one line.
    """

    events: int
    queries: int
    budget_seconds: float
    trial_seconds: float
    matches: float | None
    matches_low: float | None
    matches_high: float | None
    most: float | None
    recommended: str | None
    because: str
    warnings: tuple[str, ...]
    candidates: tuple[Candidate, ...] = field(default=())

    def frame(self) -> pd.DataFrame:
        """A row per algorithm, without empty columns."""
        import pandas as pd

        rows = [asdict(candidate) | {"status": candidate.ended} for candidate in self.candidates]
        table = pd.DataFrame(rows).drop(columns="curve")
        return table.replace({"": None}).dropna(axis="columns", how="all")

    def as_dict(self) -> dict[str, Any]:
        """As JSON values; infinity is the text "inf"."""
        document: dict[str, Any] = finite(asdict(self))
        return document
