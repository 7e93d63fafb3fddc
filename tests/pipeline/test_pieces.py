"""A CSV file that is read in pieces is the file that is read whole: events, their order, and every message."""

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cepbench.events.csv_files import csv_blocks, header
from cepbench.events.errors import InputError
from cepbench.events.files import InputEvents, read_events
from cepbench.events.reading import Reading
from cepbench.events.sources import find
from cepbench.pipeline import pieces as pieces_module
from cepbench.pipeline import staging
from cepbench.pipeline.import_events import import_source
from cepbench.pipeline.pieces import pieces
from cepbench.pipeline.store import Stream, stream_batches
from tests.events.csvs import csvs


def cut(path: Path, folder: Path, most_bytes: int, reading: Reading | str = "s") -> tuple[Stream, tuple[str, ...]]:
    """The import in this process, by pieces of about so many bytes."""
    with patch.object(staging, "_sort", sorted_here):
        return import_source(None, find(path), folder, reading, (), 1, False, most_bytes)


def sorted_here(spark: None, stage: Path) -> list[Path]:
    """What Spark does, which `test_import.py` shows."""
    table = pa.concat_tables([pq.read_table(part) for part in sorted(stage.glob("*.parquet"))])
    table = table.sort_by([("time", "ascending"), (staging.ROW, "ascending")])
    cuts = [0, len(table) // 2, len(table)]
    parts = [stage.parent / f"sorted-{number}" for number in range(2)]
    for part, start, stop in zip(parts, cuts, cuts[1:], strict=False):
        pq.write_table(table.slice(start, stop - start), part)
    return parts


def read(path: Path) -> InputEvents | str:
    try:
        return read_events(path)
    except InputError as error:
        return str(error)


def test_pieces_leave_out_rows_as_the_whole_does(tmp_path: Path) -> None:
    lines = [f"2024-01-01T00:{n:02}:00Z,A,{n % 3}" if n % 3 else f"NA,A,{n % 3}" for n in range(60)]
    (tmp_path / "e.csv").write_text("\n".join(["time,type,x", *lines]) + "\n")
    reading = Reading(where="x > 0 AND time < '2024-01-01T01:30+01:00'")
    whole = read_events(tmp_path / "e.csv", reading)
    stream, _ = cut(tmp_path / "e.csv", tmp_path / "store", 100, reading)
    assert (stream.events, stream.schema, stream.source["where"]) == (20, whole.schema, reading.where)
    assert np.concatenate([b.time for b in stream_batches(stream)]).tolist() == whole.batch.time.tolist()


@settings(max_examples=150, deadline=None)
@given(csvs(), st.integers(1, 200))
@example(b'time,type,s\n1,A,"\n,\n"\n2,B,\n', 1)
@example(b"time,type\n1,A\n\xef\xbb\xbf2,A\n", 13)
@example(b"time,type\n1,A\n2,A\n3\n", 5)
@example(b"time,type,x\n1,A,1\n2,A,2.5\n3,A,\n4,A,12345678901234567890\n", 6)
@example(b"time,type,x\n2,A,1\n1,A,2\n1,A,3\n2,B,4\n", 8)
@example(b"time,type\n1,A\n1970-01-01T00:00:05,A\n", 10)
@example(b"\n\n\ntime,type\n1,A\n", 1)
@pytest.mark.full
def test_pieces_are_the_whole(content: bytes, most_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "e.csv"
        path.write_bytes(content)
        whole = read(path)
        if isinstance(whole, str):
            with pytest.raises(InputError) as caught:
                cut(path, Path(folder) / "store", most_bytes)
            assert str(caught.value) == whole
            return
        stream, notices = cut(path, Path(folder) / "store", most_bytes)
        assert (stream.schema, notices) == (whole.schema, whole.notices)
        found = list(stream_batches(stream))
        assert stream.events == len(whole.batch)
        if found:
            assert np.concatenate([b.time for b in found]).tolist() == whole.batch.time.tolist()
            assert np.concatenate([b.type for b in found]).tolist() == whole.batch.type.tolist()
            for name, column in whole.batch.columns.items():
                assert np.array_equal(np.concatenate([b.columns[name] for b in found]), column, equal_nan=True)
        for name, mask in whole.missing.items():
            first = whole.place(int(np.argmax(mask)))
            assert first in [holes[name].first for holes in stream.holes.values() if name in holes]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60).map(lambda b: bytes(b'a,"\r\n'[byte % 5] for byte in b)), st.integers(1, 20))
@example(b'1,A,in"side\n2,B,"x\ny"\n', 1)
def test_only_whole_rows_are_cut_off(content: bytes, most_bytes: int) -> None:
    """Byte soup: a file in pieces has the rows, or the problem, of the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "e.csv"
        path.write_bytes(b"time,type,s\n" + content)
        assert reported(path, most_bytes) == reported(path, 1 << 20)


def reported(path: Path, most_bytes: int) -> object:
    try:
        layout, found = pieces(None, find(path), most_bytes)
    except InputError as error:
        return str(error)
    rows = [block.to_pylist() for piece in found for block in csv_blocks(path, header(path), {}, piece.span)]
    return layout, [row for block in rows for row in block]


@pytest.mark.parametrize("most_bytes", [30, 100, 250, 10_000])
def test_a_malformed_line_far_behind_the_header_is_reported_by_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_bytes: int
) -> None:
    monkeypatch.setattr("cepbench.events.csv_files.BLOCK_BYTES", 60)
    path = tmp_path / "e.csv"
    path.write_text("time,type\n" + "1,A\n" * 90 + "2\n" + "3,A\n" * 9)
    problem = "Row #92: Expected 2 columns, got 1: 2"  # the header is the first
    assert reported(path, most_bytes) == f"{path}: unreadable CSV: CSV parse error: {problem}" == read(path)


def test_there_are_as_many_pieces_as_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "e.csv"
    path.write_text("time,type\n" + "".join(f"{t},A\n" for t in range(1000)))
    assert len(pieces(None, find(path))[1]) == 1
    monkeypatch.setattr(pieces_module, "LEAST_BYTES", 100)
    monkeypatch.setattr(pieces_module, "default_partitions", lambda spark: 8)
    found = pieces(None, find(path))[1]
    assert len(found) == 8
    assert [piece.span.start for piece in found[1:]] == [piece.span.stop for piece in found[:-1]]
    rows = path.read_bytes()
    assert [rows[: piece.span.start].count(b"\n") - 1 for piece in found[1:]] == [p.before for p in found[1:]]


def test_a_compressed_file_is_one_piece(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(b"time,type\n" + b"1,A\n" * 1000))
    assert len(pieces(None, find(path), 100)[1]) == 1
