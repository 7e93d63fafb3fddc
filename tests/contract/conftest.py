"""What the random cases compared, shown at the end of the run."""

import pytest

COMPARED = "compared"
"""The property in which a test says what it compared."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [text for report in passed for name, text in report.user_properties if name == COMPARED]
    if lines:
        terminalreporter.section("compared with the oracle")
    for line in sorted(lines):
        terminalreporter.write_line(line)
