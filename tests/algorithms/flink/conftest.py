"""Tests that need Flink itself are skipped where it is not installed, for its reason."""

import pytest

from cepbench.algorithms.flink.installation import missing


@pytest.fixture(autouse=True)
def _installed() -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
