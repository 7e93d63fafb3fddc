import numpy as np
import pytest

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.pipeline.arrivals import ArrivalModel, Burst, OpenRate, intervals, with_next

SCHEMA = Schema(("A",))


def stream(*times: int, position: int = 0) -> EventBatch:
    n = len(times)
    places = np.arange(position, position + n, dtype=np.int64)
    return EventBatch(SCHEMA, np.array(times, np.int64), np.zeros(n, np.int32), {}, places)


def steps(model: ArrivalModel, *batches: EventBatch) -> list[tuple[list[int], int | None, float | None]]:
    return [(step.events.time.tolist(), step.events.watermark, step.arrival) for step in model.steps(batches)]


def test_burst_hands_over_each_slide_interval_at_its_end():
    model = Burst([Window(10, 10)], "s")
    assert steps(model, stream(1, 9, 10, 11, 25)) == [
        ([1, 9], 10, 10.0),
        ([10, 11], 20, 20.0),
        ([25], 30, 30.0),
    ]


@pytest.mark.parametrize("cut", range(6))
def test_burst_does_not_depend_on_where_batches_are_cut(cut):
    whole = stream(1, 9, 10, 11, 25)
    model = Burst([Window(10, 10)], "s")
    bursts = steps(model, whole.slice(0, cut), whole.slice(cut, 5))
    arrived, times = [], []
    for time, until, arrival in bursts:
        times += time
        assert (until is None) == (arrival is None)
        if arrival is not None:
            arrived.append((times, until))
            times = []
    assert arrived == [([1, 9], 10), ([10, 11], 20), ([25], 30)]


def test_burst_goes_on_while_windows_are_open():
    # The window [0, 30) that holds the event at 5 ends with the third interval; the one at 95 is open until 120.
    bursts = steps(Burst([Window(30, 10)], "s"), stream(5, 95))
    assert [until for _, until, _ in bursts] == [10, 20, 30, 100, 110, 120]
    assert [time for time, _, _ in bursts] == [[5], [], [], [95], [], []]


def test_an_interval_without_events_ends_before_an_event_at_its_end() -> None:
    # Nothing happens in [10, 20); the event at 20 is of the next interval.
    bursts = steps(Burst([Window(30, 10)], "s"), stream(5, 20))
    assert [(time, until) for time, until, _ in bursts] == [([5], 10), ([], 20), ([20], 30), ([], 40), ([], 50)]


def test_burst_with_several_slides_ends_intervals_wherever_one_does():
    bursts = steps(Burst([Window(6, 6), Window(4, 4)], "s"), stream(0, 5))
    assert [until for _, until, _ in bursts] == [2, 4, 6, 8]


def test_due_of_a_burst_is_the_end_of_the_interval():
    model = Burst([Window(10, 4)], "ms")
    step = next(model.steps([stream(1, 2)]))
    assert model.due(step, np.array([8, 10, 12])).tolist() == pytest.approx([0.008, 0.012, 0.012])


def test_burst_without_windows_is_one_batch():
    assert steps(Burst([None], "s"), stream(1, 2), stream(3, position=2)) == [([1, 2], None, None), ([3], None, 3.0)]


def test_burst_of_count_windows():
    bursts = steps(Burst([Window(4, 2, counts_events=True)], "s"), stream(1, 2, 3), stream(4, 5, position=3))
    assert bursts == [([1, 2], None, 2.0), ([3], None, None), ([4], None, 4.0), ([5], None, 5.0)]


def test_several_count_windows_arrive_in_groups_of_the_smallest_slide() -> None:
    windows = [Window(6, 3, counts_events=True), Window(4, 2, counts_events=True)]
    bursts = steps(Burst(windows, "s"), stream(1, 2, 3, 4, 5))
    assert bursts == [([1, 2], None, 2.0), ([3, 4], None, 4.0), ([5], None, 5.0)]


@pytest.mark.parametrize("cut", range(6))
def test_open_rate_does_not_depend_on_where_batches_are_cut(cut: int) -> None:
    whole = stream(0, 1, 4, 5, 9)
    arrived, times = [], []
    for time, until, arrival in steps(OpenRate(2.0, 2), whole.slice(0, cut), whole.slice(cut, 5)):
        times += time
        assert (until is None) == (arrival is None)
        if arrival is not None:
            arrived.append((times, until, arrival))
            times = []
    assert arrived == [([0, 1], 1, 1.0), ([4, 5], 5, 2.0), ([9], 9, 2.5)]


def test_open_rate_follows_the_schedule_of_the_whole_stream():
    # The worker sees positions 0, 1, 4, 5 and 9 of a stream of which others see the rest.
    batch = stream(0, 1, 4, 5, 9)
    batch = EventBatch(SCHEMA, batch.time, batch.type, {}, np.array([0, 1, 4, 5, 9]))
    batches = steps(OpenRate(rate=2.0, batch=4), batch)
    assert batches == [([0, 1], 1, 1.0), ([4, 5], 5, 3.0), ([9], 9, 5.0)]


def test_due_of_an_open_rate_is_the_arrival_of_the_last_event_before_the_window_ends():
    model = OpenRate(rate=2.0, batch=2)
    first, second = model.steps([stream(0, 3, 10, 12)])
    assert model.due(first, np.array([3])).tolist() == [0.5]
    # The window ends at 10: its last event is the one at time 3, of the first micro-batch.
    assert model.due(second, np.array([10, 11])).tolist() == [1.0, 1.5]


def test_with_next_passes_over_empty_batches():
    a, b, nothing = stream(1), stream(2, position=1), stream()
    assert list(with_next([nothing, a, nothing, b, nothing])) == [(a, b), (b, None)]
    assert list(with_next([nothing])) == []


def test_intervals_that_hold_events_are_counted_as_bursts_come() -> None:
    times = np.array([0, 1, 4, 9, 9, 30, 31, 60], np.int64)
    counts = intervals(times, [Window(20, 10), None, Window(15, 15), Window(3, 3, counts_events=True)])
    assert counts is not None
    assert counts.tolist() == [1, 1, 1, 2, 2, 3, 3, 4]
    assert intervals(times, [None, Window(3, 3, counts_events=True)]) is None
