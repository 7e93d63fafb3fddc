"""Claims on records along an axis n, and what is said of them."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from cepbench.experiments.claims import Claim
from cepbench.experiments.verdicts import verdict
from cepbench.metrics.figure import ClaimResult
from cepbench.metrics.record import Record, Status
from tests.experiments.records import record

TOLD = {"text": "t", "source": "s"}


def judge(claim: dict[str, Any], records: Sequence[Record]) -> ClaimResult:
    """What the records say about a claim, given by its fields."""
    return verdict(TypeAdapter(Claim).validate_python({**TOLD, **claim}), records, "n")


def curve(
    algorithm: str, values: Sequence[float | None], metric: str = "latency_max", start: int = 1, **more: Any
) -> list[Record]:
    """Records at n = `start`, twice that, ...; None is a timeout."""
    found = []
    for i, value in enumerate(values):
        point = {"n": start * 2**i}
        if value is None:
            found.append(record(algorithm, point, Status.TIMEOUT, **more))
        else:
            found.append(record(algorithm, point, **{metric: value}, **more))
    return found


def ratio(at: str = "max", metric: str = "latency_max", to: str = "fast", **bounds: float) -> dict[str, Any]:
    """A claim on slow / fast."""
    return {"kind": "ratio", "metric": metric, "of": "slow", "to": to, "at": at, **bounds}


def trend(measure: str, metric: str = "latency_max", **bounds: float) -> dict[str, Any]:
    """A claim on how fast changes."""
    return {"kind": "trend", "metric": metric, "algorithm": "fast", "measure": measure, **bounds}


def value(at: str, metric: str = "latency_max", **bounds: float) -> dict[str, Any]:
    """A claim on fast itself."""
    return {"kind": "value", "metric": metric, "algorithm": "fast", "at": at, **bounds}
