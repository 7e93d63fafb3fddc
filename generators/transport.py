"""Public transportation trips."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.groups import stages
from cepbench.generators.parameters import Rate
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns


class TransportParameters(SelectiveParameters):
    """Defaults of dissertation 19.1 where it gives them: 30 passengers, 100 stations."""

    default_duration = Fraction(3 * 3600)

    rate: Rate = Field(Fraction(100), description="events per second of the whole stream")
    passengers: int = Field(30, ge=1, le=10**6, description="passengers (trend groups)")
    stations: int = Field(100, ge=1, le=10**9, description="stations")
    waiting: int = Field(600, ge=0, le=10**9, description="longest waiting time in seconds")
    stops: int = Field(5, ge=2, le=1000, description="events per trip: Enter, Transfer ..., Exit")


class Transport(Generator[TransportParameters]):
    """Trips of passengers through a city: Enter, some Transfers, Exit, each at a station after a waiting time.

    Attributes: `passenger`, `station` (uniform), `waiting` (uniform 0..waiting seconds), and `score`, `bound`
    (`generators.selectivity`).

    The dissertation names no event types. Here each passenger makes trips of `stops` events one after the other; where
    a slice begins, a passenger is at a random stage of a trip (`generators.groups.stages`).
    """

    name = "transport"
    paper = "dissertation 19.1"
    Parameters = TransportParameters

    def schema(self) -> Schema:
        """Stages of a trip as types."""
        attributes = (
            Attribute("passenger", Kind.INT),
            Attribute("station", Kind.INT),
            Attribute("waiting", Kind.INT),
            *SELECTIVE_ATTRIBUTES,
        )
        return Schema(("Enter", "Transfer", "Exit"), attributes, self.parameters.time_unit)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        passenger = self._random("passenger", index).integers(p.passengers, size=n, dtype=np.int64)
        stage = stages(passenger, p.passengers, p.stops, self._random("stage", index))
        columns: Columns = {
            "passenger": passenger,
            "station": self._random("station", index).integers(p.stations, size=n, dtype=np.int64),
            "waiting": self._random("waiting", index).integers(p.waiting, size=n, dtype=np.int64, endpoint=True),
            **selective_columns(p, index, n),
        }
        return stage_types(stage, p.stops), columns


def stage_types(stage: NDArray[np.int64], length: int) -> NDArray[np.int32]:
    """0 for the first stage of a cycle, 2 for the last, 1 for those between, int32[n]."""
    types = np.ones(len(stage), dtype=np.int32)
    types[stage == 0] = 0
    types[stage == length - 1] = 2
    return types
