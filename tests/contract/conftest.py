"""Shows at the end of a run what the random cases compared."""

import pytest

COMPARED = "compared"
"""The name of the property with which a test reports what it compared."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [text for report in passed for name, text in report.user_properties if name == COMPARED]
    if lines:
        terminalreporter.section("compared with the oracle")
    for line in sorted(lines):
        terminalreporter.write_line(line)
