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
ASSUMED = (
    "Assumptions: one query of the kind SEQ(A, B+, C) in windows of a second with a million events, keys that are "
    f"equally frequent, and cores like the measured one that are busy for {LOAD:.0%} of the time. The rate is the "
    "lower one of those at the next numbers of keys that were measured, or that of the largest number; the state is "
    "measured, and beyond the largest number grows as between the fewest and the most keys, though no window has "
    "more keys than events. Spark, buffers and events that wait for a watermark come on top."
)
SYSTEMS = ("cogra", "hamlet", "gloria", "greta")


@dataclass(frozen=True, eq=False)
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

    def rate(self, keys: int) -> float | None:
        """Events per second of one core: the least of those measured at the next numbers of keys below and above.

        None where the system did not end at the number above; beyond the largest, that of the largest.
        """
        above = min((n for n in self.by_keys if n >= keys), default=max(self.by_keys))
        below = max((n for n in self.by_keys if n <= keys), default=None)
        return None if below is None else min(self.by_keys[above], self.by_keys[below])

    def cores(self, rate: float, keys: int) -> int | None:
        """The cores for a rate of events."""
        of_core = self.rate(keys)
        return None if of_core is None else max(1, ceil(rate / (LOAD * of_core)))

    def memory(self, keys: int) -> float | None:
        """Bytes of state for so many keys: the measured ones, and beyond the largest number those and more by keys."""
        largest = max(self.bytes_by_keys)
        if keys > largest:
            return self.bytes_by_keys[largest] + max(0.0, self.bytes_per_key) * (keys - largest)
        return max((size for n, size in self.bytes_by_keys.items() if n <= keys), default=None)


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    capacities = capacities_of(everything)
    if not capacities:
        return None
    largest, most = RATES[-1], KEYS[-1]
    needed = {shown: cores for shown in capacities if (cores := shown.cores(largest, most)) is not None}
    best = min(needed, key=lambda shown: needed[shown], default=None)
    short = "No system ended at that many keys."
    if best is not None:
        short = (
            f"A million events per second on ten million keys takes {needed[best]} cores and "
            f"{human(best.memory(most) or 0.0, 'B')} of state with {label(best.system)}."
        )
    rows = [
        (
            label(shown.system),
            human(keys),
            _known(shown.rate(keys), "events/s"),
            *(_known(shown.cores(rate, keys)) for rate in RATES),
            _known(shown.memory(keys), "B"),
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
        short,
        (),
        ("System", "Keys", "Per core", *(f"Cores for {human(rate, 'events/s')}" for rate in RATES), "State"),
        tuple(rows),
        f"{ASSUMED} With several queries of which half overlap, events per second of a core are: "
        f"{queries or 'not measured'}. Longer windows: [What breaks first?](limits.md).",
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
        if _positive(rates) and states:
            capacities.append(Capacity(system, _positive(rates), states, _positive(by_queries)))
    return capacities


def _records(everything: Sequence[Results], prefix: str, axis: str, kind: str) -> list[Record]:
    return [r for shown in of_question(everything, prefix) for r in valid(shown) if r.point.get(axis) == kind]


def _known(number: float | None, unit: str = "") -> str:
    return "–" if number is None else human(number, unit)


def _positive(numbers: Mapping[int, float | None]) -> dict[int, float]:
    return {size: number for size, number in numbers.items() if number}
