import json
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

README = Path(__file__).resolve().parents[2] / "README.md"


def test_table(cepbench, query_file, event_file):
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "cogra")
    assert ended.status == 0
    assert ended.err == ""
    assert ended.out.splitlines() == [
        "query  window_start  window_end  COUNT(*)  overflow",
        "q1     0             10          3         false",
        "q1     10            20          1         false",
    ]


@pytest.mark.parametrize("algorithm", ["sase", "greta"])
def test_json_is_the_same_for_every_algorithm(cepbench, query_file, event_file, algorithm):
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", algorithm, "--format", "json")
    assert json.loads(ended.out) == [
        {"query": "q1", "window_start": 0, "window_end": 10, "COUNT(*)": 3, "overflow": False},
        {"query": "q1", "window_start": 10, "window_end": 20, "COUNT(*)": 1, "overflow": False},
    ]


def test_form_follows_the_name_of_the_file(cepbench, query_file, event_file, tmp_path):
    target = tmp_path / "answer.csv"
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "sase", "-o", target)
    assert (ended.status, ended.out) == (0, "")
    assert target.read_text().splitlines()[1] == "q1,0,10,3,False"


def test_matches_are_lists_of_positions(cepbench, query_file, event_file):
    query_file.write_text("PATTERN SEQ(A, B) WITHIN 10 s")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "sase", "--format", "json")
    assert [row["match"] for row in json.loads(ended.out)] == [[0, 2], [1, 2], [3, 4]]


def test_detected_matches_report_their_first_and_last_time(cepbench, query_file, event_file):
    query_file.write_text(
        "q1: PATTERN SEQ(A, B) WHERE A.x > B.x WITHIN 2 s PER MATCH\n\nq2: PATTERN B AND A WITHIN 3 events PER MATCH"
    )
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "sase")
    assert ended.out.splitlines() == [
        "query  window_start  window_end  match",
        "q1     1             3           [0, 2]",
        "q1     2             3           [1, 2]",
        "q2     1             3           [0, 2]",
        "q2     2             3           [1, 2]",
        "q2     3             12          [2, 3]",
        "q2     12            13          [3, 4]",
    ]
    refused = cepbench("query", "-q", query_file, "-e", event_file, "-a", "cet")
    assert refused.status == 2
    assert refused.err.startswith("cepbench: cet cannot evaluate query q1: CET detects the complete trends of windows")


def test_matches_in_parquet_are_lists(cepbench, query_file, event_file, tmp_path):
    query_file.write_text("PATTERN SEQ(A, B) WITHIN 10 s")
    target = tmp_path / "answer.parquet"
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "sase", "-o", target)
    assert (ended.status, ended.out) == (0, "")
    table = pq.read_table(target)
    assert pa.types.is_large_list(table.schema.field("match").type)
    assert table["match"].to_pylist() == [[0, 2], [1, 2], [3, 4]]
    assert [list(match) for match in pd.read_parquet(target)["match"]] == [[0, 2], [1, 2], [3, 4]]


def test_parquet_needs_a_file(cepbench, query_file, event_file):
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "sase", "--format", "parquet")
    assert (ended.status, ended.out) == (2, "")
    assert "--output" in ended.err


def test_overflow_is_null_and_flagged(cepbench, query_file, tmp_path):
    query_file.write_text("RETURN COUNT(*) PATTERN A+")
    events = tmp_path / "long.csv"
    events.write_text("time,type\n" + "".join(f"{time},A\n" for time in range(70)))
    modular = cepbench("query", "-q", query_file, "-e", events, "-a", "cogra", "--format", "json")
    assert json.loads(modular.out)[0]["COUNT(*)"] is None
    assert json.loads(modular.out)[0]["overflow"] is True
    assert "--arithmetic float gives their magnitude" in modular.err
    real = cepbench("query", "-q", query_file, "-e", events, "-a", "cogra", "--arithmetic", "float", "--format", "json")
    assert json.loads(real.out)[0]["COUNT(*)"] == pytest.approx(2**70 - 1)
    assert real.err == ""


def test_time_unit_of_a_file(cepbench, query_file, event_file):
    ended = cepbench(
        "query", "-q", query_file, "-e", event_file, "-a", "cogra", "--time-unit", "ms", "--format", "json"
    )
    assert json.loads(ended.out)[0]["window_end"] == 10_000


def test_no_rows_is_an_answer(cepbench, query_file, event_file):
    query_file.write_text("RETURN COUNT(*) PATTERN SEQ(B, C)")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta", "--format", "json")
    assert (ended.status, json.loads(ended.out)) == (0, [])


