"""How large a machine? Cores, state and memory for a rate of events, keys, windows and queries, from the limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, expm1

from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.plots.atlas.answers import Answer, of_question, valid
from cepbench.plots.style import label
from cepbench.plots.units import human

LOAD = 0.7
"""The share of its time for which a core may be busy, so that latencies stay short."""
RATES = (10_000, 100_000, 1_000_000)
KEYS = (1_000, 10_000_000)
WINDOWS = (10_000, 1_000_000, 100_000_000)
QUERIES = (1, 100)
MEASURED_WINDOW = 1_000_000
"""Events of a window in which keys were measured."""
KEYED, WORK = "atlas-breaks-keys", "trends"
ASSUMED = (
    "Assumptions: queries of the kind SEQ(A, B+, C), keys that are equally frequent, and cores like the measured one "
    f"that are busy for {100 * LOAD:.0f} % of the time. The cost of an event, and the state of a key, depend on how "
    f"many events the key has in a window. Keys were measured in windows of {human(MEASURED_WINDOW)} events: the "
    "numbers of other windows are those of as many events per key there, of the two next measurements the lower rate "
    "and the larger state. Only keys with an event in the window have state. Cores do not slow one another. Several "
    "queries, of which half overlap, cost as many times as much as they did on one key with 60 types, which is rough, "
    "since each of those queries reads few of the events. Memory is that of a process beyond an empty one: a fixed "
    "part, and what keys add, each as in the next measurement, or each byte of state as with the most keys, whichever "
    "is less. Spark, and events that wait for a watermark, come on top."
)
SYSTEMS = ("cogra", "hamlet", "gloria", "greta")


@dataclass(frozen=True)
class Measured:
    """A system on so many keys: events per second of a core, bytes of state per key in a window, and of the process.

    `active` is the number of keys that have an event in a window.
    """

    rate: float
    state: float
    process: float
    active: float


@dataclass(frozen=True)
class Load:
    """The keys, the events of a window, and the queries of a workload."""

    keys: int
    window: int
    queries: int = 1

    @property
    def like(self) -> float:
        """The number of keys that have as many events each in a window of the measurement."""
        return self.keys * MEASURED_WINDOW / self.window

    @property
    def active(self) -> float:
        """The keys that have an event in a window, on average."""
        return -self.keys * expm1(-self.window / self.keys)


@dataclass(frozen=True, eq=False)
class Capacity:
    """A system on one core, by keys; and by queries the rate over that of one query."""

    system: str
    by_keys: Mapping[int, Measured]
    by_queries: Mapping[int, float]
    most: int  # the most keys on which it was run

    def near(self, load: Load) -> list[Measured]:
        """The measurements at the next numbers of keys below and above; empty if the system did not end at one of them.

        Beyond the largest number, where a key has at most one event in a window, that of the largest.
        """
        above = min((keys for keys in self.by_keys if keys >= load.like), default=self.most)
        below = max((keys for keys in self.by_keys if keys <= load.like), default=0)
        return [self.by_keys[keys] for keys in (above, below)] if {above, below} <= self.by_keys.keys() else []

    def rate(self, load: Load) -> float | None:
        """Events per second of one core; None where the system did not end."""
        share = self.by_queries.get(load.queries)
        return min((near.rate * share for near in self.near(load)), default=None) if share else None

    def cores(self, rate: float, load: Load) -> int | None:
        """The cores for a rate of events."""
        of_core = self.rate(load)
        return None if of_core is None else max(1, ceil(rate / (LOAD * of_core)))

    def state(self, load: Load) -> float | None:
        """Bytes of state of one query."""
        return max((load.active * near.state for near in self.near(load)), default=None)

    def memory(self, load: Load) -> float | None:
        """Bytes of a process, beyond those of an empty one, for one query.

        A fixed part, and what the active keys add: each as much as in the next measurements, or each byte of state as
        much as with the most keys, whichever is less; that of few keys is mostly noise. None with a single measurement.
        """
        fixed, state = min(measured.process for measured in self.by_keys.values()), self.state(load)
        if state is None or len(self.by_keys) == 1:
            return None
        most = self.by_keys[max(self.by_keys)]
        by_keys = max(load.active * (near.process - fixed) / near.active for near in self.near(load))
        return fixed + min(by_keys, state * (most.process - fixed) / (most.state * most.active))


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    capacities = capacities_of(everything)
    if not capacities:
        return None
    rate, most = RATES[-1], Load(KEYS[-1], MEASURED_WINDOW)
    needed = {shown: cores for shown in capacities if (cores := shown.cores(rate, most)) is not None}
    best = min(needed, key=lambda shown: needed[shown], default=None)
    short = "No system ended at that many keys."
    if best is not None:
        machine = "one core" if needed[best] == 1 else f"{needed[best]} cores"
        short = (
            f"A million events per second on ten million keys, one query in windows of {human(MEASURED_WINDOW)} "
            f"events, take {machine} and {human(best.state(most) or 0.0, 'B')} of state with "
            f"{label(best.system)}."
        )
    rows = [
        (
            label(shown.system),
            human(keys),
            human(window),
            str(queries),
            _known(shown.rate(load), "events/s"),
            *(_known(shown.cores(rate, load)) for rate in RATES),
            *((_known(shown.state(load), "B"), _known(shown.memory(load), "B")) if queries == 1 else ("–", "–")),
        )
        for shown in capacities
        for keys in KEYS
        for window in WINDOWS
        for queries in QUERIES
        for load in [Load(keys, window, queries)]
    ]
    heads = ("System", "Keys", "Events per window", "Queries", "Per core")
    of_rates = [f"Cores for {human(rate, 'events/s')}" for rate in RATES]
    return Answer(
        "sizing", "How large a machine?", short, (), (*heads, *of_rates, "State", "Memory"), tuple(rows),
        f"{ASSUMED} Where windows get longer: [What breaks first?](atlas/limits.md).",
    )  # fmt: skip


def capacities_of(everything: Sequence[Results]) -> list[Capacity]:
    """The capacities of the systems that were measured over keys."""
    keys = _records(everything, KEYED, "work", WORK)
    queries = _records(everything, "atlas-breaks-queries", "closure", "flat")
    capacities = []
    most = max((int(r.point["keys"]) for shown in of_question(everything, KEYED) for r in shown.records), default=0)
    for system in SYSTEMS:
        by_keys = {int(r.point["keys"]): m for r in keys if r.algorithm == system if (m := _measured(r)) is not None}
        rates = {
            int(r.point["queries"]): r.summary.throughput_per_core
            for r in queries
            if r.algorithm == system and r.summary.throughput_per_core
        }
        if by_keys:
            alone = rates.get(1)
            capacities.append(
                Capacity(system, by_keys, {1: 1.0} | {n: rate / alone for n, rate in rates.items() if alone}, most)
            )
    return capacities


def _measured(record: Record) -> Measured | None:
    summary, keys = record.summary, Load(record.point["keys"], MEASURED_WINDOW).active
    if not (summary.throughput_per_core and summary.state_peak and summary.process_peak):
        return None
    return Measured(summary.throughput_per_core, summary.state_peak / keys, summary.process_peak, keys)


def _records(everything: Sequence[Results], prefix: str, axis: str, kind: str) -> list[Record]:
    return [r for shown in of_question(everything, prefix) for r in valid(shown) if r.point.get(axis) == kind]


def _known(number: float | None, unit: str = "") -> str:
    return "–" if number is None else human(number, unit)
