import numpy as np
import pytest

from cepbench.experiments.growth import predicted

SIZES = [100.0, 200.0, 400.0, 800.0, 25600.0]


def _features() -> dict[str, list[float]]:
    """Windows are full after 400 events."""
    met = np.minimum(np.arange(25600), 400.0)
    return {f"met^{p}": [float((met**p)[: int(n)].sum()) for n in SIZES] for p in (1, 2)}


def test_linear_growth_goes_on():
    prediction = predicted([0.1, 0.2, 0.4, 0.8], _features(), SIZES)
    assert prediction.value == pytest.approx(25.6, rel=0.05)
    assert prediction.low <= 25.6 <= prediction.high


def test_quadratic_growth_ends_where_windows_are_full():
    truth = [1e-6 * value for value in _features()["met^1"]]
    prediction = predicted(truth[:-1], _features(), SIZES)
    assert prediction.value == pytest.approx(truth[-1], rel=0.05)
    assert prediction.value < truth[3] * (25600 / 800) ** 2 / 4


def test_unbounded_matches_are_unbounded_time():
    matches = [1e2, 1e4, 1e6, 1e8, float("inf")]
    prediction = predicted([1e-4, 1e-2, 1.0, 100.0], {"matches": matches}, SIZES)
    assert prediction.value == float("inf")


def test_the_interval_widens_with_the_distance():
    near, far = (predicted([0.1, 0.2, 0.4, 0.8], {}, [*SIZES[:4], end]) for end in (1600.0, 51200.0))
    assert far.value / near.value == pytest.approx(32)
    assert far.high / far.value == pytest.approx(near.high / near.value * 1.06**5)


def test_what_costs_by_the_burst_is_told_from_what_costs_by_the_event():
    """A stream whose bursts hold three times as many events at the end as in the prefixes."""
    bursts = [10.0, 20.0, 40.0, 80.0, 900.0]
    base = [[bursts], [SIZES, bursts], [[1.0] * 5, bursts]]
    truth = [0.01 + 0.1 * count for count in bursts]
    blind = predicted(truth[:-1], _features(), SIZES, middle=0.15)
    prediction = predicted(truth[:-1], _features(), SIZES, base, middle=0.15)
    assert blind.low > truth[-1]
    assert prediction.low <= truth[-1] <= prediction.high
    assert prediction.value == pytest.approx(truth[-1], rel=0.5)


def test_the_value_lies_where_it_is_asked_for():
    sizes = [*SIZES[:2], SIZES[-1]]
    features = {name: [*values[:2], values[-1]] for name, values in _features().items()}
    ends = [predicted([0.1, 0.3], features, sizes, middle=middle).value for middle in (0, 0.5, 1)]
    assert ends == sorted(ends)
    assert ends[0] < ends[2]
