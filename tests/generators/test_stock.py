import numpy as np
import pytest

from cepbench.generators import base
from cepbench.generators.registry import from_spec
from tests.generators.streams import concatenated, run_lengths, stream


def test_defaults_are_the_data_set_of_the_dissertation() -> None:
    batch = stream("stock")
    assert len(batch) == 225_000
    assert set(batch.columns["company"].tolist()) == set(range(19))
    assert set(batch.columns["sector"].tolist()) == set(range(10))
    assert 12 * 3600 - 2 <= batch.time[-1] < 12 * 3600
    assert len(np.unique(batch.columns["transaction"])) == len(batch)
    volume = batch.columns["volume"].astype(float)
    assert (volume.min(), volume.max()) == (1, 10_000)
    assert batch.columns["side"].astype(float).mean() == pytest.approx(0.5, abs=0.005)


def test_replicas_shift_identifiers_only() -> None:
    single = stream("stock", events=1000, companies=10, sectors=1)
    replicated = stream("stock", events=11_000, companies=10, sectors=1, replicate=10)
    assert set(replicated.columns["company"].tolist()) == set(range(110))
    assert set(replicated.columns["sector"].tolist()) == set(range(11))
    assert len(np.unique(replicated.columns["transaction"])) == 11_000
    assert (replicated.time.reshape(-1, 11) == replicated.time[::11, None]).all()
    for copy in range(11):
        for name in ("side", "volume", "score", "bound"):
            assert np.array_equal(replicated.columns[name][copy::11], single.columns[name]), name
        assert np.array_equal(replicated.columns["company"][copy::11], single.columns["company"] + copy * 10)
        assert np.array_equal(replicated.columns["price"][copy::11], replicated.columns["price"][::11])


@pytest.mark.parametrize("replicate", [0, 10])
def test_price_walks_run_on_across_slices(replicate: int) -> None:
    generator = from_spec("stock", {"events": 600_000, "companies": 7, "sectors": 7, "replicate": replicate})
    batch = concatenated(generator)
    assert generator.slices() == 3
    company, price = batch.columns["company"], batch.columns["price"].astype(float)
    for code in range(7):
        log_steps = np.diff(np.log(price[company == code]))
        # Steps keep their distribution, also at the ends of slices: rounding to cents adds a little.
        assert log_steps.std() == pytest.approx(0.001, rel=0.1)
        assert abs(log_steps).max() < 0.008
        assert log_steps.mean() == pytest.approx(0, abs=5e-5)


def test_prices_stay_in_range_in_a_long_stream() -> None:
    generator = from_spec("stock", {"events": 10**9, "companies": 19})
    price = generator.slice(generator.slices() - 1).columns["price"].astype(float)
    assert 1 < price.min() < price.max() < 1000


def test_volatility_zero_keeps_prices() -> None:
    batch = stream("stock", events=1000, volatility=0, companies=3, sectors=3)
    assert len(np.unique(batch.columns["price"])) == 3


@pytest.mark.parametrize(
    ("typed_by", "types"), [("stock", ("Stock",)), ("side", ("Buy", "Sell")), ("company", ("C0", "C1", "C2", "C3"))]
)
def test_types(typed_by: str, types: tuple[str, ...]) -> None:
    batch = stream("stock", events=1000, typed_by=typed_by, companies=2, sectors=1, replicate=1)
    assert batch.schema.types == types
    if typed_by == "company":
        assert np.array_equal(batch.type, batch.columns["company"])
    if typed_by == "side":
        assert [batch.schema.strings[code] for code in range(2)] == [name.lower() for name in types]
        assert np.array_equal(batch.type, batch.columns["side"])


def test_company_skew() -> None:
    batch = stream("stock", company_skew=1.0, companies=4, sectors=1)
    shares = np.bincount(batch.columns["company"].astype(np.int64)) / len(batch)
    assert shares == pytest.approx(np.array([12, 6, 4, 3]) / 25, abs=0.005)


