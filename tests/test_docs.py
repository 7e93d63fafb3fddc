"""What the documents show is true: the example algorithm works, queries parse, findings have the numbers they say."""

import importlib.util
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from cepbench import evaluate
from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import ALGORITHMS
from cepbench.experiments.sweep import plan
from cepbench.metrics.figure import Panel
from cepbench.queries.workloads import parse_workload
from cepbench.verification.evaluators import subject_of
from cepbench.verification.verify import verify_subject

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Algorithm]:
    """The algorithm that docs/adding-an-algorithm.md writes out, as a module of its own."""
    [code] = re.findall(r"```python\n(.*?)```", (DOCS / "adding-an-algorithm.md").read_text(), re.DOTALL)
    file = tmp_path / "counting.py"
    file.write_text(code)
    spec = importlib.util.spec_from_file_location("algorithms.counting", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "algorithms.counting", module)
    spec.loader.exec_module(module)
    kind: type[Algorithm] = module.Counting
    return kind


def test_documented_algorithm_gives_right_answers(counting: type[Algorithm]) -> None:
    report = verify_subject(subject_of(counting()), cases=30, seed=1)
    assert report.clean, str(report)
    assert report.with_rows > 5


def test_query_of_the_language_page_parses() -> None:
    blocks = re.findall(r"```\n(q1:.*?)```", (DOCS / "query-language.md").read_text(), re.DOTALL)
    assert [query.name for block in blocks for query in parse_workload(block)] == ["q1"]


def test_experiment_of_the_page_can_be_planned(tmp_path: Path) -> None:
    whole, panel = re.findall(r"```yaml\n(.*?)```", (DOCS / "experiments.md").read_text(), re.DOTALL)
    file = tmp_path / "shared-1.1.yaml"
    file.write_text(whole)
    [planned] = plan([str(file)])
    assert len({str(cell.point) for cell in planned.cells}) == 7
    assert {cell.algorithm for cell in planned.cells if cell.point["length"] != 3} == {"cogra"}
    assert Panel.model_validate(yaml.safe_load(panel)).parts


def findings() -> list[tuple[str, str, int]]:
    """Query, stream and right answer of every row of docs/findings.md; the heading of the table has the semantics."""
    found = []
    semantics = ""
    for line in (DOCS / "findings.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if heading := re.fullmatch(r"query \((\w+)\)", cells[0]):
            semantics, header = heading[1], cells
        elif cells[0].startswith("`COUNT(*)`"):
            pattern, *where = re.findall(r"`([^`]+)`", cells[0])[1:]
            text = f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics} " + "".join(f"WHERE {p}" for p in where)
            column = header.index("right") if "right" in header else header.index("Definition 2.7")
            found.append((text, cells[1], int(cells[column])))
    return found


@pytest.mark.parametrize(("text", "stream", "right"), findings())
def test_findings_have_the_numbers_they_say(text: str, stream: str, right: int) -> None:
    events = [
        {"time": int(time), "type": kind.upper(), "x": int(x or 0)}
        for kind, time, x in re.findall(r"([a-z])(\d)(?: \(x = (\d)\))?", stream)
    ]
    [query] = parse_workload(text)
    assert [row["COUNT(*)"] for row in answer(query, events)] == [right]
    supporting = [kind.name for kind in ALGORITHMS if kind().unsupported(query) is None]
    assert len(supporting) >= 2
    for algorithm in supporting:
        assert evaluate(text, pd.DataFrame(events), algorithm)["COUNT(*)"].tolist() == [right]


def test_all_findings_are_read() -> None:
    assert len(findings()) == 8
