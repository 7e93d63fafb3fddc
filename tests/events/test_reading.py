"""A user's files: free names of columns, and times in the forms that people write."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cepbench.cli.options import as_options
from cepbench.events.errors import InputError
from cepbench.events.files import read_events
from cepbench.events.reading import Reading


def written(folder: Path, *lines: str) -> Path:
    file = folder / "own.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_other_names_of_columns(tmp_path: Path) -> None:
    file = written(tmp_path, "at,symbol,price", "1,A,5", "2,B,6")
    events = read_events(file, Reading("at", "symbol"))
    assert events.batch.time.tolist() == [1, 2]
    assert [events.schema.types[code] for code in events.batch.type] == ["A", "B"]
    # The column of types can also be grouped by.
    assert list(events.schema.kinds) == ["symbol", "price"]
    assert events.schema.decode("symbol", events.batch.columns["symbol"].tolist()) == ["A", "B"]


def test_one_type_for_all(tmp_path: Path) -> None:
    events = read_events(written(tmp_path, "time,price", "1,5", "2,6"), Reading(constant="Trade"))
    assert events.schema.types == ("Trade",)
    assert events.batch.type.tolist() == [0, 0]


def test_columns_that_another_replaces_are_said(tmp_path: Path) -> None:
    events = read_events(written(tmp_path, "time,type,at", "9,A,1", "8,B,2"), Reading("at", constant="T"))
    assert events.batch.time.tolist() == [1, 2]
    assert events.schema.types == ("T",)
    assert [notice.split(": ")[1].split(";")[0] for notice in events.notices] == [
        "column 'time' is left out",
        "column 'type' is left out",
    ]


@pytest.mark.parametrize(
    ("form", "unit", "times", "expected"),
    [
        ("iso", "ms", ["1970-01-01T00:00:01Z", "1970-01-01 00:00:02.5"], [1000, 2500]),
        ("iso", "s", ["1970-01-01T01:00:01+01:00", "1970-01-01T00:00:02Z"], [1, 2]),
        ("auto", "min", ["1970-01-01 00:01", "1970-01-01 00:03"], [1, 3]),
        ("epoch", "ms", ["1700000000.123", "1700000001"], [1_700_000_000_123, 1_700_000_001_000]),
        ("epoch", "us", ["1700000000.123457", "1700000000.2"], [1_700_000_000_123_457, 1_700_000_000_200_000]),
        ("epoch", "min", ["60", "180"], [1, 3]),
        ("epoch-ms", "s", ["1000", "2000"], [1, 2]),
        ("epoch-ms", "us", ["1.5", "2"], [1500, 2000]),
        ("epoch-us", "us", ["1", "2"], [1, 2]),
        ("epoch-ns", "us", ["1000", "2000"], [1, 2]),
        ("%d.%m.%Y %H:%M:%S.%f", "ms", ["01.01.1970 00:00:01.25", "02.01.1970 00:00:00.0"], [1250, 86_400_000]),
        ("%H:%M %d %b %Y %z", "min", ["01:01 01 Jan 1970 +0100", "00:02 01 Jan 1970 +0000"], [1, 2]),
    ],
)
def test_times_as_people_write_them(
    tmp_path: Path, form: str, unit: str, times: list[str], expected: list[int]
) -> None:
    file = written(tmp_path, "ts,type", *(f"{time},A" for time in times))
    assert read_events(file, Reading("ts", unit=unit, format=form)).batch.time.tolist() == expected


@pytest.mark.parametrize(
    ("texts", "zone"),
    [
        (["20200101T000000Z", "20200101T000001Z"], "UTC"),
        (["2020-01-01", "20200101T010000+0100"], "UTC"),
        (["20200101T000000", "20200101T000001"], ""),
        (["2020-01-01T00:00:00", "2020-01-01T00:00:01"], ""),
    ],
)
def test_iso_times_keep_their_zone(tmp_path: Path, texts: list[str], zone: str) -> None:
    file = written(tmp_path, "time,type", *(f"{text},A" for text in texts))
    assert read_events(file, Reading(format="iso")).schema.zone == zone


def test_floats_of_a_frame_are_as_exact_as_floats() -> None:
    seconds = 1_700_000_000 + np.arange(1000) / 1000
    frame = pd.DataFrame({"time": seconds, "type": "A"})
    events = read_events(frame, Reading(unit="ms", format="epoch"))
    assert (events.batch.time == 1_700_000_000_000 + np.arange(1000)).all()


def test_timestamps_of_a_frame_need_no_format() -> None:
    frame = pd.DataFrame({"time": [datetime(1970, 1, 1, 0, 1), datetime(1970, 1, 1, 0, 2)], "type": "A"})
    assert read_events(frame, Reading(unit="min", format="iso")).batch.time.tolist() == [1, 2]


def test_scaling_is_said(tmp_path: Path) -> None:
    [notice] = read_events(written(tmp_path, "ts,type", "1.5,A"), Reading("ts", unit="ms", format="epoch")).notices
    assert notice.endswith("own.csv, column 'ts': numbers of 's' since 1970, read as whole numbers of 'ms'")


@pytest.mark.parametrize(
    ("reading", "lines", "message"),
    [
        (
            Reading(),
            ["at,kind,x", "1,A,2"],
            "columns 'time' and 'type' are missing; there are at, kind, x; "
            "name it by --time-column and by --type-column or --type",
        ),
        (Reading(), ["at,type", "1,A"], "column 'time' is missing; there are at, type; name it by --time-column"),
        (Reading(constant="A"), ["at,x", "1,A"], "column 'time' is missing; there are at, x; name it by --time-column"),
        (
            Reading(),
            ["time,type", "1.5,A"],
            "row 2, column 'time': 1.5 is fractional; times are whole numbers of 's' "
            "(--time-format 'epoch' reads seconds with fractions, in a finer --time-unit)",
        ),
        (
            Reading(),
            ["time,type", "01.02.2024 10:00,A"],
            "row 2, column 'time': '01.02.2024 10:00' is not a time; "
            "expected a whole number or a timestamp (or a --time-format)",
        ),
        (
            Reading("ts", format="epoch"),
            ["ts,type", "1,A", "2.5,A"],
            "row 3, column 'ts': 1970-01-01 00:00:02.500000000 is not a whole number of 's'; choose a finer --time",
        ),
        (
            Reading("ts", format="epoch"),
            ["ts,type", "1,A", "soon,A"],
            "row 3, column 'ts': 'soon' is not a number of 's' since 1970 (--time-format 'epoch')",
        ),
        (Reading(format="iso"), ["time,type", "now,A"], "row 2, column 'time': 'now' is not a time in ISO 8601"),
        (
            Reading(format="%d.%m.%Y"),
            ["time,type", "01.02.2024,A", "2024-02-01,A"],
            "row 3, column 'time': '2024-02-01' is not written as %d.%m.%Y (--time-format)",
        ),
        (Reading(format="epoch"), ["time,type", "-1,A"], "row 2, column 'time': the time -1 is negative"),
    ],
)
def test_what_cannot_be_read_names_the_option_or_the_argument(
    tmp_path: Path, reading: Reading, lines: list[str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_events(written(tmp_path, *lines), reading)
    assert message in as_options(str(caught.value))
    assert "--" not in str(caught.value)  # the caller is in Python
    assert ("Reading(" in str(caught.value)) or ("--" not in message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "seconds"}, "unknown time format 'seconds'; choose auto, iso, epoch, epoch-ms"),
        ({"unit": "sec"}, "unknown time unit 'sec'"),
        ({"constant": ""}, "the type of all events is empty"),
    ],
)
def test_wrong_readings(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Reading(**options)
