import numpy as np
import pytest

from cepbench.metrics.throughput import PRECISION, Replay, Span, slot_times, sustainable, sustained, throughput


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


def at_one_per_second(*service: float) -> Replay:
    """Batches of one event each, which at rate 1 arrive every second from second 1 on."""
    return Replay(np.arange(len(service), dtype=np.int64), np.array(service))


def test_a_queue_grows_if_it_is_longer_by_more_than_an_ordinary_batch() -> None:
    # The last four of twelve batches wait for as long as the eighth takes beyond its second; before, none waits.
    ordinary = [1.0] * 7
    assert sustained([at_one_per_second(*ordinary, 2.0, *[1.0] * 4)], 1)  # 1 s <= 13/12 s, the mean service time
    assert not sustained([at_one_per_second(*ordinary, 2.5, *[1.0] * 4)], 1)  # 1.5 s > 13.5/12 s


def test_a_queue_that_is_as_long_in_the_middle_does_not_grow() -> None:
    replay = at_one_per_second(1.0, 1.0, 1.0, 6.0, *[1.0] * 8)  # from the fifth on, all wait for 5 s
    assert sustained([replay], 1)


def test_eleven_batches_are_inconclusive_and_twelve_are_not() -> None:
    assert sustainable([steady(11, 100, 0.01)], events=1100) is None
    assert sustainable([steady(12, 100, 0.01)], events=1200) is not None
    assert sustainable([steady(12, 100, 0.01), steady(11, 100, 0.01)], events=2300) is None


def test_too_few_batches_are_inconclusive():
    assert sustainable([steady(5, 100, 0.01)], events=500) is None
    assert sustainable([], events=0) is None


def test_slots_are_reported_by_what_runs_side_by_side() -> None:
    spans = [
        Span("a", 0, 10, 5.0),
        Span("a", 1, 4, 2.0),
        Span("a", 4.5, 9, 3.0),  # in the slot of the second
        Span("a", 9.5, 12, 1.0),  # there, too: the first is busy still
        Span("a", 11, 13, 4.0),  # in that of the first
        Span("b", 20, 21, 0.5),  # another machine
    ]
    for order in (spans, spans[::-1]):
        assert sorted(slot_times(order, 3)) == [0.5, 6.0, 9.0]
    assert slot_times(spans[:3], 3) == [5.0, 2.0, 3.0]  # a slot for everyone
    assert slot_times(spans[:3], 2) == [5.0, 5.0]
    assert slot_times([], 1) == []
