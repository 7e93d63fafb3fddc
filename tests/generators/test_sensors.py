import numpy as np
import pytest

from tests.generators.streams import run_lengths, stream


def test_defaults_of_the_paper() -> None:
    batch = stream("sensors")
    assert batch.schema.types == tuple(f"P{point}" for point in range(449))
    assert len(batch) == 449 * 288
    counts = np.bincount(batch.type, minlength=449)
    # Every five minutes for a day, give or take what is drawn: hardly any skew.
    assert counts.mean() == 288
    assert 200 < counts.min() < counts.max() < 380
    assert np.array_equal(batch.type, batch.columns["point"])
    assert batch.columns["vehicles"].min() >= 0
    assert batch.columns["vehicles"].max() <= 200
    assert batch.columns["speed"].min() >= 3


def test_speed_falls_with_the_vehicles_at_each_point() -> None:
    batch = stream("sensors", points=20, events=100_000, rate=1)
    for point in range(20):
        at = batch.type == point
        speed, vehicles = batch.columns["speed"][at], batch.columns["vehicles"][at]
        assert -0.97 < np.corrcoef(speed, vehicles)[0, 1] < -0.4


def test_without_slowing_both_are_independent() -> None:
    batch = stream("sensors", points=1, events=50_000, rate=1, slowing=0)
    assert np.corrcoef(batch.columns["speed"], batch.columns["vehicles"])[0, 1] == pytest.approx(0, abs=0.03)


@pytest.mark.full
def test_points_differ_so_that_pairs_of_them_do() -> None:
    batch = stream("sensors", points=30, events=60_000, rate=1)
    speeds = [batch.columns["speed"][batch.type == point] for point in range(30)]
    shares = [np.mean(a[:, None] < b[None, :]) for a in speeds for b in speeds if a is not b]
    assert min(shares) < 0.01
    assert max(shares) > 0.99
    assert np.std([speed.mean() for speed in speeds]) > 10


def test_without_variety_both_seldom_rise_together() -> None:
    batch = stream("sensors", points=4, events=40_000, rate=1, variety=0, scatter=0.01)
    rows = [batch.type == point for point in range(4)]
    speed, vehicles = batch.columns["speed"], batch.columns["vehicles"].astype(float)
    for a, b in ((0, 1), (2, 3)):
        faster, fuller = (column[rows[a]][:500, None] < column[rows[b]][None, :500] for column in (speed, vehicles))
        assert 0.3 < faster.mean() < 0.7
        assert (faster & fuller).mean() < 0.05


def test_roads_are_full_in_the_afternoon_whatever_the_unit() -> None:
    for unit, ticks in (("s", 1), ("ms", 1000)):
        batch = stream("sensors", points=5, events=86_400, rate=1, time_unit=unit)
        hour = batch.time / ticks / 3600
        vehicles = batch.columns["vehicles"]
        assert vehicles[(hour > 13) & (hour < 17)].mean() > 1.5 * vehicles[(hour > 1) & (hour < 5)].mean()


def test_points_may_be_skewed_and_never_come_in_runs() -> None:
    counts = np.bincount(stream("sensors", events=200_000, points=100, point_skew=1).type)
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.15)
    assert run_lengths(stream("sensors", events=50_000).type).mean() < 1.01
