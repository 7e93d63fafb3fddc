"""Statistics of a whole stream, known before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from cepbench.events.batch import EventBatch

Needs = Mapping[str, Collection[str]]
"""Attributes by event type."""


@dataclass(frozen=True)
class EventSample:
    """A sample of a stream, in its order, and the `seconds` that drawing it took."""

    events: EventBatch
    seconds: float = 0.0


@dataclass(frozen=True)
class Statistics:
    """The knowledge that an optimizer may have of a stream before it runs.

    `rates` gives events per unit of stream time by type name, over the whole stream. `sampler` draws events of given
    types with their attributes; without one there is no sample. It belongs to the process that plans: a plan keeps what
    was drawn, and never the sampler.
    """

    events: int = 0
    duration: int = 0
    rates: Mapping[str, float] = field(default_factory=dict)
    sampler: Callable[[Needs], EventSample] | None = field(default=None, compare=False, repr=False)

    def sample(self, needs: Needs) -> EventSample | None:
        """Some events of each of these types, with at least these attributes; None where no stream is known."""
        return self.sampler(needs) if self.sampler is not None and self.events else None


def statistics_of(counts: Mapping[str, int], first: int | None, last: int | None) -> Statistics:
    """Statistics of a stream with these events by type, from its first to its last time."""
    if first is None or last is None:
        return Statistics()
    duration = last - first + 1
    return Statistics(sum(counts.values()), duration, {name: count / duration for name, count in counts.items()})
