"""Cluster performance measurements with the value distributions of dissertation Table 13.1."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.groups import stages
from cepbench.generators.parameters import Rate
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns
from cepbench.generators.transport import stage_types

MAX_USAGE = 1000
LOAD_MEAN = 100
MAX_LOAD = 10_000


class ClusterParameters(SelectiveParameters):
    """Defaults of dissertation 13.1: 3k events/s for 3 hours, identifiers 0 to 10."""

    default_duration = Fraction(3 * 3600)

    rate: Rate = Field(Fraction(3000), description="events per second of the whole stream")
    mappers: int = Field(11, ge=1, le=10**4, description="mappers (trend groups)")
    jobs: int = Field(11, ge=1, le=10**4, description="jobs; each job runs on every mapper")
    measurements: int = Field(20, ge=1, le=10**6, description="Measurement events between a Start and its End")


class Cluster(Generator[ClusterParameters]):
    """Measurements of jobs on mappers: Start, Measurements, End, with the attribute values of Table 13.1.

    Attributes: `mapper`, `job` (uniform integers 0..10, both ends included), `cpu`, `memory` (uniform integers
    0..1000), `load` (Poisson with mean 100, cut at 10000), and `score`, `bound` (`generators.selectivity`).

    The event types are those of the paper's query Q2, SEQ(Start S, Measurement M+, End E) per job and mapper. A job
    runs on a mapper repeatedly; where a slice begins, it is at a random stage of its run (`generators.groups.stages`).
    """

    name = "cluster"
    paper = "dissertation 13.1, Table 13.1"
    Parameters = ClusterParameters

    def schema(self) -> Schema:
        """Stages of a job's run as types."""
        attributes = (
            Attribute("mapper", Kind.INT),
            Attribute("job", Kind.INT),
            Attribute("cpu", Kind.INT),
            Attribute("memory", Kind.INT),
            Attribute("load", Kind.INT),
            *SELECTIVE_ATTRIBUTES,
        )
        return Schema(("Start", "Measurement", "End"), attributes, self.parameters.time_unit)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        mapper = self._random("mapper", index).integers(p.mappers, size=n, dtype=np.int64)
        job = self._random("job", index).integers(p.jobs, size=n, dtype=np.int64)
        length = p.measurements + 2
        stage = stages(mapper * p.jobs + job, p.mappers * p.jobs, length, self._random("stage", index))
        load = self._random("load", index).poisson(LOAD_MEAN, n)
        columns: Columns = {
            "mapper": mapper,
            "job": job,
            "cpu": self._random("cpu", index).integers(MAX_USAGE, size=n, dtype=np.int64, endpoint=True),
            "memory": self._random("memory", index).integers(MAX_USAGE, size=n, dtype=np.int64, endpoint=True),
            "load": np.minimum(load, MAX_LOAD),
            **selective_columns(p, index, n),
        }
        return stage_types(stage, length), columns
