"""Examples in the documents are true: the algorithms work, queries parse, findings have the numbers they say."""

import doctest
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import yaml
from pydantic import TypeAdapter

import cepbench
from cepbench import evaluate
from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import ALGORITHMS
from cepbench.cli.tables import answer_text
from cepbench.events.statistics import Statistics
from cepbench.experiments.claims import Cause, Claim, Effect, Limit
from cepbench.experiments.overlay import published
from cepbench.experiments.planning import plan
from cepbench.experiments.schema import Plot, SweptPanel
from cepbench.metrics.figure import Panel
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.queries.workloads import parse_workload
from cepbench.verification.evaluators import OneKey, subject_of
from cepbench.verification.random_cases import split
from cepbench.verification.verify import verify_subject
from tests.contract.streams import batch
from tests.scripts import script_module

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FOLDERS = sorted(file.parent.name for file in ROOT.glob("*/__init__.py"))


GUIDE = (DOCS / "adding-an-algorithm.md").read_text()
BLOCKS = [block for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL) if "\nclass " in block]
EXAMPLES = dict(zip(("counting", "prefixes"), BLOCKS, strict=True))


def algorithm_of(code: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> Algorithm:
    """The algorithm that a file of the guide defines, as a module of its own."""
    file.write_text(code)
    spec = importlib.util.spec_from_file_location(f"algorithms.{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    [kind] = [value for value in vars(module).values() if isinstance(value, type) and "paper" in vars(value)]
    algorithm: Algorithm = kind()
    return algorithm


@pytest.fixture(scope="module", params=EXAMPLES)
def documented(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Algorithm]:
    """The algorithms of the guide, compiled once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        file = tmp_path_factory.mktemp("guide") / f"{request.param}.py"
        algorithm = algorithm_of(EXAMPLES[request.param], file, patch)
        assert algorithm.name == request.param
        yield algorithm


@pytest.mark.full
def test_documented_algorithm_gives_right_answers(documented: Algorithm) -> None:
    report = verify_subject(subject_of(documented), cases=30, seed=1)
    assert report.clean, str(report)
    assert report.with_rows > 5


@pytest.mark.full
def test_documented_algorithm_reports_its_largest_state(documented: Algorithm) -> None:
    events = batch([{"time": time, "type": "AB"[time % 2]} for time in range(40)])
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 7 s SLIDE 2 s")
    plan = documented.plan(compile_workload([query], events.schema), Statistics())
    whole, single = OneKey(documented.operator(plan)), OneKey(documented.operator(plan))
    whole.process(events)
    sizes = []
    for piece in split(events, range(1, len(events))):
        single.process(piece)
        sizes.append(single.state().bytes)
    assert whole.state().bytes == max(sizes) > whole.state().bytes


def test_query_of_the_language_page_parses() -> None:
    blocks = re.findall(r"```sql\n(q1:.*?)```", (DOCS / "query-language.md").read_text(), re.DOTALL)
    assert [query.name for block in blocks for query in parse_workload(block)] == ["q1"]


def test_experiment_of_the_page_can_be_planned(tmp_path: Path) -> None:
    least_text, whole, in_file, variants, labels, several, claims, causes, panel, cures, overlaid = re.findall(
        r"```yaml\n(.*?)```", (DOCS / "experiments.md").read_text(), re.DOTALL
    )
    (tmp_path / "own.sase").write_text("PATTERN Stock WITHIN ${within} s")
    for text, points in ((in_file, 2), (variants, 6), (labels, 6)):
        document = {
            **yaml.safe_load(least_text),
            **yaml.safe_load(text),
            "algorithms": ["cogra"],
            "measurements": ["time"],
        }
        document["plot"] = {
            "x": {"name": "within", "label": "Window"},
            "panels": [{"metric": "throughput", "label": "T"}],
        }
        series = next((axis for axis in document["axes"] if axis != "within"), None)
        document["plot"] |= {} if series is None else {"series": {"name": series, "label": series}}
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(document))
        [variant] = plan([str(tmp_path / "mine.yaml")])
        assert len({str(cell.point) for cell in variant.cells}) == points
    planned = {**yaml.safe_load(least_text), **yaml.safe_load(several), "axes": {"within": [5]}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(planned))
    [with_plans] = plan([str(tmp_path / "mine.yaml")])
    assert [len(cell.configuration["plans"]) for cell in with_plans.cells] == [20]
    kinds = [type(TypeAdapter(Claim).validate_python(claim)) for claim in yaml.safe_load(claims)["claims"]]
    assert kinds == [Effect, Effect, Effect, Limit]
    shown = [Cause.model_validate(entry["cause"]).counterfactuals for entry in yaml.safe_load(causes)]
    assert shown == [("mode",), ("grid",), ("law",), ("arithmetic",)]
    reported = yaml.safe_load(cures)["plot"]
    assert Plot.model_validate({**reported, "x": {"name": "rate", "label": "Rate"}}).panels[0].where == {"queries": 4}
    file = tmp_path / "shared-1.1.yaml"
    file.write_text(whole)
    [planned] = plan([str(file)])
    (tmp_path / "own.yaml").write_text(least_text)
    [least] = plan([str(tmp_path / "own.yaml")])
    assert {(cell.algorithm, cell.point["within"]) for cell in least.cells} == {
        (name, within) for name in ("cogra", "greta") for within in (5, 10)
    }
    assert len({str(cell.point) for cell in planned.cells}) == 7
    assert {cell.algorithm for cell in planned.cells if cell.point["length"] != 3} == {"cogra"}
    assert Panel.model_validate(yaml.safe_load(panel)).parts
    [curve] = SweptPanel.model_validate(yaml.safe_load(overlaid)[0]).overlay
    assert len(published(curve).points) == 10


def findings() -> list[tuple[str, str, int]]:
    """Query, stream and right answer of every row of docs/findings.md; the heading of the table has the semantics."""
    rows = []
    semantics = ""
    for line in (DOCS / "findings.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if heading := re.fullmatch(r"query \((\w+)\)", cells[0]):
            semantics, header = heading[1], cells
        elif cells[0].startswith("`COUNT(*)`"):
            pattern, *where = re.findall(r"`([^`]+)`", cells[0])[1:]
            text = f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics} " + "".join(f"WHERE {p}" for p in where)
            column = header.index("right") if "right" in header else header.index("Definition 2.7")
            rows.append((text, cells[1], int(cells[column])))
    return rows


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
    assert len(findings()) == 14


@pytest.mark.parametrize("algorithm", ["cogra", "greta", "sase"])
def test_the_readme_shows_a_right_answer(algorithm: str, tmp_path: Path) -> None:
    blocks = [block for _, block in re.findall(r"```(\w*)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)]
    events, query, shown = (
        next(block for block in blocks if block.startswith(start)) for start in ("time,", "RETURN", "query ")
    )
    (tmp_path / "events.csv").write_text(events)
    assert answer_text(evaluate(query, tmp_path / "events.csv", algorithm), "table") == shown


@pytest.mark.parametrize("reported", [cepbench, evaluate, cepbench.make], ids=["cepbench", "evaluate", "make"])
def test_examples_of_help_are_right(reported: object) -> None:
    [example] = doctest.DocTestFinder(recurse=False).find(reported, globs={})
    assert example.examples
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_help_is_there_for_all_that_is_public() -> None:
    for name in cepbench.__all__:
        words = inspect.getdoc(getattr(cepbench, name)) or ""
        assert f"- `{name}`" in (cepbench.__doc__ or "") or name in (cepbench.__doc__ or "")
        assert ">>> from cepbench import" in words, name
        for parameter in inspect.signature(getattr(cepbench, name)).parameters:
            documented = re.search(rf"`{parameter}`|^(\w+, )*{parameter}(, \w+)*$", words, re.MULTILINE)
            assert documented or name == "make", f"{name}: {parameter}"


SOURCES = [
    file
    for folder in (*FOLDERS, "tests", "benchmarks", "scripts", ".ci")
    for file in (ROOT / folder).rglob("*")
    if file.is_file() and (file.suffix in {".py", ".lark", ".yaml", ".sase", ".sh"} or folder == ".ci")
] + [file for file in ROOT.iterdir() if file.suffix in {".py", ".toml", ".sh"}]
CITED = re.compile(r"docs/([\w/-]+\.md)(?:,\s+(?:rules?\s+(\d)(?:\s+to\s+(\d))?|([A-Z][\w ]*)))?")


def citations() -> set[tuple[str, str, str]]:
    """File, cited document, and the rule or heading (empty if none) of every citation in code and tests."""
    cited = set()
    for file in SOURCES:
        text = re.sub(r"\s*\n[\s#/]*", " ", file.read_text())
        for document, first, last, heading in CITED.findall(text):
            for place in (*first, *last) or (heading,):
                cited.add((str(file.relative_to(ROOT)), document, place))
    return cited


def test_what_code_cites_of_the_documents_exists() -> None:
    cited = citations()
    assert {document for _, document, _ in cited} >= {"semantics.md", "architecture.md", "query-language.md"}
    for file, document, place in sorted(cited):
        text = (DOCS / document).read_text()
        heading = rf"^{place}\. \*\*" if place.isdigit() else rf"^##+ {place}$"
        assert not place or re.search(heading, text, re.MULTILINE), f"{file} cites {document}, {place}"


def test_rules_are_numbered_without_a_gap() -> None:
    numbers = re.findall(r"^(\d)\. \*\*", (DOCS / "semantics.md").read_text(), re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


@pytest.mark.parametrize(
    "file", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")], ids=lambda f: f.name
)
def test_what_documents_name_exists(file: Path) -> None:
    """Files and folders of code, with `{a,b}` for both; those of the guide's examples are yet to be written."""
    names = re.findall(rf"`((?:{'|'.join(FOLDERS)}|tests)/[\w/.{{}},-]*)`", file.read_text())
    missing = []
    for name in names:
        before, _, tail = name.partition("{")
        inside, _, after = tail.partition("}")
        missing += [
            path for path in (before + middle + after for middle in inside.split(",")) if not (ROOT / path).exists()
        ]
    assert set(missing) <= {*(f"algorithms/{name}.py" for name in EXAMPLES), "tests/test_contract.py"}


def test_the_page_of_figures_lists_all_experiments() -> None:
    """`python scripts/site.py` writes it."""
    assert "\n\n".join(script_module("site").tables()) in (DOCS / "figures.md").read_text()
