"""Tables of records: what a class declares is what their arrays hold."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cepbench.algorithms.sequences.kernels.counters import ClockRecord, PlaceRecord
from cepbench.algorithms.sequences.kernels.program import (
    LinkRecord,
    PerFamily,
    PlainRecord,
    QueryRecord,
    SegmentRecord,
    SequenceRecord,
    TargetRecord,
)
from cepbench.algorithms.trends.online.kernels.store import BlockRecord, GraphPositionRecord
from cepbench.queries.records import records_of
from cepbench.queries.tables import PredicateRecord

RECORDS = (
    ClockRecord, PlaceRecord, LinkRecord, PerFamily, PlainRecord, QueryRecord, SegmentRecord, SequenceRecord,
    TargetRecord, PredicateRecord, GraphPositionRecord, BlockRecord,
)  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_records_have_the_declared_fields(record: type) -> None:
    dtype = records_of(record)
    assert dtype.names == tuple(record.__annotations__)
    assert dtype.isalignedstruct
    assert records_of(record) is dtype


def test_fields_are_numbers_or_records() -> None:
    predicate = records_of(PredicateRecord)
    assert (predicate["real"], predicate["op"], predicate["left_factor"]) == (np.bool_, np.int64, np.float64)
    query = records_of(QueryRecord)
    assert query["sequence"] == np.int64
    assert query["width"] == records_of(PerFamily)
    assert records_of(PlainRecord)["entry"] == np.uint64


def test_records_are_written_through_their_fields() -> None:
    places = np.zeros(2, records_of(PlaceRecord))
    places["at"]["real"] = [3, 4]
    places["tail"][1] = 7
    copy = pickle.loads(pickle.dumps(places))
    assert copy.tolist() == [(0, 0, 0, (0, 3, 0)), (0, 7, 0, (0, 4, 0))]
    assert copy.dtype.isalignedstruct  # or else Numba would compile kernels anew
