"""Every test that asks for `algorithm` runs for every registered one; a skip needs the algorithm's own reason."""

import os

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import algorithms

COMPARED = "compared"
"""The property in which a test tells what it compared; all of them are shown at the end of the run."""

MANY = (
    "test_every_pair_of_features_is_compared",
    "test_every_kind_of_cut_is_compared",
    "test_float_arithmetic_agrees_where_counts_are_small",
    "test_digests_do_not_need_the_matches",
)
"""Tests of hundreds of random queries. `tests/algorithms/flink/test_random_cases.py` compares some of them."""
MANY_JOBS = "CEPBENCH_FLINK_CASES" in os.environ


@pytest.fixture(params=algorithms(), ids=[algorithm.name for algorithm in algorithms()])
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    """An instance with default parameters."""
    chosen: type[Algorithm] = request.param
    if chosen.missing() is not None:
        pytest.skip(str(chosen.missing()))
    if chosen.starts and getattr(request.node, "originalname", "") in MANY and not MANY_JOBS:
        pytest.skip("a job for each of hundreds of queries takes minutes; set CEPBENCH_FLINK_CASES to run them")
    return chosen()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [text for report in passed for name, text in report.user_properties if name == COMPARED]
    if lines:
        terminalreporter.section("compared with the oracle")
    for line in sorted(lines):
        terminalreporter.write_line(line)
