"""Positions of buses: a stand-in for the GPS data of Dublin City Council."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.groups import burst_numbers
from cepbench.generators.journeys import CHAIN, ENDS, MAX_JOURNEYS, journey_names
from cepbench.generators.parameters import Rate
from cepbench.generators.popularity import PopularityParameters, popular_codes
from cepbench.generators.randomness import hashed_uniform
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, selective_columns

DUBLIN = (-6.26, 53.35)  # degrees: longitude and latitude
REACH = (0.2, 0.1)
EARLIEST = -60  # seconds
MEAN_LATENESS = 180


class BusParameters(PopularityParameters):
    """Journeys of Gloria 8.1, and the 500K events of 20 minutes with which its authors measured executions."""

    default_duration = Fraction(1200)

    rate: Rate = Field(Fraction(500_000, 1200), description="positions per second of the whole stream")
    journeys: int = Field(4368, ge=1, le=MAX_JOURNEYS, description="vehicle journeys (event types TOQ, WBA, ...)")
    lines: int = Field(67, ge=1, le=10**6, description="bus lines (trend groups)")
    hot: int = Field(
        len(CHAIN) + len(ENDS), ge=0, le=10**5, description="first journeys that have hot_share of the events; 0: none"
    )
    hot_share: float = Field(0.1, ge=0, le=1, description="share of the events that the hot journeys have together")
    journey_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of events per journey; 0: equal")
    burst: float = Field(1.0, ge=1, le=10**5, description="mean number of consecutive events of one journey and line")
    congested: float = Field(0.1, ge=0, le=1, description="share of the events that report a congestion")

    @property
    def popular(self) -> int:
        """The journeys."""
        return self.journeys


class Bus(Generator[BusParameters]):
    """Positions of buses; the vehicle journey is the event type.

    Attributes: `Line_ID`, `congestion` (0 or 1), `longitude`, `latitude` (degrees, around a place of the line), `delay`
    (seconds, -60 or more), and `score`, `bound` (`generators.selectivity`). They are named as in the workloads that the
    authors of Gloria published, and so are journeys (`generators.journeys`): these workloads run on this stream.

    Those queries look for sequences of different journeys and group them by line. Here a journey may be on any line,
    drawn for each burst: if it were bound to one, hardly any two journeys of a pattern would meet in a group. The paper
    reports no frequencies of journeys; those that the workloads name are the `hot` ones, by default 3.6 times as
    frequent as the average one.
    """

    name = "bus"
    paper = "Gloria 8.1"
    Parameters = BusParameters

    def schema(self) -> Schema:
        """A type per journey."""
        attributes = (
            Attribute("Line_ID", Kind.INT),
            Attribute("congestion", Kind.INT),
            Attribute("longitude", Kind.FLOAT),
            Attribute("latitude", Kind.FLOAT),
            Attribute("delay", Kind.INT),
            *SELECTIVE_ATTRIBUTES,
        )
        return Schema(journey_names(self.parameters.journeys), attributes, self.parameters.time_unit)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        bursts = burst_numbers(self._random("burst", index), n, p.burst)
        journey = popular_codes(p, self._random("journey", index), n, p.journey_skew)[bursts]
        line = self._random("line", index).integers(p.lines, size=n, dtype=np.int64)[bursts]
        lateness = self._random("delay", index).exponential(MEAN_LATENESS, n)
        columns: Columns = {
            "Line_ID": line,
            "congestion": (self._random("congestion", index).random(n) < p.congested).astype(np.int64),
            "longitude": self._degrees("longitude", line, 0, index),
            "latitude": self._degrees("latitude", line, 1, index),
            "delay": EARLIEST + lateness.astype(np.int64),
            **selective_columns(p, index, n),
        }
        return journey, columns

    def _degrees(self, name: str, line: NDArray[np.int64], side: int, index: int) -> NDArray[np.float64]:
        """A coordinate of each event, within a tenth of the town's extent around its line's place, float64[n]."""
        places = 2 * hashed_uniform(self.parameters.seed, name, line) - 1
        places += self._random(name, index).uniform(-0.1, 0.1, len(line))
        return np.round(DUBLIN[side] + REACH[side] * places, 6)
