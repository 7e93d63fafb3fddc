"""Claims on records along an axis n, and what is said of them."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import TypeAdapter

from cepbench.experiments.claims import Claim
from cepbench.experiments.verdicts.judge import verdict
from cepbench.metrics.figure import ClaimResult
from cepbench.metrics.record import Record, Status
from tests.experiments.records import record

TOLD = {"text": "t", "source": "s"}
TEN = [float(n) for n in range(1, 11)]


def claim(**fields: Any) -> Claim:
    """A claim by its fields."""
    found: Claim = TypeAdapter(Claim).validate_python({**TOLD, **fields})
    return found


def judge(fields: dict[str, Any], records: Sequence[Record], profile: str = "quick") -> ClaimResult:
    """What the records say about a claim, given by its fields."""
    return verdict(claim(**fields), records, "n", profile)


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


def runs(algorithm: str, n: float, values: Sequence[float], metric: str = "latency_max", **more: Any) -> list[Record]:
    """Repetitions at one point."""
    return [record(algorithm, {"n": n}, repetition=r, **{metric: v}, **more) for r, v in enumerate(values)]


def along(function: Callable[[float], float], places: Sequence[float] = TEN, **noise: float) -> list[Record]:
    """The curve of `fast` at these n; `noise` multiplies single points, by `at_<position>`."""
    return [record("fast", {"n": n}, latency_max=function(n) * noise.get(f"at_{i}", 1.0)) for i, n in enumerate(places)]


def factor(at: str = "max", metric: str = "latency_max", to: str = "fast", **claimed: float) -> dict[str, Any]:
    """A claim on slow / fast."""
    return {"kind": "factor", "metric": metric, "of": "slow", "to": to, "at": at, **claimed}


def change(how: str, metric: str = "latency_max", **claimed: float) -> dict[str, Any]:
    """A claim on how fast changes along n."""
    return {"kind": "factor", "metric": metric, "of": "fast", "change": how, **claimed}


def number(at: str, metric: str = "latency_max", **claimed: float) -> dict[str, Any]:
    """A claim on fast itself."""
    return {"kind": "factor", "metric": metric, "of": "fast", "at": at, **claimed}


def shape(model: str | None = None, **more: Any) -> dict[str, Any]:
    """A claim on how fast follows n."""
    return {"kind": "shape", "metric": "latency_max", "of": "fast", **({"model": model} if model else {}), **more}


def order(*chain: str, metric: str = "latency_max", **more: Any) -> dict[str, Any]:
    """A claim on who wins."""
    return {"kind": "order", "metric": metric, "chain": list(chain), **more}
