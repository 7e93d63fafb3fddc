"""Records for tests."""

from typing import Any

from cepbench.metrics.record import Realised, Record, Samples, Summary
from cepbench.metrics.status import Status


def record(
    algorithm: str,
    point: dict[str, Any],
    status: Status = Status.OK,
    *,
    round: int = 1,
    memory: Status | None = None,
    limit: float = 10.0,
    batches: int = 1,
    digest: str | None = "same",
    seconds: float = 1.0,
    plan_limit: float | None = None,
    runs: dict[str, list[float]] | None = None,
    **summary: Any,
) -> Record:
    """A record of the experiment e; `summary` fields as measured."""
    ok = status is Status.OK
    return Record(
        cell=f"{algorithm} {point} {round}",
        group=str(point),
        experiment="e",
        profile="quick",
        algorithm=algorithm,
        point=point,
        round=round,
        configuration={},
        status=status,
        memory_status=memory,
        limit_seconds=limit,
        limit_bytes=10**9,
        plan_limit_seconds=plan_limit,
        digest=digest if ok or status is Status.WRONG else None,
        samples=Samples(service=[0.1] * batches) if ok else Samples(),
        runs=runs or {},
        summary=Summary(**summary),
        realised=Realised(events=1000, windows=1, rows=1, substreams=1, batches=batches) if ok else None,
        seconds=seconds,
    )
