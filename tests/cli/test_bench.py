import json
import re
from dataclasses import replace
from pathlib import Path

import numba
import pytest

from cepbench.cli.bench import _ranking
from cepbench.metrics.ranking import Entry, Ranking, ranked
from cepbench.metrics.status import Status

GUIDE = Path(__file__).parents[2] / "docs" / "adding-an-algorithm.md"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    file = tmp_path / "many.csv"
    rows = [f"{number // 2},{'AAB'[number % 3]},{number % 7}" for number in range(400)]
    file.write_text("time,type,x\n" + "\n".join(rows) + "\n")
    return file


def test_bench_ranks_and_gives_reasons(cepbench, query_file, event_file, tmp_path):
    saved, drawn = tmp_path / "own.yaml", tmp_path / "own.png"
    ended = cepbench(
        "bench", "-q", query_file, "-e", event_file, "-a", "cogra,greta", "-a", "sase", "-a", "core",
        "--repeat", "0", "--json", "--save", saved, "--plot", drawn,
    )  # fmt: skip
    assert ended.status == 0
    entries = json.loads(ended.out)["entries"]
    assert {entry["algorithm"] for entry in entries[:3]} == {"cogra", "greta", "sase"}
    assert entries[0]["rank"] == 1  # the others may be as fast: each ran once
    assert entries[3]["rank"] is None
    assert {(entry["runs"], entry["processes"], entry["low"]) for entry in entries[:3]} == {(1, 1, None)}
    assert entries[0]["seconds"] <= entries[1]["seconds"] <= entries[2]["seconds"]
    assert {entry["rows"] for entry in entries[:3]} == {2}
    assert "PER MATCH" in entries[3]["reason"]
    assert drawn.read_bytes().startswith(b"\x89PNG")
    dry = cepbench("run", saved, "--dry-run")
    assert dry.status == 0
    assert "own greta" in dry.out


@pytest.mark.parametrize("command", ["bench", "advise", "run"])
def test_plain_python_is_not_measured(cepbench, monkeypatch, query_file, event_file, tmp_path, command):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    inputs = ("-q", query_file, "-e", event_file, "-a", "cogra")
    figure = ("greta-13.1", "--profile", "smoke", "--results", tmp_path / "results")
    refused = cepbench(command, *(figure if command == "run" else inputs))
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == (
        "cepbench: with NUMBA_DISABLE_JIT=1 kernels run as plain Python, and are not measured; unset it\n"
    )


def test_bench_kills_at_the_limit(cepbench, query_file, many):
    query_file.write_text("RETURN COUNT(*) PATTERN A+")
    ended = cepbench("bench", "-q", query_file, "-e", many, "-a", "sase,cogra", "--limit", "0.5", "--repeat", "0")
    assert ended.status == 0
    assert "killed after 0.5 s" in ended.out
    assert ended.out.splitlines()[3].startswith("1  cogra")


def test_where_reaches_the_events_and_the_saved_experiment(cepbench, query_file, many, tmp_path):
    saved = tmp_path / "own.yaml"
    ended = cepbench(
        "bench", "-q", query_file, "-e", many, "-a", "cogra,greta", "--where", "x IN (1, 2) AND x IS NOT NULL",
        "--repeat", "0", "--json", "--save", saved,
    )  # fmt: skip
    assert ended.status == 0
    assert json.loads(ended.out)["events"] == sum(number % 7 in (1, 2) for number in range(400))
    assert "where: x IN (1, 2) AND x IS NOT NULL" in saved.read_text()
    assert cepbench("run", saved, "--dry-run").status == 0
    many.write_text(many.read_text().replace(",A,0\n", ",A,\n"))
    query_file.write_text("RETURN SUM(A.x) PATTERN SEQ(A+, B) WITHIN 10 seconds")
    refused = cepbench("bench", "-q", query_file, "-e", many, "-a", "cogra", "--repeat", "0")
    assert refused.status == 2
    assert "leave such rows out by --where 'x IS NOT NULL OR type != \"A\"'" in refused.err
    advised = cepbench("advise", "-q", query_file, "-e", many, "-a", "cogra", "--where", "x < 0", "--budget", "2s")
    assert advised.status == 2
    assert "there are no events" in advised.err


def test_names_are_checked_before_anything_runs(cepbench, query_file, event_file):
    ended = cepbench("bench", "-q", query_file, "-e", event_file, "-a", "cogra,congra")
    assert (ended.status, ended.out) == (2, "")
    assert "did you mean cogra?" in ended.err


