"""Events of independent uniform values, for tests and benchmarks."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.randomness import draw_codes
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_VALUE = 1000
LOST = "Lost"
"""The type of events that a system does not get: they were late, or a duplicate that was left out."""


class UniformParameters(SelectiveParameters):
    """Defaults: a small stream of four types at one event per second."""

    default_duration = Fraction(10_000)

    types: int = Field(4, ge=1, le=10**5, description="event types A, B, ..., Z, A1, B1, ...")
    groups: int = Field(1, ge=1, le=10**9, description="values of the attribute key (trend groups)")
    tie_probability: float = Field(0.0, ge=0, le=1, description="probability that an event shares the last one's time")
    type_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of events per type, A most; 0: equal")
    group_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of events per group; 0: equal")
    late: float = Field(0.0, ge=0, le=1, description="share of events that arrive late")
    delay: float = Field(1.0, gt=0, le=10**6, description="mean seconds by which these are late, exponential")
    slack: float = Field(0.0, ge=0, le=10**6, description="seconds that the watermark waits; later events are lost")
    duplicates: float = Field(0.0, ge=0, le=1, description="share of events that repeat the one before")
    deduplicated: bool = Field(False, description="whether duplicates are left out")

    @model_validator(mode="after")
    def _check_uniform(self) -> "UniformParameters":
        if self.tie_probability > 0 and self.simultaneous is not None:
            raise ValueError("tie_probability and simultaneous exclude each other; give one of them")
        if self.group_skew > 0 and self.groups > 10**6:
            raise ValueError(f"groups = {self.groups} with group_skew; at most 1000000 groups may be skewed")
        return self


class Uniform(Generator[UniformParameters]):
    """Independent events: types, groups and values drawn at random, with a given share of ties.

    Attributes: `key` (0..groups-1), `value` (uniform integers 0..1000), and `score`, `bound`
    (`generators.selectivity`). With `tie_probability` q each event, except the first of a slice, has the time stamp of
    the event before it with probability q, and otherwise the one that its rate implies.

    The stream is that after a watermark, in the order of time. It follows the clock at a distance of `slack`, so that
    an event is lost if it arrives later than that: its type is `Lost`. A duplicate has the content of the event before
    it, or is lost if duplicates are left out. Events that neither repeat
    others nor are lost are the same for all of these parameters.
    """

    name = "uniform"
    paper = "none; for tests and benchmarks"
    Parameters = UniformParameters

    def schema(self) -> Schema:
        """Letters as types."""
        p = self.parameters
        types = tuple(LETTERS[k % 26] + (str(k // 26) if k >= 26 else "") for k in range(p.types))
        types += (LOST,) if p.late > 0 or p.duplicates > 0 else ()
        attributes = (Attribute("key", Kind.INT), Attribute("value", Kind.INT), *SELECTIVE_ATTRIBUTES)
        return Schema(types, attributes, self.parameters.time_unit)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        columns: Columns = {
            "key": draw_codes(self._random("key", index), n, p.groups, p.group_skew),
            "value": self._random("value", index).integers(MAX_VALUE, size=n, dtype=np.int64, endpoint=True),
            **selective_columns(p, index, n),
        }
        types = draw_codes(self._random("type", index), n, p.types, p.type_skew)
        return (self._disordered(index, types, columns), columns) if LOST in self._schema.types else (types, columns)

    def _disordered(self, index: int, types: NDArray[np.int64], columns: Columns) -> NDArray[np.int64]:
        """The types with lost events and duplicates, whose content changes in `columns`."""
        p, n = self.parameters, len(types)
        repeats = self._random("duplicate", index).random(n) < p.duplicates
        repeats[0] = False
        content = np.maximum.accumulate(np.where(repeats, 0, np.arange(n)))
        for name, column in columns.items():
            columns[name] = column[content]
        delays = self._random("delay", index).exponential(p.delay, n)
        lost = (self._random("late", index).random(n) < p.late) & (delays > p.slack)
        return np.where(lost | (repeats & p.deduplicated), p.types, types[content])

    def _times(self, index: int, start: int, n: int) -> NDArray[np.int64]:
        times = super()._times(index, start, n)
        if self.parameters.tie_probability == 0:
            return times
        tied = self._random("tie", index).random(n) < self.parameters.tie_probability
        last_untied = np.maximum.accumulate(np.where(tied, 0, np.arange(n)))
        return times[last_untied]
