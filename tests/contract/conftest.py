"""Every test that asks for `algorithm` runs for every registered one; a skip needs the algorithm's own reason."""

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import algorithms

COMPARED = "compared"
"""The property in which a test tells what it compared; all of them are shown at the end of the run."""


@pytest.fixture(params=algorithms(), ids=[algorithm.name for algorithm in algorithms()])
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    """An instance with default parameters."""
    chosen: type[Algorithm] = request.param
    return chosen()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [text for report in passed for name, text in report.user_properties if name == COMPARED]
    if lines:
        terminalreporter.section("compared with the oracle")
    for line in sorted(lines):
        terminalreporter.write_line(line)
