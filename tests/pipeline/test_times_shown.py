"""Times of an answer are timestamps where those of the input are, whatever the input is, and numbers otherwise."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from cepbench import Reading, evaluate
from cepbench.pipeline.import_events import import_events

WINDOW = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 1 min"
TEXTS = ["2024-03-01T12:00:00", "2024-03-01T12:00:30", "2024-03-01T12:01:10"]
NAIVE = pd.DataFrame({"time": pd.to_datetime(TEXTS), "type": ["A", "B", "B"]})
START, END = pd.Timestamp("2024-03-01T12:00:00"), pd.Timestamp("2024-03-01T12:01:00")


def ends(answer: pd.DataFrame) -> list[tuple[object, object]]:
    return list(zip(answer["window_start"], answer["window_end"], strict=True))


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s", "min"])
def test_timestamps_in_every_unit(unit: str) -> None:
    frame = NAIVE.assign(time=NAIVE["time"].dt.floor("min")) if unit == "min" else NAIVE
    query = WINDOW.replace("SEQ(A, B)", "B").replace("1 min", "2 min")
    answer = evaluate(query, frame, "cogra", reading=unit)
    assert ends(answer) == [(START, pd.Timestamp("2024-03-01T12:02:00"))]


@pytest.mark.parametrize("form", ["csv", "iso", "pattern", "parquet", "text frame", "frame", "store"])
def test_every_kind_of_input(form: str, tmp_path: Path) -> None:
    texts = NAIVE.assign(time=TEXTS)
    file, reading = tmp_path / "events.csv", Reading()
    if form == "parquet":
        file = file.with_suffix(".parquet")
        NAIVE.to_parquet(file)
    elif form == "pattern":
        NAIVE.to_csv(file, index=False, date_format="%d.%m.%Y %H:%M:%S")
        reading = Reading(format="%d.%m.%Y %H:%M:%S")
    else:
        texts.to_csv(file, index=False)
        reading = Reading(format="iso") if form == "iso" else reading
    if form == "store":
        stream, _ = import_events(file, tmp_path / "store", spark=None)
        assert stream.schema.zone == ""
        file = tmp_path / "store"
    source = {"frame": NAIVE, "text frame": texts}.get(form, file)
    assert ends(evaluate(WINDOW, source, "cogra", reading=reading)) == [(START, END)]


@pytest.mark.parametrize(
    ("times", "zone"),
    [
        (NAIVE["time"].dt.tz_localize("Europe/Berlin"), "Europe/Berlin"),
        (pd.Series([f"{text}+01:00" for text in TEXTS]), "UTC"),
        (pd.Series(TEXTS).map(lambda text: pd.Timestamp(text, tz="+01:00").to_pydatetime()), "+01:00"),
    ],
)
def test_zones_stay(times: pd.Series, zone: str) -> None:
    [(start, end)] = ends(evaluate(WINDOW, NAIVE.assign(time=times), "cogra"))
    assert (start, end) == (START.tz_localize("Europe/Berlin"), END.tz_localize("Europe/Berlin"))
    assert isinstance(start, pd.Timestamp)
    assert start.utcoffset() == START.tz_localize("UTC").tz_convert(zone).utcoffset()


@pytest.mark.parametrize(
    ("times", "form"), [([0, 30, 70], "auto"), (["0", "30", "70"], "auto"), ([0.0, 30.0, 70.0], "epoch")]
)
def test_numbers_stay_numbers(times: list[object], form: str) -> None:
    reading = Reading(format=form)
    answer = evaluate(WINDOW, NAIVE.assign(time=times), "cogra", reading=reading, notify=lambda text: None)
    assert ends(answer) == [(0, 60)]
    assert answer["window_start"].dtype == np.int64


def test_matches_report_their_first_and_last_time() -> None:
    answer = evaluate("PATTERN SEQ(A, B) WITHIN 80 s PER MATCH", NAIVE, "sase")
    assert ends(answer) == [(NAIVE["time"][0], NAIVE["time"][1]), (NAIVE["time"][0], NAIVE["time"][2])]


def test_what_is_no_time_does_not_become_one() -> None:
    whole = evaluate("RETURN COUNT(*) PATTERN SEQ(A, B)", NAIVE, "cogra")
    assert ends(whole) == [(pd.NaT, pd.NaT)]
    counted = evaluate("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 3 events", NAIVE, "cogra")
    assert ends(counted) == [(0, 3)]
    late = evaluate("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 9999999 days", NAIVE, "cogra")
    assert ends(late) == [(0, 9999999 * 86400)]
    nothing = evaluate(WINDOW, NAIVE.assign(type="C"), "cogra", notify=lambda text: None)
    assert len(nothing) == 0
    assert nothing["window_start"].dtype == "datetime64[s]"


def test_parquet_keeps_them(tmp_path: Path) -> None:
    from cepbench.algorithms.answers.table import arrow_table

    pq.write_table(arrow_table(evaluate(WINDOW, NAIVE, "cogra")), tmp_path / "answer.parquet")
    assert ends(pd.read_parquet(tmp_path / "answer.parquet")) == [(START, END)]


def test_where_leaves_rows_out() -> None:
    frame = NAIVE.assign(time=[0, 30, 50], delay=[1.0, None, 3.0])
    query = "RETURN COUNT(*), SUM(B.delay) PATTERN SEQ(A, B) WITHIN 1 min"
    answer = evaluate(query, frame, "cogra", where="delay IS NOT NULL")
    assert answer[["COUNT(*)", "SUM(B.delay)"]].to_numpy().tolist() == [[1, 3.0]]
    by_reading = evaluate(query, frame, "cogra", reading=Reading(where="delay IS NOT NULL"))
    pd.testing.assert_frame_equal(answer, by_reading)
