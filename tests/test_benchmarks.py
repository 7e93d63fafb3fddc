"""The imports of benchmarks, which run by hand: no other test would notice that a module was moved."""

import ast
import importlib
from pathlib import Path

import pytest

BENCHMARKS = sorted(Path(__file__).parents[1].joinpath("benchmarks").glob("*.py"))


@pytest.mark.parametrize("file", BENCHMARKS, ids=lambda file: file.stem)
def test_imports_of_benchmarks_exist(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("cepbench"):
            module = importlib.import_module(node.module)
            absent = [alias.name for alias in node.names if not hasattr(module, alias.name)]
            assert absent == [], node.module
