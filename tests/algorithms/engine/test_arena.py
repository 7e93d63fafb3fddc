"""Tables that are filled in Python as kernels fill them: their growth, and what their pickles keep."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.queries.records import Records, records_of

STACK, RING, PAIRS = 1, 2, 3
LATEST = 20
"""Items of the ring."""


class CountersRecord:
    stack: int
    dropped: int
    pushed: int


class Columns(NamedTuple):
    ints: Any
    reals: Any


class Arrays(NamedTuple):
    number: Any
    columns: Columns
    begin: Any
    ring: Any
    pair: Any
    counters: Records


def arena() -> Arena[Arrays]:
    columns = Columns(np.zeros((3, 4), np.int64), np.zeros((0, 4)))
    numbers = [np.zeros(size, np.int64) for size in (4, 5, 2)]
    counters = np.zeros(1, records_of(CountersRecord))
    tables = {
        STACK: Table(("number", "columns", "begin"), stop="stack", fill=-1),
        RING: Table(("ring",), stop="pushed", first="dropped"),
        PAIRS: Table(("pair",), axes=(0, 1)),
    }
    return Arena(Arrays(numbers[0], columns, numbers[1], numbers[2], np.ones((1, 1)), counters), tables)


def push(arena: Arena[Arrays], size: int) -> list[int]:
    """Pushes items to both tables; returns the tables that were full."""
    full = []

    def kernel(begin: int) -> tuple[int, int]:
        arrays, counters = arena.arrays, arena.arrays.counters[0]
        for item in range(begin, size):
            if counters["stack"] == len(arrays.number):
                return item, STACK
            if counters["pushed"] - counters["dropped"] == len(arrays.ring):
                return item, RING
            at = counters["stack"]
            arrays.number[at], arrays.columns.ints[:, at], arrays.begin[at + 1] = item, item, item
            arrays.ring[counters["pushed"] & (len(arrays.ring) - 1)] = item
            counters["stack"], counters["pushed"] = at + 1, counters["pushed"] + 1
            counters["dropped"] = max(0, counters["pushed"] - LATEST)
        return size, 0

    arena.run(kernel, full.append)
    return full


def check(arena: Arena[Arrays], size: int) -> None:
    arrays = arena.arrays
    assert arrays.number.tolist() == [*range(size), *[-1] * (arena.room(STACK) - size)]
    assert (arrays.columns.ints[:, :size] == np.arange(size)).all()
    assert arrays.begin[1 : size + 1].tolist() == list(range(size))
    latest = np.arange(size - LATEST, size)
    assert (arrays.ring[latest & (arena.room(RING) - 1)] == latest).all()


def test_full_tables_are_doubled_until_the_kernel_ends() -> None:
    filled = arena()
    assert push(filled, 100) == [RING, STACK, RING, STACK, RING, STACK, RING, STACK, STACK]
    check(filled, 100)
    assert (filled.room(STACK), filled.room(RING)) == (128, 32)
    assert (filled.used(STACK), filled.used(RING)) == (100, LATEST)
    assert len(filled.arrays.begin) == 129
    assert filled.item_bytes(STACK) == 8 * (1 + 3 + 1)


def test_a_pickle_keeps_what_is_used() -> None:
    filled = arena()
    push(filled, 100)
    filled.reserve(STACK, 10**6)
    filled.reserve(RING, 10**6)
    stored = pickle.dumps(filled)
    assert len(stored) < 2 * filled.item_bytes(STACK) * 100
    for copy in (filled, pickle.loads(stored)):
        check(copy, 100)
        assert (copy.room(STACK), copy.room(RING)) == (1 << 20, 1 << 20)
    nothing = pickle.loads(pickle.dumps(arena()))
    push(nothing, 100)
    check(nothing, 100)


def test_a_table_that_is_cleared_is_not_doubled_unless_that_does_not_suffice() -> None:
    filled, stops = arena(), list[int]()

    def kernel(needed: int) -> tuple[int, int]:
        used = filled.arrays.counters[0]["stack"]
        if needed == 9 or used + needed <= filled.room(STACK):
            return needed, 0
        stops.append(filled.room(STACK))
        return needed, STACK

    def clear(_: int) -> None:
        filled.arrays.counters[0]["stack"] = 1

    filled.arrays.counters[0]["stack"] = 3
    filled.run(lambda at: kernel(max(at, 2)), clear)
    assert stops == [4]
    filled.run(lambda at: kernel(max(at, 4)), clear)
    assert stops == [4, 4, 4]


def test_tables_with_two_axes_and_fixed_sizes() -> None:
    filled = arena()
    filled.reserve(PAIRS, 3)
    assert filled.arrays.pair.shape == (4, 4)
    assert filled.arrays.pair.sum() == 1
    filled.reserve(PAIRS, 4)
    assert filled.room(PAIRS) == 4


@pytest.mark.parametrize("sizes", [[2, 0, 1], [0, 0, 0]])
def test_lists_are_moved_within_a_table(sizes: list[int]) -> None:
    filled = arena()
    filled.resize(STACK, 8)
    filled.arrays.number[:4] = [10, 20, 30, 40]
    filled.rearrange(STACK, np.array([0, 2, 3]), np.array([4, 7, 1]), np.array(sizes), 9)
    assert filled.arrays.number.tolist() == ([0, 40, 0, 0, 10, 20, 0, 0, 0] if sum(sizes) else [0] * 9)