def test_example_of_the_readme(cepbench, tmp_path):
    events, query, answer = re.findall(r"```\n((?:time|RETURN|query).*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "events.csv").write_text(events)
    (tmp_path / "query.sase").write_text(query)
    for algorithm in ("cogra", "greta", "sase"):
        ended = cepbench("query", "-q", tmp_path / "query.sase", "-e", tmp_path / "events.csv", "-a", algorithm)
        assert ended.out == answer


@pytest.mark.spark
def test_spark_gives_the_same_answer(cepbench, query_file, event_file):
    command = ("query", "-q", query_file, "-e", event_file, "-a", "greta", "--format", "json")
    ended = cepbench(*command, "--master", "local[2]")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == cepbench(*command).out


def test_an_event_type_that_the_stream_does_not_have_is_reported(cepbench, query_file, event_file):
    query_file.write_text("RETURN COUNT(*) PATTERN SEQ(A, NOT Nay, Bee+) WITHIN 10 s")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta")
    assert ended.status == 0
    assert ended.err == "cepbench: query q1: the stream has no events of type Nay, Bee; it has A, B\n"


def test_windows_with_events_between_them_are_reported(cepbench, query_file, event_file):
    query_file.write_text("RETURN COUNT(*) PATTERN A WITHIN 5 s SLIDE 10 s")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta")
    assert ended.status == 0
    assert ended.err == "cepbench: query q1: SLIDE is longer than WITHIN, so that events between windows are in none\n"


def test_one_algorithm_answers_a_query(cepbench, query_file, event_file):
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta", "-a", "cogra")
    assert (ended.status, ended.out) == (2, "")
    assert "compare several by cepbench bench -a greta,cogra" in ended.err


def test_rows_out_of_order_name_the_column_of_times(cepbench, query_file, tmp_path):
    query_file.write_text("RETURN COUNT(*) PATTERN A WITHIN 5 s")
    events = tmp_path / "own.csv"
    events.write_text("ts,type\n3,A\n1,A\n")
    ended = cepbench("query", "-q", query_file, "-e", events, "-a", "greta", "--time-column", "ts")
    assert ended.status == 0
    assert "row 3, column 'ts': earlier than the row before" in ended.err


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (("run", "greta-13.11"), "greta-13.1"),
        (("datasets", "stok"), "stock"),
        (("query", "-q", "{}", "-e", "{}", "-a", "creta"), "greta"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(cepbench, query_file, command, meant):
    ended = cepbench(*(query_file if part == "{}" else part for part in command))
    assert (ended.status, ended.out) == (2, "")
    assert f"did you mean {meant}" in ended.err


@pytest.fixture
def moments(tmp_path):
    file = tmp_path / "moments.csv"
    file.write_text("ts,type,x\n2024-03-01T12:00:00,A,1\n2024-03-01T12:00:02.000,A,\n2024-03-01T12:00:03,B,2\n")
    return file


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("table", "q1     2024-03-01T12:00:00  2024-03-01T12:00:10  3         false"),
        ("csv", "q1,2024-03-01T12:00:00,2024-03-01T12:00:10,3,False"),
        ("json", '    "window_start": "2024-03-01T12:00:00",'),
    ],
)
def test_times_come_out_as_they_came_in(cepbench, query_file, moments, form, shown):
    ended = cepbench("query", "-q", query_file, "-e", moments, "-a", "cogra", "--time-column", "ts", "--format", form)
    assert (ended.status, ended.err) == (0, "")
    assert shown in ended.out.splitlines()


def test_where_without_spark_and_named_as_the_remedy(cepbench, query_file, moments):
    query_file.write_text("RETURN SUM(A.x) PATTERN SEQ(A+, B) WITHIN 10 s")
    asked = ("query", "-q", query_file, "-e", moments, "-a", "cogra", "--time-column", "ts")
    refused = cepbench(*asked)
    assert refused.status == 2
    assert refused.err.endswith("leave such rows out by --where 'x IS NOT NULL OR type != \"A\"', or fill them\n")
    ended = cepbench(*asked, "--where", "x IS NOT NULL")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[1].split() == ["q1", "2024-03-01T12:00:00", "2024-03-01T12:00:10", "1", "false"]
    wrong = cepbench(*asked, "--where", "y > 1")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)
    assert "where: no column 'y'; there are ts, type, x" in wrong.err


def test_where_is_not_for_a_store(cepbench, query_file, moments, tmp_path):
    assert cepbench("import", "--from", moments, "-o", tmp_path / "s", "--time-column", "ts").status == 0
    ended = cepbench("query", "-q", query_file, "-e", tmp_path / "s", "-a", "cogra", "--where", "x > 0")
    assert ended.status == 2
    assert "options of columns, and where, are for files" in ended.err
    query_file.write_text("RETURN SUM(A.x) PATTERN SEQ(A+, B) WITHIN 10 s")
    ended = cepbench("query", "-q", query_file, "-e", tmp_path / "s", "-a", "cogra")
    assert (
        "leave such rows out by --where 'x IS NOT NULL OR type != \"A\"' (of a store when it is imported)" in ended.err
    )


def test_a_plan_is_shown_without_running_it(cepbench, query_file, event_file, tmp_path):
    pytest.importorskip("duckdb")
    shown = cepbench("query", "-q", query_file, "-e", event_file, "-a", "duckdb", "--explain")
    assert shown.status == 0
    assert shown.out.startswith("-- q1:\n-- RETURN COUNT(*)\n")
    assert shown.out.endswith("\nGROUP BY key, k;\n")
    target = tmp_path / "plan.sql"
    assert cepbench("query", "-q", query_file, "-e", event_file, "-a", "duckdb", "--explain", "-o", target).out == ""
    assert target.read_text() == shown.out


def test_a_plan_that_cannot_be_shown(cepbench, query_file, event_file):
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "cogra", "--explain")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == "cepbench: cogra has no plan to show as text; duckdb shows its SQL\n"
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "duckdb", "--explain", "--format", "csv")
    assert ended.status == 2
    assert "leave --master and --format out" in ended.err
