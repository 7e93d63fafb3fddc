"""Rows of stores: one per instance of a node's sub-pattern, in the order of their last events, as words of the slab."""

from __future__ import annotations

from enum import IntEnum

from cepbench.algorithms.detection.mcep.kernels.state import EngineState
from cepbench.algorithms.engine.kernels.compilation import inlined


class Word(IntEnum):
    """The words of a row: the points of its first and last event in the unit of the span, the time of its last event,
    and from `SLOTS` on one binding per place of the sub-pattern.
    """

    FIRST = 0
    LAST = 1
    ENDED = 2
    SLOTS = 3


@inlined
def row_at(n: int, r: int, state: EngineState) -> int:
    """The first word of row r of node n."""
    return state.store[n].offset + r * state.store[n].words


@inlined
def first_point(row: int, state: EngineState) -> int:
    """The point of the first event of the row at a word."""
    return state.slab[row + Word.FIRST]


@inlined
def last_point(row: int, state: EngineState) -> int:
    """The point of its last event."""
    return state.slab[row + Word.LAST]


@inlined
def end_time(row: int, state: EngineState) -> int:
    """The time of its last event."""
    return state.slab[row + Word.ENDED]


@inlined
def binding_in(row: int, slot: int, state: EngineState) -> int:
    """The binding in a slot of it."""
    return state.slab[row + Word.SLOTS + slot]


@inlined
def bind(row: int, slot: int, binding: int, state: EngineState) -> None:
    """Writes a binding to a slot of it."""
    state.slab[row + Word.SLOTS + slot] = binding


@inlined
def write_points(row: int, first: int, last: int, time: int, state: EngineState) -> None:
    """Writes the points of its first and last event, and the time of the latter."""
    state.slab[row + Word.FIRST], state.slab[row + Word.LAST], state.slab[row + Word.ENDED] = first, last, time
