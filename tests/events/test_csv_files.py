"""CSV files in the forms that people have: separators, headings, encodings, nulls, and numbers that are names."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepbench.cli.options import as_options
from cepbench.events.errors import InputError
from cepbench.events.files import read_events, spelled_twice
from cepbench.events.reading import EXPECTED, Reading
from cepbench.events.schema import Kind


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_from_the_first_row(tmp_path: Path, separator: str) -> None:
    lines = ["time,type,x", "1,A,2", "2,B,3"]
    for reading, rows in ((EXPECTED, lines), (Reading(names=("time", "type", "x")), lines[1:])):
        file = tmp_path / f"{len(rows)}.tsv"
        file.write_text("\n".join(rows).replace(",", separator) + "\n")
        events = read_events(file, reading)
        assert events.batch.columns["x"].tolist() == [2, 3]
        assert events.place(1) == f"{file}, row {len(rows)}"


def test_a_quoted_name_does_not_count_for_the_separator(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text('time,type,"a;b;c;d"\n1,A,2\n')
    assert list(read_events(tmp_path / "e.csv").schema.kinds) == ["a;b;c;d"]


def test_a_separator_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "e.dat").write_text("time~type~a,b,c\n1~A~2\n")
    assert list(read_events(tmp_path / "e.dat", Reading(separator="~")).schema.kinds) == ["a,b,c"]


@pytest.mark.parametrize(
    ("encoding", "option"),
    [("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("latin-1", "latin-1"), ("utf-16-le", "utf-16-le")],
)
def test_encodings(tmp_path: Path, encoding: str, option: str | None) -> None:
    (tmp_path / "e.csv").write_bytes("time,type,größe\n1,A,café\n".encode(encoding))
    events = read_events(tmp_path / "e.csv", Reading(encoding=option))
    assert (list(events.schema.kinds), events.schema.strings) == (["größe"], ("café",))


def test_a_folder_of_texts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("time,type\n1,A\n")
    assert len(read_events(tmp_path).batch) == 1
    (tmp_path / "b.tsv").write_text("time\ttype\n1\tB\n")
    assert read_events(tmp_path).schema.types == ("B",)


KINDS = {"int": Kind.INT, "float": Kind.FLOAT, "text": Kind.STRING}


@pytest.mark.parametrize(
    ("values", "kind", "notice"),
    [
        (["1", "22"], "int", None),
        (["0", "0.5", "-0.5", "10"], "float", None),
        (["7", "007"], "text", "row 3, column 'x': '007' has leading zeros, so the column is text; --text"),
        (["7.5", "0100"], "text", "row 3, column 'x': '0100' has leading zeros"),
        (["0x1F", "2"], "text", "row 2, column 'x': '0x1F' has leading zeros"),
        (["10", "NA", "12"], "text", "row 3, column 'x': 'NA' is not a number, so the column is text; --null"),
        (["NA", "10", "-", "12", "13"], "text", "row 2, column 'x': 'NA' is not a number, so the column is text; "
         "--null 'NA' --null '-' reads such values as null; --text 'x' confirms that it is text"),
        (["NA", "DE", "NaN"], "text", None),
        (["a1", "b2", "3"], "text", None),
        (["1,5", "2,25"], "text", "row 2, column 'x': '1,5' is text; numbers have a decimal point"),
        (["", ""], "float", None),
    ],
)  # fmt: skip
def test_numbers_and_texts(tmp_path: Path, values: Sequence[str], kind: str, notice: str | None) -> None:
    file = tmp_path / "e.csv"
    file.write_text("time;type;x\n" + "".join(f"{row};A{row};{value}\n" for row, value in enumerate(values)))
    events = read_events(file)
    assert events.schema.kinds["x"] is KINDS[kind]
    assert [as_options(line).startswith(f"{file}, {notice}") for line in events.notices] == [True] * bool(notice)
    assert read_events(file, Reading(text="x")).notices == ()


def test_a_text_among_numbers_is_found_in_any_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepbench.events.csv_files.BLOCK_BYTES", 100)
    file = tmp_path / "e.csv"
    values = ["NA" if row == 777 else f"0{row}" if row == 555 else str(row) for row in range(1000)]
    file.write_text("time,type,x\n" + "".join(f"{row},A,{value}\n" for row, value in enumerate(values)))
    [notice] = read_events(file).notices
    assert notice.startswith(f"{file}, row 779, column 'x': 'NA' is not a number")
    [notice] = read_events(file, Reading(null="NA")).notices
    assert notice.startswith(f"{file}, row 557, column 'x': '0555' has leading zeros")


def test_values_that_mean_null(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("time,type,x,y\n1,A,NA,NA\n2,A,-,u\n3,A,5,\n")
    events = read_events(tmp_path / "e.csv", Reading(null=["NA", "-"]))
    assert events.schema.kinds == {"x": Kind.INT, "y": Kind.STRING}
    assert events.missing["x"].tolist() == [True, True, False]
    assert events.missing["y"].tolist() == [True, False, True]


def test_numbers_as_texts_in_all_forms(tmp_path: Path) -> None:
    frame = pd.DataFrame({"time": [1, 2], "type": "A", "x": [7, 70]})
    frame.to_parquet(tmp_path / "e.parquet")
    frame.to_csv(tmp_path / "e.csv", index=False)
    for source in (frame, tmp_path / "e.parquet", tmp_path / "e.csv"):
        assert read_events(source, Reading(text=["x"])).schema.strings == ("7", "70")


def test_one_number_written_in_several_ways_is_said_of_a_key(tmp_path: Path) -> None:
    file = tmp_path / "e.csv"
    file.write_text("time,type,x,y\n1,A,5379.10,1.5\n2,A,5379.1,1.25\n3,A,,2\n")
    schema = read_events(file).schema
    [notice] = spelled_twice(file, schema, EXPECTED, ["x", "y", "x"])
    assert as_options(notice) == (
        f"{file}, column 'x': '5379.10' and '5379.1' are one number, so one key; --text 'x' keeps them apart"
    )


@pytest.mark.parametrize(
    ("time", "unit", "option"),
    [
        ([200802010900, 200802010958], "s", "--time-format '%Y%m%d%H%M' reads dates"),
        ([20080201, 20081231], "s", "--time-format '%Y%m%d' reads dates"),
        ([20080201095959], "ms", "--time-format '%Y%m%d%H%M%S' reads dates"),
        ([20080201, 20081331], "s", None),
        ([1541000542290, 1541000542291], "s", "--time-unit 'ms' reads numbers of 'ms'"),
        ([1541000542290000], "ms", "--time-unit 'us' reads numbers of 'us'"),
        ([1541000542290000000], "s", "--time-unit 'ns' reads numbers of 'ns'"),
        ([1541000542], "s", None),
        ([0, 1541000542290], "ms", None),
        ([], "s", None),
    ],
)
def test_times_that_cannot_be_meant(time: list[int], unit: str, option: str | None) -> None:
    frame = pd.DataFrame({"time": np.array(time, np.int64), "type": ["A"] * len(time)})
    notices = read_events(frame, unit).notices
    assert [as_options(notice).partition("; ")[2] for notice in notices] == [option] * (option is not None)


def test_equal_rows_are_said_or_count_once(tmp_path: Path) -> None:
    file = tmp_path / "e.csv"
    file.write_text("time,type,x\n3,B,\n1,A,1\n1,A,2\n1,A,1\n3,B,\n")
    events = read_events(file)
    assert as_options(events.notices[-1]) == (
        f"{file}, row 5: equal in all columns to an earlier row, as are 2 of the first 5 events; "
        "--distinct counts such rows once"
    )
    events = read_events(file, Reading(distinct=True))
    assert (events.batch.time.tolist(), events.batch.position.tolist()) == ([1, 1, 3], [0, 1, 2])
    assert (events.row.tolist(), events.missing["x"].tolist()) == ([2, 3, 1], [False, False, True])
    assert len(events.notices) == 1


def test_a_null_is_equal_to_nulls_only(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("time,type,x,s\n5,B,,\n5,B,0,\n5,B,,\n")
    assert len(read_events(tmp_path / "e.csv", Reading(distinct=True)).batch) == 2
    assert "as are 1 of" in read_events(tmp_path / "e.csv").notices[-1]


@pytest.mark.parametrize("number", ["-07", "+07", "00", "-0x1"])
def test_signs_do_not_hide_leading_zeros(tmp_path: Path, number: str) -> None:
    (tmp_path / "e.csv").write_text(f"time,type,x\n1,A,{number}\n2,A,-7\n")
    assert read_events(tmp_path / "e.csv").schema.kinds == {"x": Kind.STRING}


def test_the_separator_with_the_wanted_columns_is_taken(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("time,type,a;b;c;d\n1,A,2\n")
    assert list(read_events(tmp_path / "e.csv").schema.kinds) == ["a;b;c;d"]


def test_a_column_that_is_text_explains_a_condition_that_fails(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("time,type,x\n1,A,NA\n2,B,7\n3,C,NA\n")
    with pytest.raises(InputError, match=r"cannot compare x .*; .*row 2, column 'x': 'NA' is not a number"):
        read_events(tmp_path / "e.csv", Reading(where="x > 1"))


def test_a_condition_reads_its_own_columns_only(tmp_path: Path) -> None:
    columns = {"time": [1, 2], "type": ["A", "B"], "x": [1, 2], "y": [3, 4], "z": np.array([1, 2**63], np.uint64)}
    pq.write_table(pa.table(columns), tmp_path / "e.parquet")
    events = read_events(tmp_path / "e.parquet", Reading(where="y > 3"), ["x"])
    assert {name: column.tolist() for name, column in events.batch.columns.items()} == {"x": [2], "y": [4]}
    with pytest.raises(InputError, match="no column 'w'; there are"):
        read_events(tmp_path / "e.parquet", Reading(where="w > 3"), ["x"])


@pytest.mark.parametrize(
    ("reading", "content", "message"),
    [
        (EXPECTED, b"time,type,x\n1,A,\xe9\n", ", row 2, column 'x': the text is not UTF-8; name its encoding by "
         "--encoding, for example --encoding 'latin-1'"),
        (EXPECTED, "time,type,größe\n".encode("latin-1"), ": unreadable CSV: the heading is not utf-8; name"),
        (Reading(encoding="ascii"), "time,type,größe\n".encode(), "the heading is not ascii; name its encoding"),
        (EXPECTED, b"time,type,x\n1,A,1,000\n", ", row 2: 4 fields instead of 3: 1,A,1,000; a field that contains the "
         "separator has to be in quotes"),
        (EXPECTED, b'time,type,x\n1,"A,1\n2,A,3\n', ", row 2: 2 fields instead of 3: 1,\"A,1; a quote does not end"),
        (EXPECTED, b'time,type,x\n1,A,x\n2,A,"y\n3,A,z\n', ", row 3, column 'x': a quote does not end"),
        (Reading(names=("time", "type")), b"1,A\n2\n", ", row 2: 1 fields instead of 2: 2"),
        (EXPECTED, b"AAPL,2008,3.5\n", "; --no-header names them if row 1 has none"),
        (EXPECTED, b"time~type\n", "; --separator sets what is between columns"),
        (EXPECTED, b"time, type\n", "column 'type' is missing; there are time, ' type'; name it by"),
        (Reading(text="y"), b"time,type,x\n", "column 'y' of --text is missing; there are time, type, x"),
        (EXPECTED, b"time,type,x\n1,,2\n", "row 2, column 'type': the type is empty; leave such rows out by "
         "--where 'type IS NOT NULL'"),
        (EXPECTED, b"time,type\n9223372036854775807,A\n", "is too large; leave such rows out by --where 'time < 4611"),
    ],
)  # fmt: skip
def test_refusals_say_what_helps(tmp_path: Path, reading: Reading, content: bytes, message: str) -> None:
    file = tmp_path / "e.csv"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_events(file, reading)
    assert message in as_options(str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"separator": ";;"}, "separator ';;': give one character"),
        ({"separator": '"'}, "give one character"),
        ({"encoding": "latin-one"}, "unknown encoding 'latin-one'; choose one of Python, such as latin-1"),
        ({"encoding": "rot13"}, "unknown encoding 'rot13'"),
    ],
)
def test_options_that_cannot_be(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Reading(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["null", "separator", "names", "encoding"])
def test_options_of_csv_files_are_refused_for_others(tmp_path: Path, option: str) -> None:
    reading = Reading(**{option: {"separator": ";", "encoding": "latin-1"}.get(option, "x")})  # type: ignore[arg-type]
    pq.write_table(pa.table({"time": [1], "type": ["A"]}), tmp_path / "e.parquet")
    for source in (tmp_path / "e.parquet", pd.DataFrame({"time": [1], "type": ["A"]})):
        with pytest.raises(InputError, match="is for CSV files"):
            read_events(source, reading)


def test_types_with_blanks_are_shown(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("time,type\n1, A\n2,B\n")
    [notice] = read_events(tmp_path / "e.csv").notices
    assert notice == f"{tmp_path}/e.csv, column 'type': types with blanks around them: ' A'"
