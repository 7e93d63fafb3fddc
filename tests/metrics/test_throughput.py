import numpy as np
import pytest

from metrics.throughput import PRECISION, Replay, sustainable, sustained, throughput


def steady(batches: int, size: int, seconds: float, start: int = 0) -> Replay:
    last = start + np.arange(1, batches + 1, dtype=np.int64) * size - 1
    return Replay(last, np.full(batches, seconds))


def test_throughput_is_events_per_second_of_service():
    assert throughput(1000, 0.5) == 2000
    assert throughput(1000, 0.0) is None


def test_bracket_of_a_steady_worker_holds_its_capacity():
    replay = steady(batches=300, size=100, seconds=0.01)  # 10,000 events/s
    bracket = sustainable([replay], events=30_000)
    assert bracket is not None
    assert bracket.low <= bracket.high <= bracket.low * PRECISION
    assert bracket.low == pytest.approx(10_000, rel=0.1)
    assert sustained([replay], bracket.low)
    assert not sustained([replay], bracket.high)


def test_the_slowest_worker_decides():
    fast, slow = steady(300, 100, 0.001), steady(300, 100, 0.02)
    bracket = sustainable([fast, slow], events=30_000)
    assert bracket is not None
    assert bracket.low == pytest.approx(5_000, rel=0.1)


def test_a_late_stall_is_not_growth():
    replay = steady(300, 100, 0.01)
    service = replay.service.copy()
    service[250] = 0.2  # one window that closes late
    assert sustained([Replay(replay.last, service)], 5_000)


def test_too_few_batches_tell_nothing():
    assert sustainable([steady(5, 100, 0.01)], events=500) is None
    assert sustainable([], events=0) is None
