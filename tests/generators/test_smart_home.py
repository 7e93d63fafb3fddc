import numpy as np
import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.registry import from_spec
from tests.generators.streams import run_lengths, stream


def test_defaults_of_the_paper() -> None:
    batch = stream("smart_home", duration=600)
    assert len(batch) == 200_000
    assert set(np.bincount(batch.time // 60).tolist()) == {20_000}
    house, plug = batch.columns["house"].astype(np.int64), batch.columns["plug"].astype(np.int64)
    assert set(house.tolist()) == set(range(40))
    assert set(plug.tolist()) == set(range(2125))
    assert np.array_equal(plug % 40, house)
    assert np.bincount(house) / len(batch) == pytest.approx(np.full(40, 1 / 40), abs=0.012)  # 3800 bursts only
    assert batch.schema.strings == ("load", "work")
    assert batch.columns["property"].astype(float).mean() == pytest.approx(0.5, abs=0.005)


def test_houses_or_properties_are_types() -> None:
    houses = stream("smart_home", events=1000, houses=9)
    assert houses.schema.types == tuple(f"House{house}" for house in range(9))
    assert np.array_equal(houses.type, houses.columns["house"])
    properties = stream("smart_home", events=1000, typed_by="property")
    assert properties.schema.types == ("Load", "Work")
    assert np.array_equal(properties.type, properties.columns["property"])


def test_houses_send_in_bursts() -> None:
    batch = stream("smart_home", events=200_000, burst=20)
    lengths = run_lengths(batch.type)
    assert lengths.mean() == pytest.approx(20 * 40 / 39, rel=0.04)  # two bursts of one house meet by chance
    assert lengths.max() > 100


def test_skewed_houses() -> None:
    batch = stream("smart_home", events=200_000, burst=1, house_skew=1)
    shares = np.bincount(batch.columns["house"].astype(np.int64)) / len(batch)
    assert shares[0] / shares[1] == pytest.approx(2, rel=0.05)


def test_values_of_a_plug() -> None:
    batch = stream("smart_home", events=300_000, houses=1, plugs=3)
    plug, load = batch.columns["plug"].astype(np.int64), batch.columns["property"] == 0
    value = batch.columns["value"].astype(float)
    hours = batch.time / 3600
    for number in range(3):
        loads = value[(plug == number) & load]
        mean = loads.mean()
        assert 0.49 * mean < loads.min() < loads.max() < 1.51 * mean
        works, when = value[(plug == number) & ~load], hours[(plug == number) & ~load]
        assert (np.diff(works) >= 0).all()
        assert works == pytest.approx(mean * when / 1000, rel=0.02, abs=0.002)


def test_every_house_has_a_plug() -> None:
    assert set(stream("smart_home", events=10_000, houses=3, plugs=3, burst=1).columns["plug"].tolist()) == {0, 1, 2}
    with pytest.raises(GeneratorError, match="houses = 3 exceed plugs = 2"):
        from_spec("smart_home", {"houses": 3, "plugs": 2})
