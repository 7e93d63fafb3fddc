"""Streams with the exact frequencies of types that the authors of Gloria give to their optimizer."""

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.journeys import ENDS, journey_names
from cepbench.generators.parameters import Rate, StreamParameters

SHARED = {
    "bus": (456, *range(100, 78, -1)),
    "taxi": (
        871, 591, 573, 548, 540, 535, 512, 499, 476, 466, 455, 454, 446, 444, 429, 416, 402, 394, 393, 393, 385, 369,
        367,
    ),
    "stock": (332, *range(100, 78, -1)),
}  # fmt: skip
"""The frequencies of the types that queries share: of the hub, then of the chain in its order.

Source: github.com/LeiMa0324/Gloria, the enumerations below `users` that `FrequencyGetter` reads.
"""


class FrequenciesParameters(StreamParameters):
    """By default a period of the bus stream in the 20 minutes of Gloria's longest windows."""

    default_duration = Fraction(1200)

    rate: Rate = Field(Fraction(5365, 1200), description="events per second of the whole stream")
    data: Literal["bus", "taxi", "stock"] = Field("bus", description="data set of the frequencies")
    prefix: str = Field(
        "", pattern=r"^([A-Za-z_]\w*)?$", description="names of numbered types without the number; by default journeys"
    )
    ends: int = Field(len(ENDS), ge=0, le=1000, description="types after the shared ones, for the ends of patterns")
    end_frequency: int = Field(30, ge=1, le=1000, description="frequency of each of those")
    others: int = Field(0, ge=0, le=10**6, description="events of one more type, which stands for all others")
    groups: int = Field(2, ge=1, le=10**6, description="values of the attribute key (trend groups)")
    flagged: float = Field(0.1, ge=0, le=1, description="share of the events whose flag is 1")

    @property
    def frequencies(self) -> tuple[int, ...]:
        """The events of each type in a period."""
        others = (self.others,) if self.others else ()
        return (*SHARED[self.data], *(self.end_frequency,) * self.ends, *others)


class Frequencies(Generator[FrequenciesParameters]):
    """Types with exactly the frequencies that Gloria's authors give to their optimizer, and ends of patterns.

    Attributes: `key` (0..groups-1), `flag` (0 or 1), and `value` (0..999).

    The stream consists of periods, each with all events of all types in a random order, so that a stream of whole
    periods has exactly these frequencies: plans depend on which of two types is less frequent, and neighbors in the
    chain differ by one event in a hundred. Types of ends have one frequency; each is in one query of a block, and its
    costs are the same in all plans.
    """

    name = "frequencies"
    paper = "Gloria 8.1"
    Parameters = FrequenciesParameters

    def schema(self) -> Schema:
        """The types of the chain, then those of the ends."""
        p = self.parameters
        count = len(p.frequencies)
        types = tuple(f"{p.prefix}{n}" for n in range(count)) if p.prefix else journey_names(count)
        attributes = tuple(Attribute(name, Kind.INT) for name in ("key", "flag", "value"))
        return Schema(types, attributes, p.time_unit)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        period = np.repeat(np.arange(len(p.frequencies)), p.frequencies)
        first, skipped = divmod(index * n, len(period))
        periods = range(first, first + -(-(skipped + n) // len(period)))
        types = np.concatenate([self._random("period", k).permutation(period) for k in periods])
        columns: Columns = {
            "key": self._random("key", index).integers(p.groups, size=n, dtype=np.int64),
            "flag": (self._random("flag", index).random(n) < p.flagged).astype(np.int64),
            "value": self._random("value", index).integers(1000, size=n, dtype=np.int64),
        }
        return types[skipped : skipped + n], columns
