"""Streams and their evaluation, in process or on Spark. `evaluate` is the public Python interface."""

from typing import TYPE_CHECKING, Any

from pipeline.packages import use_unpacked

if TYPE_CHECKING:
    from pipeline.in_process import evaluate

__all__ = ["evaluate"]

use_unpacked()


def __getattr__(name: str) -> Any:
    """`evaluate`, loaded when it is asked for: a worker that writes a stream needs no algorithm."""
    if name == "evaluate":
        from pipeline.in_process import evaluate

        return evaluate
    raise AttributeError(f"module 'pipeline' has no attribute {name!r}")
