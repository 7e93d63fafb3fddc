"""A folder as a source: the files of a batch in Spark's log, and the message about files that are gone."""

import json
from pathlib import Path

import pandas as pd
import pytest

from cepbench import evaluate
from cepbench.events.errors import InputError
from cepbench.events.reading import EXPECTED, Reading
from cepbench.events.schema import Schema
from cepbench.pipeline.live.folder import File, FolderSource, layout_of
from cepbench.pipeline.live.state import UnusableCheckpoint
from tests.pipeline.live.driving import prepared_for, processor_in


def write_log(log: Path, batch: int, last: int) -> None:
    (log / "offsets").mkdir(parents=True, exist_ok=True)
    (log / "offsets" / str(batch)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"logOffset":{last}}}')


def write_entries(log: Path, name: str, *entries: tuple[int, int, str]) -> None:
    """A file of the source's log, with numbers of entries, times and paths."""
    (log / "sources" / "0").mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"path": f"file://{path}", "timestamp": time, "batchId": n}) for n, time, path in entries]
    (log / "sources" / "0" / name).write_text("\n".join(["v1", *lines]))


def test_a_batch_has_the_files_that_the_log_names(tmp_path: Path) -> None:
    """Entry 9 was written before a failure, and 10 after it; the first files are in 9, which has all."""
    source, log = FolderSource(str(tmp_path)), tmp_path / "log"
    before = [(n, 1000 * n, f"/in/{n}.csv") for n in range(9)]
    write_entries(log, "8", before[-1])
    write_entries(log, "9.compact", *before, (9, 7000, "/in/late%20one.csv"), (9, 6000, "/in/b.csv"))
    write_entries(log, "10", (10, 7000, "/in/a.csv"))
    write_log(log, 7, 8)
    write_log(log, 8, 10)
    files = [File(Path(f"/in/{name}"), t) for name, t in (("b.csv", 6.0), ("a.csv", 7.0), ("late one.csv", 7.0))]
    assert source.pieces(None, 8, log) == files  # type: ignore[arg-type]
    with pytest.raises(UnusableCheckpoint, match="names no file of batch 9"):
        source.pieces(None, 9, log)  # type: ignore[arg-type]


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    file = tmp_path / "1.csv"
    pd.DataFrame({"time": [1], "type": ["A"]}).to_csv(file, index=False)
    layout = layout_of(file, EXPECTED)
    file.unlink()
    with pytest.raises(InputError, match=r"1\.csv: is gone before its batch ended; move it back"):
        File(file, 0.0).events(layout, Schema(("A", "another type")))


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_rows_have_timestamps_where_events_have_them(zone: str | None, tmp_path: Path) -> None:
    query = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 seconds"
    times = pd.date_range("2024-03-01T12:00", periods=40, freq="s", tz=zone)
    file = tmp_path / "1.parquet"
    pd.DataFrame({"time": times, "type": ["A", "B"] * 20}).to_parquet(file)
    processor = processor_in(tmp_path, prepared_for(query, "cogra", file), file, 1, 0)
    processor.run(0, [File(file, 0.0)])
    processor.finish()
    rows = [pd.read_parquet(part) for part in sorted((tmp_path / "rows").iterdir())]
    assert len(rows) == 2
    expected = evaluate(query, file, "cogra")
    pd.testing.assert_frame_equal(pd.concat(rows, ignore_index=True), expected, check_dtype=False)
    assert expected["window_start"].tolist() == times[::10].tolist()


@pytest.mark.parametrize(("first", "then"), [("numbers", "timestamps"), ("timestamps", "numbers")])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_times_are_numbers_or_timestamps_in_all_files(first: str, then: str, suffix: str, tmp_path: Path) -> None:
    times = {"numbers": [7], "timestamps": pd.to_datetime(["2024-03-01T12:00:00"])}
    files = {name: tmp_path / f"{name}.{suffix}" for name in times}
    for name, file in files.items():
        frame = pd.DataFrame({"time": times[name], "type": ["A"]})
        frame.to_csv(file, index=False) if suffix == "csv" else frame.to_parquet(file)
    layout = layout_of(files[first], Reading())
    row = "row 2, column 'time': .* is not written as the times before"
    with pytest.raises(InputError, match=row if suffix == "csv" else f"times are {then}, and {first} where the stream"):
        File(files[then], 0.0).events(layout, Schema(("A", "another type")))


def test_times_of_the_first_file_that_look_misread_are_said(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time;type;key\n1541000542291;A;007\n1541000542290;B;8\n")
    zeros, times = layout_of(file, Reading()).notices
    assert zeros.startswith(f"{file}, row 2, column 'key': '007' has leading zeros")
    assert times.startswith(f"{file}, column 'time': 1541000542291 's' is after the year 5000; Reading(unit='ms')")


def test_later_files_are_read_as_the_first(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time;type;key\n1;A;7\n")
    layout = layout_of(tmp_path / "a.csv", Reading())
    for value, problem in (("007", "'007' is not written as int64"), ("NA", "'NA' is not written as int64")):
        (tmp_path / "b.csv").write_text(f"time;type;key\n2;A;8\n3;A;{value}\n")
        with pytest.raises(InputError, match=f"b.csv, row 3, column 'key': {problem}"):
            File(tmp_path / "b.csv", 0.0).events(layout, Schema(("A", "another type"), layout.attributes))
