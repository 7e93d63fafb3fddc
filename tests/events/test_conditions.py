"""Conditions on rows, with the nulls of SQL."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
}


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
    ],
)
def test_rows_for_which_it_is_true(where: str, rows: list[int]) -> None:
    assert chosen(where, COLUMNS, "f.csv").tolist() == rows


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
    assert events.row.tolist() == [1, 3, 4, 0]
    assert sum(rows for _, rows in events.files) == 5


def test_messages_name_the_row_of_the_input_and_the_remedy(source: Path | pd.DataFrame) -> None:
    with pytest.raises(InputError, match=f"row {_row(3, source)}, column 'at': the time is null; .* IS NOT NULL'"):
        read_events(source, Reading("at", "kind", where="delay IS NULL OR delay > 0"))
    events = read_events(source, Reading("at", "kind", where="at IS NOT NULL"))
    check_needed(events, {"B": ["delay"]})
    with pytest.raises(InputError, match=r"row 1, .* by where='delay IS NOT NULL', or fill them"):
        check_needed(events, {"A": ["delay"]})


def test_bad_times_are_found_in_the_row_of_the_input(source: Path | pd.DataFrame) -> None:
    with pytest.raises(InputError, match=f"row {_row(5, source)}, column 'at': the time -4 is negative"):
        read_events(_negative(source), Reading("at", "kind", where="delay < 0"))


def _row(number: int, source: Path | pd.DataFrame) -> int:
    """Of the last rows, in their file."""
    return number - 2 if isinstance(source, Path) and source.name == "folder" else number


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


def test_when_no_row_is_left_a_notice_says_so(source: Path | pd.DataFrame) -> None:
    events = read_events(source, Reading("at", "kind", where="delay > 9"))
    assert len(events.batch) == 0
    assert events.notices[-1] == "where: none of the 5 rows satisfies 'delay > 9'"
