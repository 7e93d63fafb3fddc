"""What is known of a stream as a whole, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Statistics:
    """What an optimiser may know of a stream before it runs.

    `rates` gives events per unit of stream time by type name, over the whole stream.
    """

    events: int = 0
    duration: int = 0
    rates: Mapping[str, float] = field(default_factory=dict)


def statistics_of(counts: Mapping[str, int], first: int | None, last: int | None) -> Statistics:
    """Statistics of a stream with these events by type, from its first to its last time."""
    if first is None or last is None:
        return Statistics()
    duration = last - first + 1
    return Statistics(sum(counts.values()), duration, {name: count / duration for name, count in counts.items()})
