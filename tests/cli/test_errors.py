"""Bad input: one clear line, exit status 2, no traceback. What an error says is tested where it is raised."""

import shlex

import pytest

QUERY = "RETURN COUNT(*) PATTERN SEQ(A+, B)"
EVENTS = "time,type,x\n1,A,1\n2,B,2\n"
CASES = {
    "nothing": ["nothing", "--help"],
    "algorithms --nothing": ["--nothing"],
    "query -q q.sase -e nowhere.csv -a greta": ["nowhere.csv"],
    "query -q 'RETURN COUNT(*) PATTERN A' -e e.csv -a greta": ["this is a query"],
    "query -q q.sase -e e.csv -a nothing": ["nothing", "cogra", "greta", "sase"],
    "query -q q.sase -e e.csv -a greta[depth=3]": ["greta", "depth"],
    "query -q q.sase -e e.csv -a greta --time-unit weeks": ["weeks"],
    "query -q q.sase -e e.csv -a greta -o e.csv/answer.csv": ["e.csv/answer.csv"],
    "query -q q.sase -e e.csv -a greta --master nowhere": ["nowhere"],
    "query -q matches.sase -e e.csv -a cogra": ["cogra", "q1"],
    "query -q price.sase -e e.csv -a cogra": ["price"],
    "query -q bytes.sase -e e.csv -a cogra": ["UTF-8", "byte 8"],
    "query -q two.sase -e e.csv -a 'sharon[optimizer=exhaustive, limit=1e-9]'": [
        "the exhaustive optimizer needs more than the limit of 1e-09 s"
    ],
    "query -q q.sase -e untimed.csv -a greta": ["untimed.csv", "time"],
    "query -q q.sase -e early.csv -a greta": ["early.csv", "row 2", "negative"],
    "query -q q.sase -e empty.csv -a greta": ["empty.csv"],
    "query -q q.sase -e broken.parquet -a greta": ["broken.parquet", "Parquet"],
    "generate nothing -o s": ["nothing", "stock"],
    "generate stock -o s -p colour=red": ["colour"],
    "generate stock -o s -p rate": ["key=value"],
    "generate stock -o s -p =5": ["key=value"],
    "generate stock -o s -p ''": ["key=value"],
    "generate stock -o s -p seed=1 --seed 2": ["seed", "twice"],
    "generate stock -o s -p events=10 --key colour": ["colour"],
    "run nothing --results .": ["nothing"],
    "run --profile huge": ["smoke", "quick", "headline", "paper"],
    "run --profile ''": ["smoke", "quick", "headline", "paper"],
    "plot --results nowhere": ["nowhere"],
    "plot greta-13.1 --results .": ["greta-13.1"],
    "report --results nowhere": ["nowhere"],
    "compare . nowhere": ["nowhere"],
}
FILES = {
    "q.sase": QUERY,
    "two.sase": f"q: {QUERY};\nr: {QUERY}".replace("+", ""),
    "matches.sase": "RETURN MATCHES PATTERN SEQ(A, B)",
    "price.sase": "RETURN SUM(A.price) PATTERN A+",
    "bytes.sase": b"PATTERN \xff",
    "e.csv": EVENTS,
    "untimed.csv": "type,x\nA,1\n",
    "early.csv": "time,type\n-1,A\n",
    "empty.csv": "",
    "broken.parquet": b"PAR1 no more",
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("line", CASES)
def test_bad_input_is_one_line(cepbench, files, line):
    ended = cepbench(*shlex.split(line))
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith("cepbench: ")
    assert [word for word in CASES[line] if word not in ended.err] == []


def test_malformed_query_is_underlined(cepbench, query_file, event_file):
    query_file.write_text("RETURN COUNT(*)\nPATTERN SEQ(A, +)\n")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta")
    assert ended.status == 2
    assert "line 2: PATTERN SEQ(A, +)" in ended.err
    assert ended.err.splitlines()[-1].strip() == "^"


def test_java_missing(cepbench, query_file, event_file, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "nowhere")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "greta", "--master", "local[3]")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "17" in ended.err
