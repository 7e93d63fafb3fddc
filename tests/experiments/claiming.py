"""Claims on records along an axis n, and their verdicts."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from cepbench.experiments.claims import Claim
from cepbench.experiments.verdicts.causes import verdict
from cepbench.metrics.figure import ClaimResult
from cepbench.metrics.record import Record
from cepbench.metrics.status import Status
from tests.experiments.records import record


def claim(**fields: Any) -> Claim:
    """A claim with these fields, by default on the latency of `slow`."""
    declaration = {"text": "t", "source": "s", **fields}
    if not declaration.keys() & {"fails", "ends"}:
        declaration = {"metric": "latency_max", "of": "slow", **declaration}
    validated: Claim = TypeAdapter(Claim).validate_python(declaration)
    return validated


def judge(
    records: Sequence[Record], sweeps: Sequence[Sequence[dict[str, Any]]] | None = None, **fields: Any
) -> ClaimResult:
    """The verdict of the records on a claim with these fields."""
    return verdict(claim(**fields), records, sweeps)


def at(algorithm: str, n: float, value: float | None, metric: str = "latency_max", **more: Any) -> Record:
    """A cell at n; None is a timeout."""
    if value is None:
        return record(algorithm, {"n": n}, Status.TIMEOUT, **more)
    return record(algorithm, {"n": n}, **{metric: value}, **more)


def ran(algorithm: str, n: float, values: Sequence[float], metric: str = "latency_max", **more: Any) -> Record:
    """A cell at n that was repeated; its number is the median."""
    return at(algorithm, n, sorted(values)[len(values) // 2], metric, runs={metric: list(values)}, **more)
