"""The common part of Gloria's workloads: types of a chain that queries share, types around them, and clauses."""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from cepbench.generators.journeys import CHAIN, ENDS, journey_names
from cepbench.generators.workloads.base import NOTHING, Names, query_text


class ChainedParameters(BaseModel):
    """Types are the journeys of the published workloads, or numbered; ends of patterns have other types."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(0, ge=0, description="seed of all randomness")
    queries: int = Field(100, ge=1, le=10**4, description="number of queries; fewer are a prefix of more")
    prefix: str = Field(
        "", pattern=r"^\w*$", description="names of numbered types without the number; by default types are journeys"
    )
    chain: int = Field(len(CHAIN), ge=1, le=1000, description="first types, of which shared sub-patterns are made")
    ends: int = Field(len(ENDS), ge=2, le=1000, description="types after those, for the ends of patterns")
    group_by: Names = Field(("Line_ID",), description="grouping attributes, or none")
    within: Names = Field(("5 min", "10 min", "15 min", "20 min"), description="lengths of windows, drawn per query")
    slide: str | None = Field("5 min", description="slide of the windows; without one, they do not overlap")

    @model_validator(mode="after")
    def _check_names(self) -> "ChainedParameters":
        if self.prefix[:1].isdigit():
            raise ValueError(f"prefix = {self.prefix!r} begins with a digit")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """All types: those of the chain, then those of the ends."""
        count = self.chain + self.ends
        return tuple(f"{self.prefix}{n}" for n in range(count)) if self.prefix else journey_names(count)


def chained_query(
    p: ChainedParameters, number: int, random: np.random.Generator, aggregate: str, pattern: str, predicate: str
) -> str:
    """Query `number` with a drawn window."""
    return query_text(
        number,
        aggregate,
        pattern,
        "" if predicate == NOTHING else predicate,
        () if p.group_by == (NOTHING,) else p.group_by,
        p.within[int(random.integers(len(p.within)))],
        p.slide,
    )
