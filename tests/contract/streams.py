"""Plain events as batches."""

from collections.abc import Mapping, Sequence
from typing import Any

from cepbench.verification.examples import batch

__all__ = ["batch", "with_attributes"]


def with_attributes(events: Sequence[Mapping[str, Any]], **defaults: Any) -> list[dict[str, Any]]:
    """The same events, with default values for the attributes that an event lacks."""
    return [{**defaults, **event} for event in events]
