"""Rules for the project as a whole: import contracts, versions, commands and links of the documents."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cepbench.algorithms.external.packages import DUCKDB
from cepbench.cli.main import cepbench

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONTEXT = click.Context(cepbench)


def test_every_package_is_in_a_layer() -> None:
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    packages = sorted(file.parent.name for file in ROOT.glob("*/__init__.py"))
    assert sorted(name for layer in layers for name in layer.split(" | ")) == packages


def test_import_contracts_name_every_system() -> None:
    systems = {".".join(file.parent.parts[-2:]) for file in (ROOT / "algorithms").glob("*/*/algorithm.py")}
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract.get("containers") == ["cepbench.algorithms"]]
    [independent] = [contract["modules"] for contract in contracts if contract["type"] == "independence"]
    assert {system.partition(".")[0] for system in systems} <= {name for layer in layers for name in layer.split(" | ")}
    assert systems <= {name.removeprefix("cepbench.algorithms.") for name in independent}


def test_version_is_in_the_changelog() -> None:
    assert version("cepbench") == PROJECT["project"]["version"]
    assert f"## [{PROJECT['project']['version']}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {PROJECT['project']['version']}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_declared_dependency_is_pinned_within_its_bounds() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = {canonicalize_name(name): pin for name, pin in (line.split("==") for line in lines)}
    extras = PROJECT["project"]["optional-dependencies"]
    declared = [*PROJECT["project"]["dependencies"], *(line for extra in extras.values() for line in extra)]
    for requirement in (Requirement(line) for line in declared if line != "cepbench[docs]"):
        operators = {bound.operator for bound in requirement.specifier}
        assert operators == {">=", "<"}, f"{requirement} is not bounded on both sides"
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier


def test_duckdb_is_installed_as_the_tests_run_it() -> None:
    [declared] = [line for line in PROJECT["project"]["optional-dependencies"]["dev"] if line.startswith("duckdb")]
    assert declared == f"duckdb{DUCKDB.bounds}"
    assert DUCKDB.requirement in (ROOT / "constraints.txt").read_text().splitlines()


def test_no_file_has_a_path_of_one_machine_or_an_address_of_a_package_index() -> None:
    pattern = re.compile(r"/(home|Users|root|work)" r"/\w|/op" r"t/\w|pythonhosted" r"\.org|pypi" r"\.org|/simple" r"/")
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    suffixes = {".py", ".md", ".sh", ".toml", ".txt", ".yaml", ".sase", ".lark"}
    files = [ROOT / name for name in names if Path(name).suffix in suffixes]
    assert [file for file in files if file.is_file() and pattern.search(file.read_text())] == []


def cited_commands() -> list[str]:
    text = "\n".join(file.read_text() for file in DOCUMENTS)
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return sorted({line for line in lines if line.startswith(("cepbench ", "./"))})


def test_documents_cite_both_scripts_and_every_command() -> None:
    cited = {line.split()[line.startswith("cepbench ")] for line in cited_commands()}
    assert cited >= {"./run_tests.sh", "./run_all.sh", *cepbench.list_commands(CONTEXT)}


@pytest.mark.parametrize("line", cited_commands())
def test_cited_command_exists_with_its_options(line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] != "cepbench":
        assert (ROOT / words[0]).exists()
        if words[0] == "./run_tests.sh":
            return
        words = ["cepbench", "run", *words[1:]]
    if words[1].startswith("-"):
        return
    command = cepbench.get_command(CONTEXT, words[1])
    assert command is not None, words[1]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert [word for word in words[2:] if word.startswith("-") and word.split("=")[0] not in options | {"--help"}] == []


@pytest.mark.parametrize("file", DOCUMENTS[:2], ids=lambda file: file.name)
def test_links_of_documents_outside_of_the_site_lead_somewhere(file: Path) -> None:
    """`mkdocs build --strict` checks those of the site."""
    links = re.findall(r"\]\(([^)#\s]*)[^)]*\)", file.read_text())
    assert [path for path in links if "://" not in path and not (file.parent / path).exists()] == []


def test_module_is_runnable_from_any_directory(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cepbench.cli.main", "run", "greta-13.1", "--dry-run"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "greta-13.1" in result.stdout
