"""A pytest plugin that writes down which tests failed, for whoever started pytest: `-p tests.mutants.outcomes`."""

import os
from pathlib import Path

import pytest

FILE = "CEPBENCH_FAILED_TESTS"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed and report.when == "call":
        with Path(os.environ[FILE]).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")
