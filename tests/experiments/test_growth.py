import numpy as np
import pytest

from cepbench.experiments.growth import predicted

SIZES = [100.0, 200.0, 400.0, 800.0, 25600.0]


def _features() -> dict[str, list[float]]:
    """Windows are full after 400 events."""
    met = np.minimum(np.arange(25600), 400.0)
    return {f"met^{p}": [float((met**p)[: int(n)].sum()) for n in SIZES] for p in (1, 2)}


def test_linear_growth_goes_on():
    found = predicted([0.1, 0.2, 0.4, 0.8], _features(), SIZES)
    assert found.value == pytest.approx(25.6, rel=0.05)
    assert found.low <= 25.6 <= found.high


def test_quadratic_growth_ends_where_windows_are_full():
    truth = [1e-6 * value for value in _features()["met^1"]]
    found = predicted(truth[:-1], _features(), SIZES)
    assert found.value == pytest.approx(truth[-1], rel=0.05)
    assert found.value < truth[3] * (25600 / 800) ** 2 / 4


def test_unbounded_matches_are_unbounded_time():
    matches = [1e2, 1e4, 1e6, 1e8, float("inf")]
    found = predicted([1e-4, 1e-2, 1.0, 100.0], {"matches": matches}, SIZES)
    assert found.value == float("inf")


def test_the_interval_widens_with_the_distance():
    near, far = (predicted([0.1, 0.2, 0.4, 0.8], {}, [*SIZES[:4], end]) for end in (1600.0, 51200.0))
    assert far.value / near.value == pytest.approx(32)
    assert far.high / far.value == pytest.approx(near.high / near.value * 1.06**5)
