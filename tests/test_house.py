"""What holds for the project as a whole: import contracts, versions, and that the documents are true."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = sorted(file.parent.name for file in ROOT.glob("*/__init__.py"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = [
    "algorithms",
    "capabilities",
    "datasets",
    "experiments",
    "query",
    "stream",
    "generate",
    "run",
    "plot",
    "report",
    "compare",
    "pack",
    "review",
    "verify",
]


def tracked(*suffixes: str) -> list[Path]:
    folders = [*PACKAGES, "tests", "docs", "benchmarks", "scripts", ".ci"]
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.is_file()]
    files += [file for file in ROOT.iterdir() if file.is_file()]
    return sorted(file for file in files if file.suffix in suffixes and "__pycache__" not in file.parts)


def test_every_package_has_a_floor() -> None:
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    assert sorted(name for layer in layers for name in layer.split(" | ")) == PACKAGES


def test_import_contracts_name_every_system() -> None:
    systems = {".".join(file.parent.parts[-2:]) for file in (ROOT / "algorithms").glob("*/*/algorithm.py")}
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    [layers] = [found["layers"] for found in contracts if found.get("containers") == ["cepbench.algorithms"]]
    [independent] = [found["modules"] for found in contracts if found["type"] == "independence"]
    assert {system.partition(".")[0] for system in systems} <= {name for layer in layers for name in layer.split(" | ")}
    assert systems <= {name.removeprefix("cepbench.algorithms.") for name in independent}


def test_every_subfolder_with_code_is_a_package() -> None:
    folders = {file.parent for name in PACKAGES for file in (ROOT / name).rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_version_is_in_the_changelog() -> None:
    assert version("cepbench") == PROJECT["project"]["version"]
    assert f"## [{PROJECT['project']['version']}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {PROJECT['project']['version']}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_declared_dependency_is_pinned_within_its_bounds() -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = {canonicalize_name(name): pin for name, pin in (line.split("==") for line in lines)}
    extras = PROJECT["project"]["optional-dependencies"]
    declared = [*PROJECT["project"]["dependencies"], *(line for extra in extras.values() for line in extra)]
    for requirement in (Requirement(line) for line in declared if line != "cepbench[docs]"):
        operators = {bound.operator for bound in requirement.specifier}
        assert operators == {">=", "<"}, f"{requirement} is not bounded on both sides"
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier


def test_pyspark_is_named_in_the_pipeline_only() -> None:
    imports = re.compile(r"^\s*(import|from) pyspark", re.MULTILINE)
    files = [file for name in PACKAGES if name != "pipeline" for file in (ROOT / name).rglob("*.py")]
    assert [file for file in files if imports.search(file.read_text())] == []


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("a marker of unfinished work", r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"),
        ("a path of one machine", r"/(home|Users|root|work)" r"/\w|/op" r"t/\w"),
        ("a debugger", r"\b(breakpoint\(" r"\)|pdb\.set" r"_trace)"),
        ("a class name without a meaning", r"^\s*class \w*(Manager|Utils?|Helper|Factory)" r"\b"),
        ("an address of a package index", r"pythonhosted" r"\.org|pypi" r"\.org|/simple" r"/"),
    ],
)
def test_no_file_holds(what: str, pattern: str) -> None:
    texts = {
        file: file.read_text() for file in tracked(".py", ".md", ".sh", ".toml", ".txt", ".yaml", ".sase", ".lark")
    }
    found = {str(file.relative_to(ROOT)): re.search(pattern, text, re.MULTILINE) for file, text in texts.items()}
    assert {file: match.group() for file, match in found.items() if match} == {}, what


@pytest.mark.parametrize("script", ["run_tests.sh", "run_all.sh", "scripts/setup.sh", ".ci/run"])
def test_scripts_are_valid_and_strict(script: str) -> None:
    path = ROOT / script
    subprocess.run(["bash", "-n", str(path)], check=True)
    if script != "scripts/setup.sh":
        assert "set -euo pipefail" in path.read_text()
        assert path.stat().st_mode & 0o111


def cited_commands() -> list[str]:
    text = "\n".join(file.read_text() for file in DOCUMENTS)
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return sorted({line for line in lines if line.startswith(("cepbench ", "./"))})


def test_documents_cite_both_scripts_and_every_command() -> None:
    cited = cited_commands()
    assert any(line.startswith("./run_tests.sh") for line in cited)
    assert any(line.startswith("./run_all.sh") for line in cited)
    assert {line.split()[1] for line in cited if line.startswith("cepbench ")} >= set(COMMANDS)


@pytest.mark.parametrize("line", cited_commands())
def test_cited_command_exists_with_its_options(line: str) -> None:
    import click

    from cepbench.cli.main import cepbench

    words = shlex.split(line, comments=True)
    if words[0] != "cepbench":
        assert (ROOT / words[0]).exists()
        if words[0] == "./run_tests.sh":
            return
        words = ["cepbench", "run", *(word for word in words[1:] if word != "--flink")]
    if words[1].startswith("-"):
        return
    command = cepbench.get_command(click.Context(cepbench), words[1])
    assert command is not None, words[1]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert [word for word in words[2:] if word.startswith("-") and word.split("=")[0] not in options | {"--help"}] == []


def anchors(file: Path) -> set[str]:
    """The headings of a document as they stand in addresses."""
    text = re.sub(r"^```.*?^```", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = (
        re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    )
    return {re.sub(r"[\s-]+", "-", heading) for heading in headings}


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(file: Path) -> None:
    missing = []
    for path, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)[^)]*\)", file.read_text()):
        target = file.parent / path if path else file
        if "://" not in path and not (target.exists() and (not anchor or anchor in anchors(target))):
            missing.append(f"{path}#{anchor}")
    assert missing == []


@pytest.mark.parametrize("command", [["experiments"], ["run", "greta-13.1", "--dry-run"]], ids=" ".join)
def test_module_is_runnable_from_any_directory(command: list[str], tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "cepbench.cli.main", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "greta-13.1" in result.stdout
