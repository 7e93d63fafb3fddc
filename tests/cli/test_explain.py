def test_text(cepbench, query_file, event_file):
    query_file.write_text("rise: PATTERN SEQ(A a, B b) WHERE a.x < b.x\nWITHIN 1 s SLIDE 1 s\n\nPATTERN A, B")
    ended = cepbench("explain", "-q", query_file, "-e", event_file)
    assert (ended.status, ended.err) == (0, "")
    first, second = ended.out.split("\n\n")
    assert first.splitlines()[:2] == [
        "rise: no match in 5 events; there is one",
        "  with WITHIN 2 s SLIDE 1 s instead of WITHIN 1 s SLIDE 1 s: "
        "A a = event 3 (time 12, x 1), B b = event 4 (time 13, x 2)",
    ]
    assert second.startswith("q2 has matches\n  A = event 0 (time 1), B = event 2 (time 3)\n")


def test_options_of_files(cepbench, query_file, tmp_path):
    query_file.write_text("PATTERN A a WHERE a.x > 3 WITHIN 5 s")
    (tmp_path / "own.csv").write_text("t;kind;x\n1000;A;1\n2000;A;9\n")
    ended = cepbench(
        "explain", "-q", query_file, "-e", tmp_path / "own.csv", "--time-column", "t", "--type-column", "kind",
        "--time-unit", "ms", "--where", "x < 5", "--first", "10",
    )  # fmt: skip
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[1] == "  without a.x > 3: A a = event 0 (time 1000, x 1)"


def test_wrong_input_is_one_line(cepbench, query_file, event_file):
    for text, message in (
        ("PATTERN A WITHIN 5 ms", "whole number"),
        ("PATTERN A a WHERE a.y > 1", "y"),
    ):
        query_file.write_text(text)
        ended = cepbench("explain", "-q", query_file, "-e", event_file)
        assert (ended.status, ended.out) == (2, "")
        assert message in ended.err.splitlines()[0]
    for options in (("--first", "0"), ("-a", "cogra")):
        ended = cepbench("explain", "-q", query_file, "-e", event_file, *options)
        assert (ended.status, ended.out, len(ended.err.splitlines())) == (2, "", 1)
