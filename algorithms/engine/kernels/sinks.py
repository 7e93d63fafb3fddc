"""Sinks: a sink takes constructed matches, and writes, digests or aggregates them.

A traversal hands its matches to a sink, a named tuple. The type of the tuple selects the code (`by_type`) when Numba
compiles the traversal. So each traversal is written once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba.extending import overload

from cepbench.algorithms.engine.kernels.arrays import Codes, Ints, Reals
from cepbench.algorithms.engine.kernels.cells import Cells, Weighing, add_trend
from cepbench.algorithms.engine.kernels.trend_hash import BASE, Hashes, finished
from cepbench.queries.records import Records

_Function = TypeVar("_Function", bound=Callable[..., Any])


class OutputRecord:
    """Matches in the output and, where they are written, their events; or the sum of their hashes."""

    matches: int
    events: int
    digest: np.uint64


class Written(NamedTuple):
    """Writes matches as rows: match m is `positions[offsets[m]:offsets[m + 1]]`.

    `place[V]`: the position of each event in the input. `output[1]`: `OutputRecord`.
    """

    place: Ints
    offsets: Ints
    positions: Ints
    output: Records


class Digested(NamedTuple):
    """Counts matches, and adds up their hashes.

    `term[V]`: the hash of each event. `power[i]`: BASE^i, to concatenate hashes; empty where nothing is concatenated.
    `output[1]`: `OutputRecord`.
    """

    term: Hashes
    power: Hashes
    output: Records


class Aggregated(NamedTuple):
    """Adds matches to cell 0 of `total`. It has the weights alone: a traversal is handed the other tables anyway.

    `position[V]`, `ints[I, V]`, `reals[F, V]`: the position of each event in the pattern, and its columns. `partial`:
    a cell per segment of a match that is put together from stored ones.
    """

    weights: Weighing
    position: Ints
    ints: Ints
    reals: Reals
    partial: Cells
    total: Cells


Sink = Written | Digested | Aggregated


def by_type(function: _Function) -> _Function:
    """A part of kernels that has a variant for each type of its first argument, a named tuple.

    `variant_of` adds them. Numba compiles the one that the type selects; plain Python calls it.
    """
    variants: dict[type, Callable[..., Any]] = {}

    @wraps(function)
    def selected(sink: Any, *arguments: Any) -> Any:
        return variants[type(sink)](sink, *arguments)

    @overload(selected, strict=False, jit_options=_OPTIONS)
    def _variant(sink: Any, *arguments: Any) -> Any:
        return variants[sink.instance_class]

    selected.variants = variants  # type: ignore[attr-defined]
    return cast(_Function, selected)


_OPTIONS: Any = {
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    "forceinline": True,
}
"""Variants are copied into their callers, as `compilation.inlined` parts are."""


def variant_of(function: Callable[..., Any], *sinks: type) -> Callable[[_Function], _Function]:
    """Declares the variant of a function `by_type` for these types of its first argument."""

    def declare(variant: _Function) -> _Function:
        for sink in sinks:
            function.variants[sink] = variant  # type: ignore[attr-defined]
        return variant

    return declare


@by_type
def has_room(sink: Sink, length: int) -> bool:
    """Whether another match of this length has room in the output."""
    raise NotImplementedError


@variant_of(has_room, Written)
def _has_rows(sink: Written, length: int) -> bool:
    output = sink.output[0]
    return output.matches + 2 <= len(sink.offsets) and output.events + length <= len(sink.positions)


@variant_of(has_room, Digested, Aggregated)
def _always(sink: Digested | Aggregated, length: int) -> bool:
    return True


@by_type
def emit(sink: Sink, path: Ints | Codes, begin: int, end: int) -> None:
    """Hands over the match of the events `path[begin:end]`, which are in the order of time. O(l) for l events."""
    raise NotImplementedError


@variant_of(emit, Written)
def _write(sink: Written, path: Ints | Codes, begin: int, end: int) -> None:
    output = sink.output[0]
    shift = output.events - begin
    for d in range(begin, end):
        sink.positions[shift + d] = sink.place[path[d]]
    output.events = shift + end
    output.matches += 1
    sink.offsets[output.matches] = shift + end


@variant_of(emit, Digested)
def _digest(sink: Digested, path: Ints | Codes, begin: int, end: int) -> None:
    h = sink.term[path[begin]]
    for d in range(begin + 1, end):
        h = h * BASE + sink.term[path[d]]
    output = sink.output[0]
    output.digest += finished(h)
    output.matches += 1


@variant_of(emit, Aggregated)
def _aggregate(sink: Aggregated, path: Any, begin: int, end: int) -> None:
    add_trend(sink.total, 0, sink.weights, path, begin, end, sink.position, sink.ints, sink.reals)
