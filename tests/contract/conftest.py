"""Every test that asks for `algorithm` runs for every registered one; a skip needs the algorithm's own reason."""

import pytest

from algorithms.base import Algorithm
from algorithms.registry import ALGORITHMS


@pytest.fixture(params=ALGORITHMS, ids=[algorithm.name for algorithm in ALGORITHMS])
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    """An instance with default parameters."""
    chosen: type[Algorithm] = request.param
    return chosen()
