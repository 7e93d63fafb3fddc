"""Attributes as the columns that kernels read."""

import numpy as np

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.aggregates import NO_VALUE, Column, Transform
from cepbench.queries.columns import ColumnSet, int_column, sortable, unsortable

SCHEMA = Schema(("A",), (Attribute("n", Kind.INT), Attribute("x", Kind.FLOAT), Attribute("s", Kind.STRING)))
NUMBER, CODE = Column("n", Transform.INT), Column("s", Transform.INT)
KEY, REAL = Column("x", Transform.KEY), Column("x", Transform.REAL)


def batch(numbers: list[int]) -> EventBatch:
    integers = np.array(numbers)
    columns = {"n": integers, "x": integers / 2, "s": integers.astype(np.int32)}
    return EventBatch(SCHEMA, np.arange(len(numbers)), np.zeros(len(numbers), np.int32), columns, integers)


def test_keys_keep_the_order_of_values() -> None:
    values = np.array([-np.inf, -1e300, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.5, 1e300, np.inf])
    keys = sortable(values)
    assert np.all(np.diff(keys) >= 0)
    assert np.sum(np.diff(keys) == 0) == 1  # of both zeros
    assert np.array_equal(unsortable(keys), values)
    assert keys.max() < NO_VALUE
    events = batch([-(2**63), 0, 2**63 - 1])
    inverted = int_column(events, Column("n", Transform.INVERTED_KEY))
    assert np.array_equal(~inverted, events.columns["n"])
    magnitudes = int_column(events, Column("n", Transform.MAGNITUDE)).view(np.uint64)
    assert magnitudes.tolist() == [2**63, 0, 2**63 - 1]


def test_rows_are_in_the_order_of_the_set() -> None:
    events = batch([2, 4, 6])
    ints, reals, flags = ColumnSet((CODE, KEY, NUMBER), (REAL,)).matrices(events)
    assert (ints.dtype, reals.dtype) == (np.int64, np.float64)
    assert ints[[0, 2]].tolist() == [[2, 4, 6], [2, 4, 6]]
    assert unsortable(ints[1]).tolist() == reals[0].tolist() == [1.0, 2.0, 3.0]
    nothing = ColumnSet((), ()).matrices(events)
    assert [matrix.shape for matrix in nothing] == [(0, 3), (0, 3), (0, 3)]
    assert flags.shape == (0, 3)


def test_a_single_column_is_not_copied() -> None:
    events = batch([1, 2])
    ints, reals, _ = ColumnSet((NUMBER,), (REAL,)).matrices(events)
    assert np.shares_memory(ints, events.columns["n"])
    assert np.shares_memory(reals, events.columns["x"])


def test_sets_share_what_they_compute_of_a_batch() -> None:
    events = batch([1, 2])
    first, second = (ColumnSet(ints, ()).matrices(events)[0] for ints in ((KEY,), (KEY,)))
    assert np.shares_memory(first, second)
    assert not np.shares_memory(first, ColumnSet((KEY,), ()).matrices(events.slice(0, 2))[0])
