"""Conditions on rows, with the nulls of SQL."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepbench.events import csv_files
from cepbench.events.conditions import chosen, written
from cepbench.events.errors import InputError
from cepbench.events.files import check_needed, read_events
from cepbench.events.reading import Reading

DAYS = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"])
COLUMNS: Mapping[str, pa.Array] = {
    "delay": pa.array([1, None, -3, 7]),
    "ratio": pa.array([1.5, float("nan"), None, 2.0]),
    "origin": pa.array(["JFK", "LGA", None, "o'x"]).dictionary_encode(),
    "ORIGIN": pa.array(list("abcd")),
    "two words": pa.array([1, 2, 3, 4]),
    "day": pa.array(DAYS),
    "zoned": pa.array(DAYS.tz_localize("Europe/Berlin")),
    "date": pa.array(DAYS.date),
    "text": pa.array(["2024-01-01T23:30:00Z", "2024-01-02T09:30+01:00", "soon", None]),
    "at": pa.array(["01.01.2024", "02.01.2024", None, "03.01.2024"]),
}
TIMES: Mapping[str, pa.Array] = {"at": pa.array(DAYS[[0, 1, 1, 2]].tz_localize("UTC").where([True, True, False, True]))}


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("delay IS NOT NULL AND delay > 0", [0, 3]),
        ("NOT delay > 0", [2]),
        ("delay < 0 OR origin = 'LGA'", [1, 2]),
        ("delay < 0 or delay > 0 and `two words` >= 4", [2, 3]),
        ("(delay < 0 or delay > 0) and `two words` >= 4", [3]),
        ("ratio is null", [1, 2]),
        ("NOT ratio > 1.6", [0]),
        ("ratio <= 15e-1", [0]),
        ("origin IN ('JFK', 'o''x')", [0, 3]),
        ("origin NOT IN ('JFK')", [1, 3]),
        ('origin <> "JFK"', [1, 3]),
        ("ORIGIN = 'b'", [1]),
        ("delay < `two words`", [2]),
        ("3 < `two words`", [3]),
        ("day >= '2024-01-03'", [2, 3]),
        ("day > '2024-01-02T01:00'", [2, 3]),
        ("zoned < '2024-01-02T00:00:00Z'", [0, 1]),
        ("date > '2024-01-02'", [2, 3]),
        ("text > '2024-01-02'", [1, 2]),
        ("text = '2024-01-02T08:30'", [1]),
        ("text = '2024-01-02 09:30:00+01:00'", [1]),
        ("text IN ('20240102T083000Z', 'soon')", [1, 2]),
        ("text < '9999-12-31'", [0, 1]),
        ("text <= text", [0, 1, 2]),
        ("at >= '2024-01-02'", [1, 3]),
        ("at = '03.01.2024'", [3]),
        ("at = text", []),
        ("at < text", [0, 1]),
    ],
)
def test_rows_for_which_it_is_true(where: str, rows: list[int]) -> None:
    assert chosen(where, COLUMNS, "f.csv", TIMES).tolist() == rows


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_texts_of_every_kind(kind: pa.DataType) -> None:
    columns = {"text": COLUMNS["text"].cast(kind)}
    assert chosen("text > '2024-01-02'", columns, "f.csv").tolist() == [1, 2]
    assert chosen("text = 'soon'", columns, "f.csv").tolist() == [2]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("delay >", "is not a condition"),
        ("", "is not a condition at its end"),
        ("__import__('os').system('true')", "is not a condition at"),
        ("delay > 0; DROP", "is not a condition at '; DROP'"),
        ("@delay > 0", "is not a condition at '@delay > 0'"),
        ("NOT " * 1000 + "delay > 0", "at most 2000 characters"),
        ("late > 1", "f.csv: where: no column 'late'; there are delay, ratio"),
        ("origin > 3", "f.csv: where: cannot compare origin (string) with 3"),
        ("delay < 10000000000000000000000", "f.csv: where: cannot compare delay (int64) with 1000"),
        ("delay = 'x'", "f.csv: where: cannot compare delay (int64) with 'x'"),
        ("day > 'soon'", "cannot compare day"),
        ("1 = 1", "where: 1 = 1 compares no column"),
    ],
)
def test_everything_else_is_refused_in_one_line(where: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        chosen(where, COLUMNS, "f.csv")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_are_written_as_they_are_read() -> None:
    assert [written(name) for name in ("delay", "two words", "not", "größe")] == [
        "delay", "`two words`", "`not`", "`größe`",
    ]  # fmt: skip


LINES = ["at,kind,delay,note", "5,A,,x", "1,A,2,y", ",B,3,z", "3,B,4,", "4,B,-5,x"]


@pytest.fixture(params=["csv", "parquet", "folder", "frame"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path | pd.DataFrame:
    """The same rows in each form; the folder has them in two files."""
    file = tmp_path / "own.csv"
    file.write_text("\n".join(LINES) + "\n")
    if request.param == "csv":
        return file
    frame = pd.read_csv(file).astype({"at": "Int64", "delay": "Int64"})
    if request.param == "frame":
        return frame
    folder = tmp_path / "folder"
    folder.mkdir()
    parts = [frame] if request.param == "parquet" else [frame.iloc[:2], frame.iloc[2:]]
    for number, part in enumerate(parts):
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / f"{number}.parquet")
    return folder / "0.parquet" if request.param == "parquet" else folder


def test_rows_are_left_out_before_times_are_read(source: Path | pd.DataFrame) -> None:
    events = read_events(source, Reading("at", "kind", where="at IS NOT NULL AND (delay > 0 OR note = 'x')"))
    assert events.batch.time.tolist() == [1, 3, 4, 5]
    assert events.batch.columns["delay"].tolist() == [2, 4, -5, 0]
    heading = _headings(source)
    assert events.row.tolist() == [row + heading for row in (1, 3, 4, 0)]
    assert sum(rows for _, rows in events.files) == 5 + heading


def test_messages_name_the_row_of_the_input_and_the_remedy(source: Path | pd.DataFrame) -> None:
    with pytest.raises(InputError, match=f"row {_row(3, source)}, column 'at': the time is null; .* IS NOT NULL'"):
        read_events(source, Reading("at", "kind", where="delay IS NULL OR delay > 0"))
    events = read_events(source, Reading("at", "kind", where="at IS NOT NULL"))
    check_needed(events, {"B": ["delay"]})
    first, conditions = f"row {1 + _headings(source)}, ", "at IS NOT NULL) AND (delay IS NOT NULL"
    with pytest.raises(
        InputError, match=re.escape(f"by where='({conditions} OR kind != \"A\")', or fill them")
    ) as caught:
        check_needed(events, {"A": ["delay"]})
    assert first in str(caught.value)
    with pytest.raises(InputError, match=re.escape(f"by where='({conditions})', or fill them")):
        check_needed(events, {"*": ["delay"]})


def test_the_remedy_for_nulls_keeps_events_of_other_types(source: Path | pd.DataFrame) -> None:
    events = read_events(source, Reading("at", "kind", where='at IS NOT NULL AND (delay IS NOT NULL OR kind != "A")'))
    check_needed(events, {"A": ["delay"]})
    assert [events.schema.types[code] for code in events.batch.type] == ["A", "B", "B"]


def test_bad_times_are_found_in_the_row_of_the_input(source: Path | pd.DataFrame) -> None:
    with pytest.raises(InputError, match=f"row {_row(5, source)}, column 'at': the time -4 is negative"):
        read_events(_negative(source), Reading("at", "kind", where="delay < 0"))


def _row(number: int, source: Path | pd.DataFrame) -> int:
    """The row number of one of the last rows in its file."""
    return number - 2 if isinstance(source, Path) and source.name == "folder" else number + _headings(source)


def _headings(source: Path | pd.DataFrame) -> int:
    return int(isinstance(source, Path) and source.suffix == ".csv")


def _negative(source: Path | pd.DataFrame) -> Path | pd.DataFrame:
    """The time of the last row is -4."""
    if isinstance(source, pd.DataFrame):
        return source.assign(at=source["at"].where(source["at"] != 4, -4))
    if source.suffix == ".csv":
        source.write_text(source.read_text().replace("4,B,-5", "-4,B,-5"))
        return source
    for file in source.glob("*.parquet") if source.is_dir() else [source]:
        frame = pq.read_table(file).to_pandas().astype({"at": "Int64", "delay": "Int64"})
        changed = _negative(frame)
        assert isinstance(changed, pd.DataFrame)
        pq.write_table(pa.Table.from_pandas(changed, preserve_index=False), file)
    return source


TIMED = ["ts,type,x", "2024-01-01T23:30:00Z,A,1", "NA,A,", "2024-01-02 00:30:00+01:00,B,2", ",B,", "late,A,"]


@pytest.mark.parametrize("form", ["csv", "frame"])
def test_rows_that_do_not_count_need_no_time(form: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("\n".join(TIMED) + "\n")
    source = file if form == "csv" else pd.read_csv(file, keep_default_na=False, na_values={"x": "", "ts": ""})
    events = read_events(source, Reading("ts", where="x IS NOT NULL"))
    heading = int(form == "csv")
    assert (events.row.tolist(), events.schema.zone) == ([heading, 2 + heading], "UTC")
    events = read_events(source, Reading("ts", where="ts < '2024-01-01T23:30:00.5Z'"))
    assert events.row.tolist() == [heading, 2 + heading]
    with pytest.raises(InputError, match=f"row {5 + heading}, column 'ts': 'late' is not a time"):
        read_events(source, Reading("ts", where="ts >= '2024' AND ts != 'NA'"))


def test_rows_that_count_are_written_alike_in_all_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 40)
    rows = [*(f"{number},A,1" for number in range(9)), "soon,A,0", "2024-01-01,A,2", *(f"{n},A,1" for n in range(9))]
    (tmp_path / "own.csv").write_text("\n".join(["time,type,x", *rows]) + "\n")
    events = read_events(tmp_path / "own.csv", Reading(where="x = 1"))
    assert (events.batch.time.tolist(), events.schema.zone) == (sorted([*range(9)] * 2), None)
    with pytest.raises(InputError, match="row 12, column 'time': '2024-01-01' is not written as the times before"):
        read_events(tmp_path / "own.csv", Reading(where="x > 0"))


def test_times_by_a_pattern_are_compared_as_times(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("ts,type\n01.02.2024 10:00,A\n02.01.2024 10:00,A\nNA,A\n")
    reading = Reading("ts", format="%d.%m.%Y %H:%M", where="ts > '2024-01-15' AND ts != 'NA'")
    assert read_events(tmp_path / "own.csv", reading).row.tolist() == [1]


def test_when_no_row_is_left_a_notice_says_so(source: Path | pd.DataFrame) -> None:
    events = read_events(source, Reading("at", "kind", where="delay > 9"))
    assert len(events.batch) == 0
    assert events.notices[-1].endswith(": there are no rows for which 'delay > 9' is true")
