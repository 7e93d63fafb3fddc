from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.generators.registry import from_spec
from tests.generators.streams import stream


def chained_share(batch: EventBatch) -> float:
    """The share of trips that begin where the vehicle's last trip ended."""
    vehicle, pickup, dropoff = (batch.columns[name].astype(np.int64) for name in ("vehicle", "pickup", "dropoff"))
    order = np.lexsort((batch.position, vehicle))
    same_vehicle = np.diff(vehicle[order]) == 0
    return float(np.mean((pickup[order][1:] == dropoff[order][:-1])[same_vehicle]))


def shares(batch: EventBatch, name: str) -> NDArray[Any]:
    return np.bincount(batch.columns[name].astype(np.int64)) / len(batch)


def test_values() -> None:
    batch = stream("taxi", events=200_000)
    for name, count in (("pickup", 217), ("dropoff", 217), ("vehicle", 200), ("rider", 10_000)):
        assert shares(batch, name) == pytest.approx(np.full(count, 1 / count), abs=0.0008)
    assert shares(batch, "passengers") == pytest.approx([0, 0.7, 0.15, 0.05, 0.03, 0.04, 0.03], abs=0.005)
    price = batch.columns["price"].astype(float)
    assert price.min() == 3
    assert price.mean() == pytest.approx(12.5, abs=0.2)
    distance = batch.columns["distance"].astype(float)
    assert np.abs(price - 3 - 4 * distance).max() <= 1.02  # of the fare, the price has whole dollars
    assert shares(batch, "vendor") == pytest.approx([0, 0.5, 0.5], abs=0.005)
    assert batch.schema.strings == ("card", "cash")
    assert (batch.columns["payment"] == 1).mean() == pytest.approx(0.4, abs=0.005)


def test_zones_are_types() -> None:
    batch = stream("taxi", events=1000, zones=9)
    assert batch.schema.types == tuple(f"Zone{zone}" for zone in range(9))
    assert np.array_equal(batch.type, batch.columns["pickup"])


@pytest.mark.parametrize("chained", [0.0, 0.5, 1.0])
def test_trips_of_a_vehicle_are_chained(chained: float) -> None:
    batch = stream("taxi", events=100_000, chained=chained)
    assert chained_share(batch) == pytest.approx(chained + (1 - chained) / 217, abs=0.01)


def test_chains_break_at_slices_only() -> None:
    generator = from_spec("taxi", {"events": 2**19, "chained": 1, "vehicles": 1000})
    assert [chained_share(generator.slice(k)) for k in range(2)] == [1, 1]


def test_trips_come_in_bursts_of_a_zone() -> None:
    pickup = stream("taxi", events=100_000, zones=50, zone_skew=1, burst=20).columns["pickup"]
    lengths = np.diff(np.flatnonzero(np.diff(pickup, prepend=-1, append=-1)))
    single = stream("taxi", events=100_000, zones=50, zone_skew=1).columns["pickup"]
    assert 19 < lengths.mean() < 25  # bursts of one zone may follow one another
    assert np.mean(pickup == 0) == pytest.approx(np.mean(single == 0), abs=0.03)


def test_a_vehicle_need_not_drive() -> None:
    batch = stream("taxi", events=10, vehicles=10**6, chained=1)
    assert len(batch) == 10


def test_skewed_zones() -> None:
    batch = stream("taxi", events=200_000, zone_skew=1)
    for name in ("pickup", "dropoff"):
        zones = shares(batch, name)
        assert zones[0] / zones[1] == pytest.approx(2, rel=0.05)
