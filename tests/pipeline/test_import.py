"""Files and data sets as stores: with Spark and without, the same stream and the same errors."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepbench.datasets.base import Dataset, Derived, Ranked, RawColumn, RawLayout
from cepbench.events.errors import InputError
from cepbench.events.files import read_events
from cepbench.events.schema import Kind
from cepbench.pipeline.import_dataset import import_dataset
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.store import read_stream, stream_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = Dataset(
    name="ticks",
    summary="",
    paper="",
    source="nowhere",
    license="",
    layouts=(
        RawLayout(
            files="ticks_*.txt",
            columns=(RawColumn("name", "STRING"), RawColumn("at", "STRING"), RawColumn("price", "DOUBLE")),
            options={"header": "false"},
        ),
    ),
    needed=("name", "at"),
    time="try_cast(at AS BIGINT) * 60",
    time_unit="s",
    types={"name": "upper(name)", "rank": "concat('R', name_rank)"},
    ranked=(Ranked(("name",)),),
    attributes=(Derived("who", Kind.STRING, "name"), Derived("price", Kind.FLOAT, "price")),
    order=("who", "price"),
    key=("who",),
    filter="price > 0 OR price IS NULL",
)


def shuffled_folder(folder: Path) -> Path:
    random = np.random.default_rng(1)
    folder.mkdir()
    for name in ("a.parquet", "b.parquet"):
        table = {
            "time": random.integers(0, 300, 1000),
            "type": random.choice(["A", "B"], 1000),
            "x y": [None if r < 0.01 else r for r in random.random(1000)],
            "s": random.choice(["u", "v", None], 1000),
        }
        pq.write_table(pa.table(table), folder / name)
    return folder


@pytest.mark.spark
def test_spark_imports_what_one_process_reads(tmp_path: Path, spark: "SparkSession") -> None:
    folder = shuffled_folder(tmp_path / "raw")
    expected = read_events(folder)
    stream, notices = import_events(folder, tmp_path / "store", spark=spark, key=("s",), buckets=3)
    local, _ = import_events(folder, tmp_path / "here", spark=None)
    assert notices == expected.notices
    assert stream.schema == expected.schema
    assert stream.fingerprint == local.fingerprint
    assert stream.holes == local.holes
    assert stream.source == {"files": ["a.parquet", "b.parquet"]}
    batches = list(stream_batches(stream))
    for name, column in expected.batch.columns.items():
        assert np.array_equal(np.concatenate([b.columns[name] for b in batches]), column, equal_nan=True)
    assert np.array_equal(np.concatenate([b.time for b in batches]), expected.batch.time)
    with pytest.raises(InputError, match=r"[ab]\.parquet, row \d+, column 'x y': null or NaN in an event of type 'A'"):
        stream.check_needed({"A": ["x y"]})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here", "raw", "store"]
    (tmp_path / "e.csv").write_text("time,type,x\n1,A,1\n2,A,\n-3,A,1\n")
    with pytest.raises(InputError, match=r"e\.csv, row 4, column 'time': the time -3 is negative"):
        import_events(tmp_path / "e.csv", tmp_path / "bad", spark=spark)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["e.csv", "here", "raw", "store"]


@pytest.mark.spark
def test_files_need_not_follow_one_another_in_time(tmp_path: Path, spark: "SparkSession") -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "a.csv").write_text("time,type\n5,A\n6,B\n")
    (raw / "b.csv").write_text("time,type\n5,C\n7,D\n")
    stream, notices = import_events(raw, tmp_path / "store", spark=spark)
    assert [notice.partition(" earlier")[0] for notice in notices] == [f"{raw}/b.csv, row 2, column 'time':"]
    events = [event for batch in stream_batches(stream) for event in zip(batch.time, batch.type, strict=True)]
    assert [(time, stream.schema.types[code]) for time, code in events] == [(5, "A"), (5, "C"), (6, "B"), (7, "D")]


def test_a_frame_is_imported_without_spark(tmp_path: Path) -> None:
    frame = pd.DataFrame({"time": [3, 1], "type": ["A", "B"], "x": [1.5, np.nan]})
    stream, notices = import_events(frame, tmp_path / "store", spark=None, reading="ms", key=("x",), buckets=2)
    assert len(notices) == 1
    assert stream == read_stream(tmp_path / "store")
    assert (stream.schema.time_unit, stream.events, stream.first, stream.last) == ("ms", 2, 1, 3)
    with pytest.raises(InputError, match="the DataFrame, row 2, column 'x'"):
        stream.check_needed({"*": ["x"]})


@pytest.mark.spark
def test_a_data_set_is_read_as_declared(tmp_path: Path, spark: "SparkSession") -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "ticks_2.txt").write_text("b,1,2.5\na,1,3\na,0,-1\n")
    (raw / "ticks_1.txt").write_text("a,2,1\nb,1,\n")
    stream, notices = import_dataset(TICKS, raw, tmp_path / "store", spark=spark, buckets=2)
    assert (stream.key, stream.buckets, stream.schema.types) == (("who",), 2, ("A", "B"))
    events = next(stream_batches(stream, rows=100))
    assert events.time.tolist() == [60, 60, 60, 120]
    assert stream.schema.decode("who", events.columns["who"].tolist()) == ["a", "b", "b", "a"]
    assert stream.holes["B"]["price"].events == 1
    assert stream.source == {"dataset": "ticks", "typed_by": "name", "files": ["ticks_1.txt", "ticks_2.txt"]}
    assert notices == ()
    with pytest.raises(InputError, match=r"no files ticks_\*\.txt of data set ticks; see nowhere"):
        import_dataset(TICKS, tmp_path / "store", tmp_path / "bad", spark=spark)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["raw", "store"]


@pytest.mark.spark
def test_bad_rows_are_left_out_counted_and_named(tmp_path: Path, spark: "SparkSession") -> None:
    raw = tmp_path / "raw with blanks"
    raw.mkdir()
    (raw / "ticks_1.txt").write_text("b,1,2.5\na,1,3\n")
    (raw / "ticks_2.txt").write_text("b,1,-5\na,1,3\na,soon,1\n,7,1\na,-2,1\na,3,much\na,3\na,4,4,4\na,5,5\n")
    stream, [notice] = import_dataset(TICKS.typed("rank"), raw, tmp_path / "store", spark=spark)
    assert (stream.events, stream.schema.types) == (4, ("R0", "R1"))
    assert {name: summary.events for name, summary in stream.types.items()} == {"R0": 3, "R1": 1}
    malformed = "a line without the columns of the layout"
    assert stream.source["bad_rows"] == {malformed: 3, "a negative time": 1, "no name": 1, "no time": 1}
    assert notice == (
        f"6 bad rows were left out: 3 with {malformed}, 1 with a negative time, 1 with no name, 1 with no time "
        f"({raw}/ticks_2.txt, row 3: no time; {raw}/ticks_2.txt, row 4: no name; {raw}/ticks_2.txt, row 5: "
        "a negative time ...)"
    )
    (raw / "ticks_1.txt").unlink()
    (raw / "ticks_2.txt").write_text("a;1;3\n")
    with pytest.raises(InputError, match=r"no row of data set ticks is an event: 1 with .* \(.*ticks_2.txt, row 1: "):
        import_dataset(TICKS, raw, tmp_path / "none", spark=spark)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["raw with blanks", "store"]
