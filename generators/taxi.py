"""Taxi trips: a stand-in for the trip records of New York City."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.groups import by_group
from cepbench.generators.parameters import Rate
from cepbench.generators.randomness import draw_codes
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns

PASSENGER_SHARES = (0.7, 0.15, 0.05, 0.03, 0.04, 0.03)  # of trips with 1, 2, ... passengers
PAYMENTS = ("card", "cash")
CASH = 0.4
FIRST_PRICE = 3
MEAN_PRICE = 13


class TaxiParameters(SelectiveParameters):
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


class Taxi(Generator[TaxiParameters]):
    """Taxi trips; the zone of the pick-up is the event type, and vehicles mostly go on from where they are.

    Attributes: `vehicle`, `rider`, `pickup` and `dropoff` (zones), `passengers` (1..6), `price` (whole dollars, at
    least 3), `payment` ("card" or "cash"), and `score`, `bound` (`generators.selectivity`).

    So the types of a vehicle's trips are its way through the city. Drop-offs are drawn independently; a pick-up is the
    vehicle's last drop-off with probability `chained`, and drawn anew otherwise. Where a slice begins, a vehicle is in
    a random zone: an exact continuation would need the earlier slices.
    """

    name = "taxi"
    paper = "dissertation 25.1; Hamlet 6.1; Gloria 8.1"
    version = 2
    Parameters = TaxiParameters

    def schema(self) -> Schema:
        """A type per zone."""
        attributes = (
            Attribute("vehicle", Kind.INT),
            Attribute("rider", Kind.INT),
            Attribute("pickup", Kind.INT),
            Attribute("dropoff", Kind.INT),
            Attribute("passengers", Kind.INT),
            Attribute("price", Kind.INT),
            Attribute("payment", Kind.STRING),
            *SELECTIVE_ATTRIBUTES,
        )
        types = tuple(f"Zone{zone}" for zone in range(self.parameters.zones))
        return Schema(types, attributes, self.parameters.time_unit, PAYMENTS)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        vehicle = self._random("vehicle", index).integers(p.vehicles, size=n, dtype=np.int64)
        dropoff = draw_codes(self._random("dropoff", index), n, p.zones, p.zone_skew)
        pickup = draw_codes(self._random("pickup", index), n, p.zones, p.zone_skew)
        chained = self._random("chained", index).random(n) < p.chained
        pickup[chained] = self._places(vehicle, dropoff, index)[chained]
        fare = self._random("price", index).exponential(MEAN_PRICE - FIRST_PRICE, n)
        columns: Columns = {
            "vehicle": vehicle,
            "rider": self._random("rider", index).integers(p.riders, size=n, dtype=np.int64),
            "pickup": pickup,
            "dropoff": dropoff,
            "passengers": 1
            + np.searchsorted(np.cumsum(PASSENGER_SHARES)[:-1], self._random("people", index).random(n)),
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
        before[first] = draw_codes(self._random("place", index), p.vehicles, p.zones, p.zone_skew)[counts > 0]
        places = np.empty_like(dropoff)
        places[order] = before
        return places