def test_the_number_of_companies_leaves_other_columns_alone() -> None:
    few, many = stream("stock", companies=10, events=5000), stream("stock", companies=100, events=5000)
    assert np.array_equal(few.columns["volume"], many.columns["volume"])
    assert np.array_equal(few.columns["score"], many.columns["score"])


def test_transactions_of_a_company_come_in_bursts() -> None:
    batch = stream("stock", events=400_000, companies=220, burst=60, typed_by="company")
    assert run_lengths(batch.type).mean() == pytest.approx(60 * 220 / 219, rel=0.04)
    assert np.array_equal(batch.type, batch.columns["company"])


def test_without_bursts_the_next_company_does_not_depend_on_the_last_one() -> None:
    batch = stream("stock", events=200_000, companies=4, sectors=4)
    company = batch.columns["company"]
    assert np.mean(company[1:] == company[:-1]) == pytest.approx(0.25, abs=0.005)


def test_volumes_fluctuate_from_burst_to_burst() -> None:
    batch = stream("stock", events=262_144, companies=100_000, burst=200, volumes="burst")
    company, volume = batch.columns["company"].astype(np.int64), batch.columns["volume"].astype(float)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(company)) + 1))
    long = np.diff(np.append(starts, len(company))) > 100
    levels = np.maximum.reduceat(volume, starts)[long]
    assert 80 < levels.min() < 200
    assert 8_000 < levels.max() <= 10_000
    # Half of the levels are below the geometric mean of both ends.
    assert np.mean(levels < 1000) == pytest.approx(0.5, abs=0.05)
    means = (np.add.reduceat(volume, starts) / np.diff(np.append(starts, len(company))))[long]
    assert np.mean(means / levels) == pytest.approx(0.5, abs=0.02)


def test_bars_enclose_open_and_close() -> None:
    plain, batch = (stream("stock", events=50_000, companies=50, volatility=0.01, bars=bars) for bars in (False, True))
    assert [a.name for a in batch.schema.attributes if a not in plain.schema.attributes] == [
        "open",
        "high",
        "low",
        "close",
    ]
    assert all(np.array_equal(batch.columns[name], plain.columns[name]) for name in plain.columns)
    opened, high, low, close = (batch.columns[name].astype(float) for name in ("open", "high", "low", "close"))
    assert np.array_equal(close, batch.columns["price"])
    assert (high >= np.maximum(opened, close)).all()
    assert (low <= np.minimum(opened, close)).all()
    assert (low > 0).all()
    assert np.abs(opened / close - 1).max() == pytest.approx(0.02, rel=0.05)
    assert high.mean() > np.maximum(opened, close).mean() > np.minimum(opened, close).mean() > low.mean()


def test_differences_are_between_consecutive_prices_of_a_company(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "SLICE_EVENTS", 1000)
    generator = from_spec("stock", {"events": 4000, "companies": 20, "sectors": 5, "differences": True})
    batch, plain = concatenated(generator), stream("stock", events=4000, companies=20, sectors=5)
    assert all(np.array_equal(batch.columns[name], plain.columns[name]) for name in plain.columns)
    assert [a.name for a in batch.schema.attributes if a not in plain.schema.attributes] == ["difference"]
    company, price = batch.columns["company"], batch.columns["price"].astype(float)
    difference = batch.columns["difference"].astype(float)
    for code in range(20):
        # Over slices, too: every company has events in each.
        assert difference[company == code][1:] == pytest.approx(np.diff(price[company == code]), abs=1e-9)
    assert np.array_equal(difference, np.round(difference, 2))
    assert 0.2 < np.mean(difference > 0) < 0.6


def test_replicas_have_the_differences_of_their_originals() -> None:
    batch = stream("stock", events=3000, companies=10, sectors=1, replicate=2, differences=True)
    difference = batch.columns["difference"].reshape(-1, 3)
    assert (difference == difference[:, :1]).all()
    assert len(np.unique(difference)) > 5
