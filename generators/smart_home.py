"""Measurements of smart plugs: a stand-in for the data of the DEBS 2014 grand challenge."""

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.groups import burst_numbers
from cepbench.generators.parameters import Rate
from cepbench.generators.randomness import draw_codes, hashed_uniform
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns

PROPERTIES = ("load", "work")
MEAN_LOAD = 100.0  # watts


class SmartHomeParameters(SelectiveParameters):
    """Defaults of Hamlet 6.1: 2125 plugs in 40 houses, 20K events per minute; bursts as long as a house has plugs."""

    rate: Rate = Field(Fraction(20_000, 60), description="measurements per second of the whole stream")
    houses: int = Field(40, ge=1, le=10**5, description="houses")
    plugs: int = Field(2125, ge=1, le=10**6, description="plugs of all houses")
    burst: float = Field(53, ge=1, le=10**5, description="mean number of measurements that a house sends together")
    house_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of bursts per house; 0: equal")
    typed_by: Literal["house", "property"] = Field(
        "house", description="event types: one per house (House0, House1, ...); or Load and Work"
    )

    @model_validator(mode="after")
    def _check_plugs(self) -> "SmartHomeParameters":
        if self.houses > self.plugs:
            raise ValueError(f"houses = {self.houses} exceed plugs = {self.plugs}; a house has at least one")
        return self


class SmartHome(Generator[SmartHomeParameters]):
    """Measurements of the plugs of houses, which come in bursts of one house.

    Attributes: `house`, `plug` (in house plug % houses), `property` ("load" or "work"), `value` (load in watts, around
    a mean of the plug; work in kWh, what that mean adds up to since the stream began), and `score`, `bound`
    (`generators.selectivity`).

    Properties and identifiers are those of the challenge. Hamlet names no event types and no bursts; here a house sends
    measurements of its plugs together, in random order of plugs. Bursts have memoryless lengths, and end with their
    slice; two of one house may follow each other by chance.
    """

    name = "smart_home"
    paper = "Hamlet 6.1"
    Parameters = SmartHomeParameters

    def schema(self) -> Schema:
        """Types by `typed_by`."""
        attributes = (
            Attribute("house", Kind.INT),
            Attribute("plug", Kind.INT),
            Attribute("property", Kind.STRING),
            Attribute("value", Kind.FLOAT),
            *SELECTIVE_ATTRIBUTES,
        )
        houses = tuple(f"House{house}" for house in range(self.parameters.houses))
        types = houses if self.parameters.typed_by == "house" else ("Load", "Work")
        return Schema(types, attributes, self.parameters.time_unit, PROPERTIES)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        bursts = burst_numbers(self._random("burst", index), n, p.burst)
        house = draw_codes(self._random("house", index), n, p.houses, p.house_skew)[bursts]
        plugs_of_house = (p.plugs - 1 - house) // p.houses + 1
        plug = house + p.houses * self._random("plug", index).integers(plugs_of_house, dtype=np.int64)
        measured = self._random("property", index).integers(len(PROPERTIES), size=n, dtype=np.int32)
        columns: Columns = {
            "house": house,
            "plug": plug,
            "property": measured,
            "value": np.where(measured == 0, self._loads(plug, index), self._works(plug, index)),
            **selective_columns(p, index, n),
        }
        return (house if p.typed_by == "house" else measured), columns

    def _loads(self, plug: NDArray[np.int64], index: int) -> NDArray[np.float64]:
        """Watts, within half of the plug's mean, float64[n]."""
        return np.round(self._means(plug) * self._random("load", index).uniform(0.5, 1.5, len(plug)), 3)

    def _works(self, plug: NDArray[np.int64], index: int) -> NDArray[np.float64]:
        """Kilowatt-hours since the stream began, float64[n]."""
        hours = (index * self.slice_events + np.arange(len(plug))) / float(self.parameters.rate) / 3600
        return np.round(self._means(plug) * hours / 1000, 3)

    def _means(self, plug: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mean watts of each plug, exponential among plugs."""
        means: NDArray[np.float64] = -MEAN_LOAD * np.log1p(-hashed_uniform(self.parameters.seed, "mean load", plug))
        return means
