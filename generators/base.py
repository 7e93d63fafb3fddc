"""The generator interface: a stream as a pure function of (parameters, seed, slice)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.generators.arrival import Arrival, ConstantRate
from cepbench.generators.errors import GeneratorError
from cepbench.generators.parameters import Parameter, StreamParameters, parameters_of
from cepbench.generators.randomness import column_random

# Events of a full slice: tens of megabytes with all columns, and enough slices for every core of a long stream.
SLICE_EVENTS = 2**18

P = TypeVar("P", bound=StreamParameters)
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Description:
    """The entry of a generator in a listing (with default parameters)."""

    name: str
    paper: str
    summary: str
    types: tuple[str, ...]
    attributes: tuple[str, ...]
    parameters: tuple[Parameter, ...]


class Generator(ABC, Generic[P]):
    """A synthetic stream, cut into slices that can be generated in any order, anywhere.

    - Slice k holds the events `slice_start(k) .. slice_start(k + 1) - 1` of the stream, known without generating
      anything: all slices have `slice_events` events except the last one. Slices are consecutive in time; when many
      events share a time stamp, a slice may begin at the time stamp at which the one before it ends, and `position`
      gives their order.
    - All randomness of a slice comes from (seed, column, slice), so the stream does not depend on how slices are spread
      over Spark partitions.
    - What continues across slices is a function of the slice's index or of the event's ordinal (see the generators).
    - The last slice is generated in full and then cut, so a shorter stream is a prefix of a longer one.

    A subclass declares `name`, `paper`, `Parameters` and `version` (raised when its streams change), and implements
    `schema` and `_columns`.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    version: ClassVar[int] = 1
    Parameters: ClassVar[type[StreamParameters]]

    def __init__(self, parameters: P) -> None:
        self.parameters = parameters

    @abstractmethod
    def schema(self) -> Schema:
        """Types, attributes and time unit of the stream."""

    @abstractmethod
    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        """Type codes and attributes of full slice `index`, arrays of `slice_events` values each."""

    def events(self) -> int:
        """Number of events of the whole stream."""
        return self.parameters.count

    @property
    def slice_events(self) -> int:
        """Events of every slice but the last."""
        return SLICE_EVENTS // self._together * self._together

    def slices(self) -> int:
        """Number of slices."""
        return -(-self.events() // self.slice_events)

    def slice_start(self, index: int) -> int:
        """Position in the stream of the first event of slice `index`; `slice_start(slices())` is `events()`."""
        return min(index * self.slice_events, self.events())

    def slice(self, index: int) -> EventBatch:
        """The events of slice `index`, in time order."""
        if not 0 <= index < self.slices():
            raise GeneratorError(f"generator {self.name} has no slice {index}; choose from 0 to {self.slices() - 1}")
        start, stop = self.slice_start(index), self.slice_start(index + 1)
        n = stop - start
        types, columns = self._columns(index)
        schema = self._schema
        return EventBatch(
            schema,
            self._times(index, start, n),
            types[:n].astype(np.int32, copy=False),
            {attribute.name: columns[attribute.name][:n] for attribute in schema.attributes},
            np.arange(start, stop, dtype=np.int64),
        )

    def batches(self) -> Iterator[EventBatch]:
        """All slices in order; for streams that one process reads."""
        return map(self.slice, range(self.slices()))

    def source(self) -> Mapping[str, Any]:
        """The values that determine the stream, as JSON: for provenance, and for `generators.registry.from_spec`."""
        return {
            "generator": self.name,
            "version": self.version,
            "parameters": self.parameters.model_dump(mode="json", exclude_none=True),
        }

    @classmethod
    def describe(cls) -> Description:
        """The generator for a listing."""
        schema = cls(cls.Parameters()).schema()  # type: ignore[arg-type]  # Parameters is the P of the subclass
        return Description(
            cls.name,
            cls.paper,
            (cls.__doc__ or "").strip().split("\n", 1)[0],
            schema.types,
            tuple(f"{attribute.name} ({attribute.kind})" for attribute in schema.attributes),
            parameters_of(cls.Parameters),
        )

    @property
    def _together(self) -> int:
        """Number of consecutive events that one slice must contain together."""
        return 1

    def _arrival(self) -> Arrival:
        return ConstantRate(self.parameters.rate, self.parameters.time_unit, self.parameters.block)

    def _times(self, index: int, start: int, n: int) -> NDArray[np.int64]:
        return self._arrival().times(start, n)

    def _random(self, column: str, index: int) -> np.random.Generator:
        return column_random(self.parameters.seed, column, index)

    @cached_property
    def _schema(self) -> Schema:
        return self.schema()
