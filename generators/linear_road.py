"""Position reports of the Linear Road benchmark: cars that drive along consecutive segments."""

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.arrival import RisingRate
from cepbench.generators.base import Columns, Generator
from cepbench.generators.parameters import Rate
from cepbench.generators.randomness import hashed_uniform
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns

REPORT_SECONDS = 30
MILE = 5280  # feet; a segment is one mile
FEET_PER_REPORT = 44  # feet at 1 mph in 30 s
DEFAULT_START_RATE = 24


class LinearRoadParameters(SelectiveParameters):
    """Defaults of dissertation 13.1 and 25.1: 3 hours, rising from few dozens to 4k events/s."""

    default_duration = Fraction(3 * 3600)

    rate: Rate = Field(Fraction(4000), description="events per second at the end of the rise")
    start_rate: Rate | None = Field(
        None, description=f"events per second at the beginning; by default {DEFAULT_START_RATE}, or rate if lower"
    )
    segments: int = Field(100, ge=2, le=10**6, description="segments of one mile on the ring road (trend groups)")
    trip: int = Field(40, ge=2, le=10**4, description="reports of a vehicle, one every 30 seconds")
    accidents: float = Field(0.0, ge=0, le=1, description="probability that a report is of type Accident")
    typed_by: Literal["report", "segment"] = Field(
        "report", description="event types: Position and Accident; or one per segment (Segment0, ...), as Sharon has"
    )

    @model_validator(mode="after")
    def _check_road(self) -> "LinearRoadParameters":
        if self.first_rate > self.rate:
            raise ValueError(f"start_rate = {self.first_rate} exceeds rate = {self.rate}; the rate only rises")
        if self.first_rate * REPORT_SECONDS < 1:
            raise ValueError(f"start_rate = {self.first_rate}; at least 1/{REPORT_SECONDS}, which is one vehicle")
        if self.typed_by == "segment" and self.accidents > 0:
            raise ValueError("accidents have a type of their own; use typed_by = report")
        whole = int((self.first_rate + self.rate) / 2 * self.seconds)
        if self.events is not None and self.events > whole:
            raise ValueError(f"events = {self.events}, but the rise brings {whole}; raise rate or start_rate")
        return self

    @property
    def first_rate(self) -> Fraction:
        """Events per second at the beginning."""
        return min(Fraction(DEFAULT_START_RATE), self.rate) if self.start_rate is None else self.start_rate

    @property
    def last_second(self) -> Fraction:
        """The rise ends with `seconds`."""
        return self.seconds

    @property
    def count(self) -> int:
        """Number of events: the mean rate for the whole duration, unless `events` cuts it."""
        return int((self.first_rate + self.rate) / 2 * self.seconds) if self.events is None else self.events


class LinearRoad(Generator[LinearRoadParameters]):
    """Position reports of vehicles on a ring road, at a rate that rises linearly.

    Attributes: `vehicle`, `segment`, `position` (feet from segment 0), `direction` (0 or 1), `speed` (whole mph, the
    mean since the vehicle's last report), and `score`, `bound` (`generators.selectivity`).

    A vehicle reports every 30 seconds, `trip` times, then another replaces it. It cruises at 20 to 50 mph, +/- up to
    20, so it moves by at most one segment from report to report; from the last segment the ring leads to the first. The
    stream consists of rounds of 30 seconds: the j-th report of a round is from the j-th place on the road, and more
    places fill up as the rate rises. Which vehicle is in a place, where it entered and how fast it is are functions of
    (seed, place, round), so a slice needs no other one.
    """

    name = "linear_road"
    paper = "dissertation 13.1, 25.1; Arasu et al., Linear Road, VLDB 2004"
    Parameters = LinearRoadParameters

    def schema(self) -> Schema:
        """Types by `typed_by`."""
        p = self.parameters
        segments = tuple(f"Segment{segment}" for segment in range(p.segments))
        attributes = (
            Attribute("vehicle", Kind.INT),
            Attribute("segment", Kind.INT),
            Attribute("position", Kind.INT),
            Attribute("direction", Kind.INT),
            Attribute("speed", Kind.INT),
            *SELECTIVE_ATTRIBUTES,
        )
        return Schema(("Position", "Accident") if p.typed_by == "report" else segments, attributes, p.time_unit)

    def _arrival(self) -> RisingRate:
        p = self.parameters
        return RisingRate(float(p.first_rate), float(p.rate), float(p.seconds), p.time_unit, p.block)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        ordinals = np.arange(index * n, (index + 1) * n, dtype=np.int64)
        age, vehicle = self._vehicles(*self._places(ordinals))
        segment, columns = self._motion(vehicle, age)
        if p.typed_by == "segment":
            types = segment
        else:
            types = (self._random("accident", index).random(n) < p.accidents).astype(np.int64)
        return types, {"vehicle": vehicle, "segment": segment, **columns, **selective_columns(p, index, n)}

    def _places(self, ordinals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The place on the road that each report comes from, and its round."""
        arrival = self._arrival()
        first, last = (int(second) // REPORT_SECONDS for second in arrival.after(ordinals[[0, -1]]))
        # One more round on either side, for the rounding of the inverse.
        near = np.arange(max(first - 1, 0), last + 2, dtype=np.int64)
        starts = arrival.before(near.astype(np.float64) * REPORT_SECONDS).astype(np.int64)
        vehicles = np.searchsorted(starts, ordinals, side="right") - 1
        return ordinals - starts[vehicles], near[vehicles]

    def _vehicles(
        self, place: NDArray[np.int64], rounds: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Reports that the vehicle in each place has sent before, and the vehicle."""
        p = self.parameters
        shift = (hashed_uniform(p.seed, "shift", place) * p.trip).astype(np.int64)
        generation, age = np.divmod(rounds + shift, p.trip)
        road = self._arrival()
        places = int(REPORT_SECONDS * (road.end + road.gain * REPORT_SECONDS)) + 2  # more than the fullest round has
        return age, generation * places + place

    def _motion(self, vehicle: NDArray[np.int64], age: NDArray[np.int64]) -> tuple[NDArray[np.int64], Columns]:
        """Segments and the other attributes of motion, from the vehicle's entry, cruising speed and its wobble."""
        p = self.parameters
        length = p.segments * MILE
        cruise = 20.0 + 30.0 * hashed_uniform(p.seed, "cruise", vehicle)
        report = vehicle * (p.trip + 1) + age  # one number per report of a vehicle, including the one before its first
        wobble = 20.0 * hashed_uniform(p.seed, "wobble", report + 1)
        speed = cruise + wobble - 20.0 * hashed_uniform(p.seed, "wobble", report)
        driven = FEET_PER_REPORT * (cruise * age + wobble)
        position = (hashed_uniform(p.seed, "entry", vehicle) * length + driven).astype(np.int64) % length
        direction = (hashed_uniform(p.seed, "direction", vehicle) < 0.5).astype(np.int64)
        position = np.where(direction == 1, length - 1 - position, position)
        mph = np.rint(speed).astype(np.int64)
        return position // MILE, {"position": position, "direction": direction, "speed": mph}
