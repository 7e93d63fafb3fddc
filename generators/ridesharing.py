"""Ridesharing events in bursts of one type."""

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.parameters import Rate
from cepbench.generators.randomness import zipf_weights
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns

# Hamlet names the first five; in its queries Travel is the type under the Kleene plus.
TYPES = (
    "Travel", "Request", "Pickup", "Dropoff", "Cancel", "Accept", "Decline", "Pool", "Assign", "Arrive",
    "Wait", "Detour", "Stop", "Pay", "Tip", "Rate", "Refund", "Online", "Offline", "Surge",
)  # fmt: skip
REQUESTS = ("pool", "regular", "premium")


class RidesharingParameters(SelectiveParameters):
    """Defaults of Hamlet 6.1: 20 types, 10K events per minute, bursts of 120 events."""

    rate: Rate = Field(Fraction(10_000, 60), description="events per second of the whole stream")
    types: int = Field(20, ge=2, le=len(TYPES), description="event types")
    burst: float = Field(120, ge=1, le=10**5, description="mean number of events in a burst")
    burst_distribution: Literal["constant", "uniform", "geometric"] = Field(
        "geometric", description="of burst lengths: all equal; uniform in 1 .. 2 * burst - 1; or memoryless"
    )
    type_skew: float = Field(
        0.0, ge=0, le=5, description="Zipf exponent of the mean burst length per type, Travel longest; 0: equal"
    )
    districts: int = Field(10, ge=1, le=10**6, description="districts (trend groups)")
    drivers: int = Field(10, ge=1, le=10**9, description="drivers")
    riders: int = Field(10, ge=1, le=10**9, description="riders")


class Ridesharing(Generator[RidesharingParameters]):
    """Ridesharing events in bursts: runs of events of one type in one district (Hamlet, Definition 10).

    Attributes: `driver`, `rider`, `district`, `request` ("pool", "regular", "premium"), `duration` (60..3600 seconds),
    `speed` (0..60 mph), `price` (5.00..100.00), all uniform, and `score`, `bound` (`generators.selectivity`).

    Consecutive bursts differ in type, so a burst is a longest run of one type, and a district's sub-stream contains it
    whole (there, two bursts of one type may follow each other by chance). Slices cut bursts: one that continues when
    its slice ends is shortened, and the next slice begins a new one. In Hamlet's definition the end of a pane completes
    a burst too. Events of one time stamp do not precede one another, and with `time_unit` s a whole burst may lie
    within one second; with ms and a rate of at most 1000, all time stamps differ.

    `type_skew` makes bursts of the first types longer: type k has bursts of mean length proportional to 1/(k+1)^skew
    (at least 1), as in the stream that Hamlet's authors published, where one type has longer bursts than the others.
    """

    name = "ridesharing"
    paper = "Hamlet 6.1, Definition 10"
    Parameters = RidesharingParameters

    def schema(self) -> Schema:
        """The first `types` of `TYPES`."""
        attributes = (
            Attribute("driver", Kind.INT),
            Attribute("rider", Kind.INT),
            Attribute("district", Kind.INT),
            Attribute("request", Kind.STRING),
            Attribute("duration", Kind.INT),
            Attribute("speed", Kind.INT),
            Attribute("price", Kind.FLOAT),
            *SELECTIVE_ATTRIBUTES,
        )
        return Schema(TYPES[: self.parameters.types], attributes, self.parameters.time_unit, REQUESTS)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        types, lengths = self._bursts(index, n)
        districts = self._random("district", index).integers(p.districts, size=len(types), dtype=np.int64)
        cents = self._random("price", index).integers(500, 10_000, size=n, endpoint=True)
        columns: Columns = {
            "driver": self._random("driver", index).integers(p.drivers, size=n, dtype=np.int64),
            "rider": self._random("rider", index).integers(p.riders, size=n, dtype=np.int64),
            "district": np.repeat(districts, lengths),
            "request": self._random("request", index).integers(len(REQUESTS), size=n, dtype=np.int32),
            "duration": self._random("duration", index).integers(60, 3600, size=n, endpoint=True),
            "speed": self._random("speed", index).integers(60, size=n, endpoint=True),
            "price": cents / 100.0,
            **selective_columns(p, index, n),
        }
        return np.repeat(types, lengths), columns

    def _bursts(self, index: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Type and length of the bursts that fill n events: consecutive types differ, the last burst is cut."""
        p = self.parameters
        random = self._random("burst", index)
        means = np.maximum(1.0, p.burst * p.types * zipf_weights(p.types, p.type_skew))
        chunk = int(1.1 * n / means.mean()) + p.types
        types = np.empty(0, dtype=np.int64)
        lengths = np.empty(0, dtype=np.int64)
        while lengths.sum() < n:
            # A step of 1 .. types - 1 around the circle of types never reaches the same type.
            steps = random.integers(1, p.types, size=chunk)
            start = types[-1] if len(types) else random.integers(p.types)
            drawn = (start + np.cumsum(steps)) % p.types
            types = np.concatenate((types, drawn))
            lengths = np.concatenate((lengths, _lengths(random, p.burst_distribution, means[drawn])))
        ends = np.minimum(np.cumsum(lengths), n)
        used = int(np.searchsorted(ends, n)) + 1
        return types[:used], np.diff(ends[:used], prepend=0)


def _lengths(random: np.random.Generator, distribution: str, means: NDArray[np.float64]) -> NDArray[np.int64]:
    """A burst length >= 1 for each mean >= 1, with exactly that expectation."""
    if distribution == "geometric":
        return random.geometric(1 / means)
    whole: NDArray[np.int64] = np.floor(means + random.random(len(means))).astype(np.int64)
    return whole if distribution == "constant" else random.integers(1, 2 * whole)
