"""All blocks of code in the documents are valid, and the tutorials give the answers that they show."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from cepbench.queries.workloads import parse_workload

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
COMPARED = ("query", "explain", "verify", "capabilities")
"""Commands of the tutorials that need neither Spark nor many seconds."""


def parse_python(text: str) -> None:
    """Raises if the text is no Python, or imports a name that cepbench does not have."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.split(".")[0] == "cepbench":
            module = importlib.import_module(node.module)
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []


def parse_events(text: str) -> None:
    header, *rows = (line.split(",") for line in text.splitlines())
    assert {"time", "type"} <= set(header)
    assert {len(row) for row in rows} == {len(header)}


def parse_shell(text: str) -> None:
    """Syntax only; tests/test_house.py looks at commands and options."""
    subprocess.run(["bash", "-n", "-c", text], check=True)


PARSERS = {
    "csv": parse_events,
    "python": parse_python,
    "sh": parse_shell,
    "sql": parse_workload,
    "text": str,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


def language(name: str, text: str) -> str:
    """Blocks without a language are queries, events or output."""
    if name:
        return name
    if re.search(r"^( *|\w+: +)PATTERN ", text, re.MULTILINE):
        return "sql"
    return "csv" if text.startswith("time,") else "text"


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_blocks_are_valid(file: Path) -> None:
    for indent, name, text in BLOCK.findall(file.read_text()):
        plain = re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)
        if "\n" in plain.strip() or name != "python":  # one line of Python may be part of a function
            PARSERS[language(name, plain)](plain)


def run(command: str, folder: Path) -> str:
    """The output of a command of the page."""
    words = command.replace("cepbench", f"{sys.executable} -m cepbench.cli.main", 1)
    done = subprocess.run(words, shell=True, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    lines = (done.stdout + done.stderr).splitlines(keepends=True)
    return "".join(line for line in lines if "compiling kernels" not in line)


def write_file(before: str, content: str, folder: Path) -> bool:
    """Writes the file that the paragraph before a block names, if it does."""
    written = re.search(r"(?:Write|to) `([\w.]+)`", before)
    if written is None:
        return False
    if written[1] == "wrong.py":  # the page shows one line of the output
        content = (folder / "recount.py").read_text().replace("list(trends)", "trends")
    if "Append" in before:
        content = (folder / written[1]).read_text() + content
    (folder / written[1]).write_text(content)
    return True


def paragraphs(page: str) -> list[tuple[str, str, str]]:
    """The paragraph before each block of a tutorial, the language of the block, and its text."""
    text = (ROOT / "docs" / "tutorial" / f"{page}.md").read_text()
    ends = [0, *(block.end() for block in BLOCK.finditer(text))]
    return [
        (text[end : block.start()].strip().rpartition("\n\n")[2], block[2], block[3])
        for end, block in zip(ends, BLOCK.finditer(text), strict=False)
    ]


@pytest.mark.full
@pytest.mark.parametrize("page", ["own-query", "own-algorithm"])
def test_tutorial_shows_what_happens(page: str, tmp_path: Path) -> None:
    if page == "own-algorithm":  # it continues with the files of the other
        for before, _, content in paragraphs("own-query"):
            write_file(before, content, tmp_path)
    printed, compared = "", 0
    for before, name, content in paragraphs(page):
        if write_file(before, content, tmp_path):
            continue
        if name == "sh":
            printed = ""
            for command in content.splitlines():
                if command.startswith(tuple(f"cepbench {subcommand} " for subcommand in COMPARED)):
                    printed = run(command, tmp_path)
        elif name == "text" and printed:
            assert content.strip() in printed
            compared += 1
    assert compared == {"own-query": 6, "own-algorithm": 3}[page]
