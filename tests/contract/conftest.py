"""Shows the comparisons of random cases at the end of a run."""

import pytest

COMPARED = "compared"
"""The name of the property with which a test reports its comparisons."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [text for report in passed for name, text in report.user_properties if name == COMPARED]
    if lines:
        terminalreporter.section("compared with the oracle")
    for line in sorted(lines):
        terminalreporter.write_line(line)
