"""Bad input: one clear line, exit status 2, no traceback."""

import pytest


def refused(ended, *words):
    assert ended.status == 2
    assert ended.err.startswith("cepbench: ")
    assert ended.out == ""
    for word in words:
        assert word in ended.err


def one_line(ended, *words):
    refused(ended, *words)
    assert ended.err.count("\n") == 1


def test_unknown_command(cepbench):
    one_line(cepbench("nothing"), "nothing", "--help")


def test_unknown_option(cepbench):
    one_line(cepbench("algorithms", "--nothing"), "--nothing")


def test_missing_file(cepbench, query_file):
    one_line(cepbench("query", "-q", query_file, "-e", "nowhere.csv", "-a", "greta"), "nowhere.csv")


def test_a_query_where_its_file_is_wanted(cepbench, event_file):
    one_line(cepbench("query", "-q", "RETURN COUNT(*) PATTERN A", "-e", event_file, "-a", "greta"), "this is a query")


def test_unknown_algorithm(cepbench, query_file, event_file):
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "nothing")
    one_line(ended, "nothing", "cogra", "greta", "sase")


def test_unknown_parameter_of_an_algorithm(cepbench, query_file, event_file):
    one_line(cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta[depth=3]"), "greta", "depth")


def test_malformed_query_is_underlined(cepbench, query_file, event_file):
    query_file.write_text("RETURN COUNT(*)\nPATTERN SEQ(A, +)\n")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta")
    refused(ended, "line 2: PATTERN SEQ(A, +)")
    assert ended.err.splitlines()[-1].strip() == "^"


def test_unsupported_query(cepbench, query_file, event_file):
    query_file.write_text("RETURN MATCHES PATTERN SEQ(A, B)")
    one_line(cepbench("query", "-q", query_file, "-e", event_file, "-a", "cogra"), "cogra", "q1")


def test_an_exhaustive_search_that_does_not_end(cepbench, query_file, event_file):
    query_file.write_text("q: RETURN COUNT(*) PATTERN SEQ(A, B);\nr: RETURN COUNT(*) PATTERN SEQ(A, B)\n")
    algorithm = "sharon[optimizer=exhaustive, limit=1e-9]"
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", algorithm)
    one_line(ended, "the exhaustive optimizer needs more than the limit of 1e-09 s")


def test_query_file_that_is_no_text(cepbench, query_file, event_file):
    query_file.write_bytes(b"PATTERN \xff")
    one_line(cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta"), "UTF-8", "byte 8")


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ("type,x\nA,1\n", ["time"]),
        ("time,x\n1,1\n", ["type"]),
        ("time,type\n1,A\n,A\n", ["row 3", "time", "null"]),
        ("time,type\n-1,A\n", ["row 2", "time", "negative"]),
        ("time,type\n0.5,A\n", ["row 2", "time"]),
        ("", []),
    ],
)
def test_bad_events(cepbench, query_file, event_file, events, words):
    event_file.write_text(events)
    one_line(cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta"), str(event_file), *words)


def test_missing_attribute(cepbench, query_file, event_file):
    query_file.write_text("RETURN SUM(A.price) PATTERN A+")
    one_line(cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta"), "price")


def test_corrupt_parquet(cepbench, query_file, tmp_path):
    file = tmp_path / "events.parquet"
    file.write_bytes(b"PAR1 no more")
    one_line(cepbench("query", "-q", query_file, "-e", file, "-a", "greta"), str(file), "Parquet")


def test_unknown_time_unit(cepbench, query_file, event_file):
    one_line(cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta", "--time-unit", "weeks"), "weeks")


def test_unwritable_output(cepbench, query_file, event_file, tmp_path):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "answer.csv"
    one_line(cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta", "-o", target), str(target))


def test_unknown_stream(cepbench, tmp_path):
    one_line(cepbench("generate", "nothing", "-o", tmp_path / "s"), "nothing", "stock")


def test_unknown_parameter_of_a_stream(cepbench, tmp_path):
    one_line(cepbench("generate", "stock", "-o", tmp_path / "s", "-p", "colour=red"), "colour")


@pytest.mark.parametrize("pair", ["rate", "=5", ""])
def test_parameter_without_a_value(cepbench, tmp_path, pair):
    one_line(cepbench("generate", "stock", "-o", tmp_path / "s", "-p", pair), "key=value")


def test_seed_given_twice(cepbench, tmp_path):
    one_line(cepbench("generate", "stock", "-o", tmp_path / "s", "-p", "seed=1", "--seed", "2"), "seed", "twice")


def test_unknown_key(cepbench, tmp_path):
    one_line(cepbench("generate", "stock", "-o", tmp_path / "s", "-p", "events=10", "--key", "colour"), "colour")


def test_unknown_experiment(cepbench, tmp_path):
    one_line(cepbench("run", "nothing", "--results", tmp_path), "nothing")


@pytest.mark.parametrize("profile", ["", "huge"])
def test_unknown_profile(cepbench, profile):
    one_line(cepbench("run", "--profile", profile), "smoke", "quick", "headline", "paper")


@pytest.mark.parametrize("command", [("plot",), ("report",), ("compare", "nowhere")])
def test_missing_results(cepbench, tmp_path, command):
    name, *others = command
    options = [tmp_path, *others] if others else ["--results", tmp_path / "nowhere"]
    one_line(cepbench(name, *options), "nowhere")


def test_plot_of_an_experiment_without_cells(cepbench, tmp_path):
    one_line(cepbench("plot", "greta-13.1", "--results", tmp_path), "greta-13.1")


def test_java_missing(cepbench, query_file, event_file, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "nowhere")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta", "--master", "local[3]")
    one_line(ended, "Java", "17")


def test_unknown_master(cepbench, query_file, event_file):
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta", "--master", "nowhere")
    one_line(ended, "nowhere")
