import numpy as np
import pytest

from cepbench.events.batch import EventBatch
from cepbench.generators.registry import from_spec
from tests.generators.streams import stream

MILE = 5280


@pytest.fixture(scope="module")
def road() -> EventBatch:
    return stream("linear_road", rate=400, duration=2400, segments=20, trip=10)


def test_the_rate_rises(road: EventBatch) -> None:
    per_minute = np.bincount(road.time // 60)
    assert (np.diff(per_minute) > 0).all()
    assert per_minute[0] / 60 == pytest.approx(24 + 376 / 80, rel=0.01)
    assert per_minute[-1] / 60 == pytest.approx(400 - 376 / 80, rel=0.01)


def test_vehicles_report_every_30_seconds_for_one_trip(road: EventBatch) -> None:
    vehicle = road.columns["vehicle"].astype(np.int64)
    counts = np.unique(vehicle, return_counts=True)[1]
    assert counts.max() == 10
    order = np.lexsort((road.position, vehicle))
    gaps = np.diff(road.time[order])[np.diff(vehicle[order]) == 0]
    # A place keeps its rank in the round while rounds grow denser: the gap varies around 30 s.
    assert gaps.mean() == pytest.approx(30, abs=3)
    assert gaps.min() > 0
    assert gaps.max() < 60


@pytest.mark.full
def test_vehicles_move_along_consecutive_segments(road: EventBatch) -> None:
    vehicle, segment, position, speed, direction = (
        road.columns[name].astype(np.int64) for name in ("vehicle", "segment", "position", "speed", "direction")
    )
    assert np.array_equal(segment, position // MILE)
    assert (segment.min(), segment.max()) == (0, 19)
    order = np.lexsort((road.position, vehicle))
    same_vehicle = np.diff(vehicle[order]) == 0
    assert (np.diff(direction[order])[same_vehicle] == 0).all()
    way = np.where(direction[order][1:] == 1, -1, 1)
    driven = (np.diff(position[order]) * way % (20 * MILE))[same_vehicle]
    assert driven == pytest.approx(44 * speed[order][1:][same_vehicle], abs=24)
    moved = (np.diff(segment[order]) * way % 20)[same_vehicle]
    assert set(moved.tolist()) == {0, 1}
    assert 0 <= speed.min() <= speed.max() <= 70
    assert speed.mean() == pytest.approx(35, abs=1)


def test_segments_are_evenly_used(road: EventBatch) -> None:
    shares = np.bincount(road.columns["segment"].astype(np.int64)) / len(road)
    assert shares == pytest.approx(np.full(20, 0.05), abs=0.006)


def test_vehicles_go_on_across_slices() -> None:
    generator = from_spec("linear_road", {"rate": 4000, "start_rate": 4000, "duration": 300})
    assert generator.slices() == 5
    left, right = (set(generator.slice(k).columns["vehicle"].tolist()) for k in (1, 2))
    assert len(left & right) > 0.5 * len(left)


def test_accidents() -> None:
    batch = stream("linear_road", rate=100, duration=1000, accidents=0.1)
    assert batch.schema.types == ("Position", "Accident")
    assert (batch.type == 1).mean() == pytest.approx(0.1, abs=0.01)
    assert not stream("linear_road", rate=100, duration=1000).type.any()


def test_segments_as_types() -> None:
    batch = stream("linear_road", rate=100, duration=1000, typed_by="segment")
    assert batch.schema.types[:2] == ("Segment0", "Segment1")
    assert np.array_equal(batch.type, batch.columns["segment"])
