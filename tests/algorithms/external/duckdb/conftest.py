"""Skips tests that need DuckDB, with the reason why it is missing, if it is not installed."""

import pytest

from cepbench.algorithms.external.duckdb.session import missing


@pytest.fixture(autouse=True)
def _installed() -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
