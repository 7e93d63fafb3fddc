import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cepbench.events.errors import InputError
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Event, Not, Seq
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.queries.workloads import load_workload, parse_with_sources, parse_workload

ROOT = Path(__file__).parents[2]
BUNDLED = sorted((ROOT / "queries" / "workloads").glob("*.sase"))


def names(text: str) -> list[str]:
    return [query.name for query in parse_workload(text)]


def test_separators_and_names() -> None:
    text = "a\nPATTERN A\n\nb: RETURN COUNT(*)\nPATTERN B\n   \nPATTERN C; d :\nPATTERN D;;\n\n\nPATTERN E;"
    for ends in ("\n", "\r\n", "\r"):
        queries = parse_workload(text.replace("\n", ends))
        assert [query.name for query in queries] == ["a", "b", "q3", "d", "q5"]
        assert [query.pattern for query in queries] == [Event(name) for name in "ABCDE"]


def test_comments() -> None:
    text = """-- a comment-only block; no query

    q1 -- named
    PATTERN SEQ(A, -- first; not an end

        -- this block is no query; either
    """
    with pytest.raises(QueryError, match="ends too early"):
        parse_workload(text)
    assert names("-- only\n-- comments\n\nPATTERN A\n-- between\nWHERE A.x = ';' -- end\n\n-- the end") == ["q1"]


def test_default_names_keep_out_of_the_way() -> None:
    assert names("PATTERN A; q1: PATTERN B; q3: PATTERN C; PATTERN D") == ["q2", "q1", "q3", "q4"]


def test_parts_of_a_query_as_written() -> None:
    text = """PATTERN A

        second: PATTERN SEQ(A  a, NOT  SEQ(N , M) , B+ b)  -- pairs
        where [g]  AND a.x*2 -- doubled
              < b.x and (b.s = 'two  blanks')
        group_by h
        within 10  sec"""
    _, (query, source) = parse_with_sources(text)
    assert (query.name, query) == ("second", parse_workload(text)[1])
    predicates = source.clauses["where"].children
    assert [node.value for node in predicates] == list(query.predicates)
    assert [source.written(node) for node in predicates] == ["[g]", "a.x*2 < b.x", "(b.s = 'two  blanks')"]
    [negated] = [node for node in source.clauses["pattern"].nodes() if isinstance(node.value, Not)]
    assert source.written(negated) == "NOT  SEQ(N , M)"
    assert [source.written(source.clauses[name]) for name in ("group by", "within")] == ["group_by h", "within 10  sec"]


def test_a_name_given_twice() -> None:
    with pytest.raises(QueryError) as caught:
        parse_workload("q1\nPATTERN A\n\n`q1`: PATTERN B")
    assert str(caught.value) == "the name 'q1' is given to two queries\nline 4: `q1`: PATTERN B\n        ^^^^"


@pytest.mark.parametrize("text", ["", " \n\n ", ";;", "-- nothing\n;"])
def test_no_query(text: str) -> None:
    with pytest.raises(QueryError, match="the workload contains no query"):
        parse_workload(text)


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "w.sase"
    path.write_text("q1\nPATTERN A\n\n-- second\nq2\nPATTERN A\nWHERE B.x = 1\n")
    with pytest.raises(QueryError) as caught:
        load_workload(path)
    assert str(caught.value) == (
        f"{path}: unknown name 'B'; the pattern has A\n"
        "line 7: WHERE B.x = 1\n"
        "              ^^^"
    )  # fmt: skip


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"PATTERN Stra\xdfe")
    with pytest.raises(InputError, match="not UTF-8 text"):
        load_workload(tmp_path / "latin")
    with pytest.raises(InputError, match="missing: cannot read the workload: No such file"):
        load_workload(tmp_path / "missing")
    with pytest.raises(InputError, match="Is a directory"):
        load_workload(tmp_path)
    with pytest.raises(InputError, match="cannot read"):
        load_workload("a\0b")


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.stem)
def test_bundled_workloads(file: Path) -> None:
    for query in load_workload(file):
        assert parse_query(to_text(query)) == query


def test_queries_of_bundled_workloads() -> None:
    workloads = {file.stem: load_workload(file) for file in BUNDLED}
    for name in ("stock", "cluster", "linear-road"):  # a query of dissertation 13.1 and its nine variations
        assert len(workloads[name]) == 10
    assert [query.name for query in workloads["traffic"]] == [f"q{number}" for number in range(1, 8)]
    assert workloads["traffic"][4].pattern == Seq((Event("MainSt"), Event("StateSt")))


def test_the_grammar_is_found_in_a_zip(tmp_path: Path) -> None:
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for package in ("events", "queries"):
            for path in (ROOT / package).rglob("*"):
                if path.suffix in (".py", ".lark"):
                    target.write(path, path.relative_to(ROOT))
    code = "from queries.workloads import parse_workload; print(len(parse_workload('RETURN COUNT(*) PATTERN A')))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(archive)}, capture_output=True
    )
    assert done.stderr == b""
    assert int(done.stdout) == 1