def test_advise_measures_a_short_stream_and_recommends(cepbench, query_file, many):
    query_file.write_text("RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 18 seconds")  # SASE constructs 2^17 in a window
    ended = cepbench("advise", "-q", query_file, "-e", many, "-a", "cogra,sase", "--budget", "30s", "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert found["recommended"] == "cogra"
    by_name = {one["algorithm"]: one for one in found["candidates"]}
    assert by_name["cogra"]["tried"] == 400
    assert by_name["cogra"]["measured"]
    answer = cepbench("query", "-q", query_file, "-e", many, "-a", "greta", "--format", "json")
    assert found["matches"] == sum(row["COUNT(*)"] for row in json.loads(answer.out))


def test_advise_warns_of_explosion(cepbench, query_file, many):
    query_file.write_text("RETURN COUNT(*) PATTERN A+")
    ended = cepbench("advise", "-q", query_file, "-e", many, "-a", "cogra,sase", "--budget", "3s")
    assert ended.status == 0
    assert "Warning: sase would construct" in ended.out
    assert "Use cogra" in ended.out


def test_nobody_can(cepbench, query_file, event_file):
    query_file.write_text("RETURN COMPLETE MATCHES PATTERN SEQ(A+, B) WITHIN 10 s")
    ended = cepbench("advise", "-q", query_file, "-e", event_file, "-a", "cogra,greta")
    assert (ended.status, ended.out) == (2, "")
    assert "cogra: query q1:" in ended.err
    assert "greta: query q1:" in ended.err


@pytest.mark.parametrize("command", ["advise", "bench"])
def test_no_events(cepbench, query_file, event_file, command):
    event_file.write_text("time,type,x\n")
    ended = cepbench(command, "-q", query_file, "-e", event_file, "-a", "cogra")
    assert (ended.status, ended.out) == (2, "")
    assert "there are no events" in ended.err


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A plug-in that counts one trend too many."""
    [counting, *_] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    right = "if at.end is not None)\n"
    assert right in counting
    file = tmp_path / "wrong.py"
    file.write_text(counting.replace(right, "if at.end is not None) + 1\n"))
    return file


def test_a_wrong_answer_is_shown_as_wrong_and_has_no_rank(cepbench, query_file, event_file, wrong):
    query_file.write_text("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 seconds")
    inputs = ("-q", query_file, "-e", event_file, "--plugin", wrong, "-a", "counting,cogra,greta", "--json")
    ended = cepbench("bench", *inputs, "--repeat", "0")
    assert ended.status == 1
    entries = {entry["algorithm"]: entry for entry in json.loads(ended.out)["entries"]}
    assert [entries[name]["status"] for name in ("cogra", "greta", "counting")] == ["ok", "ok", "wrong"]
    assert (entries["counting"]["rank"], entries["counting"]["seconds"]) == (None, None)
    ended = cepbench("advise", *inputs, "--budget", "30s")
    assert ended.status == 1
    found = json.loads(ended.out)
    assert {one["algorithm"]: one["status"] for one in found["candidates"]} == {
        "cogra": "ok", "greta": "ok", "counting": "wrong",
    }  # fmt: skip
    assert found["recommended"] in ("cogra", "greta")


def test_what_did_not_end_is_a_failure(cepbench, query_file, many):
    query_file.write_text("RETURN COUNT(*) PATTERN A+")
    ended = cepbench("bench", "-q", query_file, "-e", many, "-a", "sase", "--limit", "0.3", "--repeat", "0")
    assert ended.status == 1
    assert "killed after 0.3 s" in ended.out


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--save", "My_Queries.yaml"), "call it NAME.yaml"),
        (("--limit", "inf"), "expected a time"),
        (("--repeat", "nan"), "expected a time"),
        (("--memory", "10 MB"), "less than 256 MiB"),
        (("--plot", "own.gif"), "a drawing is called"),
    ],
)
def test_options_are_checked_before_anything_runs(cepbench, query_file, event_file, option, said):
    ended = cepbench("bench", "-q", query_file, "-e", event_file, "-a", "cogra", *option)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


def test_bench_runs_each_algorithm_in_five_processes(cepbench, query_file, event_file):
    ended = cepbench("bench", "-q", query_file, "-e", event_file, "-a", "cogra", "--repeat", "0.5s", "--json")
    assert ended.status == 0
    [entry] = json.loads(ended.out)["entries"]
    assert (entry["processes"], entry["rank"]) == (5, 1)
    assert entry["runs"] >= 5
    assert entry["low"] < entry["seconds"] < entry["high"]


def test_algorithms_of_equal_rank_are_named() -> None:
    ok = Entry("a", Status.OK, seconds=1.0, runs=1, processes=1)
    entries = ranked([ok, replace(ok, algorithm="b", seconds=1.4), replace(ok, algorithm="slow", seconds=9.0)])
    text = _ranking(Ranking(1, 1, 60.0, entries))
    assert text.endswith("\n\nNot distinguishable: a, b.")
    assert "Not distinguishable" not in _ranking(Ranking(1, 1, 60.0, entries[1:]))
