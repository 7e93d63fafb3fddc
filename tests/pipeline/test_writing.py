"""The counts of the writers of a store, added up."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cepbench.events.batch import EventBatch
from cepbench.events.errors import InputError
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.pipeline.rebucketing import rebucket
from cepbench.pipeline.store import Holes, Stream, TypeSummary, read_stream
from cepbench.pipeline.writing import BucketWriter, Written, describe
from tests.contract.streams import batch
from tests.streams import stream

SCHEMA = Schema(("A", "B"), (Attribute("x", Kind.FLOAT), Attribute("s", Kind.STRING)), "s", ("", "u"))


def written(first: int, last: int, **more: object) -> Written:
    reported = {"bucket_events": (2, 1), "types": {"A": TypeSummary(3, first, last)}, "sums": (1, 2)}
    return Written(**{**reported, "first": first, "last": last, **more})  # type: ignore[arg-type]


def test_stretches_add_up() -> None:
    early = written(3, 9, sums=(2**64 - 1, 5), holes={"A": {"x": Holes(2, "row 4")}})
    types = {"A": TypeSummary(1, 10, 10), "B": TypeSummary(4, 9, 12)}
    holes = {"A": {"x": Holes(1, "row 9"), "s": Holes(3, "row 8")}, "B": {"x": Holes(1, "row 7")}}
    late = written(9, 12, bucket_events=(0, 5), types=types, sums=(3, 4), holes=holes)
    assert early + late == Written(
        (2, 6),
        {"A": TypeSummary(4, 3, 10), "B": TypeSummary(4, 9, 12)},
        (2, 9),
        3,
        12,
        {"A": {"x": Holes(3, "row 4"), "s": Holes(3, "row 8")}, "B": {"x": Holes(1, "row 7")}},
    )
    nothing = Written((0, 0), {}, (0, 0))
    assert nothing + early + nothing == early


def test_stretches_follow_one_another_in_time() -> None:
    assert (written(1, 5) + written(5, 6)).last == 6
    with pytest.raises(InputError, match="the stream goes back in time, from 5 to 4, between two slices"):
        written(1, 5) + written(4, 6)


def test_batches_follow_one_another_in_time(tmp_path: Path) -> None:
    events = batch(stream("A3 A3 A5"))
    with BucketWriter(tmp_path, events.schema, (), 1, 0) as writer:
        writer.write(events.slice(0, 1))
        writer.write(events.slice(1, 3))
        with pytest.raises(InputError, match="events from position 0 on are not in time order"):
            writer.write(events.slice(0, 1))


def store(folder: Path) -> Stream:
    """Types A A B B, a number that is NaN for an A and a B, and a text that was null in the last B."""
    events = EventBatch(
        SCHEMA,
        np.array([1, 1, 2, 3]),
        np.array([0, 0, 1, 1], np.int32),
        {"x": np.array([1.0, np.nan, np.nan, 2.0]), "s": np.array([1, 1, 1, 0], np.int32)},
        np.arange(4),
    )
    folder.mkdir()
    writer = BucketWriter(folder, SCHEMA, ("s",), 2, 0)
    with writer:
        writer.write(events, {"s": np.array([False, False, False, True])}, lambda event: f"e.csv, row {event + 1}")
    describe(folder, SCHEMA, ("s",), [writer.written], {})
    return read_stream(folder)


def test_a_hole_is_reported_where_an_event_of_its_type_has_it(tmp_path: Path) -> None:
    stored = store(tmp_path / "store")
    assert stored.holes == {
        "A": {"x": Holes(1, "e.csv, row 2")},
        "B": {"x": Holes(1, "e.csv, row 3"), "s": Holes(1, "e.csv, row 4")},
    }
    with pytest.raises(InputError, match=r"e\.csv, row 3, column 'x': null or NaN in an event of type 'B'"):
        stored.check_needed({"B": ["x"]})


def test_nulls_are_still_refused_in_other_buckets(tmp_path: Path) -> None:
    stored = store(tmp_path / "store")
    copy = rebucket(stored, ("x",), 2, spark=None)
    assert copy.key == ("x",)
    assert (copy.holes, copy.fingerprint) == (stored.holes, stored.fingerprint)
    with pytest.raises(InputError, match=r"e\.csv, row 4, column 's': null or NaN in an event of type 'B'"):
        copy.check_needed({"B": ["s"]})
    copy.check_needed({"A": ["s"]})


@pytest.mark.parametrize(("buckets", "groups"), [(1, 1), (1024, 3)])
def test_buckets_are_written_in_groups_that_fit_into_memory_together(tmp_path: Path, buckets: int, groups: int) -> None:
    """Row groups have at least 4096 rows, however many buckets there are."""
    events = batch([{"time": 1, "type": "A", "g": 0}] * 4096)
    with BucketWriter(tmp_path, events.schema, ("g",), buckets, 0) as writer:
        for _ in range(3):
            writer.write(events)
    [file] = tmp_path.rglob("*.parquet")
    assert pq.ParquetFile(file).metadata.num_row_groups == groups
