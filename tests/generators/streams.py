"""Whole small streams for the tests of generators."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.generators.base import Generator
from cepbench.generators.registry import from_spec


def stream(name: str, **parameters: Any) -> EventBatch:
    return concatenated(from_spec(name, parameters))


def concatenated(generator: Generator[Any], order: list[int] | None = None) -> EventBatch:
    """All slices, generated in `order` and joined in stream order."""
    order = list(range(generator.slices())) if order is None else order
    slices = {index: generator.slice(index) for index in order}
    batches = [slices[index] for index in sorted(slices)]
    return EventBatch(
        generator.schema(),
        np.concatenate([batch.time for batch in batches]),
        np.concatenate([batch.type for batch in batches]),
        {name: np.concatenate([batch.columns[name] for batch in batches]) for name in batches[0].columns},
        np.concatenate([batch.position for batch in batches]),
    )


def same(left: EventBatch, right: EventBatch) -> bool:
    return (
        left.schema == right.schema
        and np.array_equal(left.time, right.time)
        and np.array_equal(left.type, right.type)
        and np.array_equal(left.position, right.position)
        and left.columns.keys() == right.columns.keys()
        and all(np.array_equal(left.columns[name], right.columns[name]) for name in left.columns)
    )


def run_lengths(values: NDArray[Any]) -> NDArray[np.int64]:
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    return np.diff(np.append(starts, len(values)))
