import numpy as np
import pytest

from cepbench.generators.registry import from_spec
from tests.generators.streams import run_lengths, stream


def test_defaults_of_the_paper() -> None:
    batch = stream("ridesharing")
    assert len(batch) == 600_000
    assert set(np.bincount(batch.time // 60).tolist()) == {10_000}
    assert len(batch.schema.types) == 20
    shares = np.bincount(batch.type, minlength=20) / len(batch)
    assert shares == pytest.approx(np.full(20, 0.05), abs=0.012)  # 5000 bursts only
    assert np.bincount(batch.columns["request"].astype(np.int64)) / len(batch) == pytest.approx(1 / 3, abs=0.005)
    price = batch.columns["price"].astype(float)
    assert 5 <= price.min() < price.max() <= 100


@pytest.mark.parametrize(
    ("distribution", "deviation"),
    [("constant", 0.0), ("uniform", ((39**2 - 1) / 12) ** 0.5), ("geometric", (20 * 19) ** 0.5)],
)
def test_burst_lengths(distribution: str, deviation: float) -> None:
    generator = from_spec("ridesharing", {"events": 262_144, "burst": 20, "burst_distribution": distribution})
    batch = generator.slice(0)
    lengths = run_lengths(batch.type)[:-1]
    assert lengths.mean() == pytest.approx(20, abs=0.75)  # four standard errors of the geometric one
    assert lengths.std() == pytest.approx(deviation, abs=0.05 * deviation + 1e-9)
    assert lengths.min() >= 1
    if distribution == "uniform":
        assert (lengths.min(), lengths.max()) == (1, 39)


def test_a_burst_is_in_one_district_and_districts_keep_bursts() -> None:
    batch = stream("ridesharing", events=200_000, burst=20, burst_distribution="constant", districts=5)
    district = batch.columns["district"].astype(np.int64)
    assert len(run_lengths(batch.type * 5 + district)) == len(run_lengths(batch.type)) == 10_000
    lengths = run_lengths(batch.type[district == 2])
    assert (lengths[:-1] % 20 == 0).all()
    assert lengths.mean() == pytest.approx(20 * 20 / 19, rel=0.05)


def test_fractional_mean_burst_length() -> None:
    batch = stream("ridesharing", events=200_000, burst=2.5, burst_distribution="constant")
    lengths = run_lengths(batch.type)[:-1]
    assert set(lengths.tolist()) == {2, 3}
    assert lengths.mean() == pytest.approx(2.5, abs=0.01)


def test_bursts_of_one_event() -> None:
    batch = stream("ridesharing", events=10_000, burst=1)
    assert (batch.type[1:] != batch.type[:-1]).all()


def test_two_types_alternate() -> None:
    batch = stream("ridesharing", events=1000, burst=5, burst_distribution="constant", types=2)
    assert run_lengths(batch.type).tolist() == [5] * 200


def test_type_skew_lengthens_the_bursts_of_the_first_types() -> None:
    batch = stream("ridesharing", events=262_144, burst=50, type_skew=1.0, types=4, burst_distribution="constant")
    ends = np.cumsum(run_lengths(batch.type))[:-1]
    lengths = np.diff(ends)
    kinds = batch.type[ends[1:] - 1]
    means = [lengths[kinds == code].mean() for code in range(4)]
    assert means == pytest.approx([96, 48, 32, 24], rel=0.02)
