"""Files that are imported one by one equal the source that is read whole: events, their order, and every message."""

import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cepbench.events.errors import CepbenchError, InputError
from cepbench.events.files import InputEvents, read_events
from cepbench.events.reading import EXPECTED, Reading
from cepbench.pipeline import staging
from cepbench.pipeline.creation import storing
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.store import Stream, stream_batches
from tests.events.csvs import csvs


def imported(source: Path, store: Path, reading: Reading = EXPECTED) -> tuple[Stream, tuple[str, ...]]:
    """The import in this process, with ranges of a few rows."""
    with patch.multiple(staging, RANGE_ROWS=4, SAMPLE_ROWS=2, SORTED_ROWS=2):
        return import_events(source, store, spark=None, reading=reading, buckets=1)


def whole(source: Path, reading: Reading) -> InputEvents | str:
    try:
        return read_events(source, reading)
    except InputError as error:
        return str(error)


def check_alike(folder: Path, source: Path, reading: Reading = EXPECTED) -> None:
    events = whole(source, reading)
    if isinstance(events, str):
        with pytest.raises(InputError) as caught:
            imported(source, folder / "store", reading)
        assert str(caught.value) == events
        return
    stream, notices = imported(source, folder / "store", reading)
    assert (stream.schema, notices) == (events.schema, events.notices)
    batches = list(stream_batches(stream))
    assert stream.events == len(events.batch)
    if batches:
        assert np.concatenate([b.time for b in batches]).tolist() == events.batch.time.tolist()
        assert np.concatenate([b.type for b in batches]).tolist() == events.batch.type.tolist()
        for name, column in events.batch.columns.items():
            assert np.array_equal(np.concatenate([b.columns[name] for b in batches]), column, equal_nan=True)
    for name, mask in events.missing.items():
        first = events.place(int(np.argmax(mask)))
        assert first in [holes[name].first for holes in stream.holes.values() if name in holes]


@settings(max_examples=150, deadline=None)
@given(st.lists(csvs(), min_size=1, max_size=2))
@example([b'time,type,s\n1,A,"\n,\n"\n2,B,\n'])
@example([b"time,type\n1,A\n\xef\xbb\xbf2,A\n"])
@example([b"time,type\n1,A\n2,A\n3\n"])
@example([b"time,type,x\n1,A,1\n2,A,2.5\n3,A,\n4,A,12345678901234567890\n"])
@example([b"time,type,x\n2,A,1\n1,A,2\n1,A,3\n2,B,4\n", b"time,type,x\n2,A,1\n1,A,NA\n1,A,3\n2,B,007\n"])
@example([b"time,type\n1,A\n1970-01-01T00:00:05,A\n"])
@example([b"\n\n\ntime,type\n1,A\n"])
@pytest.mark.full
def test_files_are_the_whole(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "raw").mkdir()
        for number, content in enumerate(contents):
            (folder / "raw" / f"{number}.csv").write_bytes(content)
        check_alike(folder, folder / "raw")


@pytest.mark.parametrize(
    "reading",
    [
        EXPECTED,
        Reading(where="x > 0"),
        Reading(distinct=True),
        Reading(text="x", null=["2"]),
        Reading(names=("time", "type", "x")),
        Reading(unit="ms"),
    ],
)
def test_options_mean_the_same(tmp_path: Path, reading: Reading) -> None:
    (tmp_path / "raw").mkdir()
    heading = "" if reading.names else "time;type;x\n"
    (tmp_path / "raw" / "a.csv").write_text(heading + "1541000542290;A;2\n1541000542290;A;2\n1541000545515; B;7\n")
    (tmp_path / "raw" / "b.csv").write_text(heading + "1541000545515; B;7\n1541000542290;A;7.5\n")
    check_alike(tmp_path, tmp_path / "raw", reading)


def test_a_malformed_line_far_behind_the_heading_is_reported_by_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepbench.events.csv_files.BLOCK_BYTES", 60)
    path = tmp_path / "e.csv"
    path.write_text("time,type\n" + "1,A\n" * 90 + "2\n" + "3,A\n" * 9)
    with pytest.raises(InputError) as caught:
        read_events(path)
    assert str(caught.value) == f"{path}, row 92: 1 fields instead of 2: 2"
    check_alike(tmp_path, path)


MEMORY = """
import sys
import pyarrow as pa
from cepbench.events import csv_files
from cepbench.pipeline import staging, writing
from cepbench.pipeline.import_events import import_events

csv_files.BLOCK_BYTES = 1 << 14
writing.GROUP_ROWS = staging.FIRST_EVENTS = staging.STAGE_ROWS = 1 << 10
staging.SORTED_ROWS, staging.RANGE_ROWS, staging.SAMPLE_ROWS = 1 << 9, 1 << 11, 1 << 6
import_events(sys.argv[1], sys.argv[2], spark=None)
print(pa.default_memory_pool().max_memory())
"""
"""An import with small blocks prints the most bytes that Arrow had at a time."""


@pytest.mark.parametrize("step", [1, -1], ids=["in order", "backwards"])
def test_memory_does_not_grow_with_a_file(tmp_path: Path, step: int) -> None:
    peaks = []
    for rows in (20_000, 160_000):
        file = tmp_path / f"{rows}.csv"
        lines = (f"{row},A,{row * 0.37},{row % 7}\n" for row in range(rows)[::step])
        file.write_text("time,type,x,y\n" + "".join(lines))
        arguments = [sys.executable, "-c", MEMORY, file, tmp_path / f"store-{rows}"]
        peaks.append(int(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout))
    assert peaks[1] < 2 * peaks[0], "the file is eight times as large"


def test_a_full_disk_names_the_store() -> None:
    with pytest.raises(CepbenchError) as caught, storing("streams/s"):
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")
    assert str(caught.value) == "streams/s: cannot be written: no space left on device"
    with pytest.raises(FileNotFoundError), storing("streams/s"):
        raise FileNotFoundError(2, "no such file", "else.csv")
