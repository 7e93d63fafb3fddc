"""Finds small changes of the code that no test notices: applies a sample of them one by one, and runs tests.

Run by hand: .venv/bin/python scripts/mutants.py --sample 10 [--seed 1] [--tests "tests/contract -k greta"] [PATH ...]

PATH is a file or a folder; by default the algorithms and queries. Without --tests, those of the mirrored folder run. A
change that survives may be equivalent to the code as it is. Tests that do not end within five minutes have noticed it.
"""

from __future__ import annotations

import ast
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from numba.core.caching import _CacheLocator

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = ("algorithms", "queries")
SECONDS = 300
Change = tuple[Path, int, int, str]
"""A file, where the replaced text begins and ends in it, and its replacement."""

BORDERS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
SWAPPED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


@click.command()
@click.argument("paths", nargs=-1)
@click.option("--sample", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--seed", default="1", show_default=True, help="Any text; the draw depends on it and on the code.")
@click.option("--tests", help="Arguments of pytest in place of the nearest tests.")
def main(paths: tuple[str, ...], sample: int, seed: str, tests: str | None) -> None:
    """Applies a sample of changes one by one, and reports which of them no test notices."""
    command = ["git", "ls-files", *(paths or DEFAULT)]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [ROOT / name for name in names if name.endswith(".py")]
    changes = [change for file in files for change in changes_of(file)]
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder) / "cepbench")
        for file, start, end, new in random.Random(seed).sample(changes, min(sample, len(changes))):
            name, text = file.relative_to(ROOT), file.read_text(encoding="utf-8")
            (copy / name).write_text(text[:start] + new + text[end:], encoding="utf-8")
            failed = failing(copy, shlex.split(tests) if tests else nearest(name))
            (copy / name).write_text(text, encoding="utf-8")
            line = text.count("\n", 0, start) + 1
            click.echo(f"{failed or 'SURVIVED'}  {name}:{line} {text[start:end]!r} -> {new!r}")


def changes_of(file: Path) -> Iterator[Change]:
    """Borders of comparisons, numbers by one, `and` and `or`, minimum and maximum, and calls without a result."""
    text = file.read_text(encoding="utf-8")
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    encoded = text.encode()

    def place(line: int, column: int) -> int:
        return len(encoded[: lines[line - 1] + column].decode())

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)

    def between(left: ast.expr, right: ast.expr, sign: str, new: str) -> Iterator[Change]:
        begin, end = span(left)[1], span(right)[0]
        if text[begin:end].count(sign) == 1:
            start = text.index(sign, begin)
            yield file, start, start + len(sign), new

    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Compare(left, [operator], [right]) if type(operator) in SIGNS:
                yield from between(left, right, SIGNS[type(operator)], BORDERS[type(operator)])
            case ast.BoolOp(operator, [left, right, *_]):
                sign, new = (" and ", " or ") if isinstance(operator, ast.And) else (" or ", " and ")
                yield from between(left, right, sign, new)
            case ast.BinOp(_, ast.Add() | ast.Sub(), ast.Constant(value) as number) if type(value) is int:
                yield file, *span(number), str(value + 1)
            case ast.Call(ast.Name(name) as function) if name in SWAPPED:
                yield file, *span(function), SWAPPED[name]
            case ast.Expr(ast.Call()):
                yield file, *span(node), "pass"


def copied(folder: Path) -> Path:
    """A copy of the project's files, with its compiled kernels, which Numba keeps by the path of their source."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for kernels in (ROOT / "algorithms").rglob("__pycache__/*/*"):
        if kernels.is_dir():
            target = folder / kernels.relative_to(ROOT).parent
            source = folder / kernels.relative_to(ROOT).parent.parent.parent / "kernel.py"
            shutil.copytree(kernels, target / _CacheLocator.get_suitable_cache_subpath(str(source)))
    return folder


def nearest(name: Path) -> list[str]:
    """The tests of the mirrored folder, or of the nearest one above it that exists."""
    folder = Path("tests", *(part for part in name.parent.parts if part != "kernels"))
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return [str(folder)]


def failing(copy: Path, tests: list[str]) -> str:
    """The test that fails first, or nothing."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy.parent)}
    try:
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "does not end"
    lines = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "" if run.returncode == 0 else (lines[0] if lines else f"pytest ended with status {run.returncode}")


if __name__ == "__main__":
    main()
