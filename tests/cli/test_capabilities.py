import csv
import io
import json

from cepbench.cli.capabilities import BEGIN, END
from cepbench.verification.language_suite import SUITE


def test_a_table_with_the_reasons(cepbench):
    ended = cepbench("capabilities", "greta", "sharon[max_length=4]")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].split() == ["greta", "sharon[max_length=4]"]
    [row] = [line.split() for line in lines if line.startswith("MATCHES  ")]
    assert row == ["MATCHES", "–", "–"]
    assert any("cannot return matches" in line for line in lines[lines.index("greta refuses") :])


def test_rows_for_programs(cepbench):
    rows = json.loads(cepbench("capabilities", "greta", "sase", "--format", "json").out)
    assert len(rows) == 2 * len(SUITE)
    [refused] = [row for row in rows if row["name"] == "contiguous" and row["algorithm"] == "greta"]
    assert refused["supported"] == "no"
    assert "Table 19.1" in refused["reason"]
    assert list(csv.DictReader(io.StringIO(cepbench("capabilities", "greta", "sase", "--format", "csv").out))) == [
        {name: value or "" for name, value in row.items()} for row in rows
    ]


def test_own_queries(cepbench, tmp_path):
    (tmp_path / "own.sase").write_text(
        "plain: RETURN COUNT(*) PATTERN SEQ(A, B)\n\nq7: PATTERN SEQ(A, B) WITHIN 3 s PER MATCH"
    )
    ended = cepbench("capabilities", "mcep", "cogra", "-q", tmp_path / "own.sase")
    assert [line.split() for line in ended.out.splitlines()[1:3]] == [["plain", "–", "yes"], ["q7", "yes", "–"]]
    (tmp_path / "own.sase").write_text("RETURN COUNT(* PATTERN A")
    wrong = cepbench("capabilities", "-q", tmp_path / "own.sase")
    assert wrong.status == 2
    assert "own.sase" in wrong.err


def test_only_the_marked_part_of_a_page_is_written(cepbench, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n{BEGIN}\nold\n{END}\nafter\n")
    for _ in range(2):
        assert cepbench("capabilities", "sase", "--format", "markdown", "-o", page).status == 0
    text = page.read_text()
    assert text.startswith(f"# Before\n{BEGIN}\n\n|  | `sase` |\n")
    assert text.endswith(f"\n\n{END}\nafter\n")
    assert "old" not in text
    assert cepbench("capabilities", "sase", "--format", "markdown", "-o", tmp_path / "new.md").status == 0
    assert (tmp_path / "new.md").read_text().startswith("|  | `sase` |")


def test_unknown_algorithms(cepbench):
    ended = cepbench("capabilities", "nothing")
    assert ended.status == 2
    assert "unknown algorithm 'nothing'" in ended.err
