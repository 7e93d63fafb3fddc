"""Staged parts as a store, in this process: dictionaries, positions and origins go over all parts."""

from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from cepbench.events.errors import InputError
from cepbench.events.files import FileLayout
from cepbench.events.schema import Kind
from cepbench.pipeline.staging import ROW, ROW_BITS, Staged, store_staged
from cepbench.pipeline.store import Holes, stream_batches
from cepbench.pipeline.tasks import failure

HERE = cast(SparkSession, None)
"""Tasks run in this process."""

STAGED = Staged(FileLayout({"x": Kind.FLOAT, "s": Kind.STRING}, ()), ("a.csv", "b.csv"))


def stage(folder: Path) -> Path:
    """Two parts: rows 1 to 3 of the first file, and rows 4 and 5 of the second file."""
    folder.mkdir()
    schema = pa.schema(
        [("time", pa.int64()), ("type", pa.string()), ("c0", pa.float64()), ("c1", pa.string()), (ROW, pa.int64())]
    )
    second = 1 << ROW_BITS
    parts: list[list[list[object]]] = [
        [[1, 1, 2], ["B", "A", "B"], [0.5, 1.5, 2.5], ["v", "u", "v"], [0, 1, 2]],
        [[2, 7], ["C", "A"], [None, 4.5], ["t", None], [second + 3, second + 4]],
    ]
    for number, columns in enumerate(parts):
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), folder / f"part-{number}.parquet")
    return folder


@pytest.mark.parametrize(("key", "buckets"), [((), 1), (("s",), 3)])
def test_parts_follow_one_another(tmp_path: Path, key: tuple[str, ...], buckets: int) -> None:
    parts = stage(tmp_path / "stage")
    stream, notices = store_staged(HERE, STAGED, parts, tmp_path / "store", "s", key, buckets, False, {"by": "hand"})
    assert (notices, stream.source, stream.key, stream.buckets) == ((), {"by": "hand"}, key, buckets)
    assert (stream.schema.types, stream.schema.strings) == (("A", "B", "C"), ("", "t", "u", "v"))
    events = [
        (position, time, stream.schema.types[code], stream.schema.strings[text])
        for piece in stream_batches(stream)
        for position, time, code, text in zip(piece.position, piece.time, piece.type, piece.columns["s"], strict=True)
    ]
    assert events == [(0, 1, "B", "v"), (1, 1, "A", "u"), (2, 2, "B", "v"), (3, 2, "C", "t"), (4, 7, "A", "")]
    assert stream.holes == {"A": {"s": Holes(1, "b.csv, row 5")}, "C": {"x": Holes(1, "b.csv, row 4")}}
    with pytest.raises(InputError, match=r"^b\.csv, row 4, column 'x': null or NaN in an event of type 'C'"):
        stream.check_needed({"C": ["x"]})


def test_a_failed_task_is_reported_in_the_line_of_its_last_error() -> None:
    text = "\n".join(
        [
            "An error occurred: Job aborted",
            "Traceback (most recent call last):",
            '  File "a.py", line 1, in f',
            "KeyError: 'first'",
            "During handling of the above exception, another exception occurred:",
            "Traceback (most recent call last):",
            '  File "b.py", line 2, in g',
            "    x = 1 / 0",
            "ZeroDivisionError: division by zero",
            "",
            "\tat org.apache.spark.api.python",
        ]
    )
    assert failure(Exception(text)) == "ZeroDivisionError: division by zero"
    lost = (
        "Job aborted: most recent failure: Lost task 0.0 in stage 1.0 (TID 7) (host executor 1): a.b.Error: it died\nx"
    )
    assert failure(Exception(lost)) == "it died"
    assert failure(Exception("plain\nand more")) == "plain"
