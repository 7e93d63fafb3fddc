"""A pytest plugin that records the outcome of each test for the process that started pytest."""

import os
from pathlib import Path

import pytest

FILE = "CEPBENCH_OUTCOMES_OF_TESTS"
STARTED, FAILED = "started", "failed"


def pytest_runtest_logstart(nodeid: str) -> None:
    _write(STARTED, nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _write(FAILED, report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _write(FAILED, report.nodeid)


def _write(what: str, test: str) -> None:
    with Path(os.environ[FILE]).open("a", encoding="utf-8") as file:
        file.write(f"{what} {test}\n")
