"""Records in Python: attributes as in kernels, and pickles with their alignment, for which nothing is compiled anew."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest

from cepbench.queries.records import records_of


class Inner(NamedTuple):
    real: np.int64
    flag: np.bool_


class Outer(NamedTuple):
    flag: np.bool_
    at: Inner


def test_records_are_pickled_as_they_are() -> None:
    rows = np.zeros(2, records_of(Outer))
    rows["at"]["real"] = [3, 4]
    copy = pickle.loads(pickle.dumps(rows))
    assert copy.tolist() == [(False, (3, False)), (False, (4, False))]
    assert copy.dtype.isalignedstruct


def test_python_reads_and_writes_fields_as_kernels_do() -> None:
    rows = np.zeros(2, records_of(Outer))
    row = rows[1]
    row.flag = True
    row.at.real = 5  # the name of an attribute of each NumPy scalar, too
    inner = rows[1].at
    assert (row.flag, row.at.real, inner.real, inner.flag) == (True, 5, 5, False)
    assert rows.tolist() == [(False, (0, False)), (True, (5, False))]
    rows[0].at = inner
    assert rows[0].at.real == 5
    assert inner.dtype.names == ("real", "flag")
    with pytest.raises(AttributeError):
        _ = row.nothing


def test_attributes_outlast_copies_and_views() -> None:
    rows = np.zeros((2, 2), records_of(Outer))
    for copy in (rows[0], rows.reshape(-1), rows.copy()[1], np.resize(rows, 3), pickle.loads(pickle.dumps(rows))[0]):
        assert copy[0].at.real == 0
