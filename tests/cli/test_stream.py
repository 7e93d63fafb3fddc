"""`cepbench stream`: a folder of files to a folder of rows, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import cepbench as package
from tests.cli.conftest import Cepbench

QUERY = """
whole: RETURN COUNT(*), SUM(A.value) PATTERN SEQ(A, B) WITHIN 40 seconds SLIDE 20 seconds

keyed: RETURN key, COUNT(*) PATTERN SEQ(A+, B) WHERE [value] GROUP-BY key WITHIN 20 seconds
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Three files, of which the second one has an event that is 95 seconds late."""
    source = tmp_path / "in"
    source.mkdir()
    events = [(t, "AB"[t % 3 == 0], "uvw"[t % 3 if t % 2 else 0], t % 4) for t in range(100)]
    for number in range(3):
        rows = events[number * 30 : number * 30 + 30 + 10 * (number == 2)]
        frame = pd.DataFrame(rows, columns=["time", "type", "key", "value"])
        frame.to_csv(source / f"{number}.csv", index=False)
    with (source / "2.csv").open("a") as file:
        file.write("4,A,u,1\n")
    (tmp_path / "query.sase").write_text(QUERY)
    return source


def command(tmp_path: Path, **other: Any) -> list[str | Path]:
    options: dict[str, Any] = {
        "-q": tmp_path / "query.sase",
        "-a": "cogra",
        "--source": f"folder:{tmp_path / 'in'}",
        "--sink": f"folder:{tmp_path / 'out'}",
        "--checkpoint": tmp_path / "checkpoint",
        "--watermark": "10s",
        "--master": "local[2]",
        "--until-idle": "1.5",
    } | {f"--{name.replace('_', '-')}": value for name, value in other.items()}
    return ["stream", *(word for pair in options.items() for word in pair)]


@pytest.mark.spark("live, by command")
def test_a_folder_becomes_rows_once(files: Path, tmp_path: Path, cepbench: Cepbench) -> None:
    ended = cepbench(*command(tmp_path, dashboard=0, trigger="100ms"))
    assert ended.status == 0, ended.err
    assert "the stream is shown at http://127.0.0.1:" in ended.err
    assert "101 events in 1 batches, 1 of them late" in ended.err
    found = pd.concat([pq.read_table(file).to_pandas() for file in sorted((tmp_path / "out").iterdir())])
    kept = pd.concat([pd.read_csv(file) for file in sorted(files.iterdir())]).iloc[:-1]
    wanted = package.evaluate(QUERY, kept, "cogra")
    order = ["query", "key", "window_start"]
    # pandas 3 reads texts with NaN in place of None.
    tables = (frame.astype({"key": object}).replace({"key": {np.nan: None}}) for frame in (found, wanted))
    left, right = (frame.sort_values(order, ignore_index=True) for frame in tables)
    pd.testing.assert_frame_equal(left, right, check_dtype=False)
    [late] = (tmp_path / "checkpoint" / "late").iterdir()
    assert pq.read_table(late).to_pylist() == [{"file": str(files / "2.csv"), "row": 42, "time": 4, "type": "A"}]
    again = cepbench(*command(tmp_path))
    assert again.status == 0
    assert "this stream has ended, and nothing was read" in again.err
    other = cepbench(*command(tmp_path, watermark="20s"))
    assert other.status == 2
    assert other.err == (
        f"cepbench: {tmp_path / 'checkpoint'}: the checkpoint is of another stream: watermark is 10, not 20; "
        "choose another folder\n"
    )
    used = cepbench(*command(tmp_path, checkpoint=tmp_path / "new"))
    assert used.status == 2
    assert "the folder has rows of another stream; choose another, or empty it" in used.err


@pytest.mark.parametrize(
    ("option", "value", "reported"),
    [
        ("source", "pipe:here", "unknown source 'pipe:here'; choose folder:PATH or kafka:BROKER/TOPIC"),
        ("source", "folder:nowhere", "nowhere: no such folder, which is to be the source of a stream"),
        ("sink", "file:rows", "unknown sink 'file:rows'; choose folder:PATH, kafka:BROKER/TOPIC or console"),
        ("watermark", "ten", "watermark 'ten': expected a length such as 10s, in ns, us, ms, s, min, h, day"),
        ("trigger", "often", "trigger 'often': expected a length such as 10s"),
        ("source", "kafka:here", "kafka:here: expected kafka:BROKER/TOPIC, such as kafka:localhost:9092/ticks"),
        ("watermark", "1500ms", "watermark 1500 ms is not a whole number of the stream's time unit 's' (1.5)"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    files: Path, tmp_path: Path, cepbench: Cepbench, option: str, value: str, reported: str
) -> None:
    ended = cepbench(*command(tmp_path, **{option: value}))
    assert ended.status == 2
    assert ended.err.count("\n") == 1
    assert reported in ended.err
    assert not (tmp_path / "checkpoint").exists()


def test_a_folder_without_files_ends_an_idle_stream(tmp_path: Path, cepbench: Cepbench) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "query.sase").write_text(QUERY)
    ended = cepbench(*command(tmp_path, until_idle="0.2"))
    assert ended.status == 2
    assert "no CSV or Parquet file came within 0.2 s" in ended.err


def test_windows_of_events_of_a_group_of_keys_are_refused(files: Path, tmp_path: Path, cepbench: Cepbench) -> None:
    (tmp_path / "query.sase").write_text("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE [key] WITHIN 5 events")
    ended = cepbench(*command(tmp_path))
    assert ended.status == 2
    assert "query q1 cannot run on a live stream: its windows end for each key apart" in ended.err
