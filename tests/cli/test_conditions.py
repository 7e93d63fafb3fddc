"""Conditions on files: notices of direction, and `time` where the times are in a column of another name."""

from pathlib import Path

import pytest


@pytest.fixture
def clashing(tmp_path: Path) -> Path:
    """Events with times in the column `at`, and another column `time`."""
    file = tmp_path / "clashing.csv"
    file.write_text("at,type,time\n1,A,900\n4,B,700\n6,B,800\n")
    return file


def answer(cepbench, tmp_path, query, events, *arguments):
    file = tmp_path / "query.sase"
    file.write_text(query)
    return cepbench("query", "-q", file, "-e", events, "-a", "sase", "--format", "csv", *arguments)


@pytest.mark.parametrize(("condition", "later"), [("a.x < b.x", "b"), ("b.x > a.x", "a"), ("a.x - b.x < 0", "a")])
def test_a_notice_says_which_of_two_directions_was_taken(cepbench, tmp_path, event_file, condition, later):
    """The name that is written first is the earlier one, and so is the subtrahend of a difference."""
    ended = answer(cepbench, tmp_path, f"PATTERN (SEQ(A a, B b))+ WHERE {condition}", event_file)
    assert ended.status == 0
    assert f"later {later}" in ended.err


def test_nothing_is_said_of_the_only_direction(cepbench, tmp_path, event_file):
    for condition in ("a.x < b.x", "b.x > a.x", "b.x - a.x > 2"):
        ended = answer(cepbench, tmp_path, f"PATTERN SEQ(A a, B b) WHERE {condition}", event_file)
        assert (ended.status, ended.err) == (0, "")


def test_time_is_that_of_the_events(cepbench, tmp_path):
    events = tmp_path / "events.csv"
    events.write_text("at,type\n1,A\n4,B\n6,B\n")
    ended = answer(
        cepbench, tmp_path, "PATTERN SEQ(A a, B b) WHERE b.time - a.time <= 3 s", events, "--time-column", "at"
    )
    assert ended.status == 0
    assert [line.partition(",0,")[2] for line in ended.out.splitlines()[1:]] == [',"[0, 1]"']


@pytest.mark.parametrize("condition", ["b.time - a.time <= 3 s", "a.time > 5", "a.time < b.time"])
def test_another_column_of_that_name_is_not_taken_for_it(cepbench, tmp_path, clashing, condition):
    ended = answer(cepbench, tmp_path, f"PATTERN SEQ(A a, B b) WHERE {condition}", clashing, "--time-column", "at")
    assert (ended.status, ended.out) == (2, "")
    assert "'time'" in ended.err
    assert "rename" in ended.err


def test_another_column_of_that_name_is_left_out_of_other_queries(cepbench, tmp_path, clashing):
    ended = answer(cepbench, tmp_path, "RETURN COUNT(*) PATTERN SEQ(A, B)", clashing, "--time-column", "at")
    assert ended.status == 0
    assert ended.out.splitlines()[1].split(",")[3] == "2"
