"""`cepbench import`, and `cepbench query` on files of one's own."""

from pathlib import Path

import pytest

DAY = "1970-01-01"


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (f"when,kind\n{DAY}T00:00:01Z,A\n{DAY}T00:00:02.0Z,A\n{DAY} 00:00:03,B\n", ["--time-format", "iso"]),
        ("when,kind\n1.0,A\n2.0,A\n3.0,B\n", ["--time-format", "epoch"]),
        ("when,kind\n1,A\n2,A\n3,B\n", []),
    ],
    ids=["iso", "epoch", "names"],
)  # fmt: skip
def test_one_command_answers_on_own_files(cepbench, query_file, tmp_path: Path, content: str, options: list[str]):
    file = tmp_path / "own.csv"
    file.write_text(content)
    named = ["--time-column", "when", "--type-column", "kind", *options]
    ended = cepbench("query", "-q", query_file, "-e", file, "-a", "cogra", *named)
    assert ended.status == 0
    zero, ten = "0             ", "10          "
    if "iso" in options:  # times come out as they came in
        zero, ten = f"{DAY}T00:00:00+00:00  ", f"{DAY}T00:00:10+00:00  "
    assert ended.out.splitlines()[1:] == [f"q1     {zero}{ten}3         false"]

    store = tmp_path / "store"
    ended = cepbench("import", "--from", file, "-o", store, *named)
    assert ended.status == 0
    assert "3 events" in ended.out
    ended = cepbench("query", "-q", query_file, "-e", store, "-a", "greta")
    assert ended.out.splitlines()[1:] == [f"q1     {zero}{ten}3         false"]


def test_wrong_columns_are_one_line(cepbench, query_file, tmp_path: Path):
    file = tmp_path / "own.csv"
    file.write_text("when,kind\n1,A\n")
    for command in (
        ["query", "-q", query_file, "-a", "cogra", "-e", file],
        ["import", "-o", tmp_path / "s", "--from", file],
    ):
        ended = cepbench(*command)
        assert ended.status == 2
        [line] = ended.err.splitlines()
        assert "columns 'time' and 'type' are missing" in line
        assert "--time-column" in line
        assert "--type-column" in line


def test_a_store_has_its_own_columns(cepbench, query_file, event_file, tmp_path: Path):
    store = tmp_path / "store"
    cepbench("import", "--from", event_file, "-o", store)
    ended = cepbench("query", "-q", query_file, "-e", store, "-a", "cogra", "--time-column", "when")
    assert ended.status == 2
    assert "an event store has its columns already" in ended.err


def test_options_that_exclude_one_another(cepbench, event_file, tmp_path: Path):
    ended = cepbench("import", "--from", event_file, "-o", tmp_path / "s", "--type", "T", "--type-column", "x")
    assert (ended.status, "--type and --type-column exclude each other" in ended.err) == (2, True)
    ended = cepbench("import", "nasdaq", "--from", tmp_path, "-o", tmp_path / "s", "--time-column", "x")
    assert (ended.status, "nasdaq knows its columns" in ended.err) == (2, True)


def test_a_condition_keeps_events_in_order(cepbench, tmp_path: Path):
    file = tmp_path / "own.csv"
    file.write_text("when,price,c3 of it\n3,5,u\n1,-1,v\n1,7,w\n1,6,x\n2,8,\n")
    query = tmp_path / "q.sase"
    query.write_text("RETURN MATCHES PATTERN Trade T WHERE T.price > 0")
    named = ["--time-column", "when", "--type", "Trade"]
    store = tmp_path / "store"
    ended = cepbench("import", "--from", file, "-o", store, "--where", "price > 0 AND `c3 of it` IS NOT NULL", *named)
    assert ended.status == 0, ended.err
    assert "3 events" in ended.out
    ended = cepbench("query", "-q", query, "-e", store, "-a", "sase", "--format", "csv")
    assert [line.split(",")[1:3] for line in ended.out.splitlines()[1:]] == [["0", ""]] * 3
    assert '"where": "price > 0 AND `c3 of it` IS NOT NULL"' in (store / "stream.json").read_text()
    wrong = cepbench("import", "--from", file, "-o", tmp_path / "t", "--where", "cost > 0", *named)
    assert wrong.status == 2
    assert wrong.err.endswith("own.csv: where: no column 'cost'; there are when, price, c3 of it\n")
    function = cepbench("import", "--from", file, "-o", tmp_path / "t", "--where", "abs(price) > 6", *named)
    assert function.status == 2
    assert "is not a condition at '(price) > 6'" in function.err
