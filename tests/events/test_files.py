"""Input files: the events that are read, and the line that each kind of bad input gets."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepbench.events.errors import InputError
from cepbench.events.files import check_needed, read_events
from cepbench.events.reading import Reading
from cepbench.events.schema import Kind

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(text: str) -> Path:
        path = tmp_path / "events.csv"
        path.write_text(text)
        return path

    return file


def refused(events: object, unit: str = "s") -> str:
    with pytest.raises(InputError) as caught:
        read_events(events, unit)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_csv_is_typed_by_all_of_its_values(write: Write) -> None:
    events = read_events(write("time,type,i,f,s,e\n1,A,1,1,x,\n2,B,-2,2.5,NA,\n2,A,,3,7,\n"), "ms")
    assert events.schema.types == ("A", "B")
    assert events.schema.time_unit == "ms"
    assert events.schema.strings == ("7", "NA", "x")
    assert events.schema.kinds == {"i": Kind.INT, "f": Kind.FLOAT, "s": Kind.STRING, "e": Kind.FLOAT}
    assert events.batch.time.tolist() == [1, 2, 2]
    assert events.batch.type.tolist() == [0, 1, 0]
    assert events.batch.columns["i"].tolist() == [1, -2, 0]
    assert events.batch.columns["s"].tolist() == [2, 1, 0]
    assert events.batch.position.tolist() == [0, 1, 2]
    assert events.missing["i"].tolist() == [False, False, True]
    assert events.missing["e"].tolist() == [True] * 3
    assert events.notices == ()
    assert [column.dtype for column in events.batch.columns.values()] == [np.int64, np.float64, np.int32, np.float64]


def test_long_identifiers_stay_strings_and_booleans_too(write: Write) -> None:
    events = read_events(write("time,type,id,flag\n1,A,12345678901234567890,true\n2,A,1,false\n"))
    assert events.schema.kinds == {"id": Kind.STRING, "flag": Kind.STRING}


@pytest.mark.parametrize("rows", ["1.5 1000000000000000000", "1000000000000000000 1.5", "1.5 12345678901234567890"])
def test_long_identifiers_stay_strings_beside_fractions(
    write: Write, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("time,type,id\n" + "".join(f"1,A,{number}\n" for number in rows.split()))
    for block in (1 << 20, 30):
        monkeypatch.setattr("cepbench.events.csv_files.BLOCK_BYTES", block)
        assert read_events(path).schema.kinds == {"id": Kind.STRING}


def test_parquet_csv_and_frame_agree(tmp_path: Path) -> None:
    frame = pd.DataFrame({"time": [1, 1, 3], "type": ["B", "A", "B"], "x": [1, 2, 3], "s": ["u", None, "v"]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    frame.to_parquet(tmp_path / "e.parquet")
    for events in (read_events(frame), read_events(tmp_path / "e.csv"), read_events(str(tmp_path / "e.parquet"))):
        assert events.schema.strings == ("", "u", "v")
        assert events.batch.columns["s"].tolist() == [1, 0, 2]
        assert events.batch.columns["x"].tolist() == [1, 2, 3]
        assert events.batch.type.tolist() == [1, 0, 1]


def test_only_the_given_attributes_are_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"time": [1, 2, 3], "type": ["B", "A", "B"], "x": [1, None, 3], "s": ["u", "w", "v"]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    frame.to_parquet(tmp_path / "e.parquet")
    frame.drop(columns="s").to_parquet(tmp_path / "other.pq")
    for source in (frame, tmp_path / "e.csv", tmp_path / "e.parquet", tmp_path / "other.pq"):
        for attributes in ((), ("x",), ("s", "y")):
            events = read_events(source, "s", attributes)
            kinds = {"x": Kind.FLOAT} if str(source).endswith("pq") else {"x": Kind.FLOAT, "s": Kind.STRING}
            assert events.schema.kinds == kinds
            assert set(events.batch.columns) == kinds.keys() & set(attributes)
            assert set(events.missing) == {"x"} & set(attributes)
            assert events.schema.strings == (("u", "v", "w") if "s" in events.batch.columns else ())
    filtered = read_events(tmp_path / "e.parquet", Reading(where="s != 'u'"), ("x",))
    assert (filtered.batch.time.tolist(), filtered.place(1)) == ([2, 3], f"{tmp_path}/e.parquet, row 3")
    filtered = read_events(tmp_path / "e.csv", Reading(type="s"), ("x",))
    assert (filtered.schema.types, filtered.batch.type.tolist()) == (("u", "v", "w"), [0, 2, 1])


def test_coded_strings_are_the_strings(tmp_path: Path) -> None:
    """A dictionary may differ between row groups, have words that no event has, and in memory contain null."""

    def column(codes: list[int | None], *words: str | None) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(words))

    kinds, plain = column([1, 2, 2, 1], "", "B", "A"), pa.array(["b", "a", None, "c"], pa.large_string())
    table = pa.table({"time": [1, 2, 3, 4], "type": kinds, "s": column([2, None, None, 1], "", "B", "A"), "l": plain})
    pq.write_table(table, tmp_path / "e.parquet", row_group_size=2)
    nulls = table.set_column(2, "s", column([2, 0, 0, 1], None, "B", "A")).to_pandas(types_mapper=pd.ArrowDtype)
    for source in (table.to_pandas(), nulls, tmp_path / "e.parquet"):
        events = read_events(source)
        assert events.schema.types == ("A", "B")
        assert events.batch.type.tolist() == [1, 0, 0, 1]
        strings = {
            name: [events.schema.strings[code] for code in codes] for name, codes in events.batch.columns.items()
        }
        assert strings == {"s": ["A", "", "", "B"], "l": ["b", "a", "", "c"]}
        assert events.missing["s"].tolist() == [False, True, True, False]
    for code in (0, None):
        pq.write_table(pa.table({"time": [1, 2], "type": column([1, code], "", "B")}), tmp_path / "bad.parquet")
        problem = f"{tmp_path}/bad.parquet, row 2, column 'type': the type is empty"
        assert refused(tmp_path / "bad.parquet").startswith(problem)


def test_folder_is_read_by_name_and_rows_are_counted_per_file(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("time,type,x\n5,A,1.5\n,A,2\n")
    (tmp_path / "a.csv").write_text("time,type,x\n3,A,1\n4,A,2\n")
    (tmp_path / "_done").write_text("")
    assert refused(tmp_path).startswith(f"{tmp_path}/b.csv, row 3, column 'time'")
    (tmp_path / "b.csv").write_text("time,type,x\n5,A,1.5\n")
    events = read_events(tmp_path)
    assert events.batch.time.tolist() == [3, 4, 5]
    assert events.batch.columns["x"].tolist() == [1.0, 2.0, 1.5]
    assert events.place(2) == f"{tmp_path}/b.csv, row 2"


def test_one_fractional_value_in_any_file_makes_a_column_real(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,type,x,y\n1,A,1.5,u\n")
    (tmp_path / "b.csv").write_text("time,type,x,y\n2,A,2,3\n")
    events = read_events(tmp_path)
    assert events.schema.kinds == {"x": Kind.FLOAT, "y": Kind.STRING}
    assert events.batch.columns["x"].tolist() == [1.5, 2.0]
    for name, number in (("a", 1), ("b", 2.5), ("c", 3)):
        (tmp_path / f"{name}.csv").write_text(f"time,type,x\n1,A,{number}\n")
    assert read_events(tmp_path).schema.kinds == {"x": Kind.FLOAT}


def test_rows_out_of_order_are_sorted_stably_and_said(write: Write) -> None:
    events = read_events(write("time,type,x\n2,A,1\n1,A,2\n2,A,3\n1,A,4\n"))
    assert events.batch.time.tolist() == [1, 1, 2, 2]
    assert events.batch.columns["x"].tolist() == [2, 4, 1, 3]
    assert events.batch.position.tolist() == [0, 1, 2, 3]
    assert len(events.notices) == 1
    assert "row 3, column 'time': earlier than the row before" in events.notices[0]


def test_simultaneous_events_stay_in_the_order_of_the_file() -> None:
    frame = pd.DataFrame({"time": [2, 1] * 500, "type": "A", "x": range(1000)})
    events = read_events(frame)
    assert events.batch.time.tolist() == [1] * 500 + [2] * 500
    assert events.batch.columns["x"].tolist() == [*range(1, 1000, 2), *range(0, 1000, 2)]
    assert events.place(0) == "the DataFrame, row 2"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("type,x\nA,1\n", "column 'time' is missing; there are type, x"),
        ("time,x\n1,1\n", "column 'type' is missing; there are time, x"),
        ("time,type,x,x\n1,A,1,1\n", "column 'x' appears twice"),
        ("time,type\n1,A\n,A\n", "row 3, column 'time': the time is null"),
        ("time,type\n1,A\n-1,A\n", "row 3, column 'time': the time -1 is negative"),
        ("time,type\n-1.5,A\n", "row 2, column 'time': the time -1.5 is negative"),
        ("time,type\n1,A\n2.5,A\n", "row 3, column 'time': 2.5 is fractional; times are whole numbers of 's'"),
        ("time,type\n1,A\nnan,A\n", "row 3, column 'time': the time is null"),
        ("time,type\n1,A\n1e30,A\n", "row 3, column 'time': the time 1e+30 is too large"),
        (f"time,type\n1,A\n{2**62},A\n", f"row 3, column 'time': the time {2**62} is too large"),
        (
            "time,type\n1,A\nsoon,A\n",
            "row 3, column 'time': 'soon' is not a time; expected a whole number or",
        ),
        ("time,type\n1,A\n2,\n", "row 3, column 'type': the type is empty"),
        ("time,type\n1,A\n2\n", "row 3: 1 fields instead of 2: 2"),
        ("", "unreadable CSV: the file is empty"),
    ],
)
def test_bad_csv_is_refused_in_one_line(write: Write, text: str, line: str) -> None:
    path = write(text)
    message = refused(path)
    assert message.startswith(str(path))
    assert line in message


def test_rows_are_counted_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepbench.events.csv_files.BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr("cepbench.events.sources.BLOCK_ROWS", 100)
    times = [str(t) for t in range(2000)]
    times[1500] = "1500.5"
    (tmp_path / "e.csv").write_text("time,type\n" + "".join(f"{t},A\n" for t in times))
    assert "e.csv, row 1502, column 'time'" in refused(tmp_path / "e.csv")
    pq.write_table(pa.table({"time": [float(t) for t in times], "type": ["A"] * 2000}), tmp_path / "e.parquet")
    assert "e.parquet, row 1501, column 'time'" in refused(tmp_path / "e.parquet")


def test_corrupt_and_missing_files(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    path.write_bytes(b"PAR1 nonsense PAR1")
    assert refused(path).startswith(f"{path}: unreadable or corrupt Parquet:")
    pq.write_table(pa.table({"time": range(1000), "type": ["A"] * 1000}), path)
    content = bytearray(path.read_bytes())
    content[20:300] = b"\xff" * 280
    path.write_bytes(content)
    assert refused(path).startswith(f"{path}: unreadable or corrupt Parquet:")
    assert refused(tmp_path / "none.csv") == f"{tmp_path}/none.csv: no such file or folder"
    (tmp_path / "empty").mkdir()
    assert "not an event store" in refused(tmp_path / "empty")
    (tmp_path / "e.csv").write_text("time,type\n")
    assert "mixes CSV and Parquet" in refused(tmp_path)
    assert "unknown time unit" in refused(tmp_path / "e.csv", "fortnight")


def test_parquet_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "time": pa.array([1.0, 2.0]),
            "type": pa.array(["A", "B"]).dictionary_encode(),
            "b": pa.array([True, None]),
            "d": pa.array([1, 2], pa.int16()).dictionary_encode(),
            "l": pa.array([[1], [2]]),
            "n": pa.nulls(2),
        }
    )
    pq.write_table(table, tmp_path / "e.parquet")
    events = read_events(tmp_path / "e.parquet")
    assert events.schema.kinds == {"b": Kind.INT, "d": Kind.INT, "n": Kind.FLOAT}
    assert events.batch.columns["b"].tolist() == [1, 0]
    assert len(events.notices) == 1
    assert "column 'l'" in events.notices[0]
    assert "beyond 64-bit" in refused(pd.DataFrame({"time": [1], "type": ["A"], "x": np.array([2**63], np.uint64)}))
    assert "expected strings" in refused(pd.DataFrame({"time": [1], "type": [1.5]}))
    assert "expected integers or timestamps" in refused(pd.DataFrame({"time": [True], "type": ["A"]}))
    assert "the DataFrame: " in refused(pd.DataFrame({"time": [1, 2], "type": ["A", "A"], "x": [1, "a"]}))


def test_files_of_a_folder_must_agree(tmp_path: Path) -> None:
    pq.write_table(pa.table({"time": [1], "type": ["A"], "x": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"time": [2], "type": ["A"], "x": [1.5], "y": ["u"]}), tmp_path / "b.parquet")
    events = read_events(tmp_path)
    assert events.schema.kinds == {"x": Kind.FLOAT, "y": Kind.STRING}
    assert events.schema.strings == ("", "u")
    pq.write_table(pa.table({"time": [2], "type": ["A"], "x": ["v"]}), tmp_path / "c.parquet")
    assert refused(tmp_path) == (
        f"{tmp_path}/c.parquet: column 'x' has type string, but double in an earlier file of the folder"
    )


def test_timestamps_become_units_since_1970(write: Write) -> None:
    stamps = pd.to_datetime(["1970-01-01 00:00:01", "1970-01-01 00:01:00"])
    assert read_events(pd.DataFrame({"time": stamps, "type": "A"})).batch.time.tolist() == [1, 60]
    assert read_events(pd.DataFrame({"time": stamps, "type": "A"}), "ms").batch.time.tolist() == [1000, 60000]
    message = refused(pd.DataFrame({"time": stamps, "type": "A"}), "min")
    assert message.startswith("the DataFrame, row 1, column 'time': 1970-01-01 00:00:01")
    path = write("time,type\n1970-01-02T00:00:00,A\n1970-01-02T00:00:05,A\n")
    assert read_events(path).batch.time.tolist() == [86400, 86405]
    assert read_events(write("time,type\n1970-01-02T00:00:00Z,A\n")).batch.time.tolist() == [86400]
    assert "negative" in refused(pd.DataFrame({"time": pd.to_datetime(["1969-12-31"]), "type": "A"}))


def test_needed_attributes(write: Write) -> None:
    events = read_events(write("time,type,x,y\n3,A,,1\n1,B,,2\n2,A,nan,3\n"))
    check_needed(events, {"*": ["y"], "C": ["x"]})
    with pytest.raises(InputError, match="row 2, column 'x': null or NaN in an event of type 'A', but a query needs"):
        check_needed(events, {"A": ["x"]})
    with pytest.raises(InputError, match="row 3, column 'x'"):
        check_needed(events, {"B": {"x"}})
    with pytest.raises(InputError, match="column 'z' is missing; there are x, y"):
        check_needed(events, {"A": {"z"}})


def test_a_value_that_is_no_number_is_missing(write: Write) -> None:
    events = read_events(write("time,type,x\n1,A,1.5\n2,A,nan\n"))
    assert events.missing["x"].tolist() == [False, True]
    with pytest.raises(InputError, match="row 3, column 'x': null or NaN in an event of type 'A'"):
        check_needed(events, {"*": {"x"}})


def test_no_events(write: Write) -> None:
    assert len(read_events(write("time,type,x\n")).batch) == 0
    assert len(read_events(pd.DataFrame({"time": [], "type": []})).batch) == 0
