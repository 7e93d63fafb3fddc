"""Taxi trips: a stand-in for the trip records of New York City."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.groups import burst_numbers, by_group
from cepbench.generators.parameters import Rate
from cepbench.generators.popularity import PopularityParameters, popular_codes
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, selective_columns

PASSENGER_SHARES = (0.7, 0.15, 0.05, 0.03, 0.04, 0.03)  # of trips with 1, 2, ... passengers
PAYMENTS = ("card", "cash")
CASH = 0.4
VENDORS = 2
FIRST_PRICE = 3
MEAN_PRICE = 13
DOLLARS_PER_MILE = 4


class TaxiParameters(PopularityParameters):
    """The rate of dissertation 25.1, where 1.3 billion trips in two years are about 20 per second; Gloria's zones."""

    default_duration = Fraction(3 * 3600)

    rate: Rate = Field(Fraction(20), description="trips per second of the whole stream")
    zones: int = Field(217, ge=1, le=10**5, description="zones of the city (event types Zone0, Zone1, ...)")
    vehicles: int = Field(200, ge=1, le=10**6, description="vehicles (trend groups)")
    riders: int = Field(10_000, ge=1, le=10**9, description="riders")
    chained: float = Field(
        0.8, ge=0, le=1, description="probability that a trip begins where the vehicle's last one ended"
    )
    zone_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of trips per zone; 0: equal")
    burst: float = Field(1, ge=1, le=10**5, description="mean number of consecutive trips that begin in one zone")

    @property
    def popular(self) -> int:
        """The zones."""
        return self.zones


class Taxi(Generator[TaxiParameters]):
    """Taxi trips; the zone of the pick-up is the event type, and vehicles mostly continue from their last drop-off.

    Attributes: `vehicle`, `rider`, `vendor` (1 or 2), `pickup` and `dropoff` (zones), `passengers` (1..6), `distance`
    (miles, by the price, which is 3 dollars and 4 per mile), `price` (whole dollars, at least 3), `payment` ("card" or
    "cash"), and `score`, `bound` (`generators.selectivity`).

    So the types of a vehicle's trips are its route through the city. Drop-offs are drawn independently; a pick-up is
    the vehicle's last drop-off with probability `chained`, and independent otherwise. Where a slice begins, a vehicle
    is in a random zone: an exact continuation would need the earlier slices. With `burst`, that many consecutive trips
    on average begin in the same zone, as from a station: Hamlet shares bursts of one type.
    """

    name = "taxi"
    paper = "dissertation 25.1; Hamlet 6.1; Gloria 8.1"
    version = 3
    Parameters = TaxiParameters

    def schema(self) -> Schema:
        """A type per zone."""
        attributes = (
            Attribute("vehicle", Kind.INT),
            Attribute("rider", Kind.INT),
            Attribute("vendor", Kind.INT),
            Attribute("pickup", Kind.INT),
            Attribute("dropoff", Kind.INT),
            Attribute("passengers", Kind.INT),
            Attribute("distance", Kind.FLOAT),
            Attribute("price", Kind.INT),
            Attribute("payment", Kind.STRING),
            *SELECTIVE_ATTRIBUTES,
        )
        types = tuple(f"Zone{zone}" for zone in range(self.parameters.zones))
        return Schema(types, attributes, self.parameters.time_unit, PAYMENTS)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        vehicle = self._random("vehicle", index).integers(p.vehicles, size=n, dtype=np.int64)
        dropoff = popular_codes(p, self._random("dropoff", index), n, p.zone_skew)
        pickup = popular_codes(p, self._random("pickup", index), n, p.zone_skew)
        chained = self._random("chained", index).random(n) < p.chained
        pickup[chained] = self._places(vehicle, dropoff, index)[chained]
        bursts = burst_numbers(self._random("burst", index), n, p.burst)
        pickup = pickup[np.flatnonzero(np.diff(bursts, prepend=-1))][bursts]
        fare = self._random("price", index).exponential(MEAN_PRICE - FIRST_PRICE, n)
        columns: Columns = {
            "vehicle": vehicle,
            "rider": self._random("rider", index).integers(p.riders, size=n, dtype=np.int64),
            "vendor": self._random("vendor", index).integers(1, VENDORS, size=n, endpoint=True),
            "pickup": pickup,
            "dropoff": dropoff,
            "passengers": 1
            + np.searchsorted(np.cumsum(PASSENGER_SHARES)[:-1], self._random("people", index).random(n)),
            "distance": np.round(fare / DOLLARS_PER_MILE, 2),
            "price": FIRST_PRICE + fare.astype(np.int64),
            "payment": (self._random("payment", index).random(n) < CASH).astype(np.int32),
            **selective_columns(p, index, n),
        }
        return pickup, columns

    def _places(self, vehicle: NDArray[np.int64], dropoff: NDArray[np.int64], index: int) -> NDArray[np.int64]:
        """The zone that each trip's vehicle is in before the trip, int64[n]."""
        p = self.parameters
        order, counts = by_group(vehicle, p.vehicles)
        before = np.concatenate(([0], dropoff[order[:-1]]))
        first = (np.cumsum(counts) - counts)[counts > 0]
        before[first] = popular_codes(p, self._random("place", index), p.vehicles, p.zone_skew)[counts > 0]
        places = np.empty_like(dropoff)
        places[order] = before
        return places
