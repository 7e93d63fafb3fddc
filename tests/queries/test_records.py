"""Tables of records survive pickling with their alignment; otherwise Numba would compile kernels for them anew."""

import pickle
from typing import NamedTuple

import numpy as np

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
