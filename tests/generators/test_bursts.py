import numpy as np
import pytest

from cepbench.generators.bursts import burst_numbers
from tests.generators.streams import run_lengths


@pytest.mark.parametrize("mean", [1.5, 20.0])
def test_lengths_are_memoryless(mean: float) -> None:
    numbers = burst_numbers(np.random.default_rng(1), 400_000, mean)
    lengths = run_lengths(numbers)[:-1]
    assert numbers[0] == 0
    assert set(np.diff(numbers).tolist()) == {0, 1}
    assert lengths.mean() == pytest.approx(mean, rel=0.03)
    assert lengths.std() == pytest.approx((mean * (mean - 1)) ** 0.5, rel=0.03)


def test_bursts_of_one_event() -> None:
    assert burst_numbers(np.random.default_rng(1), 1000, 1).tolist() == list(range(1000))


def test_a_burst_that_is_longer_than_all_events() -> None:
    assert burst_numbers(np.random.default_rng(1), 10, 1e9).tolist() == [0] * 10
