"""How large a machine? Cores and state for a rate of events, keys and queries, from the measurements of the limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.plots.atlas.answers import Answer, of_question, valid
from cepbench.plots.style import label
from cepbench.plots.units import human

LOAD = 0.7
"""The share of its time for which a core may be busy, so that latencies stay short."""
RATES = (10_000, 100_000, 1_000_000)
KEYS = (1_000, 100_000, 10_000_000)
WORK = "trends"
SYSTEMS = ("cogra", "hamlet", "gloria", "greta")


@dataclass(frozen=True)
class Capacity:
    """A system on one core: events per second and bytes of state by keys, and events per second by queries."""

    system: str
    by_keys: Mapping[int, float]
    bytes_by_keys: Mapping[int, float]
    by_queries: Mapping[int, float]

    @property
    def bytes_per_key(self) -> float:
        """The growth of the state from the fewest to the most keys."""
        first, last = min(self.bytes_by_keys), max(self.bytes_by_keys)
        return (self.bytes_by_keys[last] - self.bytes_by_keys[first]) / (last - first) if last > first else 0.0

    def rate(self, keys: int) -> float:
        """Events per second of one core, at the measured number of keys that is nearest from above, or the largest."""
        return self.by_keys[min((n for n in self.by_keys if n >= keys), default=max(self.by_keys))]

    def cores(self, rate: float, keys: int) -> int:
        """The cores for a rate of events."""
        return max(1, ceil(rate / (LOAD * self.rate(keys))))

    def memory(self, keys: int) -> float:
        """Bytes of state for so many keys, by linear growth."""
        return self.bytes_per_key * keys


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    capacities = capacities_of(everything)
    if not capacities:
        return None
    largest, most = RATES[-1], KEYS[-1]
    cores = {shown.system: shown.cores(largest, most) for shown in capacities}
    best = min(cores, key=lambda name: cores[name])
    memory = next(shown for shown in capacities if shown.system == best).memory(most)
    rows = [
        (
            label(shown.system),
            human(keys),
            human(shown.rate(keys), "events/s"),
            *(str(shown.cores(rate, keys)) for rate in RATES),
            human(shown.memory(keys), "B"),
        )
        for shown in capacities
        for keys in KEYS
    ]
    queries = "; ".join(
        f"{label(shown.system)} {', '.join(f'{human(rate)} with {n}' for n, rate in sorted(shown.by_queries.items()))}"
        for shown in capacities
        if shown.by_queries
    )
    return Answer(
        "sizing",
        "How large a machine?",
        f"A million events per second on ten million keys takes {cores[best]} cores and {human(memory, 'B')} of "
        f"state with {label(best)}.",
        (),
        ("System", "Keys", "Per core", *(f"Cores for {human(rate, 'events/s')}" for rate in RATES), "State"),
        tuple(rows),
        f"Assumptions: one query of the kind SEQ(A, B+, C) in windows of a second, keys that are equally "
        f"frequent, cores like the measured one that are busy for {LOAD:.0%} of the time, the rate at the "
        f"measured number of keys that is nearest from above, and state that grows linearly with the keys beyond "
        f"those measured. Spark, buffers and the events that wait for a watermark come on top. With several "
        f"queries of which half overlap, events per second of a core are: {queries or 'not measured'}. Longer "
        "windows: [What breaks first?](limits.md).",
    )


def capacities_of(everything: Sequence[Results]) -> list[Capacity]:
    """The capacities of the systems that were measured over keys."""
    keys = _records(everything, "atlas-breaks-keys", "work", WORK)
    queries = _records(everything, "atlas-breaks-queries", "closure", "flat")
    capacities = []
    for system in SYSTEMS:
        own = [record for record in keys if record.algorithm == system]
        rates = {int(r.point["keys"]): r.summary.throughput_per_core for r in own}
        states = {int(r.point["keys"]): float(r.summary.state_peak) for r in own if r.summary.state_peak is not None}
        by_queries = {int(r.point["queries"]): r.summary.throughput_per_core for r in queries if r.algorithm == system}
        if rates and states:
            capacities.append(Capacity(system, _known(rates), states, _known(by_queries)))
    return capacities


def _records(everything: Sequence[Results], prefix: str, axis: str, kind: str) -> list[Record]:
    return [r for shown in of_question(everything, prefix) for r in valid(shown) if r.point.get(axis) == kind]


def _known(numbers: Mapping[int, float | None]) -> dict[int, float]:
    return {size: number for size, number in numbers.items() if number}
