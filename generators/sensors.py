"""Observations of road traffic: a stand-in for the sensors of the city of Aarhus."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.units import NANOSECONDS
from cepbench.generators.arrival import Arrival
from cepbench.generators.base import Columns, Generator
from cepbench.generators.parameters import Rate
from cepbench.generators.popularity import popular_codes
from cepbench.generators.randomness import hashed_uniform
from cepbench.generators.reshuffling import ReshufflingParameters, reshuffled_types
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, selective_columns

DAY = 24 * 3600
PERIOD = 300
"""Seconds that an observation covers."""
FREE_SPEEDS = (40.0, 110.0)
CAPACITIES = (20.0, 200.0)
SLOWEST = 3.0


class SensorsParameters(ReshufflingParameters):
    """Defaults are those of MCEP 6.1: 449 points, each with an observation of the last five minutes."""

    default_duration = Fraction(DAY)

    rate: Rate = Field(Fraction(449, PERIOD), description="observations per second of the whole stream")
    points: int = Field(449, ge=1, le=10**5, description="observation points (event types P0, P1, ...)")
    point_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of observations per point; 0: equal")
    slowing: float = Field(0.6, ge=0, le=1, description="share of the free speed that is lost on a full road")
    variety: float = Field(1.0, ge=0, le=1, description="how much points differ; 0: all have the same kind of road")
    noise: float = Field(0.1, ge=0, le=1, description="standard deviation of the load of a road")
    scatter: float = Field(0.05, ge=0, le=1, description="standard deviation of the speed, as a share of the free one")

    @property
    def popular(self) -> int:
        """The points."""
        return self.points


class Sensors(Generator[SensorsParameters]):
    """Observations of road traffic: a type per point, whose average speed falls with the vehicles on the road.

    Attributes: `point` (number), `speed` (average of the vehicles, km/h), `vehicles` (in the last five minutes),
    and `score`, `bound` (`generators.selectivity`).

    The load of a point, in 0..1, is its usual share, plus a daily cycle and noise. `vehicles` is the load times the
    capacity of the point's road, 20 to 200; `speed` is the free speed of the road, 40 to 110 km/h, reduced by up to the
    share `slowing` of it in proportion to the load, plus noise. So both are anti-correlated at each point, as usual.
    Pairs in which both rise or both fall are the violations that the queries of MCEP 6.1 look for. Between points,
    which differ in both, such pairs are rare or frequent by chance; without `variety` they are rare between all points.

    Points report with equal probability unless there is `point_skew`: the real stream is hardly skewed. With
    `reshuffle`, types are exchanged repeatedly, and all attributes stay; with `surge`, the rate fluctuates
    (`generators.reshuffling`).
    """

    name = "sensors"
    paper = "MCEP 6.1"
    Parameters = SensorsParameters

    def schema(self) -> Schema:
        """A type per point."""
        attributes = (
            Attribute("point", Kind.INT),
            Attribute("speed", Kind.FLOAT),
            Attribute("vehicles", Kind.INT),
            *SELECTIVE_ATTRIBUTES,
        )
        return Schema(
            tuple(f"P{point}" for point in range(self.parameters.points)), attributes, self.parameters.time_unit
        )

    def _arrival(self) -> Arrival:
        return self.parameters.arrival

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        point = popular_codes(p, self._random("point", index), n, p.point_skew)
        load = self._load(point, index)
        slower = 1 - p.slowing * load + p.scatter * self._random("speed", index).standard_normal(n)
        speed = self._between(FREE_SPEEDS, "free speed", point) * slower
        columns: Columns = {
            "point": point,
            "speed": np.round(np.maximum(speed, SLOWEST), 1),
            "vehicles": np.round(self._between(CAPACITIES, "capacity", point) * load).astype(np.int64),
            **selective_columns(p, index, n),
        }
        return reshuffled_types(p, point, index), columns

    def _load(self, point: NDArray[np.int64], index: int) -> NDArray[np.float64]:
        """Share of a point's capacity in use, float64[n] in 0..1."""
        p, n = self.parameters, len(point)
        ticks = NANOSECONDS["s"] / NANOSECONDS[p.time_unit]
        hour = self._times(index, index * self.slice_events, n) / ticks % DAY / DAY
        usual = self._between((0.2, 0.6), "usual load", point)
        # Minimum at three in the night, maximum at three in the afternoon.
        daily = 0.2 * np.sin(2 * np.pi * (hour - 0.375))
        load = usual + daily + p.noise * self._random("load", index).standard_normal(n)
        clipped: NDArray[np.float64] = np.clip(load, 0.0, 1.0)
        return clipped

    def _between(self, ends: tuple[float, float], name: str, point: NDArray[np.int64]) -> NDArray[np.float64]:
        """A value of each event's point between two ends, float64[n]."""
        p, (low, high) = self.parameters, ends
        return (low + high) / 2 + p.variety * (high - low) * (hashed_uniform(p.seed, name, point) - 0.5)
